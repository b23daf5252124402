// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel takes its turns in the context: the driver's wake-ups, the slices of a turn, its
// rest, and what a stall changes. See wheel_core.hpp for the ground rules, turn_share.hpp for how
// long a turn is, and stall_guard.hpp for stalls.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TURN_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TURN_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>

namespace asio_wheel::detail {

// The driver's wait number `turn` has expired, or was aborted.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_wake_up(std::uint64_t turn) {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    --wake_ups_to_come_;
    const time_point now = clock_.now();
    operation* first = nullptr;
    if (driver_.fired(turn)) {
        first = wake_up(guard, now);
    } else {
        ++measured_.get().wake_ups.at(second_of(now)).moved;
    }
    run_first(guard, first, each_counts());
}

// The driver's wait has expired. A wake-up by which the wheel goes on giving way does not count.
template <class Clock, class WaitTraits>
operation* wheel_core<Clock, WaitTraits>::wake_up(locked& guard, time_point now) {
    const bool counts = !stall_.giving_way();
    const std::uint64_t nothing_due = totals_.spurious_wake_ups;
    operation* first = nullptr;
    if (rest_ == rest::nothing) { // Otherwise the turn that is queued looks at the clock.
        auto late = to_nanoseconds(until_saturating(driver_due_, now));
        if (late < std::chrono::nanoseconds(0)) {
            share_.come_early(std::exchange(late, std::chrono::nanoseconds(0)));
        }
        if (counts) {
            measured_.get().woke_up(late, to_nanoseconds(now.time_since_epoch()));
            ASIO_WHEEL_PROBE1(wake_up, late.count());
        }
        const std::size_t entries = share_.entries(busy_until(now));
        behind_ = false;
        if (gives_way(late) && !counts && tick_at(now) <= wheel_.now() && now >= pass_time_) {
            keep_armed(); // What has become due since is held back already.
        } else {
            share_.begin_turn(now);
            first = this->turn(guard, now, entries);
            if (first == nullptr && rest_ == rest::nothing && counts && !stall_.giving_way()) {
                ++totals_.spurious_wake_ups;
            }
        }
    }
    if (counts) {
        ++totals_.wake_ups;
        wake_ups_in_second& second = measured_.get().wake_ups.at(second_of(now));
        ++(totals_.spurious_wake_ups == nothing_due ? second.due : second.nothing_due);
    }
    return first;
}

// Whether being so late is a stall. A busy context is known to be late by its delay.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_stall(std::chrono::nanoseconds late) const noexcept {
    return stall_.is_stall(late - share_.delay());
}

