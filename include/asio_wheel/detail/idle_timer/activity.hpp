// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_IDLE_TIMER_ACTIVITY_HPP
#define ASIO_WHEEL_DETAIL_IDLE_TIMER_ACTIVITY_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/coarse_clock.hpp>

#include <atomic>

namespace asio_wheel::detail {

/// When something happened last, by a wheel's time: never before it did.
///
/// No thread may touch an object that is being copied or assigned to.
template <class Core>
class activity {
public:
    using time_point = typename Core::time_point;

    explicit activity(const Core& core) : core_(&core), last_(count_of(core.now())) {}

    activity(const activity& other) noexcept : core_(other.core_), last_(other.load()) {}
    activity& operator=(const activity& other) noexcept {
        if (this != &other) {
            core_ = other.core_;
            last_.store(other.load(), std::memory_order_relaxed);
        }
        return *this;
    }
    ~activity() = default;

    /// It happens now. Called by any thread at any time.
    void touch() {
        if constexpr (time_point::clock::is_steady) {
            const rep now = read();
            // Most often it is the same tick of the kernel still, and nothing is written. Else
            // another thread may have read the clock later, and been faster.
            rep last = last_.load(std::memory_order_relaxed);
            while (last < now &&
                   !last_.compare_exchange_weak(last, now, std::memory_order_relaxed)) {
            }
        } else {
            // The clock is read after what was stored, and what was stored had been read from it.
            // So if it shows less now, it was set back meanwhile, and the less holds. (acq_rel
            // pairs with itself: it keeps the order of these reads on different threads.)
            rep last = last_.load(std::memory_order_acquire);
            rep now = read();
            while (last != now && !last_.compare_exchange_weak(last, now, std::memory_order_acq_rel,
                                                               std::memory_order_acquire)) {
                now = read();
            }
        }
    }

    [[nodiscard]] time_point last() const noexcept {
        return time_point(typename time_point::duration(load()));
    }

private:
    using rep = typename time_point::rep;

    [[nodiscard]] rep read() const {
        return count_of(core_->corrected(coarse_now<typename time_point::clock>()));
    }

    [[nodiscard]] static rep count_of(time_point t) noexcept {
        return t.time_since_epoch().count();
    }

    // The order of reads and writes is of importance to touch() only.
    [[nodiscard]] rep load() const noexcept { return last_.load(std::memory_order_relaxed); }

    const Core* core_;
    atomic<rep> last_;
};

/// On a clock that can be set: until when an operation waits, for other threads to read. If the
/// clock was set back, a touch makes the end of a period earlier, and must move the wait. On a
/// steady clock that does not happen.
template <class Core, bool Steady = Core::time_point::clock::is_steady>
class published_wait_end {
public:
    void set(typename Core::time_point) noexcept {}
    void bring_forward(Core&, typename Core::state&, typename Core::time_point) noexcept {}
};

template <class Core>
class published_wait_end<Core, false> {
public:
    using time_point = typename Core::time_point;

    /// By the owner of the timer, before it waits.
    void set(time_point end) noexcept {
        end_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
    }

    /// By any thread that has touched: moves the wait, if there is one that is for later. If the
    /// owner is just about to begin it, for an end that was right before, it may be missed, but not
    /// by the next touch.
    void bring_forward(Core& core, typename Core::state& timer, time_point end) noexcept {
        if (end.time_since_epoch().count() < end_.load(std::memory_order_relaxed)) {
            core.bring_forward(timer, end);
        }
    }

private:
    using rep = typename time_point::rep;

    atomic<rep> end_{time_point::min().time_since_epoch().count()};
};

} // namespace asio_wheel::detail

#endif
