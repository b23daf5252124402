// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel takes its turns in the context: the driver's wake-ups, the slices of a turn, its
// rest, and what a stall changes; and how the driver is armed for the next one. See turn_share.hpp
// for how long a turn is, and stall_guard.hpp for stalls.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace asio_wheel::detail {

// The driver's wait number `turn` has expired, or was aborted.
void* core::on_wake_up(std::uint64_t turn) noexcept {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    return guard->on_wake_up(guard, turn);
}

void* core::guarded::on_wake_up(locked& guard, std::uint64_t turn) noexcept {
    const time_count now = clock_.now();
    void* first = nullptr;
    if (alarm_.take_call(turn)) {
        first = wake_up(guard, now);
    } else {
        ++measured_.get().wake_ups.at(unit().seconds_of(now)).moved;
    }
    count_turn(first, each_counts());
    return first;
}

// The driver's wait has expired. A wake-up by which the wheel goes on giving way does not count.
void* core::guarded::wake_up(locked& guard, time_count now) noexcept {
    const bool counts = !stall_.giving_way();
    const std::uint64_t nothing_due = spurious_wake_ups_;
    const std::chrono::nanoseconds time = unit().nanoseconds_of(now);
    void* first = nullptr;
    if (next_turn_.is_nothing()) { // Otherwise the turn that is queued looks at the clock.
        auto late = unit().between(alarm_.due(), now);
        if (late < std::chrono::nanoseconds(0)) {
            share_.come_early(std::exchange(late, std::chrono::nanoseconds(0)));
        }
        if (counts) {
            measured_.get().woke_up(late, time);
            ASIO_WHEEL_PROBE1(wake_up, late.count());
        } else if (filed_late_) { // Its time had passed when it started: nobody is to blame.
            measured_.get().meter.woke_up({}, time);
        }
        const std::chrono::nanoseconds others = busy_until(now);
        // Then this wake-up may have been in the queue while waits were aborted, or became due.
        const bool waited = others > std::chrono::nanoseconds(0) || turn_came_first_;
        const bool overtakes =
            (waited && aborted_since()) || (turn_came_first_ && out().follows_turn());
        behind_ = false;
        if (gives_way(late) && !counts && !filed_late_ && holds_back() &&
            book_.tick_at(now) <= book_.entries().now() && now >= book_.pass_time()) {
            keep_armed(); // What has become due since is held back already.
        } else {
            share_.begin_turn(now);
            if (handlers_ && counts) {
                handlers_->tags.woke_up();
            }
            next_turn_.begin();
            first = this->turn(guard, now, share_.entries(others), !overtakes);
            if (share_.nothing_was_due() && next_turn_.is_nothing() && counts &&
                !stall_.giving_way()) {
                ++spurious_wake_ups_;
            }
        }
    }
    if (counts) {
        ++wake_ups_;
        wake_ups_in_second& second = measured_.get().wake_ups.at(unit().seconds_of(now));
        ++(spurious_wake_ups_ == nothing_due ? second.due : second.nothing_due);
    }
    return first;
}

void* core::on_turn() noexcept {
    const handler_scope scope(*this);
    locked guard(*this, "its turn");
    return guard->on_turn(guard);
}

void* core::guarded::on_turn(locked& guard) noexcept {
    BOOST_ASSERT(next_turn_.is_queued());
    const bool counts = next_turn_.begin();
    const time_count now = clock_.now();
    const std::chrono::nanoseconds others = share_.begin_rest(now);
    // If others were busy for long, what has become due meanwhile may be the victim of a stall.
    // Only a wake-up judges that, because it comes after the context has looked at its sockets.
    const time_count judged = (std::min)(now, behind_ ? book_.pass_time() : share_.ended());
    behind_ = behind_ || stall_.giving_way() || (is_stall(others) && !paused() && !closing_);
    const time_count until = behind_ ? judged : now;
    if (!paused()) {
        measured_.get().meter.called((std::max)(others, std::chrono::nanoseconds(0)),
                                     unit().nanoseconds_of(now));
    }
    share_.begin_turn(now);
    const bool overtakes = out().follows_turn() || aborted_since();
    void* const first = turn(guard, until, share_.entries(others), !overtakes);
    if (next_turn_.is_nothing() && book_.next() > book_.tick_at(now)) {
        behind_ = false; // Nothing was left out.
    }
    count_turn(first, counts);
    return first;
}

