// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel finds what is due: its wake-ups, the slices of a tick, and the driver. See
// wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_TICK_HPP
#define ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_TICK_HPP

#include <asio_wheel/detail/wheel_core.hpp>

namespace asio_wheel::detail {

// The driver's wake-up number `turn` has come, or was aborted.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_wake_up(std::uint64_t turn) {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    if (driver_.fired(turn)) {
        ++stats_.wake_ups;
        // If the rest of a tick is in the queue, that looks at the clock itself.
        if (!ticking_ && tick() == 0 && !ticking_) {
            ++stats_.spurious_wake_ups;
        }
    }
    run_first(guard, false);
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_rest_of_tick() {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    ticking_ = false;
    const bool counts = std::exchange(rest_counts_, false);
    tick();
    run_first(guard, counts);
}

// Releases the lock. A slice is a handler of the context: it becomes that of the first wait that it
// has made ready, so that n waits are n handlers. The rest of the tick is always a turn of its own:
// it would run inside this one, and the next rest inside that.
//
// The context is going to finish one piece of work for the slice: that of the first wait, or if there
// is none, the slice's own. `counts`: the slice has counted as work from when it was queued.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::run_first(locked& guard, bool counts) {
    if (!ready_.empty() && &ready_.front() != &rest_of_tick_) {
        operation& first = ready_.pop();
        if (counts) {
            queue_.work_finished();
        }
        guard.release();
        first.complete(this, {}, 0);
    } else if (!counts) {
        queue_.work_started();
    }
}

// One slice of a tick; sees to the next one if that was not all, else arms the driver.
// Returns how many waits became due.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::tick() noexcept {
    const slice found = collect(clock_.now());
    if (driver_.armed_for() <= seen_) {
        // What it would wake up for was looked at just now. Its handler may be in the queue already,
        // ahead of what has become due: a slice of its own would overtake that.
        driver_.disarm();
    }
    if (found.more) {
        go_on_ticking();
    } else {
        keep_armed();
    }
    return found.due;
}

// Lets time pass until `now`, and makes ready what is due: in the order of expiry, within one
// slice.
template <class Clock, class WaitTraits>
typename wheel_core<Clock, WaitTraits>::slice
wheel_core<Clock, WaitTraits>::collect(time_point now) noexcept {
    begin_pass();
    static_cast<void>(follow_set_back(now));
    seen_ = tick_at(now);
    pass_time_ = now;
    const visit others(*this);
    const auto [expired, more] = wheel_.advance(seen_, options_.budget, due_);
    in_pass_ = more;
    note_crowd();
    // What is looked at next is fetched before: the timers are at hand, their operations are not.
    auto end = order_.begin();
    for (std::size_t i = 0; i < expired; ++i) {
        auto& s = static_cast<state&>(*due_[i]);
        if (becomes_due(s, now)) {
            s.ops.prefetch();
            *end++ = {s.expiry.get(), &s};
        }
    }
    const auto earlier = [](const due_timer& a, const due_timer& b) { return a.expiry < b.expiry; };
    if (!std::is_sorted(order_.begin(), end, earlier)) {
        std::sort(order_.begin(), end, earlier);
    }
    std::size_t due = 0;
    for (auto it = order_.begin(); it != end; ++it) {
        due += expire(*it->timer, now);
    }
    return {due, more};
}

// Tells the wheel when a timer is due. A tombstone leaves the wheel; nobody knows of it then.
template <class Clock, class WaitTraits>
tick_t wheel_core<Clock, WaitTraits>::query_deadline(void* core, wheel_entry& entry) noexcept {
    const auto& self = *static_cast<const wheel_core*>(core);
    auto& s = static_cast<state&>(entry);
    if (s.visit_life() == timer_life::unknown) {
        return no_tick;
    }
    const time_point expiry = s.expiry.get_in_visit();
    const tick_t deadline = s.deadline(); // For this tick or a later one.
    // Most often nothing has changed, and this needs no division.
    if (expiry <= self.clock_.begin_of(deadline)) {
        return deadline;
    }
    // What is due already need not wait for its tick to begin: see file().
    if (expiry <= self.pass_time_ && deadline >= self.seen_) {
        return deadline;
    }
    return self.clock_.round_up(expiry);
}

// The wheel has handed out a timer. True if it is due now, and its waits with it; else the timer is
// filed again, or nobody waits any more. It is not due if the clock was set back after it was filed,
// or stands in the middle of its tick, or if its owner has just postponed it.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::becomes_due(state& s, time_point now) noexcept {
    const timer_life life = s.visit_life();
    if (life == timer_life::unknown) {
        return false;
    }
    if (!is_due(s.expiry.get_in_visit(), now)) {
        file_again(s);
        return false;
    }
    s.overwrite_life(life, timer_life::due);
    return true;
}

