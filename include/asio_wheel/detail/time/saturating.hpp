// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Arithmetic with durations and time points that never overflows: a result that is out of range
// becomes the nearest value in range. So hours::max() is a valid delay, and means "never".
//
// Durations are rounded to a clock's unit here and nowhere else: up, if a wait must not end early.
// (tick.hpp rounds from a clock's unit to ticks.)

#ifndef ASIO_WHEEL_DETAIL_TIME_SATURATING_HPP
#define ASIO_WHEEL_DETAIL_TIME_SATURATING_HPP

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace asio_wheel::detail {

/// `n`, without its fraction, or the end of the range of `To` if `n` is beyond it.
template <class To, class Number>
[[nodiscard]] constexpr To saturating(Number n) noexcept {
    using from = std::numeric_limits<Number>;
    using to = std::numeric_limits<To>;
    if constexpr (std::is_floating_point_v<Number>) {
        return n >= static_cast<Number>((to::max)())   ? (to::max)()
               : n <= static_cast<Number>((to::min)()) ? (to::min)()
                                                       : static_cast<To>(n);
    } else {
        if constexpr (from::digits > to::digits) {
            if (n > static_cast<Number>((to::max)())) {
                return (to::max)();
            }
        }
        if constexpr (from::is_signed && (!to::is_signed || from::digits > to::digits)) {
            if (n < static_cast<Number>((to::min)())) {
                return (to::min)();
            }
        }
        return static_cast<To>(n);
    }
}

/// round(d), for a result that is in range. The standard library multiplies the number of `d` by
/// the numerator of the units' ratio before it divides, and that product may be out of range. So
/// what is a multiple of the denominator is converted by itself.
template <class To, class Rep, class Period, class Round>
[[nodiscard]] constexpr To round_in_parts(std::chrono::duration<Rep, Period> d,
                                          Round round) noexcept {
    if constexpr (std::is_integral_v<Rep> && std::is_integral_v<typename To::rep>) {
        using ratio = std::ratio_divide<Period, typename To::period>;
        using number = std::common_type_t<Rep, std::intmax_t>;
        constexpr auto num = static_cast<number>(ratio::num);
        constexpr auto den = static_cast<number>(ratio::den);
        const auto n = static_cast<number>(d.count());
        return To(static_cast<typename To::rep>(n / den * num)) +
               round(std::chrono::duration<number, Period>(n % den));
    } else {
        return round(d);
    }
}

/// round(d), or the end of the range of `To` if `d` is beyond it.
template <class To, class Rep, class Period, class Round>
[[nodiscard]] constexpr To round_saturating(std::chrono::duration<Rep, Period> d,
                                            Round round) noexcept {
    if constexpr (std::is_same_v<decltype(d), To>) {
        return d;
    }
    using exact = std::chrono::duration<long double, typename To::period>;
    return exact(d) >= exact((To::max)())   ? (To::max)()
           : exact(d) <= exact((To::min)()) ? (To::min)()
                                            : round_in_parts<To>(d, round);
}

/// `d` in the unit of `To`, rounded up. For a clock that counts in fractions, the standard library
/// would add a whole unit for what is only an error of rounding.
template <class To, class Duration>
[[nodiscard]] constexpr To ceil_to(Duration d) noexcept {
    if constexpr (std::is_floating_point_v<typename To::rep>) {
        const To t = std::chrono::duration_cast<To>(d);
        return t < d ? To(std::nextafter(t.count(), (To::max)().count())) : t;
    } else {
        return std::chrono::ceil<To>(d);
    }
}

/// The same, rounded down.
template <class To, class Duration>
[[nodiscard]] constexpr To floor_to(Duration d) noexcept {
    if constexpr (std::is_floating_point_v<typename To::rep>) {
        const To t = std::chrono::duration_cast<To>(d);
        return t > d ? To(std::nextafter(t.count(), (To::min)().count())) : t;
    } else {
        return std::chrono::floor<To>(d);
    }
}

/// `d` in the unit of `To`, rounded up.
template <class To, class Rep, class Period>
[[nodiscard]] constexpr To ceil_saturating(std::chrono::duration<Rep, Period> d) noexcept {
    return round_saturating<To>(d, [](auto exact) { return ceil_to<To>(exact); });
}

/// A time point of the same clock as `TimePoint`, in another unit.
template <class TimePoint, class Duration>
using time_in = std::chrono::time_point<typename TimePoint::clock, Duration>;

/// `t` in the unit of `To`, rounded up.
template <class To, class Duration>
    requires requires { typename To::clock; }
[[nodiscard]] constexpr To ceil_saturating(time_in<To, Duration> t) noexcept {
    return To(ceil_saturating<typename To::duration>(t.time_since_epoch()));
}

/// `d` in the unit of `To`, rounded down.
template <class To, class Rep, class Period>
[[nodiscard]] constexpr To floor_saturating(std::chrono::duration<Rep, Period> d) noexcept {
    return round_saturating<To>(d, [](auto exact) { return floor_to<To>(exact); });
}

/// `d` in nanoseconds, rounded up.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::nanoseconds
to_nanoseconds(std::chrono::duration<Rep, Period> d) noexcept {
    return ceil_saturating<std::chrono::nanoseconds>(d);
}

/// `a + b`, where `b` is not negative.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::duration<Rep, Period>
add_saturating(std::chrono::duration<Rep, Period> a,
               std::chrono::duration<Rep, Period> b) noexcept {
    return a > a.zero() && b > (a.max)() - a ? (a.max)() : a + b;
}

/// `time + d`, where `d` is rounded up to the unit of `time`.
template <class TimePoint, class Rep, class Period>
    requires requires { typename TimePoint::clock; }
[[nodiscard]] constexpr TimePoint add_saturating(TimePoint time,
                                                 std::chrono::duration<Rep, Period> d) noexcept {
    using duration = typename TimePoint::duration;
    constexpr TimePoint epoch{};
    const duration rounded = ceil_saturating<duration>(d);
    if (rounded > duration::zero() && time > epoch && (TimePoint::max)() - time < rounded) {
        return (TimePoint::max)();
    }
    if (rounded < duration::zero() && time < epoch && (TimePoint::min)() - time > rounded) {
        return (TimePoint::min)();
    }
    return time + rounded;
}

/// `to - from`.
template <class TimePoint>
[[nodiscard]] constexpr typename TimePoint::duration until_saturating(TimePoint from,
                                                                      TimePoint to) noexcept {
    using duration = typename TimePoint::duration;
    const duration a = from.time_since_epoch();
    const duration b = to.time_since_epoch();
    if (a < duration::zero() && b > (duration::max)() + a) {
        return (duration::max)();
    }
    if (a > duration::zero() && b < (duration::min)() + a) {
        return (duration::min)();
    }
    return b - a;
}

/// The same, but zero if `to` is before `from`.
template <class TimePoint>
[[nodiscard]] constexpr typename TimePoint::duration until_or_zero(TimePoint from,
                                                                   TimePoint to) noexcept {
    using duration = typename TimePoint::duration;
    const duration d = until_saturating(from, to);
    return d < duration::zero() ? duration::zero() : d;
}

/// The same for a deadline. The end of the clock's range never comes.
template <class TimePoint>
[[nodiscard]] constexpr std::chrono::nanoseconds remaining_until(TimePoint from,
                                                                 TimePoint to) noexcept {
    return to == (TimePoint::max)() ? (std::chrono::nanoseconds::max)()
                                    : to_nanoseconds(until_or_zero(from, to));
}

} // namespace asio_wheel::detail

#endif
