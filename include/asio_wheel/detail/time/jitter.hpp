// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The random parts of durations: jitter. Many clients that do the same at the same time overload a
// server, and jitter spreads them out.

#ifndef ASIO_WHEEL_DETAIL_TIME_JITTER_HPP
#define ASIO_WHEEL_DETAIL_TIME_JITTER_HPP

#include <asio_wheel/detail/bad_argument.hpp>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <unistd.h>
#endif

namespace asio_wheel::detail {

using jitter_generator = std::minstd_rand;

/// The generator of the calling thread. Each thread has one of its own, with a random seed. So has
/// the child of a fork(): otherwise, all children would draw the same numbers.
[[nodiscard]] inline jitter_generator& this_threads_jitter() {
#if __has_include(<unistd.h>) && !defined(_WIN32)
    const long process = ::getpid();
#else
    const long process = 0;
#endif
    thread_local jitter_generator generator{std::random_device{}()};
    thread_local long seeded_in = process;
    if (seeded_in != process) {
        seeded_in = process;
        generator.seed(std::random_device{}());
    }
    return generator;
}

/// A random time in [0, max), evenly distributed; zero if `max` is zero or less.
[[nodiscard]] inline std::chrono::nanoseconds random_time(std::chrono::nanoseconds max) {
    if (max <= std::chrono::nanoseconds::zero()) {
        return {};
    }
    std::uniform_int_distribution<std::int64_t> times(0, max.count() - 1);
    return std::chrono::nanoseconds(times(this_threads_jitter()));
}

/// A random part of `share`, evenly distributed, and smaller; zero if that is zero.
[[nodiscard]] inline double random_part(double share) {
    return share > 0 ? share * std::uniform_real_distribution<double>()(this_threads_jitter()) : 0;
}

/// `factor` times `d`, but not more than `max`. The product may be too large for a duration.
[[nodiscard]] inline std::chrono::nanoseconds scaled(std::chrono::nanoseconds d, double factor,
                                                     std::chrono::nanoseconds max) noexcept {
    using rep = std::chrono::nanoseconds::rep;
    const double product = static_cast<double>(d.count()) * factor;
    return product < static_cast<double>(max.count())
               ? std::chrono::nanoseconds(static_cast<rep>(product))
               : max;
}

/// A random part of `d`, smaller than `share` of it.
[[nodiscard]] inline std::chrono::nanoseconds random_share(std::chrono::nanoseconds d,
                                                           double share) {
    return random_time(scaled(d, share, d));
}

/// Returns `share`. Throws std::invalid_argument unless it is one: 0 to 1.
inline double require_share(const char* what, double share) {
    const bool is_share = share >= 0 && share <= 1; // False for NaN.
    if (!is_share) {
        bad_argument(what, std::to_string(share), "0 to 1");
    }
    return share;
}

} // namespace asio_wheel::detail

#endif