// When a turn returns, the context counts one piece of work as finished. That is the work of the
// first wait; or, if there is none, one that is started here. `counts`: the turn has counted as
// work since it was queued.
void core::guarded::count_turn(void* first, bool counts) noexcept {
    if (first != nullptr && counts) {
        queue_.work_finished();
    } else if (first == nullptr && !counts) {
        queue_.work_started();
    }
}

// A turn looks at `entries` or some more, in slices. Between two slices it releases the lock, and
// puts into the queue what the first one has made ready. Then it queues the rest if something is
// left, or arms the driver. If `completes_first`, returns the first operation, which the context
// completes when the turn is over: so n waits are n handlers. But if waits that were ready earlier
// are behind the turn in the queue, the first one is queued behind them. The turn never runs the
// rest, which would run the next rest inside itself, and so on.
void* core::guarded::turn(locked& guard, time_count until, std::size_t entries,
                          bool completes_first) noexcept {
    void* first = nullptr;
    filed_late_ = false;
    std::size_t looked_at = 0;
    bool more = true;
    bool several = false;
    for (;; several = true) {
        const progress found = slice(until);
        looked_at += found.looked_at;
        more = found.more;
        if (first == nullptr && !out().empty() && completes_first) {
            first = out().take_first();
        }
        if (!more || looked_at >= entries || must_end_turn()) {
            break;
        }
        guard.post();
    }
    // One slice takes no time, compared with what counts as long.
    share_.end_turn(several ? now() : share_.began(), looked_at);
    if (alarm_.armed_for() <= book_.tick_read()) {
        // This turn has done what the driver would wake up for. The driver's handler may already be
        // in the queue, ahead of the waits that became due. It must not run a turn that overtakes
        // them.
        alarm_.disarm();
    }
    // If it is there for a later tick, it stays: but what this turn has queued comes first.
    if (alarm_.armed() && unit().between(alarm_.due(), share_.ended()) >= -share_.delay()) {
        turn_came_first_ = true;
    }
    if (next_turn_.end() || more) {
        queue_turn();
    } else {
        aborted_before_ = counts_.cancelled();
        if (handlers_ && !book_.entries().holds()) {
            handlers_->tags.end_wake_up();
        }
        if (stall_.giving_way() && !book_.entries().holds()) {
            stall_.give_up();
            end_stall();
        }
        keep_armed();
    }
    return first;
}

// Makes ready what is due at `now`: in the order of expiry within the slice.
core::guarded::progress core::guarded::slice(time_count now) noexcept {
    const visit others(core_);
    if (follow_set_back(now)) {
        note_jump(now);
    }
    const book::slice found = book_.collect(now, stall_.giving_way());
    note_crowd();
    std::size_t due = 0;
    for (const book::due_timer& d : found.due) {
        due += expire(*d.timer, now);
    }
    return {due, found.looked_at, found.more};
}

// Makes ready all waits of a timer that is due. Returns how many.
std::size_t core::guarded::expire(timer_state& s, time_count now) noexcept {
    const time_count expiry = s.expiry.get();
    // Or it was just postponed.
    const auto late =
        unit().nanoseconds_of(expiry < now ? difference_saturating(expiry, now) : time_count(0));
    s.spare_word(static_cast<std::uint64_t>(late.count()));
    ASIO_WHEEL_PROBE2(expire, &s, late.count());
    std::size_t due = 0;
    s.waits.for_each([&](wait_node& wait) {
        if (next_turn_.is_under_way()) {
            share_.make_ready(&wait);
        }
        if (handlers_) {
            handlers_->tags.found_due(wait);
        }
        make_ready(wait, wait_node::result_state::due);
        ++due;
    });
    if (!paused()) { // Paused time jumps, and nobody is to blame for that.
        measured_.get().meter.found_due(due, late, unit().nanoseconds_of(now), options_.tick);
    }
    return due;
}

