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
    const settle_later settling(*this);
    locked guard(*this);
    if (driver_.fired(turn)) {
        ++stats_.wake_ups;
        if (tick() == 0 && !ticking_) {
            ++stats_.spurious_wake_ups;
        }
        // This function is one of the context's handlers: let it be the first one's.
        if (owed_tokens_ != 0) {
            --owed_tokens_;
            complete_first(guard);
        }
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::on_token(typename pool::block& memory, purpose why) {
    const settle_later settling(*this);
    locked guard(*this);
    tokens_.give_back(memory);
    if (why == purpose::tick) {
        tick();
        if (owed_tokens_ == 0) {
            return;
        }
        --owed_tokens_;
    }
    complete_first(guard);
}

// One slice of a tick; owes a token for the next one if that was not all, else arms the driver.
// Returns how many waits became due.
template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::tick() noexcept {
    const slice found = collect(clock_.now());
    ticking_ = false;
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
    unpark();
    static_cast<void>(follow_set_back(now));
    seen_ = clock_.round_down(now);
    const auto [expired, more] = wheel_.advance(seen_, options_.budget, due_);
    const auto end = due_.begin() + static_cast<std::ptrdiff_t>(expired);
    const auto earlier = [](const wheel_entry* a, const wheel_entry* b) {
        return static_cast<const state*>(a)->expiry < static_cast<const state*>(b)->expiry;
    };
    if (!std::is_sorted(due_.begin(), end, earlier)) {
        std::sort(due_.begin(), end, earlier);
    }
    std::size_t due = 0;
    for (auto it = due_.begin(); it != end; ++it) {
        due += expire(static_cast<state&>(**it), now);
    }
    return {due, more};
}

template <class Clock, class WaitTraits>
std::size_t wheel_core<Clock, WaitTraits>::expire(state& s, time_point now) noexcept {
    if constexpr (!Clock::is_steady) {
        if (s.expiry > now) { // The clock was set back after it was filed.
            wheel_.insert(s, clock_.round_up(s.expiry));
            return 0;
        }
    }
    const std::chrono::nanoseconds late = to_nanoseconds(until_saturating(s.expiry, now));
    std::size_t due = 0;
    for (wait_op& op : s.ops) {
        stats_.lateness.add(late);
        make_ready(op, wait_op::outcome::due);
        ++due;
    }
    return due;
}

// A clock that was set back makes all ticks taken before mean earlier times. What is filed comes up
// too early, and is filed again by expire(); but the driver must not sleep longer than what will be
// filed from now on allows.
template <class Clock, class WaitTraits>
bool wheel_core<Clock, WaitTraits>::follow_set_back(time_point now) noexcept {
    if (stopped_ || !clock_.follow_set_back(now, wheel_.told())) {
        return false;
    }
    driver_.disarm();
    return true;
}

// Decides how an operation ends. Invariant: there are as many tokens, posted or owed, as there are
// operations in the ready queue, and spare ones.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::make_ready(wait_op& op, wait_op::outcome how) noexcept {
    if (op.how == wait_op::outcome::waiting && op.way == wait_op::flight::hopping) {
        count(-1); // See count().
        settle();
    }
    op.how = how;
    if (op.way == wait_op::flight::none) {
        op.way = wait_op::flight::queued;
        ready_.push_back(op);
        if (spare_tokens_ != 0) {
            --spare_tokens_;
        } else {
            ++owed_tokens_;
        }
    }
}

// Lets a due operation wait again.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::take_back(wait_op& op) noexcept {
    op.how = wait_op::outcome::waiting;
    if (op.way == wait_op::flight::queued) {
        op.way = wait_op::flight::none;
        ready_.erase(ready_.iterator_to(op));
        ++spare_tokens_;
    } else {
        count(+1); // Its ticket will find it waiting. See count().
    }
}

template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::refuse(wait_op& op, wait_op::outcome why) noexcept {
    ++stats_.rejected;
    count(+1);
    make_ready(op, why);
}

// What a token does. Releases the lock before it calls anybody.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::complete_first(locked& guard) {
    if (ready_.empty()) {
        --spare_tokens_;
        return;
    }
    wait_op& op = ready_.front();
    ready_.pop_front();
    if (op.hops) {
        hop(guard, op);
    } else {
        claim(op);
        const boost::system::error_code result = op.result();
        guard.release();
        op.complete(result);
    }
}

