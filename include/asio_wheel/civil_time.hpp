// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Times as a calendar and a wall clock name them: for tasks of a scheduler, or for themselves.
//
//     asio_wheel::system_scheduler tasks(ctx);
//     tasks.schedule(asio_wheel::daily(3h + 30min), [&] { back_up(); });
//     tasks.schedule(asio_wheel::monthly(std::chrono::last, 18h), [&] { send_bills(); });

#ifndef ASIO_WHEEL_CIVIL_TIME_HPP
#define ASIO_WHEEL_CIVIL_TIME_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/civil_time/days.hpp>
#include <asio_wheel/detail/civil_time/misuse.hpp>
#include <asio_wheel/detail/civil_time/next_time.hpp>
#include <asio_wheel/detail/civil_time/zone.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// What becomes of a time of day that the clock of a zone skips or repeats, because the offset from
/// UTC changes: twice a year, where there is daylight saving time.
enum class zone_changes : std::uint8_t {
    /// Each day has one time: the first at which the clock shows this time of day, or a later one.
    /// So a time that is skipped becomes the time of the change, and of two, the first one counts.
    once,
    /// Whenever the clock shows exactly this time of day: not at all on a day on which it skips it,
    /// and twice on a day on which it repeats it.
    as_shown
};

/// A time of day as a clock shows it, in whole seconds: 3h + 30min.
///
/// What is not from 00:00:00 to 23:59:59 throws std::invalid_argument.
class time_of_day {
public:
    /// A duration in hours, minutes and seconds.
    template <class Rep, class Period>
    constexpr time_of_day(const std::chrono::duration<Rep, Period>& d)
        : seconds_(detail::ceil_saturating<std::chrono::seconds>(d)) {
        static_assert(std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::seconds>,
                      "asio_wheel: a time of day has whole seconds. Write 3h + 30min");
        if (seconds_ < std::chrono::seconds::zero() || seconds_ >= std::chrono::days(1)) {
            detail::bad_argument("the time of day", std::to_string(seconds_.count()) + " s",
                                 "from 0 to 86399 s");
        }
    }

    /// The same, split into hours, minutes and seconds.
    template <class Duration>
    constexpr time_of_day(const std::chrono::hh_mm_ss<Duration>& t)
        : time_of_day(t.to_duration()) {}

    // For a number. The compiler says why not.
    template <class Number>
        requires detail::invalid_number<Number>
    constexpr time_of_day(Number) {
        static_assert(!detail::invalid_number<Number>,
                      "asio_wheel: a number has no unit and is no time of day. Write 3h, or "
                      "3h + 30min");
    }

    /// What the clock shows, as a duration.
    [[nodiscard]] constexpr std::chrono::seconds to_duration() const noexcept { return seconds_; }

    friend bool operator==(const time_of_day&, const time_of_day&) = default;

private:
    std::chrono::seconds seconds_{};
};

/// Days of the week: std::chrono::Monday, or several of them: {Saturday, Sunday}.
///
/// What is no day of the week, such as std::chrono::weekday(8), throws std::invalid_argument.
class days_of_week {
public:
    /// One.
    constexpr days_of_week(std::chrono::weekday day) : days_of_week({day}) {}

    /// Several; or none.
    constexpr days_of_week(std::initializer_list<std::chrono::weekday> days) {
        for (const std::chrono::weekday day : days) {
            if (!day.ok()) {
                detail::bad_argument("a day of the week", std::to_string(day.c_encoding()),
                                     "from 0 to 7");
            }
            days_ = static_cast<std::uint8_t>(days_ | bit_of(day));
        }
    }

    // For a number. The compiler says why not.
    template <class Number>
        requires detail::invalid_number<Number>
    constexpr days_of_week(Number) {
        static_assert(!detail::invalid_number<Number>,
                      "asio_wheel: a number is no day of the week. Write std::chrono::Monday");
    }

    /// Whether this is one of them.
    [[nodiscard]] constexpr bool contains(std::chrono::weekday day) const noexcept {
        return day.ok() && (days_ & bit_of(day)) != 0;
    }

    /// Whether the date is on one of them.
    [[nodiscard]] constexpr bool
    operator()(const std::chrono::year_month_day& date) const noexcept {
        return contains(std::chrono::weekday(std::chrono::sys_days(date)));
    }

    friend bool operator==(const days_of_week&, const days_of_week&) = default;

private:
    [[nodiscard]] static constexpr unsigned bit_of(std::chrono::weekday day) noexcept {
        return 1U << day.c_encoding();
    }

