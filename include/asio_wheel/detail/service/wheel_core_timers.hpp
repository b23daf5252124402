// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a timer's owner does: with the wheel's lock, and without it. See wheel_core.hpp for the
// ground rules, timer_entry.hpp for the states of a timer, and timer_state.hpp for what needs no
// lock.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TIMERS_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TIMERS_HPP

#include <asio_wheel/detail/service/wheel_core.hpp>

#include <optional>

namespace asio_wheel::detail {

// Starts a wait.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::schedule(state& s, wait_op& op) noexcept {
    queue_.work_started();
    ASIO_WHEEL_PROBE2(arm, &s, probe_count(s.expiry.get()));
    if (start_unlocked(s, op)) {
        return;
    }
    const locked guard(*this, "async_wait()");
    if (closing_) {
        unwanted_.push_back(op);
        forget_work();
        return;
    }
    if (stopped_) {
        return refuse(op, wait_op::result_state::stopped);
    }
    if (options_.max_pending != 0 && counts_.pending() >= options_.max_pending) {
        return refuse(op, wait_op::result_state::too_many);
    }
    thread_block& counts = counts_.here();
    counts.scheduled();
    const bool due = s.life() == timer_life::due; // Earlier waits for this expiry are.
    if (!due && !s.filed()) {
        file(s);
    } else if (idle_.load(std::memory_order_relaxed)) {
        keep_armed();
    }
    attach(s, op);
    if (due) {
        make_ready(op, wait_op::result_state::due);
    }
    note_peak(counts);
}

// With n threads, each n-th time: the counts of all of them must be read.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_peak(const thread_block& counts) noexcept {
    const std::size_t threads = counts_.size();
    if (++unseen_ >= threads) {
        unseen_ = 0;
        const std::uint64_t pending = threads == 1 ? counts.balance() : counts_.pending();
        totals_.peak_pending = (std::max)(totals_.peak_pending, pending);
    }
}

// Starts a wait on a tombstone. False if the timer is none. After success nothing but the core is
// touched: see try_start(). The wait is counted before, because it may be over at once.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::start_unlocked(state& s, wait_op& op) noexcept {
    if (!lock_free_ || op.link() != nullptr || s.life() != timer_life::tombstone) {
        return false;
    }
    const sole_use use(*this, "async_wait()");
    thread_block& counts = counts_.here();
    counts.scheduled();
    if (!s.try_start(op, options_.locking)) {
        counts.not_scheduled();
        return false;
    }
    if (idle_.load(std::memory_order_seq_cst)) {
        const locked guard(*this, "async_wait()");
        keep_armed();
    }
    return true;
}

// Files a timer by its expiry, or moves it if it is filed. Arms the driver if this is the next
// expiry.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::file(state& s) noexcept {
    const tick_t deadline = clock_.round_up(s.expiry.get());
    remove_dispatched(s);
    if (s.filed()) {
        note_moved(s);
        if (in_pass_ && wheel_.holds()) {
            // It may be held back. Then this pass would not visit it again.
            wheel_.erase(s);
        }
    } else {
        s.seen_by_walk = walk_; // Its wait starts now, or was due until now.
    }
    if (s.filed()) {
        wheel_.reschedule(s, deadline);
    } else {
        wheel_.insert(s, deadline);
        note_crowd();
    }
    if (rest_ != rest::nothing ? s.deadline() != seen_ + 1 : s.deadline() > driver_.armed_for()) {
        return; // The turn under way, the next one, or the driver's wake-up comes in time.
    }
    // This is now the earliest expiry, so read the clock. If it has already passed, queue a turn
    // instead of arming the driver, and do not wait until the timer's own tick begins. But if the
    // driver is overdue because of a stall, its wake-up comes first, and judges the stall.
    const time_point now = clock_.now();
    if (driver_.armed() && is_stall(to_nanoseconds(until_saturating(driver_due_, now)))) {
        return;
    }
    seen_ = tick_at(now);
    if (is_due(s.expiry.get(), now)) {
        if (s.deadline() > seen_) {
            wheel_.reschedule(s, seen_);
        }
        want_turn(now);
        return;
    }
    if (follow_set_back(now)) {
        wheel_.reschedule(s, clock_.round_up(s.expiry.get())); // Ticks mean other times now.
    }
    keep_armed();
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::cancel(state& s) noexcept {
    if (abort_unlocked(s)) {
        return 1;
    }
    return s.life() == timer_life::tombstone ? 0 : abort_all(s, "cancel()", [] {});
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::cancel_one(state& s) noexcept {
    if (abort_unlocked(s)) {
        return 1;
    }
    const locked guard(*this, "cancel_one()");
    const std::size_t aborted = abort_some(s, 1);
    settle_life(s);
    return aborted;
}

// Ends the wait of a timer in the state `waiting`. Null if the timer is in another state.
template <class Clock, class WaitTraits>
wait_op* wheel_core<Clock, WaitTraits>::end_unlocked(state& s) noexcept {
    const visit_count::glance visits(visits_);
    if (!lock_free_ || s.life() != timer_life::waiting) {
        return nullptr;
    }
    const sole_use use(*this, "cancel()");
    const unlocked cancelled = s.try_cancel(visits, options_.locking);
    if (cancelled == unlocked::refused) {
        return nullptr;
    }
    if (cancelled == unlocked::met_visit) {
        const locked guard(*this, "cancel()");
        if (!s.was_cancelled()) {
            return nullptr;
        }
        note_saved(s.expiry.get());
    }
    wait_op& op = s.ops.front();
    s.ops.clear();
    counts_.here().cancelled();
    ASIO_WHEEL_PROBE2(cancel, &s, 1);
    return &op;
}

template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::abort_unlocked(state& s) noexcept {
    wait_op* const op = end_unlocked(s);
    if (op != nullptr) {
        queue_.post(aborted(*op));
    }
    return op != nullptr;
}

// Whether no more than so many waits may be pending, by what the calling thread has counted. A wait
// may have been started by another thread than this one; then only all counts together tell. That
// does not matter if the wheel counts its work by Asio's private functions: an armed driver is no
// work. By public functions it is, and the context would not stop before it wakes up.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::may_be_all(const thread_block& counts,
                                               std::uint64_t waits) const noexcept {
    if constexpr (context_queue::is_public) {
        if (counts_.size() > 1) {
            return true;
        }
    }
    return counts.balance() == waits;
}

