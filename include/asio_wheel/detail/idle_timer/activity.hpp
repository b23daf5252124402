// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// When something happened last: the time of the last touch of an idle timer or a heartbeat.
//
// Any thread may touch at any time, without a lock. So the time is one atomic word, and nothing
// else is published with it. It is never before the event: an idle period that is dated too early
// would end too early.
//
//   clock               what touch() does to the word
//   steady              raises it to the present time. Readings of several threads may arrive in
//                       any order; the latest time wins.
//   can be set          sets it to the present time, also if that is earlier: then the clock was
//                       set back. Each reading of the clock comes after the reading that it
//                       replaces, so the last reading wins.
//
// On a clock that can be set, a touch may thus make the end of a period earlier, and a wait that is
// pending for a later time must be moved. For this the owner of the wait publishes its end.

#ifndef ASIO_WHEEL_DETAIL_IDLE_TIMER_ACTIVITY_HPP
#define ASIO_WHEEL_DETAIL_IDLE_TIMER_ACTIVITY_HPP

#include <asio_wheel/detail/core/timer_entry.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/coarse_clock.hpp>
#include <asio_wheel/detail/time/steady.hpp>

#include <atomic>

namespace asio_wheel::detail {

/// The time of the last touch, by the time of a wheel. No thread may touch an object while it is
/// copied or assigned to.
template <class Core>
class activity {
public:
    using time_point = typename Core::time_point;

    explicit activity(const Core& core)
        : wheel_(&core.anchor()), context_(wheel_->context()), last_(count_of(core.now())) {}

    activity(const activity& other) noexcept
        : wheel_(other.wheel_), context_(other.context_), last_(other.load()) {}
    activity& operator=(const activity& other) noexcept {
        if (this != &other) {
            wheel_ = other.wheel_;
            context_ = other.context_;
            last_.store(other.load(), std::memory_order_relaxed);
        }
        return *this;
    }
    ~activity() = default;

    /// Called by any thread when it happens.
    void touch() {
        if constexpr (steady_clock<typename time_point::clock>) {
            const rep now = read();
            // The clock is coarse, so most often the time has not changed and nothing is written.
            // The time may also be later already: then another thread has read the clock later, but
            // has stored its reading earlier.
            rep last = last_.load(std::memory_order_relaxed);
            while (last < now &&
                   !last_.compare_exchange_weak(last, now, std::memory_order_relaxed)) {
            }
        } else {
            // The clock is read after `last` was loaded, and `last` is itself a reading of the
            // clock. So if the clock shows an earlier time now, it was set back in between, and the
            // earlier time is right. (Each acquire pairs with the release of the thread that has
            // stored `last`: that orders the readings of different threads.)
            rep last = last_.load(std::memory_order_acquire);
            rep now = read();
            while (last != now && !last_.compare_exchange_weak(last, now, std::memory_order_acq_rel,
                                                               std::memory_order_acquire)) {
                now = read();
            }
        }
    }

    /// Whether the wheel wants to know of each touch. After a stall it gives way to handlers that
    /// touch what is due: see core::touched().
    [[nodiscard]] bool is_watched() const noexcept { return wheel_->time.wants_touches(); }

    [[nodiscard]] time_point last() const noexcept {
        return time_point(typename time_point::duration(load()));
    }

private:
    using clock = typename time_point::clock;
    using rep = typename time_point::rep;

    [[nodiscard]] rep read() const {
        const time_point real = coarse_now<clock>();
        const bool is_real = wheel_->is_real([this] { return context_; });
        return count_of(is_real ? real : clock_counts<clock>::corrected(wheel_->time, real));
    }

    [[nodiscard]] static rep count_of(time_point t) noexcept {
        return t.time_since_epoch().count();
    }

    // Relaxed: only touch() needs an order.
    [[nodiscard]] rep load() const noexcept { return last_.load(std::memory_order_relaxed); }

    const wheel_anchor* wheel_; // Also after the context's end: then another wheel may have it.
    const void* context_;
    atomic<rep> last_; // Pairs with itself in touch().
};

/// The end of the pending wait, published for threads that touch. Empty for a steady clock, on
/// which a touch never makes the end earlier.
template <class Core, bool Steady = steady_clock<typename Core::time_point::clock>>
class published_wait_end {
public:
    void set(typename Core::time_point) noexcept {}
    void bring_forward(Core&, typename Core::state&, typename Core::time_point) noexcept {}
};

template <class Core>
class published_wait_end<Core, false> {
public:
    using time_point = typename Core::time_point;

    /// Called by the owner of the timer, before it starts a wait.
    void set(time_point end) noexcept {
        end_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
    }

    /// Called by any thread, after a touch: moves the pending wait, if there is one that ends after
    /// `end`. If the owner is just starting a wait, with an end that it computed before the touch,
    /// this may miss the wait. The next touch does not.
    void bring_forward(Core& core, typename Core::state& timer, time_point end) noexcept {
        // A timer that is unknown does not wait. Its core may have ended.
        if (end.time_since_epoch().count() < end_.load(std::memory_order_relaxed) &&
            timer.life() != timer_life::inactive) {
            core.bring_forward(timer, end);
        }
    }

private:
    using rep = typename time_point::rep;

    // Relaxed: it only saves calls of core.bring_forward(), which decides under the wheel's lock.
    atomic<rep> end_{(time_point::min)().time_since_epoch().count()};
};

} // namespace asio_wheel::detail

#endif
