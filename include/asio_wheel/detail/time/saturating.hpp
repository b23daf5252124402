// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Arithmetic with durations and points of time that stops at the end of their range. This is the
// one place where durations are rounded.

#ifndef ASIO_WHEEL_DETAIL_TIME_SATURATING_HPP
#define ASIO_WHEEL_DETAIL_TIME_SATURATING_HPP

#include <chrono>
#include <type_traits>

namespace asio_wheel::detail {

/// `time + d`, or the end of the clock's range that it would pass.
template <class TimePoint>
[[nodiscard]] constexpr TimePoint add_saturating(TimePoint time,
                                                 typename TimePoint::duration d) noexcept {
    using duration = typename TimePoint::duration;
    constexpr TimePoint epoch{};
    if (d > duration::zero() && time > epoch && TimePoint::max() - time < d) {
        return TimePoint::max();
    }
    if (d < duration::zero() && time < epoch && TimePoint::min() - time > d) {
        return TimePoint::min();
    }
    return time + d;
}

/// `to - from`, or the end of the range of durations that it would pass.
template <class TimePoint>
[[nodiscard]] constexpr typename TimePoint::duration until_saturating(TimePoint from,
                                                                      TimePoint to) noexcept {
    using duration = typename TimePoint::duration;
    const duration a = from.time_since_epoch();
    const duration b = to.time_since_epoch();
    if (a < duration::zero() && b > duration::max() + a) {
        return duration::max();
    }
    if (a > duration::zero() && b < duration::min() + a) {
        return duration::min();
    }
    return b - a;
}

/// a + b for durations that are not negative, or the longest one.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::duration<Rep, Period>
add_saturating(std::chrono::duration<Rep, Period> a,
               std::chrono::duration<Rep, Period> b) noexcept {
    return b > a.max() - a ? a.max() : a + b;
}

/// `d` in another unit, rounded up, or the end of the range that it would pass.
template <class To, class Rep, class Period>
[[nodiscard]] constexpr To ceil_saturating(std::chrono::duration<Rep, Period> d) noexcept {
    if constexpr (std::is_same_v<decltype(d), To>) {
        return d;
    }
    using exact = std::chrono::duration<long double, typename To::period>;
    return exact(d) >= exact(To::max())   ? To::max()
           : exact(d) <= exact(To::min()) ? To::min()
                                          : std::chrono::ceil<To>(d);
}

/// As ceil_saturating(), rounded down.
template <class To, class Rep, class Period>
[[nodiscard]] constexpr To floor_saturating(std::chrono::duration<Rep, Period> d) noexcept {
    return -ceil_saturating<To>(-d);
}

/// `d` in nanoseconds, rounded up, or the most of them there can be.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::nanoseconds
to_nanoseconds(std::chrono::duration<Rep, Period> d) noexcept {
    return ceil_saturating<std::chrono::nanoseconds>(d);
}

} // namespace asio_wheel::detail

#endif
