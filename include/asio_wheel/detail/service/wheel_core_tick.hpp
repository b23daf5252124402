// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a slice of a turn finds what is due, and how the driver is armed for what is due next. See
// wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TICK_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TICK_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>

#include <optional>

namespace asio_wheel::detail {

// Advances the wheel to `now`, and makes ready what is due: in the order of expiry within the
// slice.
template <class Clock, class WaitTraits>
typename wheel_core<Clock, WaitTraits>::slice
wheel_core<Clock, WaitTraits>::collect(time_point now) noexcept {
    const visit others(*this);
    if (follow_set_back(now)) {
        note_jump(now);
    }
    begin_pass();
    seen_ = tick_at(now);
    pass_time_ = now;
    const auto [expired, more] = wheel_.advance(seen_, options_.budget, due_);
    in_pass_ = more;
    note_crowd();
    // The timers are in the cache now, their operations are not: fetch them for the loop after this
    // one.
    auto end = order_.begin();
    for (std::size_t i = 0; i < expired; ++i) {
        auto& s = static_cast<state&>(*due_[i]);
        if (becomes_due(s, now)) {
            s.ops.prefetch();
            *end++ = {s.expiry.get(), i, &s};
        }
    }
    if (!std::is_sorted(order_.begin(), end)) {
        std::sort(order_.begin(), end);
    }
    std::size_t due = 0;
    for (auto it = order_.begin(); it != end; ++it) {
        due += expire(*it->timer, now);
    }
    return {due, more ? options_.budget : expired, more};
}

// Tells the wheel for which tick to file a timer that it has taken out. A tombstone leaves the
// wheel.
template <class Clock, class WaitTraits>
tick_t wheel_core<Clock, WaitTraits>::query_deadline(void* core, wheel_entry& entry) noexcept {
    auto& self = *static_cast<wheel_core*>(core);
    auto& s = static_cast<state&>(entry);
    if (s.visit_life() == timer_life::unknown) {
        return no_tick;
    }
    self.note_moved(s);
    const time_point expiry = s.expiry.get_in_visit();
    const tick_t deadline = s.deadline(); // The expiry is in this tick or a later one.
    // Most often nothing has changed, and no division is needed.
    if (expiry <= self.clock_.begin_of(deadline)) {
        return deadline;
    }
    // What is due already does not wait for its tick to begin: see file().
    if (expiry <= self.pass_time_ && deadline >= self.seen_) {
        return deadline;
    }
    return self.clock_.round_up(expiry);
}

// The wheel has handed out a timer. True if its waits are due. Otherwise files the timer again, or
// drops a tombstone. A timer is not due if the clock was set back after it was filed, if paused
// time stands in the middle of its tick, or if its owner has just postponed it.
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
    if (holds_back(s)) {
        wheel_.hold(s);
        return false;
    }
    s.overwrite_life(life, timer_life::due);
    return true;
}

// Whether a timer that is due has to wait while the wheel gives way. Its waits may be read, because
// a visit is under way.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::holds_back(const state& s) const noexcept {
    return stall_.giving_way() && guards_io(s.ops.front().kind);
}

// Files a timer again that the wheel has handed out too early. True if its tick has begun already:
// then it is held back.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::file_again(state& s) noexcept {
    const tick_t deadline = clock_.round_up(s.expiry.get());
    note_moved(s);
    if (deadline > wheel_.now()) {
        wheel_.insert(s, deadline);
        ++totals_.cascaded;
        return false;
    }
    wheel_.hold(s);
    return true;
}

// As becomes_due(), for a wheel that ends. True if the timer has waits. From now on its owner needs
// the lock to reach them.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::take_over(state& s) noexcept {
    const timer_life life = s.visit_life();
    if (life == timer_life::waiting) {
        s.overwrite_life(life, timer_life::guarded);
    }
    return life != timer_life::unknown;
}

// The tick to which the wheel is advanced. Paused time may stand in the middle of a tick. Then that
// tick is visited, too, and becomes_due() compares exactly.
template <class Clock, class WaitTraits>
tick_t wheel_core<Clock, WaitTraits>::tick_at(time_point now) const noexcept {
    return clock_.paused() ? clock_.round_up(now) : clock_.round_down(now);
}

// A pass over what is due may take many slices. The next pass visits again what this one has held
// back.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::begin_pass() noexcept {
    if (!in_pass_) {
        wheel_.release_held();
    }
}

