// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_TIME_RANDOM_TIME_HPP
#define ASIO_WHEEL_DETAIL_TIME_RANDOM_TIME_HPP

#include <chrono>
#include <cstdint>
#include <random>

namespace asio_wheel::detail {

/// A random time in [0, most), each as likely as any other, and nothing that anybody could repeat;
/// zero if `most` is.
[[nodiscard]] inline std::chrono::nanoseconds random_time(std::chrono::nanoseconds most) {
    if (most <= std::chrono::nanoseconds::zero()) {
        return {};
    }
    thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<std::int64_t> times(0, most.count() - 1);
    return std::chrono::nanoseconds(times(random));
}

} // namespace asio_wheel::detail

#endif
