// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// From a date and a time of day to the time at which a zone's clock shows them.
//
// A zone is a row of periods, each with one offset from UTC. In a period, the clock runs from
// begin + offset to end + offset. Between two periods it jumps. When it jumps forward, the times
// between are shown never; when it jumps back, they are shown twice:
//
//     2026-03-29 in Berlin:   … 01:59:59 | 03:00 …     02:30 is never shown
//     2026-10-25 in Berlin:   … 02:59:59 | 02:00 …     02:30 is shown twice
//
// "The first time at which the clock shows 02:30 or later" exists in all cases, and once only: in
// March it is the jump, in October the first 02:30. It never decreases when the date or the time of
// day grows. That is all that the search needs: no conversion of local times, which each library
// has in a type of its own.

#ifndef ASIO_WHEEL_DETAIL_CIVIL_TIME_NEXT_TIME_HPP
#define ASIO_WHEEL_DETAIL_CIVIL_TIME_NEXT_TIME_HPP

#include <asio_wheel/detail/civil_time/zone.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace asio_wheel::detail {

/// What a clock in the zone shows at `t`.
[[nodiscard]] inline std::chrono::local_seconds shown_at(std::chrono::sys_seconds t,
                                                         std::chrono::seconds offset) {
    return std::chrono::local_seconds(t.time_since_epoch() + offset);
}

/// When a clock with this offset shows `shown`.
[[nodiscard]] inline std::chrono::sys_seconds time_of(std::chrono::local_seconds shown,
                                                      std::chrono::seconds offset) {
    return std::chrono::sys_seconds(shown.time_since_epoch() - offset);
}

/// No offset is as large as this. So when a clock in UTC shows a time, all others show it within a
/// day before and after.
inline constexpr std::chrono::seconds largest_offset = std::chrono::days(1);

/// The first time at which the zone's clock shows this time of day on `date`, or later. None if it
/// jumps over the whole date.
template <class Zone>
[[nodiscard]] std::optional<std::chrono::sys_seconds>
first_shown(const Zone& zone, std::chrono::local_days date, std::chrono::seconds time_of_day) {
    const std::chrono::local_seconds time = date + time_of_day;
    zone_period period = period_at(zone, time_of(time, largest_offset));
    while (time_of(time, period.offset) >= period.end) {
        const zone_period next = period_at(zone, period.end);
        if (time_of(time, next.offset) < next.begin) { // It jumps over the time.
            const bool shows_date = shown_at(period.end, period.offset) > date ||
                                    shown_at(next.begin, next.offset) < date + std::chrono::days(1);
            return shows_date ? std::optional(next.begin) : std::nullopt;
        }
        period = next;
    }
    return time_of(time, period.offset);
}

/// The first time after `after` at which the zone's clock shows exactly this.
template <class Zone>
[[nodiscard]] std::optional<std::chrono::sys_seconds>
next_shown(const Zone& zone, std::chrono::local_seconds time, std::chrono::sys_seconds after) {
    const std::chrono::sys_seconds end = time_of(time, -largest_offset);
    for (std::chrono::sys_seconds begin = time_of(time, largest_offset); begin < end;) {
        const zone_period period = period_at(zone, begin);
        const std::chrono::sys_seconds t = time_of(time, period.offset);
        if (period.begin <= t && t < period.end && t > after) {
            return t;
        }
        begin = period.end;
    }
    return std::nullopt;
}

/// The first time after `after` that has this time of day, on a day for which chosen(date) is true.
/// Each day has one time, or with `exactly` none, one or two. None if there is no such day in 400
/// years, after which the calendar repeats.
template <class Days, class Zone>
[[nodiscard]] std::optional<std::chrono::sys_seconds>
next_time(const Days& chosen, std::chrono::seconds time_of_day, const Zone& zone, bool exactly,
          std::chrono::sys_seconds after) {
    using namespace std::chrono;
    constexpr local_days last = local_days(year(9999) / December / 31);
    after = (std::max)(after, sys_seconds(sys_days(year(1) / January / 1)));
    if (after >= time_of(last, largest_offset)) {
        return std::nullopt;
    }
    const local_seconds now = shown_at(after, period_at(zone, after).offset);
    const local_days today(floor_saturating<days>(now.time_since_epoch()));
    const local_days end = (std::min)(last, today + days(146'097));
    // When the clock jumps back over midnight, yesterday comes again.
    for (local_days date = today - days(1); date <= end; date += days(1)) {
        if (!chosen(year_month_day(date))) {
            continue;
        }
        const std::optional<sys_seconds> t = exactly ? next_shown(zone, date + time_of_day, after)
                                                     : first_shown(zone, date, time_of_day);
        if (t && *t > after) {
            return t;
        }
    }
    return std::nullopt;
}

/// `t` in the unit of `TimePoint`, if that is in its range.
template <class TimePoint>
[[nodiscard]] std::optional<TimePoint> in_range(std::optional<std::chrono::sys_seconds> t) {
    using std::chrono::seconds;
    if (t &&
        t->time_since_epoch() <= floor_saturating<seconds>((TimePoint::max)().time_since_epoch())) {
        return TimePoint(*t);
    }
    return std::nullopt;
}

} // namespace asio_wheel::detail

#endif
