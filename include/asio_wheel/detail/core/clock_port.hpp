// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Time as the core has it: a number.
//
// It counts units of the wheel's clock since the clock's epoch. A clock's own types are converted
// by those who use the core: expiries are rounded up, and readings of the clock are rounded down.
// So if a reading is not before an expiry here, it is not before it there.

#ifndef ASIO_WHEEL_DETAIL_CORE_CLOCK_PORT_HPP
#define ASIO_WHEEL_DETAIL_CORE_CLOCK_PORT_HPP

#include <asio_wheel/detail/time/saturating.hpp>

#include <chrono>
#include <cstdint>
#include <limits>

namespace asio_wheel::detail {

using time_count = std::int64_t;

/// The end of a clock's range, which never comes.
inline constexpr time_count never = (std::numeric_limits<time_count>::max)();
inline constexpr time_count before_all = (std::numeric_limits<time_count>::min)();

/// `t + d`, or the end of the range.
[[nodiscard]] constexpr time_count sum_saturating(time_count t, time_count d) noexcept {
    return d > 0 && t > never - d ? never : d < 0 && t < before_all - d ? before_all : t + d;
}

/// `b - a`, or the end of the range.
[[nodiscard]] constexpr time_count difference_saturating(time_count a, time_count b) noexcept {
    return a < 0 && b > never + a ? never : a > 0 && b < before_all + a ? before_all : b - a;
}

/// What a wheel knows of its clock.
struct clock_port {
    using nanoseconds = std::chrono::nanoseconds;

    time_count (*now)(); ///< Reads the clock. Any thread may call it.
    time_count tick;     ///< How long a tick is, in units. At least 1.
    bool is_steady;      ///< It is never set.

    /// How long units are, rounded up, and how many are in a time, rounded down. All of these end
    /// at the end of their range. Null if a unit is a nanosecond.
    nanoseconds (*to_nanoseconds)(time_count units) = nullptr;
    time_count (*to_units)(nanoseconds d) = nullptr;
    std::int64_t (*to_seconds)(time_count units) = nullptr; ///< Rounded down.

    /// The time from `a` to `b`, rounded up.
    [[nodiscard]] nanoseconds between(time_count a, time_count b) const noexcept {
        return nanoseconds_of(difference_saturating(a, b));
    }
    [[nodiscard]] nanoseconds nanoseconds_of(time_count units) const noexcept {
        return to_nanoseconds == nullptr ? nanoseconds(units) : to_nanoseconds(units);
    }
    [[nodiscard]] std::int64_t seconds_of(time_count units) const noexcept {
        return to_seconds == nullptr
                   ? floor_saturating<std::chrono::seconds>(nanoseconds(units)).count()
                   : to_seconds(units);
    }
    [[nodiscard]] time_count units_of(nanoseconds d) const noexcept {
        return to_units == nullptr ? d.count() : to_units(d);
    }
};

} // namespace asio_wheel::detail

#endif