// The wait's work can end here if it is not the last, or if a handler of the context is running.
// Otherwise the context might stop before it has begun to run. The last wait of all is aborted by
// way of the context's queue, and its turn disarms the driver.
template <class Clock, class WaitTraits>
wait_op* wheel_core<Clock, WaitTraits>::withdraw(state& s) noexcept {
    if (!may_be_all(counts_.here(), 1) && queue_.running_in_this_thread()) {
        if (wait_op* const op = end_unlocked(s)) {
            queue_.work_finished();
            op->finish_as_aborted();
            return op;
        }
    }
    const locked guard(*this, "the end of an operation with a deadline");
    if (s.ops.empty()) {
        return nullptr;
    }
    wait_op& op = s.ops.front();
    const bool waits =
        op.where() == wait_op::location::timer && op.result == wait_op::result_state::waiting;
    if (!waits || counts_.pending() - due_dispatched_ <= 1) {
        abort(op);
        return nullptr;
    }
    note_saved(s.expiry.get());
    detach_and_unfile(op);
    counts_.here().cancelled();
    ASIO_WHEEL_PROBE2(cancel, &s, 1);
    queue_.work_finished();
    op.finish_as_aborted();
    return &op;
}

template <class Clock, class WaitTraits>
spare_timer* wheel_core<Clock, WaitTraits>::take_spare() noexcept {
    spare_timers* const spares = counts_.here().spares();
    spare_timer* const mine = spares != nullptr ? spares->take() : nullptr;
    return mine != nullptr ? mine : counts_.take_left();
}

template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::keep_spare(spare_timer& t) noexcept {
    spare_timers* const spares = counts_.here().spares();
    return spares != nullptr && spares->keep(t);
}

// What goes into the queue for a wait that was aborted. Among very many timers the operation is not
// in the caches, and fetching it would be half of the cost of moving a timeout. Then a proxy goes
// into the queue, if there is memory for one, and the operation is fetched meanwhile.
template <class Clock, class WaitTraits>
operation& wheel_core<Clock, WaitTraits>::aborted(wait_op& op) noexcept {
    if (crowded_.load(std::memory_order_relaxed)) {
        if (queue_proxy* const proxy = queue_proxy::make(op, queue_proxy::kind::abort)) {
            detail::prefetch(&op);
            return *proxy;
        }
    }
    op.finish_as_aborted();
    return op;
}

// Aborts the waits for the old expiry. A timer that is filed early enough stays filed. The wait
// that ends without the lock is posted last: its handler may destroy the timer.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::set_expiry(state& s, time_point expiry) noexcept {
    wait_op* const ended = end_unlocked(s);
    std::size_t count = ended != nullptr ? 1 : 0;
    if (lock_free_ && s.life() == timer_life::tombstone && is_filed_for(s, expiry)) {
        s.expiry.set(expiry);
    } else {
        count += abort_all(s, "expires_at()", [&] { set_idle_expiry(s, expiry); });
    }
    if (ended != nullptr) {
        queue_.post(aborted(*ended));
    }
    return count;
}