// A timer that the wheel has handed out is to wait on. True if its tick has come, so that it is held
// back.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::file_again(state& s) noexcept {
    const tick_t deadline = clock_.round_up(s.expiry.get());
    if (deadline > wheel_.told()) {
        wheel_.insert(s, deadline);
        ++stats_.cascaded;
        return false;
    }
    wheel_.hold(s);
    return true;
}

// As becomes_due(), for a wheel that ends: true if there are waits, which the owner can reach by the
// lock only from now on.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::take_over(state& s) noexcept {
    const timer_life life = s.visit_life();
    if (life == timer_life::waiting) {
        s.overwrite_life(life, timer_life::guarded);
    }
    return life != timer_life::unknown;
}

// The tick up to which the wheel is looked at. Paused time stands anywhere in a tick: what is due in
// that tick is looked at, too, and expire() compares exactly.
template <class Clock, class WaitTraits>
tick_t wheel_core<Clock, WaitTraits>::tick_at(time_point now) const noexcept {
    return clock_.paused() ? clock_.round_up(now) : clock_.round_down(now);
}

// A pass over what is due may take many slices. What was held back in one pass is looked at again in
// the next.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::begin_pass() noexcept {
    if (!in_pass_) {
        wheel_.release_held();
    }
}

// The end of time never comes.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_due(time_point expiry, time_point now) noexcept {
    return expiry <= now && expiry != time_point::max();
}

// All waits of a timer that has become due. Returns how many they are.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::expire(state& s, time_point now) noexcept {
    const auto late = to_nanoseconds(until_saturating(s.expiry.get(), now));
    s.note(static_cast<std::uint64_t>(late.count()));
    std::size_t due = 0;
    s.ops.for_each([&](wait_op& op) {
        make_ready(op, wait_op::result_state::due);
        ++due;
    });
    return due;
}

// A clock that was set back makes all ticks taken before mean earlier times. What is filed comes up
// too early, and is filed again by expire(); but the driver must not sleep longer than what will be
// filed from now on allows.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::follow_set_back(time_point now) noexcept {
    if (stopped_ || clock_.paused() || !clock_.follow_set_back(now, wheel_.told())) {
        return false;
    }
    driver_.disarm();
    return true;
}

// Sees to it that the driver wakes up early enough. May throw, and then has no effect.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::arm() {
    // Paused time never comes to a deadline by itself, so no wait that starts needs the driver.
    if (ticking_ || wheel_.empty() || become_idle() || clock_.paused()) {
        return;
    }
    // What is held is looked at again when its tick has begun, not at once.
    const tick_t next =
        wheel_.holds() ? std::max(wheel_.next_expiry(), wheel_.told()) : wheel_.next_expiry();
    if (next < driver_.armed_for()) {
        // Some of Asio's conversions overflow for times at the end of a coarse clock's range. A
        // wake-up in a hundred years, or half-way to the end of the clock, does no harm. Half-way is
        // rounded up: a unit before the end it would be now, and the next one, too, and so on.
        const time_point real = Clock::now();
        const duration century = ceil_saturating<duration>(std::chrono::hours(24) * 365 * 100);
        const duration to_end = until_saturating(real, time_point::max());
        const time_point horizon = real + std::min<duration>(century, to_end - to_end / 2);
        driver_.arm(next, std::min(horizon, clock_.real_begin_of(next)),
                    [this](std::uint64_t turn) { on_wake_up(turn); });
        queue_.work_finished(); // Not the last: somebody waits.
    }
}

// As arm(). Without memory for a wake-up, goes on by way of the queue until there is.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::keep_armed() noexcept {
    try {
        arm();
    } catch (...) {
        go_on_ticking();
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::go_on_ticking() noexcept {
    if (!std::exchange(ticking_, true)) {
        ready_.push_visible(rest_of_tick_);
    }
}

// Whether a wait needs the driver, or is in the context's queue.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::somebody_waits() const noexcept {
    return counts_.pending() != due_dispatched_;
}

// If nobody waits, disarms the driver: what is filed are tombstones. The next wait that starts arms
// it. True if the driver is disarmed.
//
// Called by a wake-up, and after a handler of a thread that has ended as many waits as it has started.
// A thread for which that is never so leaves it to the wake-up.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::become_idle() noexcept {
    if (!somebody_waits()) {
        idle_.store(true, std::memory_order_seq_cst);
        if (!somebody_waits()) {
            driver_.disarm();
            return true;
        }
    }
    if (!stopped_ && idle_.load(std::memory_order_relaxed)) {
        idle_.store(false, std::memory_order_relaxed);
    }
    return false;
}

// Whether what operations lie in is most likely far away.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_crowd() noexcept {
    const bool crowded = wheel_.size() > many;
    if (crowded != crowded_.load(std::memory_order_relaxed)) {
        crowded_.store(crowded, std::memory_order_relaxed);
    }
}

} // namespace asio_wheel::detail

#endif