// Whether a turn ends after this slice, however much is left.
bool core::guarded::must_end_turn() const noexcept {
    return paused() || stopped() || closing_ || core_.lock_->mutex.is_contended();
}

// Whether waits may be in the queue behind the turn: those that were aborted, also without the
// lock.
bool core::guarded::aborted_since() const noexcept {
    return counts_.cancelled() != aborted_before_;
}

// Queues a turn, or lets the one under way queue its rest.
void core::guarded::want_turn(time_count now) noexcept {
    if (next_turn_.want()) {
        // The turn may come before the driver. What that one is overdue is the loop's lag; for what
        // was before, no wait is late.
        measured_.get().meter.queued(overdue(now), unit().nanoseconds_of(now));
        share_.begin_anew(now);
        queue_turn();
    }
}

// Since when the driver should have called, or the rest of a turn is in the queue.
std::chrono::nanoseconds core::guarded::overdue(time_count now) const noexcept {
    const bool queued = next_turn_.is_queued();
    if (paused() || stopped() || closing_ || !(queued || alarm_.armed())) {
        return std::chrono::nanoseconds(0);
    }
    const auto late = unit().between(queued ? share_.ended() : alarm_.due(), now);
    // With no wait pending, the driver may be armed for what was cancelled, and nobody waits.
    return late > recent_lateness::allowed && any_wait_pending() ? late
                                                                 : std::chrono::nanoseconds(0);
}

void core::guarded::queue_turn() noexcept {
    next_turn_.queue();
    aborted_before_ = counts_.cancelled();
    if (each_counts() && next_turn_.count()) {
        queue_.work_started();
    }
    out().push_turn();
}

// The first wait of a turn says when others had their time: see turn_share.hpp.
void core::guarded::note_turn_of(const wait_node& wait) noexcept {
    if (share_.awaits(&wait)) {
        share_.come(now());
    }
}

// ---- Stalls

// Whether being so late is a stall. A busy context is known to be late by its delay.
bool core::guarded::is_stall(std::chrono::nanoseconds late) const noexcept {
    return late > share_.delay() && stall_.is_stall(late - share_.delay());
}

// Whether something is held back. Then the driver wakes up at once, and judges the stall.
bool core::guarded::holds_back() const noexcept {
    return stall_.giving_way() && book_.entries().holds();
}

// Whether the wheel, which wakes up late, gives way to what the context finds at its sockets.
bool core::guarded::gives_way(std::chrono::nanoseconds late) noexcept {
    if (paused() || stopped() || closing_) {
        stall_.end();
        return false;
    }
    const bool began = !stall_.giving_way() && is_stall(late);
    if (began) {
        ASIO_WHEEL_PROBE1(stall, late.count());
    }
    return stall_.wake_up(late - share_.delay(), began || stall_.giving_way()
                                                     ? stall_guard::clock::now()
                                                     : stall_guard::clock::time_point());
}

// For how long the handlers of others have kept this wake-up waiting. A driver is a little late
// even if nothing else runs.
std::chrono::nanoseconds core::guarded::busy_until(time_count now) const noexcept {
    const std::chrono::nanoseconds others = share_.until_wake_up(alarm_.due(), now);
    const bool slept =
        others <= (std::max<std::chrono::nanoseconds>)(options_.tick, std::chrono::milliseconds(1));
    return slept ? std::chrono::nanoseconds(0) : others;
}

// While the wheel gives way, the waits of a timer are moved, touched or cancelled, which had this
// expiry until then.
void core::guarded::note_saved(time_count expiry) noexcept {
    if (stall_.giving_way() && book_.was_due(expiry)) {
        stall_.saved();
    }
}

