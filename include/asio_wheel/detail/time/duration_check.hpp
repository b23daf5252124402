// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Checks of the durations and time points that users pass in. A value that is not allowed throws
// std::invalid_argument. The message says what the value is for, what it is, and what is allowed.
//
// A duration of a floating-point type can be NaN. Converting NaN to an integer is undefined, so it
// must be refused before anything is computed.

#ifndef ASIO_WHEEL_DETAIL_TIME_DURATION_CHECK_HPP
#define ASIO_WHEEL_DETAIL_TIME_DURATION_CHECK_HPP

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/throw_exception.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace asio_wheel::detail {

/// Throws std::invalid_argument if `d` is not a number (NaN).
template <class Rep, class Period>
void throw_if_nan([[maybe_unused]] const char* what,
                  [[maybe_unused]] std::chrono::duration<Rep, Period> d) {
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
        const bool is_number = d <= d.zero() || d >= d.zero(); // NaN compares false to everything.
        if (!is_number) {
            BOOST_THROW_EXCEPTION(std::invalid_argument("asio_wheel: " + std::string(what) +
                                                        " is not a number (NaN)"));
        }
    }
}

/// Returns `d`. Throws std::invalid_argument if it is not a number.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::duration<Rep, Period>
not_nan([[maybe_unused]] const char* what, std::chrono::duration<Rep, Period> d) {
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
        throw_if_nan(what, d);
    }
    return d;
}

/// The same for a time point.
template <class Clock, class Duration>
[[nodiscard]] constexpr std::chrono::time_point<Clock, Duration>
not_nan(const char* what, std::chrono::time_point<Clock, Duration> t) {
    return std::chrono::time_point<Clock, Duration>(not_nan(what, t.time_since_epoch()));
}

/// `d`, rounded up. Throws std::invalid_argument unless `d` is a number greater than zero.
template <class Duration, class Rep, class Period>
[[nodiscard]] Duration positive(const char* what, const std::chrono::duration<Rep, Period>& d) {
    throw_if_nan(what, d);
    if (d <= d.zero()) {
        bad_argument(what, in_ns(to_nanoseconds(d)), "greater than 0 ns");
    }
    return ceil_saturating<Duration>(d);
}

} // namespace asio_wheel::detail

#endif
