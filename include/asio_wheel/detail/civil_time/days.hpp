// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// On which days: functions of a date.

#ifndef ASIO_WHEEL_DETAIL_CIVIL_TIME_DAYS_HPP
#define ASIO_WHEEL_DETAIL_CIVIL_TIME_DAYS_HPP

#include <asio_wheel/detail/bad_argument.hpp>

#include <chrono>
#include <concepts>

namespace asio_wheel::detail {

struct every_day {
    [[nodiscard]] constexpr bool operator()(const std::chrono::year_month_day&) const noexcept {
        return true;
    }
    friend bool operator==(const every_day&, const every_day&) = default;
};

/// The day that `place` is in, a year or the month of a year: year / month_day, or month / last.
/// False if it has no such day, as a fifth Monday.
template <class Place, class Spec>
[[nodiscard]] constexpr bool is_day_of(const Place& place, const Spec& spec,
                                       const std::chrono::year_month_day& d) {
    const auto day = place / spec;
    return day.ok() && std::chrono::sys_days(day) == std::chrono::sys_days(d);
}

template <class Spec>
concept day_of_month =
    std::same_as<Spec, std::chrono::day> || std::same_as<Spec, std::chrono::last_spec> ||
    std::same_as<Spec, std::chrono::weekday_indexed> ||
    std::same_as<Spec, std::chrono::weekday_last>;

template <class Spec>
concept day_of_year =
    std::same_as<Spec, std::chrono::month_day> || std::same_as<Spec, std::chrono::month_day_last> ||
    std::same_as<Spec, std::chrono::month_weekday> ||
    std::same_as<Spec, std::chrono::month_weekday_last>;

/// A specification that does not compare, std::chrono::last, is equal to itself.
template <class Spec>
[[nodiscard]] constexpr bool same_spec(const Spec& a, const Spec& b) noexcept {
    if constexpr (std::equality_comparable<Spec>) {
        return a == b;
    } else {
        return true;
    }
}

template <class Spec>
struct in_each_month {
    static_assert(day_of_month<Spec>,
                  "asio_wheel: the day of a month comes first. It is std::chrono::day(15), "
                  "std::chrono::last, std::chrono::Monday[1], or std::chrono::Monday[last]");

    constexpr explicit in_each_month(const Spec& s) : spec(s) {
        if constexpr (requires { spec.ok(); }) {
            if (!spec.ok()) {
                bad_argument("the day of monthly()", "not valid",
                             "a day from 1 to 31, or a weekday from [1] to [5]");
            }
        }
    }

    [[nodiscard]] constexpr bool operator()(const std::chrono::year_month_day& d) const {
        return is_day_of(d.year() / d.month(), spec, d);
    }
    friend constexpr bool operator==(const in_each_month& a, const in_each_month& b) noexcept {
        return same_spec(a.spec, b.spec);
    }

    Spec spec;
};

template <class Spec>
struct in_each_year {
    static_assert(day_of_year<Spec>,
                  "asio_wheel: the day of a year comes first. It is std::chrono::December / 24, "
                  "February / last, May / Sunday[2], or May / Monday[last]");

    constexpr explicit in_each_year(const Spec& s) : spec(s) {
        if (!spec.ok()) {
            bad_argument("the day of yearly()", "not valid", "a day that some years have");
        }
    }

    [[nodiscard]] constexpr bool operator()(const std::chrono::year_month_day& d) const {
        return is_day_of(d.year(), spec, d);
    }
    friend constexpr bool operator==(const in_each_year& a, const in_each_year& b) noexcept {
        return same_spec(a.spec, b.spec);
    }

    Spec spec;
};

} // namespace asio_wheel::detail

#endif