// Whether a tombstone is filed early enough for a new expiry. No visit files it for another tick,
// and earlier visits have ended.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_filed_for(const state& s, time_point expiry) const noexcept {
    if (expiry >= s.expiry.get()) {
        return true;
    }
    if constexpr (steady_clock<Clock>) { // Otherwise the origin of ticks may change.
        return expiry > clock_.begin_of(s.deadline());
    }
    return false;
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::postpone(state& s, time_point expiry) noexcept {
    const visit_count::glance visits(visits_);
    std::optional<time_point> before; // The old expiry, if the new one was set without the lock.
    if (lock_free_ && s.life() == timer_life::waiting) {
        before = s.expiry.get();
        const sole_use use(*this, "postpone()");
        if (s.try_postpone(expiry, visits, options_.locking) == unlocked::done) {
            counts_.here().postponed(1);
            ASIO_WHEEL_PROBE2(postpone, &s, probe_count(expiry));
            return 1;
        }
    }
    const locked guard(*this, "postpone()");
    if (s.ops.empty()) {
        set_idle_expiry(s, expiry);
        settle_life(s);
        return 0;
    }
    note_saved(before.value_or(s.expiry.get()));
    s.expiry.set(expiry);
    // After drain(), what is due cannot wait again.
    return stopped_ ? 0 : refile(s);
}

// Sets the expiry of a timer without waits. If the timer is filed too late for it, files it again.
// But if the driver would have to wake up earlier, only takes it out: a wait that starts files it
// and arms the driver.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::set_idle_expiry(state& s, time_point expiry) noexcept {
    if (s.filed() && expiry < s.expiry.get()) {
        const tick_t deadline = clock_.round_up(expiry);
        if (deadline > driver_.armed_for()) {
            wheel_.reschedule(s, deadline);
        } else {
            wheel_.erase(s);
        }
    }
    s.expiry.set(expiry);
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::bring_forward(state& s, time_point expiry) noexcept {
    const locked guard(*this, "scale()");
    const visit others(*this);
    for (;;) {
        const timer_life life = s.life_in_visit();
        const time_point present = s.expiry.get_in_visit();
        if ((life != timer_life::waiting && life != timer_life::guarded) || present <= expiry) {
            return;
        }
        if (s.expiry.change(present, expiry)) {
            counts_.here().postponed(1);
            ASIO_WHEEL_PROBE2(postpone, &s, probe_count(expiry));
            file(s);
            return;
        }
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::touched(state& s) noexcept {
    const locked guard(*this, "touch()");
    const timer_life life = s.life_in_visit();
    if (life == timer_life::waiting || life == timer_life::guarded) {
        note_saved(s.expiry.get());
    }
}

// The expiry of a timer has changed: its waits go on waiting, for the new one. Returns how many
// waits.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::refile(state& s) noexcept {
    const bool due = s.life() == timer_life::due; // But no wait was claimed yet.
    if (due) {
        s.ops.for_each([this](wait_op& op) { take_back(op); });
    }
    const std::size_t moved = s.ops.size();
    counts_.here().postponed(moved);
    ASIO_WHEEL_PROBE2(postpone, &s, probe_count(s.expiry.get()));
    file(s);
    if (due) {
        s.set_life(timer_life::guarded);
    }
    return moved;
}

// Puts `to`, whose state is `unknown`, in the place of `from`.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::move(state& from, state& to) noexcept {
    const locked guard(*this, "moving a timer");
    to.expiry.set(from.expiry.get());
    to.note(from.note());
    to.seen_by_walk = from.seen_by_walk;
    wheel_.replace(from, to);
    to.ops.swap(from.ops);
    to.ops.for_each([&to](wait_op& op) { op.owner = &to; });
    if (from.listed) {
        add_dispatched(to);
        remove_dispatched(from);
    }
    to.take_life(from);
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::remove(state& s) noexcept {
    abort_all(s, "the end of a timer", [&] { unfile(s); });
}

// Aborts all waits of a timer, in slices. Then calls finish() under the lock. By the timer's owner.
template <class Clock, class WaitTraits>
template <class Finish>
std::size_t wheel_core<Clock, WaitTraits>::abort_all(state& s, const char* purpose,
                                                     Finish finish) noexcept {
    std::size_t aborted = 0;
    for (;;) {
        const locked guard(*this, purpose);
        aborted += abort_some(s, options_.budget);
        if (s.ops.empty()) {
            finish();
            settle_life(s);
            return aborted;
        }
    }
}

} // namespace asio_wheel::detail

#endif
