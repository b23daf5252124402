// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel finds what is due: the driver and its wake-ups, and the slices of a tick. See
// wheel_core.hpp for the ground rules.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TICK_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CORE_TICK_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/service/wheel_core.hpp>

#include <optional>

namespace asio_wheel::detail {

// The driver's wait number `turn` has expired, or was aborted.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_wake_up(std::uint64_t turn) {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    --wake_ups_to_come_;
    const time_point expected = driver_due_;
    if (driver_.fired(turn)) {
        const bool counts = !stall_.giving_way();
        totals_.wake_ups += counts ? 1 : 0;
        bool found_due = true;
        std::optional<time_point> now;
        // If the rest of a tick is in the queue, it will look at the clock.
        if (!ticking_) {
            now = time_to_tick(expected, counts);
            if (!now) {
                keep_armed();
            } else if (tick(*now) == 0 && !ticking_) {
                ++totals_.spurious_wake_ups;
                found_due = false;
            }
        }
        if (counts) {
            // Late wake-ups count when they come. Most often that time is known already.
            const time_point came = now ? *now : clock_.now();
            wake_ups_in_second& second = measured_.get().wake_ups.at(second_of(came));
            ++(found_due ? second.due : second.nothing_due);
        }
    } else {
        ++measured_.get().wake_ups.at(second_of(clock_.now())).moved;
    }
    run_first(guard, each_counts());
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_rest_of_tick() {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    ticking_ = false;
    const bool counts = std::exchange(rest_counts_, false);
    const time_point queued = clock_.begin_of(seen_);
    const std::optional<time_point> now =
        time_to_tick(driver_.armed() ? (std::min)(queued, driver_due_) : queued, false);
    if (now) {
        tick(*now);
    } else {
        keep_armed();
    }
    run_first(guard, counts);
}

// A slice should have come at `expected`. Returns the time of now; nothing if the slice is so late
// that the context has to look at its sockets first. `woken_up`: the driver has called.
template <class Clock, class WaitTraits>
std::optional<typename Clock::time_point>
wheel_core<Clock, WaitTraits>::time_to_tick(time_point expected, bool woken_up) noexcept {
    if (stall_.giving_way()) {
        if (clock_.paused() || stopped_ || closing_) {
            stall_.end();
        } else if (stall_.go_on(stall_guard::clock::now())) {
            return std::nullopt;
        }
        return clock_.now();
    }
    const time_point now = clock_.now();
    const auto late = to_nanoseconds(until_saturating(expected, now));
    if (woken_up) {
        measured_.get().loop_lag.add(late);
        ASIO_WHEEL_PROBE1(wake_up, late.count());
    }
    if (stall_.is_stall(late) && !clock_.paused() && !stopped_ && !closing_) {
        stall_.begin(late, stall_guard::clock::now());
        ASIO_WHEEL_PROBE1(stall, late.count());
        return std::nullopt;
    }
    return now;
}

// Releases the lock. A slice is one handler of the context. It completes the first wait that it
// made ready, so that n waits are n handlers. But it never runs the rest of the tick, which would
// run the next rest inside itself, and so on.
//
// When the slice returns, the context counts one piece of work as finished. That is the work of the
// first wait; or, if there is none, one that is started here. `counts`: the slice has counted as
// work since it was queued.
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

// One slice of a tick. Then queues the next slice if there is one, or arms the driver. Returns how
// many waits became due.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::tick(time_point now) noexcept {
    const slice found = collect(now);
    if (driver_.armed_for() <= seen_) {
        // This slice has done what the driver would wake up for. The driver's handler may already
        // be in the queue, ahead of the waits that became due. It must not run a slice that
        // overtakes them.
        driver_.disarm();
    }
    if (found.more) {
        go_on_ticking();
    } else {
        keep_armed();
    }
    return found.due;
}

// Advances the wheel to `now`, and makes ready what is due: in the order of expiry within the
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
    // The timers are in the cache now, their operations are not: fetch them for the loop after this
    // one.
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
    s.overwrite_life(life, timer_life::due);
    return true;
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
    const auto late = to_nanoseconds(until_saturating(s.expiry.get(), now));
    s.note(static_cast<std::uint64_t>(late.count()));
    ASIO_WHEEL_PROBE2(expire, &s, late.count());
    std::size_t due = 0;
    s.ops.for_each([&](wait_op& op) {
        make_ready(op, wait_op::result_state::due);
        ++due;
    });
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
    if (ticking_ || closing_ || wheel_.empty() || become_idle() || clock_.paused()) {
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
        const time_point horizon = real + (std::min<duration>)(century, to_end - to_end / 2);
        driver_.arm(next, (std::min)(horizon, clock_.real_begin_of(next)),
                    [this](std::uint64_t turn) { on_wake_up(turn); });
        ++wake_ups_to_come_;
        driver_due_ =
            (std::max)(clock_.begin_of(next), clock_.corrected(real)); // Or it has passed.
        queue_.work_finished(); // Not the last work: a wait is pending.
    }
}

// As arm(). Without memory to arm the driver, ticks by way of the context's queue until there is
// some.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::keep_armed() noexcept {
    if (throws([this] { arm(); })) {
        go_on_ticking();
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::go_on_ticking() noexcept {
    if (!std::exchange(ticking_, true)) {
        if (each_counts()) {
            queue_.work_started();
            rest_counts_ = true;
        }
        ready_.push_visible(rest_of_tick_);
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
    if (!any_wait_pending()) {
        idle_.store(true, std::memory_order_seq_cst);
        if (!any_wait_pending()) {
            driver_.disarm();
            stall_.end(); // There is nothing to deliver.
            return true;
        }
    }
    if (!stopped_ && idle_.load(std::memory_order_relaxed)) {
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