// Whether the wheel, which wakes up late, gives way to what the context finds at its sockets.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::gives_way(std::chrono::nanoseconds late) noexcept {
    if (clock_.paused() || stopped_ || closing_) {
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
template <class Clock, class WaitTraits>
std::chrono::nanoseconds wheel_core<Clock, WaitTraits>::busy_until(time_point now) const noexcept {
    const std::chrono::nanoseconds others = share_.until_wake_up(driver_due_, now);
    const bool slept =
        others <= (std::max<std::chrono::nanoseconds>)(options_.tick, std::chrono::milliseconds(1));
    return slept ? std::chrono::nanoseconds(0) : others;
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_rest_of_turn() {
    const handler_scope scope(*this);
    locked guard(*this, "its turn");
    BOOST_ASSERT(rest_ == rest::queued);
    rest_ = rest::nothing;
    const bool counts = std::exchange(rest_counts_, false);
    const time_point now = clock_.now();
    const std::chrono::nanoseconds others = share_.begin_rest(now);
    // If others were busy for long, what has become due meanwhile may be the victim of a stall.
    // Only a wake-up judges that, because it comes after the context has looked at its sockets.
    const time_point judged = (std::min)(now, behind_ ? pass_time_ : share_.ended());
    behind_ = behind_ || stall_.giving_way() || (is_stall(others) && !clock_.paused() && !closing_);
    const time_point until = behind_ ? judged : now;
    share_.begin_turn(now);
    run_first(guard, turn(guard, until, share_.entries(others)), counts);
}

// A turn looks at `entries` or some more, in slices. Between two slices it releases the lock, and
// puts into the queue what the first one has made ready. Then it queues the rest if something is
// left, or arms the driver. Returns the first operation, which the caller completes at the end:
// so n waits are n handlers. Null if nothing became due.
template <class Clock, class WaitTraits>
operation* wheel_core<Clock, WaitTraits>::turn(locked& guard, time_point until,
                                               std::size_t entries) {
    rest_ = rest::running;
    operation* first = nullptr;
    std::size_t looked_at = 0;
    bool more = true;
    bool several = false;
    for (;; several = true) {
        const slice found = collect(until);
        looked_at += found.looked_at;
        more = found.more;
        if (first == nullptr && !ready_.empty()) {
            first = &ready_.pop();
        }
        if (!ready_.empty()) {
            share_.queue(&ready_.front());
        }
        if (!more || looked_at >= entries || must_end_turn()) {
            break;
        }
        guard.post();
    }
    // One slice takes no time, compared with what counts as long.
    share_.end_turn(several ? clock_.now() : share_.began(), looked_at);
    if (driver_.armed_for() <= seen_) {
        // This turn has done what the driver would wake up for. The driver's handler may already be
        // in the queue, ahead of the waits that became due. It must not run a turn that overtakes
        // them.
        driver_.disarm();
    }
    const bool wanted = std::exchange(rest_, rest::nothing) == rest::wanted;
    if (more || wanted || rest_counts_) {
        queue_rest();
    } else {
        if (stall_.giving_way() && !wheel_.holds()) {
            stall_.give_up();
            end_stall();
        }
        keep_armed();
    }
    return first;
}

// Whether a turn ends after this slice, however much is left.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::must_end_turn() const noexcept {
    return clock_.paused() || stopped_ || closing_ || lifetime_->mutex.is_contended();
}

// Releases the lock. A turn is one handler of the context. It completes the first wait that it made
// ready, so that n waits are n handlers. But it never runs the rest, which would run the next rest
// inside itself, and so on.
//
// When the turn returns, the context counts one piece of work as finished. That is the work of the
// first wait; or, if there is none, one that is started here. `counts`: the turn has counted as
// work since it was queued.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::run_first(locked& guard, operation* first, bool counts) {
    if (first != nullptr) {
        if (counts) {
            queue_.work_finished();
        }
        guard.release();
        first->complete(this, {}, 0);
    } else if (!counts) {
        queue_.work_started();
    }
}

// Queues a turn, or lets the one under way queue its rest.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::want_turn(time_point now) noexcept {
    if (rest_ == rest::nothing) {
        share_.begin_anew(now);
        queue_rest();
    } else if (rest_ == rest::running) {
        rest_ = rest::wanted;
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::queue_rest() noexcept {
    BOOST_ASSERT(rest_ == rest::nothing);
    rest_ = rest::queued;
    if (each_counts() && !std::exchange(rest_counts_, true)) {
        queue_.work_started();
    }
    ready_.push_visible(rest_of_turn_);
}

// While the wheel gives way, the waits of a timer are moved, touched or cancelled, which had this
// expiry until then.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_saved(time_point expiry) noexcept {
    if (stall_.giving_way() && is_due(expiry, pass_time_)) {
        stall_.saved();
    }
}

// Paused time begins or ends, or the clock was set back: time jumps. Nothing is late any more, and
// the next pass visits again what was held back. In a visit, whose end says that the wheel does not
// give way any more.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_jump(time_point now) noexcept {
    behind_ = false;
    share_.begin_anew(now);
    if (stall_.giving_way()) {
        stall_.end();
        in_pass_ = false;
    }
}

// The guard has ended a stall outside of a visit.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::end_stall() noexcept {
    const visit none(*this); // Its end says that owners need not take the lock any more.
}

} // namespace asio_wheel::detail

#endif
