// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How due and aborted operations get from a wheel to their handlers. See wheel_core.hpp for the
// ground rules.

#ifndef ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_DELIVERY_HPP
#define ASIO_WHEEL_DETAIL_IMPL_WHEEL_CORE_DELIVERY_HPP

#include <asio_wheel/detail/wheel_core.hpp>

namespace asio_wheel::detail {

// The driver's wake-up number `turn` has come, or was aborted.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_wake_up(std::uint64_t turn) {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    if (!driver_.fired(turn)) {
        return;
    }
    ++stats_.wake_ups;
    if (ticking_) {
        return; // The rest of a tick is in the queue, and looks at the clock itself.
    }
    if (tick() == 0 && !ticking_) {
        ++stats_.spurious_wake_ups;
    }
    run_first(guard);
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_rest_of_tick() {
    const handler_scope scope(*this);
    locked guard(*this, "its wake-up");
    ticking_ = false;
    tick();
    run_first(guard);
}

// Releases the lock. A slice is a handler of the context: it becomes that of the first wait that it
// has made ready, so that n waits are n handlers. The rest of the tick is always a turn of its own:
// it would run inside this one, and the next rest inside that.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::run_first(locked& guard) {
    if (!ready_.empty() && &ready_.front() != &rest_of_tick_) {
        operation& first = ready_.pop();
        guard.release();
        first.complete(this, {}, 0);
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
    const auto [expired, more] = wheel_.advance(seen_, options_.budget, due_);
    in_pass_ = more;
    // What is looked at next is fetched before: the timers are at hand, their operations are not.
    for (std::size_t i = 0; i < expired; ++i) {
        auto& s = static_cast<state&>(*due_[i]);
        s.ops.prefetch();
        order_[i] = {s.expiry, &s};
    }
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(expired);
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
    unpark();
    if (!in_pass_) {
        wheel_.release_held();
    }
}

// The end of time never comes.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_due(const state& s, time_point now) noexcept {
    return s.expiry <= now && s.expiry != time_point::max();
}

// The wheel says that it is due. It is not, if the clock was set back after it was filed, or stands
// in the middle of its tick.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::expire(state& s, time_point now) noexcept {
    if (!is_due(s, now)) {
        const tick_t deadline = clock_.round_up(s.expiry);
        if (deadline > wheel_.told()) {
            wheel_.insert(s, deadline);
        } else {
            wheel_.hold(s);
        }
        return 0;
    }
    s.note(static_cast<std::uint64_t>(to_nanoseconds(until_saturating(s.expiry, now)).count()));
    std::size_t due = 0;
    s.ops.for_each([&](wait_op& op) {
        make_ready(op, wait_op::outcome::due);
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

// Decides how an operation ends: one that is attached, or was until now.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::make_ready(wait_op& op, wait_op::outcome how) noexcept {
    const bool waited = std::exchange(op.how, how) == wait_op::outcome::waiting;
    switch (op.way) {
    case wait_op::flight::none:
        if (how == wait_op::outcome::due) {
            op.owner->ops.unplain();
            op.way = wait_op::flight::queued;
            op.places = 1;
            ready_.push_visible(op);
        } else {
            count(-1);
            send_decided(op);
        }
        break;
    case wait_op::flight::queued:
        if (waited && how == wait_op::outcome::due && op.places < max_places) {
            // Without memory it keeps its old place, and is early in the order.
            if (place* const further = place::make(op, place::purpose::deliver)) {
                ++op.places;
                ready_.push_visible(*further);
            }
        }
        break;
    case wait_op::flight::hopping:
        if (waited) {
            count(-1);
            settle(); // Nothing comes by the context that would.
        }
        if (how == wait_op::outcome::due) {
            list(*op.owner);
        }
        break;
    case wait_op::flight::decided:
        break;
    }
}

// Puts an operation into the queue that nobody else knows of any more.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::send_decided(wait_op& op) noexcept {
    op.way = wait_op::flight::decided;
    op.places = 1;
    send_decided(op, op);
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::send_decided(operation& at, const wait_op& op) noexcept {
    ready_.push(at);
    last_decided_.store(&op, std::memory_order_relaxed);
    decided_.store(decided_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_last(const wait_op& op) const noexcept {
    return last_decided_.load(std::memory_order_relaxed) == &op;
}

// Lets a due operation wait again. If it is in the queue it stays there, and its turn finds it
// waiting.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::take_back(wait_op& op) noexcept {
    op.how = wait_op::outcome::waiting;
    if (op.way == wait_op::flight::hopping) {
        count(+1);
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::refuse(wait_op& op, wait_op::outcome why) noexcept {
    ++stats_.rejected;
    cut(op);
    op.how = why;
    send_decided(op);
}

// An operation has come to the front of the context's queue, and is not decided. True if it is the
// caller's now.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::claim(wait_op& op) noexcept {
    const locked guard(*this, "running handlers");
    if (!is_its_turn(op)) {
        return false;
    }
    count(-1);
    take(op);
    return true;
}

// As above, for an operation that goes to its handler's executor next. True if it is to be sent.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::hop(wait_op& op) noexcept {
    const locked guard(*this, "running handlers");
    if (op.way == wait_op::flight::queued) {
        if (!is_its_turn(op)) {
            return false;
        }
        count(-1);
        if (op.owner != nullptr) { // Else it was aborted in the queue.
            list(*op.owner);
        }
    }
    op.way = wait_op::flight::hopping;
    return true;
}

// There is no memory to send an operation with. It goes to the end of the queue, to try again.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::send_later(wait_op& op) noexcept {
    const locked guard(*this, "running handlers");
    switch (op.how) {
    case wait_op::outcome::waiting:
        op.way = wait_op::flight::none; // It was postponed meanwhile.
        break;
    case wait_op::outcome::due:
        op.way = wait_op::flight::queued;
        op.places = 1;
        count(+1);
        ready_.push_visible(op);
        break;
    default:
        send_decided(op);
    }
}

// Takes one of its places from an operation. True if that was the last, and it is to be delivered.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::is_its_turn(wait_op& op) noexcept {
    if (--op.places == 0 && op.how == wait_op::outcome::waiting) {
        op.way = wait_op::flight::none; // It was taken back, and is at home now.
    }
    return op.places == 0 && op.how != wait_op::outcome::waiting;
}

