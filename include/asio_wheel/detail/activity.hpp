// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ACTIVITY_HPP
#define ASIO_WHEEL_DETAIL_ACTIVITY_HPP

#include <asio_wheel/detail/coarse_clock.hpp>
#include <asio_wheel/detail/sync.hpp>

#include <atomic>

namespace asio_wheel::detail {

/// When something was last seen to happen, by a wheel's time; never before it did.
template <class Core>
class activity {
public:
    using time_point = typename Core::time_point;

    explicit activity(const Core& core) : core_(core), last_(count_of(core.now())) {}

    /// Any thread may say so at any time.
    void touch() {
        const rep now = count_of(core_.corrected(coarse_now<typename time_point::clock>()));
        // Most often it is the same tick of the kernel still, and nothing is written. Else another
        // thread may have read the clock later, and been faster.
        rep last = last_.load(std::memory_order_relaxed);
        while (last < now && !last_.compare_exchange_weak(last, now, std::memory_order_relaxed)) {
        }
    }

    [[nodiscard]] time_point last() const noexcept {
        return time_point(typename time_point::duration(last_.load(std::memory_order_relaxed)));
    }

private:
    using rep = typename time_point::rep;

    [[nodiscard]] static rep count_of(time_point t) noexcept {
        return t.time_since_epoch().count();
    }

    const Core& core_;
    atomic<rep> last_;
};

} // namespace asio_wheel::detail

#endif