    std::uint8_t days_ = 0;
};

/// The time zone of the system, as the C library knows it: of the environment variable TZ, or of
/// the file /etc/localtime. Most C libraries read that once, when they need it first; after
/// tzset(), a change of it takes effect.
class local_zone {
public:
    /// A period that contains `t`.
    [[nodiscard]] zone_period get_info(std::chrono::sys_seconds t) const {
        return detail::system_period(t);
    }

    friend bool operator==(const local_zone&, const local_zone&) = default;
};

/// A zone whose clock shows so much more than UTC, or less if it is negative, all the time. A day
/// or more throws std::invalid_argument.
class fixed_offset {
public:
    /// UTC.
    constexpr fixed_offset() noexcept = default;

    /// UTC and `offset`.
    constexpr explicit fixed_offset(std::chrono::seconds offset) : offset_(offset) {
        if (offset <= -detail::largest_offset || offset >= detail::largest_offset) {
            detail::bad_argument("the offset from UTC", std::to_string(offset.count()) + " s",
                                 "less than a day");
        }
    }

    /// The period without end that contains `t`.
    [[nodiscard]] constexpr zone_period get_info(std::chrono::sys_seconds) const noexcept {
        return {(std::chrono::sys_seconds::min)(), (std::chrono::sys_seconds::max)(), offset_};
    }

    friend bool operator==(const fixed_offset&, const fixed_offset&) = default;

private:
    std::chrono::seconds offset_{};
};

/// The clock that is the same everywhere.
inline constexpr fixed_offset utc;

/// A time zone. get_info(t) of it, or of what it points to, returns the begin, the end and the
/// offset of the period that contains the std::chrono::sys_seconds `t`, as a zone_period has them:
///
/// - what std::chrono::locate_zone("Europe/Berlin") returns, if the standard library has it (that
///   of g++ 14 has);
/// - what date::locate_zone("Europe/Berlin") returns, of Howard Hinnant's library date;
/// - local_zone, fixed_offset, or a type of your own, whose clock jumps back by a day at most.
template <class Zone>
concept civil_zone =
    std::copyable<Zone> && (detail::has_zone_periods<Zone> || detail::points_to_zone_periods<Zone>);

/// A time of day on some days in a time zone: what daily(), weekly() and the others return. As a
/// function, it returns the next of these times. So it is a function `next` of a system_scheduler:
///
///     tasks.schedule(asio_wheel::weekly(std::chrono::Monday, 9h), [&] { report(); });
///
/// and it works without one:
///
///     const auto nine = asio_wheel::daily(9h, asio_wheel::utc);
///     if (*nine(last_run) <= asio_wheel::now<std::chrono::system_clock>(ctx)) {
///         run(); // It was missed.
///     }
///
/// Each day has one time, also when the clock is changed: see zone_changes. A date that the month
/// or the zone does not have is left out: the 31st of June, and 2011-12-30 in Samoa.
///
/// When the wall clock is set. The time after a call is later than that call's, and later than now.
/// So the same time is never called twice, however often the clock shows it. If the clock is set
/// back, there is no call until it comes to the time that is next. If it is set forward over one
/// time or several, there is one call; so there is after a suspend.
///
/// A small value: copied as its `Days` and its `Zone` are, and compared, if these can be. Allocates
/// nothing.
///
/// Thread safety. Distinct objects: safe. One object: safe, unless it is assigned to.
template <class Days, class Zone>
class civil_times {
    static_assert(std::predicate<const Days&, std::chrono::year_month_day>,
                  "asio_wheel: the days are a function of a std::chrono::year_month_day, which "
                  "returns whether it is one of them");
    static_assert(
        civil_zone<Zone>,
        "asio_wheel: this is no time zone. Write std::chrono::locate_zone(\"Europe/Berlin\"), "
        "which returns a pointer, the same of date, asio_wheel::utc, fixed_offset(2h), or "
        "local_zone()");

public:
    using time_point = std::chrono::system_clock::time_point; ///< On the wall clock.

    /// At this time on each day for which days(std::chrono::year_month_day) is true.
    constexpr civil_times(Days days, time_of_day time, Zone zone,
                          zone_changes changes = zone_changes::once)
        : days_(std::move(days)), zone_(std::move(zone)), time_(time), changes_(changes) {}