// time_point::max() never comes.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_due(time_point expiry, time_point now) noexcept {
    return expiry <= now && expiry != (time_point::max)();
}

// Makes ready all waits of a timer that is due. Returns how many.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::expire(state& s, time_point now) noexcept {
    const auto late = to_nanoseconds(until_or_zero(s.expiry.get(), now)); // Or just postponed.
    s.note(static_cast<std::uint64_t>(late.count()));
    ASIO_WHEEL_PROBE2(expire, &s, late.count());
    std::size_t due = 0;
    s.ops.for_each([&](wait_op& op) {
        make_ready(op, wait_op::result_state::due);
        ++due;
    });
    measured_.get().meter.found_due(due, late, to_nanoseconds(now.time_since_epoch()),
                                    options_.tick);
    return due;
}

// If the clock was set back, moves the origin of ticks, so that ticks never go back. What is filed
// then comes up too early, and becomes_due() files it again. The driver is armed anew, because it
// must not sleep longer than what is filed from now on allows. True if the clock was set back.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::follow_set_back(time_point now) noexcept {
    if (stopped_ || clock_.paused() || !clock_.follow_set_back(now, wheel_.now())) {
        return false;
    }
    driver_.disarm();
    return true;
}

// Arms the driver for the next expiry, unless it is armed for that or earlier. If this throws, it
// has no effect.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::arm() {
    // Paused time does not pass by itself, so no wait needs the driver. At its end, a context
    // destroys all waits.
    if (rest_ != rest::nothing || closing_ || wheel_.empty() || become_idle() || clock_.paused()) {
        return;
    }
    // What is held back is visited again when its tick has begun, not at once.
    const tick_t next =
        wheel_.holds() ? (std::max)(wheel_.next_expiry(), wheel_.now()) : wheel_.next_expiry();
    if (next < driver_.armed_for()) {
        // Some of Asio's conversions overflow for times at the end of a coarse clock's range. A
        // wake-up in a hundred years, or half-way to the end of the clock, does no harm. Half-way
        // is rounded up: a unit before the end it would be now, and the next one, too, and so on.
        const time_point real = Clock::now();
        const duration century = ceil_saturating<duration>(std::chrono::hours(24) * 365 * 100);
        const duration to_end = until_saturating(real, (time_point::max)());
        if (to_end == duration::zero()) {
            return; // The clock has ended, and no time passes any more.
        }
        const time_point horizon = real + (std::min<duration>)(century, to_end - to_end / 2);
        const duration earlier = floor_saturating<duration>(share_.delay());
        driver_.arm(next, (std::min)(horizon, add_saturating(clock_.real_begin_of(next), -earlier)),
                    [this](std::uint64_t turn) { on_wake_up(turn); });
        ++wake_ups_to_come_;
        // Or it has passed: then the context is not late, unless that was left out.
        const time_point now = clock_.corrected(real);
        driver_due_ =
            (std::max)(clock_.begin_of(next), behind_ ? (std::min)(pass_time_, now) : now);
        queue_.work_finished(); // Not the last work: a wait is pending.
    }
}

// As arm(). Without memory to arm the driver, takes turns by way of the context's queue until there
// is some.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::keep_armed() noexcept {
    if (throws([this] { arm(); })) {
        want_turn(clock_.now());
    }
}

// Whether any wait is at its timer or in the context's queue.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::any_wait_pending() const noexcept {
    return counts_.pending() != due_dispatched_;
}

// If no wait is pending, disarms the driver: only tombstones are filed. The next wait that starts
// arms it. True if the driver is disarmed.
//
// Called by each wake-up, and after a handler if its thread has ended as many waits as it has
// started.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::become_idle() noexcept {
    counts_.forget_ended();
    if (!any_wait_pending()) {
        idle_.store(true, std::memory_order_seq_cst);
        if (!any_wait_pending()) {
            driver_.disarm();
            if (stall_.giving_way()) { // There is nothing to deliver.
                stall_.end();
                end_stall();
            }
            return true;
        }
    }
    if (idle_.load(std::memory_order_relaxed)) {
        idle_.store(false, std::memory_order_relaxed);
    }
    return false;
}

// Notes whether operations are most likely out of the caches.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::note_crowd() noexcept {
    const bool crowded = wheel_.size() > many;
    if (crowded != crowded_.load(std::memory_order_relaxed)) {
        crowded_.store(crowded, std::memory_order_relaxed);
    }
}

} // namespace asio_wheel::detail

#endif
