// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A cheap clock for things that happen very often, such as the touch of an idle timer.
//
// Linux stores the time of each kernel tick, and reading the stored time costs a tenth of reading
// the clock. The stored time is behind the clock. What a timer needs is a time that is not behind,
// because a touch that is dated too early would end an idle period too early. So the greatest
// possible lag is added.

#ifndef ASIO_WHEEL_DETAIL_TIME_COARSE_CLOCK_HPP
#define ASIO_WHEEL_DETAIL_TIME_COARSE_CLOCK_HPP

#include <chrono>
#include <ctime>
#include <type_traits>

namespace asio_wheel::detail {

/// Clock::now(), or a time that is later by at most three kernel ticks.
template <class Clock>
[[nodiscard]] typename Clock::time_point coarse_now() {
#if defined(__linux__) && defined(CLOCK_MONOTONIC_COARSE)
    if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>) {
        const auto read = [](auto get) {
            std::timespec t{};
            return get(CLOCK_MONOTONIC_COARSE, &t) == 0
                       ? std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec)
                       : std::chrono::nanoseconds(0);
        };
        // Most kernels lag by up to one tick. Those that account for time in whole ticks only lag
        // by up to two. The third tick allows for ticks that are late themselves.
        static const std::chrono::nanoseconds max_lag = 3 * read(&::clock_getres);
        if (max_lag.count() != 0) {
            return typename Clock::time_point(read(&::clock_gettime) + max_lag);
        }
    }
#endif
    return Clock::now();
}

} // namespace asio_wheel::detail

#endif