// Takes an operation that is not waiting out of everything, for delivery: it is the caller's alone.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::take(wait_op& op) noexcept {
    if (op.owner != nullptr) {
        timer_entry& entry = *op.owner;
        ++stats_.fired;
        stats_.lateness.add(std::chrono::nanoseconds(entry.note())); // As expire() has noted it.
        detach(op);
        relink(entry);
    }
}

// An operation is to be destroyed without being called. True if it is the caller's now.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::forget(wait_op& op) noexcept {
    if (op.way == wait_op::flight::decided) {
        return true;
    }
    const locked guard(*this, "destroying a wait");
    if (op.places > 1) {
        --op.places;
        return false;
    }
    const bool alive = op.way == wait_op::flight::queued ||
                       (op.owner != nullptr && op.how == wait_op::outcome::waiting);
    if (op.owner != nullptr) {
        leave(op);
    } else {
        cut(op);
    }
    if (alive && !closing_) {
        count(-1);
        settle();
    }
    return true;
}

// An operation has reached its handler's executor.
template <class Clock, class WaitTraits>
typename wheel_core<Clock, WaitTraits>::arrival
wheel_core<Clock, WaitTraits>::arrive(const lifetime_ptr<wheel_core>& lifetime,
                                      wait_op& op) noexcept {
    lifetime->mutex.lock("a handler on another executor");
    const std::lock_guard<optional_mutex> lock(lifetime->mutex, std::adopt_lock);
    switch (op.how) {
    case wait_op::outcome::waiting:
        op.way = wait_op::flight::none;
        return arrival::waits;
    case wait_op::outcome::dropped:
        return arrival::dropped;
    default:
        if (op.owner != nullptr) { // Else it was aborted, or the core has ended.
            lifetime->core->take(op);
        }
        return arrival::claimed;
    }
}

// The executor of an operation's handler has dropped the operation, for its context has ended. The
// caller destroys it, without the lock: the core may have ended by then.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::abandon(const lifetime_ptr<wheel_core>& lifetime,
                                            wait_op& op) noexcept {
    lifetime->mutex.lock("the end of another context");
    const std::lock_guard<optional_mutex> lock(lifetime->mutex, std::adopt_lock);
    if (op.owner == nullptr) {
        return;
    }
    wheel_core& core = *lifetime->core;
    const bool waited = op.how == wait_op::outcome::waiting;
    core.leave(op);
    if (waited && !core.closing_) {
        core.count(-1);
        core.settle();
    }
}

// Sees to it that the driver wakes up early enough. May throw, and then has no effect.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::arm() {
    unpark();
    if (ticking_ || wheel_.empty()) {
        return;
    }
    // Paused time never comes to a deadline by itself, but whoever waits keeps the context running.
    const bool paused = clock_.paused();
    // What is held is looked at again when its tick has begun, not at once.
    const tick_t next = paused           ? last_tick
                        : wheel_.holds() ? std::max(wheel_.next_expiry(), wheel_.told())
                                         : wheel_.next_expiry();
    if (next < driver_.armed_for()) {
        // Some of Asio's conversions overflow for times at the end of a coarse clock's range. A
        // wake-up in a hundred years, or half-way to the end of the clock, does no harm. Half-way is
        // rounded up: a unit before the end it would be now, and the next one, too, and so on.
        const time_point real = Clock::now();
        const duration century = ceil_saturating<duration>(std::chrono::hours(24) * 365 * 100);
        const duration to_end = until_saturating(real, time_point::max());
        const time_point horizon = real + std::min<duration>(century, to_end - to_end / 2);
        driver_.arm(next, paused ? horizon : std::min(horizon, clock_.real_begin_of(next)),
                    [this](std::uint64_t turn) { on_wake_up(turn); });
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

// Lets the context run out of work when there is none.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::settle() noexcept {
    if (alive_.load(std::memory_order_relaxed) == 0) {
        driver_.disarm();
    }
}

// Releases the lock, and puts what is ready into the context's queue.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::flush(std::unique_lock<optional_mutex>& lock) noexcept {
    operation_batch ready(std::move(ready_));
    queue_.announce();
    lock.unlock();
    queue_.post(ready);
}

} // namespace asio_wheel::detail

#endif
