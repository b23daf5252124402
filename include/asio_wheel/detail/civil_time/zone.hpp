// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Time zones: those of std::chrono and of Howard Hinnant's date, and our own. All of them answer
// one question: what is the offset from UTC at this time, and how long is it the same?

#ifndef ASIO_WHEEL_DETAIL_CIVIL_TIME_ZONE_HPP
#define ASIO_WHEEL_DETAIL_CIVIL_TIME_ZONE_HPP

#include <asio_wheel/detail/time/saturating.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <ctime>
#include <type_traits>

namespace asio_wheel {

/// A period in which the offset of a zone is the same: what get_info() of a zone returns. The next
/// period may have this offset, too.
struct zone_period {
    std::chrono::sys_seconds begin; ///< The first second; min() if there is none.
    std::chrono::sys_seconds end; ///< The first second of the next period; max() if there is none.
    std::chrono::seconds offset;  ///< What the zone's clock shows is so much later than UTC.
};

namespace detail {

template <class Zone>
concept has_zone_periods = requires(const Zone& zone, std::chrono::sys_seconds t) {
    { zone.get_info(t).begin } -> std::convertible_to<std::chrono::sys_seconds>;
    { zone.get_info(t).end } -> std::convertible_to<std::chrono::sys_seconds>;
    { zone.get_info(t).offset } -> std::convertible_to<std::chrono::seconds>;
};

template <class Zone>
concept points_to_zone_periods =
    requires(const Zone& zone) { requires has_zone_periods<std::remove_cvref_t<decltype(*zone)>>; };

/// The period that contains `t`.
template <class Zone>
[[nodiscard]] zone_period period_at(const Zone& zone, std::chrono::sys_seconds t) {
    if constexpr (has_zone_periods<Zone>) {
        const auto info = zone.get_info(t);
        return {info.begin, info.end, info.offset};
    } else {
        return period_at(*zone, t);
    }
}

/// What the C library adds to `t` for the zone of the system.
[[nodiscard]] inline std::chrono::seconds system_offset(std::chrono::sys_seconds t) {
    using namespace std::chrono;
    const auto count = saturating<std::time_t>(t.time_since_epoch().count());
    std::tm shown{};
#ifdef _WIN32 // There, times before 1970 have no local time.
    const bool known = localtime_s(&shown, &count) == 0;
#else
    const bool known = localtime_r(&count, &shown) != nullptr;
#endif
    if (!known) {
        return seconds::zero();
    }
    const sys_days date = year(shown.tm_year + 1900) / (shown.tm_mon + 1) / shown.tm_mday;
    const sys_seconds time =
        date + hours(shown.tm_hour) + minutes(shown.tm_min) + seconds(shown.tm_sec);
    return time.time_since_epoch() - seconds(count);
}

/// The first time after `from` that has another offset. `to` has another one, and there is one
/// change between them.
[[nodiscard]] inline std::chrono::sys_seconds change_between(std::chrono::sys_seconds from,
                                                             std::chrono::sys_seconds to) {
    const std::chrono::seconds offset = system_offset(from);
    while (to - from > std::chrono::seconds(1)) {
        const std::chrono::sys_seconds middle = from + (to - from) / 2;
        (system_offset(middle) == offset ? from : to) = middle;
    }
    return to;
}

/// The part with one offset of the day, in UTC, that contains `t`. (The C library does not say when
/// the offset changes, so this looks for it.)
[[nodiscard]] inline zone_period system_period(std::chrono::sys_seconds t) {
    using namespace std::chrono;
    using wide_days = duration<std::int64_t, days::period>; // Those of libc++ have 32 bits.
    const sys_seconds day(floor_saturating<wide_days>(t.time_since_epoch()));
    const sys_seconds next_day = day + days(1);
    const seconds offset = system_offset(t);
    return {system_offset(day) == offset ? day : change_between(day, t),
            system_offset(next_day) == offset ? next_day : change_between(t, next_day), offset};
}

} // namespace detail
} // namespace asio_wheel

#endif