    /// The first of these times that is later than `t`; none if there is none in 400 years, or in
    /// the range of the clock.
    [[nodiscard]] std::optional<time_point> operator()(time_point t) const {
        const auto after = detail::floor_saturating<std::chrono::seconds>(t.time_since_epoch());
        return detail::in_range<time_point>(detail::next_time(days_, time_.to_duration(), zone_,
                                                              changes_ == zone_changes::as_shown,
                                                              std::chrono::sys_seconds(after)));
    }

    /// The first of these times that is later than both: what a scheduler asks for.
    [[nodiscard]] std::optional<time_point> operator()(time_point previous, time_point now) const {
        return (*this)((std::max)(previous, now));
    }

    // For times of another clock. The compiler says why not.
    template <class Clock, class Duration, class... More>
        requires detail::invalid_clock<Clock>
    auto operator()(const std::chrono::time_point<Clock, Duration>&, const More&...) const {
        static_assert(!detail::invalid_clock<Clock>,
                      "asio_wheel: these are times of the wall clock. Write "
                      "asio_wheel::system_scheduler, which counts by it");
    }

    friend bool operator==(const civil_times&, const civil_times&) = default;

private:
    Days days_;
    Zone zone_;
    time_of_day time_;
    zone_changes changes_;
};

/// On each day for which days(std::chrono::year_month_day) is true: on all but holidays, say.
template <class Days, class Zone = local_zone>
[[nodiscard]] constexpr auto on_days(Days days, time_of_day time, Zone&& zone = {},
                                     zone_changes changes = zone_changes::once) {
    return civil_times<Days, std::decay_t<Zone>>(std::move(days), time, std::forward<Zone>(zone),
                                                 changes);
}

/// Each day.
///
///     tasks.schedule(daily(3h + 30min), f); // In the zone of the system.
///     tasks.schedule(daily(3h + 30min, utc), f);
template <class Zone = local_zone>
[[nodiscard]] constexpr auto daily(time_of_day time, Zone&& zone = {},
                                   zone_changes changes = zone_changes::once) {
    return on_days(detail::every_day(), time, std::forward<Zone>(zone), changes);
}

/// On some days of the week.
///
///     tasks.schedule(weekly(Monday, 9h), f);
///     tasks.schedule(weekly({Tuesday, Thursday}, 9h, zone), f);
template <class Zone = local_zone>
[[nodiscard]] constexpr auto weekly(days_of_week days, time_of_day time, Zone&& zone = {},
                                    zone_changes changes = zone_changes::once) {
    return on_days(days, time, std::forward<Zone>(zone), changes);
}

/// From Monday to Friday.
template <class Zone = local_zone>
[[nodiscard]] constexpr auto on_weekdays(time_of_day time, Zone&& zone = {},
                                         zone_changes changes = zone_changes::once) {
    using namespace std::chrono;
    return weekly({Monday, Tuesday, Wednesday, Thursday, Friday}, time, std::forward<Zone>(zone),
                  changes);
}

/// On one day of each month, if it has that: a std::chrono::day, std::chrono::last, weekday_indexed
/// or weekday_last. Throws std::invalid_argument for a day that no month has.
///
///     tasks.schedule(monthly(1d, 4h), f);
///     tasks.schedule(monthly(last, 18h, zone), f);
///     tasks.schedule(monthly(Monday[1], 9h), f);
///     tasks.schedule(monthly(Friday[last], 17h), f);
template <class Spec, class Zone = local_zone>
[[nodiscard]] constexpr auto monthly(Spec day, time_of_day time, Zone&& zone = {},
                                     zone_changes changes = zone_changes::once) {
    return on_days(detail::in_each_month<Spec>(day), time, std::forward<Zone>(zone), changes);
}

/// On one day of each year, if it has that: a std::chrono::month_day, month_day_last, month_weekday
/// or month_weekday_last. Throws std::invalid_argument for a day that no year has.
///
///     tasks.schedule(yearly(January / 1, 0h, utc), f);
///     tasks.schedule(yearly(February / last, 18h), f);
///     tasks.schedule(yearly(May / Monday[last], 9h), f);
template <class Spec, class Zone = local_zone>
[[nodiscard]] constexpr auto yearly(Spec day, time_of_day time, Zone&& zone = {},
                                    zone_changes changes = zone_changes::once) {
    return on_days(detail::in_each_year<Spec>(day), time, std::forward<Zone>(zone), changes);
}

} // namespace asio_wheel

#endif
