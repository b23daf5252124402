// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_TIME_COARSE_CLOCK_HPP
#define ASIO_WHEEL_DETAIL_TIME_COARSE_CLOCK_HPP

#include <chrono>
#include <ctime>
#include <type_traits>

namespace asio_wheel::detail {

/// Clock::now(), or up to three ticks of the kernel later, for a tenth of the price where the
/// kernel keeps what the clock showed at its last tick.
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
        // What it shows has passed, by up to a tick with most kernels, by up to two with those that
        // account for time in whole ticks only. The third is for ticks that are late themselves.
        static const std::chrono::nanoseconds behind = 3 * read(&::clock_getres);
        if (behind.count() != 0) {
            return typename Clock::time_point(read(&::clock_gettime) + behind);
        }
    }
#endif
    return Clock::now();
}

} // namespace asio_wheel::detail

#endif