// Nothing is late any more, or no wake-up is going to judge it. The end of the next visit says that
// the wheel does not give way any more.
void core::guarded::forget_late() noexcept {
    behind_ = false;
    filed_late_ = false;
    if (stall_.giving_way()) {
        stall_.end();
    }
}

// Paused time begins or ends, or the clock was set back: time jumps. The next slice visits again
// what was held back. In a visit.
void core::guarded::note_jump(time_count now) noexcept {
    forget_late();
    share_.begin_anew(now);
    book_.release_held();
}

// The wheel does not give way any more, outside of a visit.
void core::guarded::end_stall() noexcept {
    const visit none(core_); // Its end says that owners need not take the lock any more.
}

// The driver is armed anew, because it must not sleep longer than what is filed from now on allows.
bool core::guarded::follow_set_back(time_count now) noexcept {
    const bool set_back = !stopped() && book_.follow_set_back(now);
    if (set_back) {
        alarm_.disarm();
    }
    return set_back;
}

// ---- The driver

// Arms the driver for the next expiry, unless it is armed for that or earlier. Without memory,
// takes turns by way of the context's queue until there is some.
void core::guarded::keep_armed() noexcept {
    // Paused time does not pass by itself, so no wait needs the driver. At its end, a context
    // destroys all waits.
    if (!next_turn_.is_nothing() || closing_ || book_.entries().empty() || become_idle()) {
        return;
    }
    note_busy();
    if (paused()) {
        return;
    }
    const tick_t next = book_.next();
    if (next >= alarm_.armed_for()) {
        return;
    }
    const time_count real = clock_.real();
    if (real == never) {
        return; // The clock has ended, and no time passes any more.
    }
    const time_count now = clock_.corrected(real);
    // If the clock was set back, the tick of what is held back begins now.
    static_cast<void>(follow_set_back(now));
    // While the wheel gives way, the driver comes at once, even if the clock is set back meanwhile.
    const bool at_once = stall_.giving_way() && next <= book_.entries().now();
    const time_count earlier = unit().units_of(share_.delay());
    const time_count time =
        at_once ? before_all : sum_saturating(clock_.real_begin_of(next), -earlier);
    // Or it has passed: then the context is not late, unless that was left out.
    const time_count due =
        (std::max)(clock_.begin_of(next), behind_ ? (std::min)(book_.pass_time(), now) : now);
    if (!arm(next, time, real, due)) {
        forget_late();
        want_turn(now); // A turn is a visit.
    }
}

// As alarm::arm(). The driver's wait does not count as work.
bool core::guarded::arm(tick_t tick, time_count time, time_count real, time_count due) noexcept {
    const bool armed = alarm_.arm(tick, time, real, due);
    if (armed) {
        turn_came_first_ = false;
        queue_.work_finished(); // Not the last work: a wait is pending.
    }
    return armed;
}

// If no wait is pending, disarms the driver: only tombstones are filed. The next wait that starts
// arms it. True if the driver is disarmed.
//
// Called before the driver is armed, and when the last wait may have ended.
bool core::guarded::become_idle() noexcept {
    counts_.forget_ended();
    if (!any_wait_pending()) {
        core_.idle_.store(true, std::memory_order_seq_cst);
        if (!any_wait_pending()) {
            alarm_.disarm();
            const bool gave_way = stall_.giving_way();
            forget_late(); // There is nothing to deliver.
            if (gave_way) {
                end_stall();
            }
            return true;
        }
    }
    // A wait is pending after all. If the driver is not armed, another call may have set the flag,
    // and the thread that has started the wait may have seen it. So the flag stays until that
    // thread has the lock, or the driver is armed.
    if (alarm_.armed()) {
        note_busy();
    }
    return false;
}

// The driver is armed, or will be without another start: soon, or at the end of paused time.
void core::guarded::note_busy() noexcept {
    if (core_.idle_.load(std::memory_order_relaxed)) {
        core_.idle_.store(false, std::memory_order_relaxed);
    }
}

void core::disarm_if_idle() noexcept {
    locked(*this, "running handlers")->become_idle();
}

} // namespace asio_wheel::detail