// Takes an operation in order to complete it.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::claim(wait_op& op) noexcept {
    if (op.how == wait_op::outcome::due) {
        ++stats_.fired;
    }
    take(op);
}

// Takes an operation, decided or not, out of everything: it is the caller's alone.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::take(wait_op& op) noexcept {
    if (timer_entry* const entry = op.owner) {
        detach(op);
        entry->relink();
    }
    if (op.cancel != nullptr) {
        op.cancel->op.store(nullptr,
                            std::memory_order_release); // Pairs with unbind() and cancel().
    }
    if (op.way == wait_op::flight::queued) {
        count(-1);
    }
}

// Sends an operation to its handler's executor.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::hop(locked& guard, wait_op& op) {
    op.way = wait_op::flight::hopping;
    hopping_.push_back(op);
    count(-1);
    guard.release();
    static_cast<hopping_op_base<ticket_type>&>(op).send(ticket_type(gate_, *this, op));
}

// A ticket has reached the executor of its operation's handler. The service may be gone, and the
// context with it.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::arrive(gate& door, wait_op& op) {
    std::unique_lock<optional_mutex> lock(door.mutex);
    if (door.closed) {
        return; // And the operation was destroyed.
    }
    hopping_.erase(hopping_.iterator_to(op));
    if (op.how == wait_op::outcome::waiting) {
        op.way = wait_op::flight::none;
        return;
    }
    claim(op);
    const boost::system::error_code result = op.result();
    lock.unlock();
    op.complete(result);
}

// A ticket was dropped by its executor, whose context has ended.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::abandon(gate& door, wait_op& op) noexcept {
    std::unique_lock<optional_mutex> lock(door.mutex);
    if (door.closed) {
        return;
    }
    hopping_.erase(hopping_.iterator_to(op));
    if (timer_entry* const entry = op.owner;
        entry != nullptr && entry->ops.begin() == entry->ops.last()) {
        unfile(*entry);
    }
    if (op.how == wait_op::outcome::waiting) {
        count(-1);
        settle();
    }
    take(op);
    lock.unlock();
    op.destroy();
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
    const tick_t next = paused ? last_tick : wheel_.next_expiry();
    if (next < driver_.armed_for()) {
        // Some of Asio's conversions overflow for times at the end of a coarse clock's range. Nobody
        // minds a wake-up once in a hundred years.
        const time_point horizon = add_saturating(
            Clock::now(), std::chrono::duration_cast<duration>(std::chrono::hours(24) * 365 * 100));
        driver_.arm(next, paused ? horizon : std::min(horizon, clock_.real_begin_of(next)),
                    [this](std::uint64_t turn) { on_wake_up(turn); });
    }
}

// As arm(), where there is nobody to tell of a failure: without memory for a wake-up, goes on by
// tokens until there is.
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
    ticking_ = true;
    owed_tick_ = true;
}

// Lets the context run out of work when there is none.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::settle() noexcept {
    if (alive_.load(std::memory_order_relaxed) == 0) {
        driver_.disarm();
        work_.release();
    }
}

// Releases the lock, and posts a token for each one owed. Those there is no memory for stay owed.
template <class Clock, class WaitTraits>
void wheel_core<Clock, WaitTraits>::post_owed(std::unique_lock<optional_mutex>& lock) noexcept {
    if (owed_tokens_ == 0 && !owed_tick_) {
        lock.unlock();
        return;
    }
    typename pool::batch tokens;
    try {
        for (; owed_tokens_ != 0; --owed_tokens_) {
            tokens_.take(tokens, purpose::deliver);
        }
        if (owed_tick_) {
            tokens_.take(tokens, purpose::tick);
            owed_tick_ = false;
        }
    } catch (...) {
    }
    const native_executor native = native_;
    try {
        if (native.index() == 0) {
            // A context of a kind unknown: whatever it is, it completes waits. Under the lock,
            // which guards the courier.
            pool::post(tokens, [this](auto token) { courier_.async_wait(token); });
            lock.unlock();
        } else {
            lock.unlock();
            pool::post(tokens, typename pool::submit_to_native{native});
        }
    } catch (...) {
        if (!lock.owns_lock()) {
            lock.lock();
        }
        while (!tokens.empty()) {
            const auto [memory, why] = pool::take_back(tokens);
            why == purpose::deliver ? static_cast<void>(++owed_tokens_)
                                    : static_cast<void>(owed_tick_ = true);
            tokens_.give_back(*memory);
        }
        lock.unlock();
    }
}

} // namespace asio_wheel::detail

#endif
