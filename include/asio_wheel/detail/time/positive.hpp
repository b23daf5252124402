// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What users may give for a duration. Each of these functions throws std::invalid_argument, which
// names `what` was wrong, or returns what can be converted to ticks.

#ifndef ASIO_WHEEL_DETAIL_TIME_POSITIVE_HPP
#define ASIO_WHEEL_DETAIL_TIME_POSITIVE_HPP

#include <asio_wheel/detail/service/wheel_clock.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace asio_wheel::detail {

/// `d`, which must be a number. It may be infinite, which saturates.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::duration<Rep, Period>
not_nan([[maybe_unused]] const char* what, std::chrono::duration<Rep, Period> d) {
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
        refuse_nan(what, d);
    }
    return d;
}

/// The same for points of time.
template <class Clock, class Duration>
[[nodiscard]] constexpr std::chrono::time_point<Clock, Duration>
not_nan(const char* what, std::chrono::time_point<Clock, Duration> t) {
    return std::chrono::time_point<Clock, Duration>(not_nan(what, t.time_since_epoch()));
}

/// A period, in a clock's units. It must be greater than zero.
template <class Duration, class Rep, class Period>
[[nodiscard]] Duration positive(const char* what, const std::chrono::duration<Rep, Period>& d) {
    refuse_nan(what, d);
    if (d <= d.zero()) {
        throw std::invalid_argument("asio_wheel: " + std::string(what) + " is " +
                                    std::to_string(to_nanoseconds(d).count()) +
                                    " ns, but must be greater than 0 ns");
    }
    return ceil_saturating<Duration>(d);
}

} // namespace asio_wheel::detail

#endif
