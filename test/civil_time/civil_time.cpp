// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Times of day on days of a calendar, in zones that the test makes up. zones.cpp has real ones.

#include <asio_wheel/civil_time.hpp>

#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel;
using std::chrono::April;
using std::chrono::December;
using std::chrono::February;
using std::chrono::Friday;
using std::chrono::January;
using std::chrono::June;
using std::chrono::last;
using std::chrono::March;
using std::chrono::May;
using std::chrono::Monday;
using std::chrono::October;
using std::chrono::Sunday;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::Thursday;
using time_point = std::chrono::system_clock::time_point;
using text = std::string;

/// A zone that has an offset until each of the changes.
struct zone_of_changes {
    struct change {
        sys_seconds when;
        std::chrono::seconds offset;
    };

    [[nodiscard]] zone_period get_info(sys_seconds t) const {
        zone_period p{sys_seconds::min(), sys_seconds::max(), first};
        for (const change& c : changes) {
            if (c.when > t) {
                p.end = c.when;
                break;
            }
            p.begin = c.when;
            p.offset = c.offset;
        }
        return p;
    }
    std::chrono::seconds first;
    std::vector<change> changes;
};

sys_seconds at(std::chrono::year_month_day date, std::chrono::seconds time = 0s) {
    return sys_days(date) + time;
}

/// As Berlin in 2026: at 2:00 to 3:00, and at 3:00 back to 2:00.
const zone_of_changes spring_and_autumn{
    1h, {{at(2026y / March / 29, 1h), 2h}, {at(2026y / October / 25, 1h), 1h}}};

/// What the clock of the zone shows at `t`, and the offset: "2026-03-29 03:00 +2".
template <class Zone>
text shown(const Zone& zone, time_point t) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(t);
    const auto offset = zone.get_info(seconds).offset;
    const sys_seconds local = seconds + offset;
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(local - day);
    const auto two = [](auto n) { return text(n < 10 ? "0" : "") + std::to_string(n); };
    text s = std::to_string(static_cast<int>(date.year())) + "-" +
             two(static_cast<unsigned>(date.month())) + "-" +
             two(static_cast<unsigned>(date.day())) + " " + two(time.hours().count()) + ":" +
             two(time.minutes().count());
    if (time.seconds() != 0s) {
        s += ":" + two(time.seconds().count());
    }
    return s + (offset < 0s ? " -" : " +") +
           std::to_string(std::chrono::abs(offset) / std::chrono::hours(1));
}

/// The first times after `t`.
template <class Times, class Zone>
std::vector<text> first(int n, const Times& times, const Zone& zone, time_point t) {
    std::vector<text> all;
    for (int i = 0; i < n; ++i) {
        const std::optional<time_point> next = times(t);
        if (!next) {
            all.emplace_back("none");
            break;
        }
        BOOST_TEST((*next > t));
        all.push_back(shown(zone, *next));
        t = *next;
    }
    return all;
}
template <class Times>
std::vector<text> first(int n, const Times& times, time_point t) {
    return first(n, times, utc, t);
}

using texts = std::vector<text>;

} // namespace

BOOST_AUTO_TEST_SUITE(civil_time_, *boost::unit_test::timeout(60))

// --- Days -------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(daily_is_once_each_day) {
    const auto times = daily(3h + 30min, utc);
    BOOST_TEST((first(3, times, at(2026y / December / 30)) ==
                texts{"2026-12-30 03:30 +0", "2026-12-31 03:30 +0", "2027-01-01 03:30 +0"}));
}

BOOST_AUTO_TEST_CASE(the_next_time_is_later_than_the_given_one) {
    const auto times = daily(3h, utc);
    const time_point three = at(2026y / May / 1, 3h);
    const time_point tomorrow = three + 24h;
    BOOST_TEST((times(three - 1s) == three));
    BOOST_TEST((times(three - time_point::duration(1)) == three));
    BOOST_TEST((times(three) == tomorrow));
    BOOST_TEST((times(three + time_point::duration(1)) == tomorrow));
    BOOST_TEST((times(three, three + 1h) == tomorrow));
    BOOST_TEST((times(tomorrow, three) == tomorrow + 24h));
}

BOOST_AUTO_TEST_CASE(times_before_1970_are_rounded_as_all_others) {
    const auto times = daily(3h, utc);
    const time_point three = at(1969y / May / 1, 3h);
    BOOST_TEST((times(three - time_point::duration(1)) == three));
    BOOST_TEST((times(three + time_point::duration(1)) == three + 24h));
}

BOOST_AUTO_TEST_CASE(weekdays_are_from_monday_to_friday) {
    const auto times = on_weekdays(9h, utc); // 2026-05-01 is a Friday.
    BOOST_TEST((first(3, times, at(2026y / May / 1)) ==
                texts{"2026-05-01 09:00 +0", "2026-05-04 09:00 +0", "2026-05-05 09:00 +0"}));
}

BOOST_AUTO_TEST_CASE(weekly_is_on_one_day_of_the_week_or_on_several) {
    BOOST_TEST((first(2, weekly(Monday, 9h, utc), at(2026y / May / 1)) ==
                texts{"2026-05-04 09:00 +0", "2026-05-11 09:00 +0"}));
    BOOST_TEST((first(3, weekly({Sunday, Thursday}, 9h, utc), at(2026y / May / 1)) ==
                texts{"2026-05-03 09:00 +0", "2026-05-07 09:00 +0", "2026-05-10 09:00 +0"}));
    BOOST_TEST((weekly(std::chrono::weekday(7), 9h) == weekly(Sunday, 9h)));
    const asio_wheel::days_of_week mondays(Monday);
    BOOST_TEST(mondays.contains(Monday));
    BOOST_TEST(!mondays.contains(Sunday));
    for (const unsigned none : {8U, 9U, 33U, 255U}) {
        BOOST_TEST(!mondays.contains(std::chrono::weekday(none)));
    }
    BOOST_TEST((first(1, weekly({}, 9h, utc), at(2026y / May / 1)) == texts{"none"}));
}

BOOST_AUTO_TEST_CASE(monthly_on_a_day_leaves_out_months_that_do_not_have_it) {
    BOOST_TEST((first(3, monthly(31d, 4h, utc), at(2026y / April / 1)) ==
                texts{"2026-05-31 04:00 +0", "2026-07-31 04:00 +0", "2026-08-31 04:00 +0"}));
}

BOOST_AUTO_TEST_CASE(monthly_on_the_last_day_knows_leap_years) {
    BOOST_TEST((first(3, monthly(last, 18h, utc), at(2028y / January / 31, 18h)) ==
                texts{"2028-02-29 18:00 +0", "2028-03-31 18:00 +0", "2028-04-30 18:00 +0"}));
}

BOOST_AUTO_TEST_CASE(monthly_on_a_weekday_is_on_the_first_the_fifth_or_the_last_of_them) {
    BOOST_TEST((first(2, monthly(Monday[1], 9h, utc), at(2026y / May / 5)) ==
                texts{"2026-06-01 09:00 +0", "2026-07-06 09:00 +0"}));
    BOOST_TEST((first(2, monthly(Friday[last], 9h, utc), at(2026y / May / 1)) ==
                texts{"2026-05-29 09:00 +0", "2026-06-26 09:00 +0"}));
    BOOST_TEST((first(2, monthly(Friday[5], 9h, utc), at(2026y / May / 1)) ==
                texts{"2026-05-29 09:00 +0", "2026-07-31 09:00 +0"}));
}

BOOST_AUTO_TEST_CASE(yearly_is_on_one_day_of_each_year_that_has_it) {
    BOOST_TEST((first(2, yearly(December / 24, 16h, utc), at(2026y / December / 24, 16h)) ==
                texts{"2027-12-24 16:00 +0", "2028-12-24 16:00 +0"}));
    BOOST_TEST((first(2, yearly(February / 29, 0h, utc), at(2096y / February / 29)) ==
                texts{"2104-02-29 00:00 +0", "2108-02-29 00:00 +0"}));
    BOOST_TEST((first(2, yearly(February / last, 0h, utc), at(2027y / March / 1)) ==
                texts{"2028-02-29 00:00 +0", "2029-02-28 00:00 +0"}));
    BOOST_TEST((first(1, yearly(May / Sunday[2], 0h, utc), at(2026y / May / 1)) ==
                texts{"2026-05-10 00:00 +0"}));
    BOOST_TEST((first(1, yearly(May / Monday[last], 0h, utc), at(2026y / May / 1)) ==
                texts{"2026-05-25 00:00 +0"}));
}

BOOST_AUTO_TEST_CASE(a_function_of_the_date_chooses_any_days) {
    const auto friday_the_13th = [](const std::chrono::year_month_day& date) {
        return date.day() == 13d && std::chrono::weekday(date) == Friday;
    };
    BOOST_TEST((first(3, on_days(friday_the_13th, 0h, utc), at(2026y / January / 1)) ==
                texts{"2026-02-13 00:00 +0", "2026-03-13 00:00 +0", "2026-11-13 00:00 +0"}));
}

// --- The clock of a zone is changed -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_time_that_is_skipped_becomes_the_time_of_the_change) {
    const auto times = daily(2h + 30min, spring_and_autumn);
    BOOST_TEST((first(3, times, spring_and_autumn, at(2026y / March / 28)) ==
                texts{"2026-03-28 02:30 +1", "2026-03-29 03:00 +2", "2026-03-30 02:30 +2"}));
}

BOOST_AUTO_TEST_CASE(of_a_time_that_is_repeated_the_first_one_counts) {
    const auto times = daily(2h + 30min, spring_and_autumn);
    BOOST_TEST((first(3, times, spring_and_autumn, at(2026y / October / 24)) ==
                texts{"2026-10-24 02:30 +2", "2026-10-25 02:30 +2", "2026-10-26 02:30 +1"}));
    // Also if the question is asked between the two.
    const time_point between = at(2026y / October / 25, 1h + 10min);
    BOOST_TEST((first(1, times, spring_and_autumn, between) == texts{"2026-10-26 02:30 +1"}));
}

BOOST_AUTO_TEST_CASE(the_ends_of_a_change_are_where_the_clock_shows_them_first) {
    for (const auto& [time, spring, autumn] :
         {std::tuple(2h - 1s, "2026-03-29 01:59:59 +1", "2026-10-25 01:59:59 +2"),
          std::tuple(2h + 0s, "2026-03-29 03:00 +2", "2026-10-25 02:00 +2"),
          std::tuple(3h - 1s, "2026-03-29 03:00 +2", "2026-10-25 02:59:59 +2"),
          std::tuple(3h + 0s, "2026-03-29 03:00 +2", "2026-10-25 03:00 +1")}) {
        const auto times = daily(time, spring_and_autumn);
        BOOST_TEST((first(1, times, spring_and_autumn, at(2026y / March / 28, 22h + 59min + 59s)) ==
                    texts{spring}));
        BOOST_TEST(
            (first(1, times, spring_and_autumn, at(2026y / October / 24, 22h)) == texts{autumn}));
    }
}

BOOST_AUTO_TEST_CASE(as_shown_is_never_a_time_that_is_skipped_and_both_of_those_that_are_repeated) {
    const auto times = daily(2h + 30min, spring_and_autumn, zone_changes::as_shown);
    BOOST_TEST((first(2, times, spring_and_autumn, at(2026y / March / 28)) ==
                texts{"2026-03-28 02:30 +1", "2026-03-30 02:30 +2"}));
    BOOST_TEST((first(4, times, spring_and_autumn, at(2026y / October / 24)) ==
                texts{"2026-10-24 02:30 +2", "2026-10-25 02:30 +2", "2026-10-25 02:30 +1",
                      "2026-10-26 02:30 +1"}));
}

BOOST_AUTO_TEST_CASE(
    as_shown_the_clock_shows_the_first_second_after_a_change_but_not_the_last_one) {
    const auto two = daily(2h, spring_and_autumn, zone_changes::as_shown);
    const auto three = daily(3h, spring_and_autumn, zone_changes::as_shown);
    BOOST_TEST((first(1, two, spring_and_autumn, at(2026y / March / 28, 12h)) ==
                texts{"2026-03-30 02:00 +2"}));
    BOOST_TEST((first(1, three, spring_and_autumn, at(2026y / March / 28, 12h)) ==
                texts{"2026-03-29 03:00 +2"}));
    BOOST_TEST((first(2, two, spring_and_autumn, at(2026y / October / 24, 12h)) ==
                texts{"2026-10-25 02:00 +2", "2026-10-25 02:00 +1"}));
    BOOST_TEST((first(2, three, spring_and_autumn, at(2026y / October / 24, 12h)) ==
                texts{"2026-10-25 03:00 +1", "2026-10-26 03:00 +1"}));
}

BOOST_AUTO_TEST_CASE(a_change_at_midnight_takes_no_day_away) {
    // As in São Paulo: at 0:00 to 1:00, and at 0:00 back to 23:00.
    const zone_of_changes zone{
        -3h,
        {{at(2018y / std::chrono::November / 4, 3h), -2h}, {at(2019y / February / 17, 2h), -3h}}};
    BOOST_TEST((first(3, daily(0h, zone), zone, at(2018y / std::chrono::November / 2, 12h)) ==
                texts{"2018-11-03 00:00 -3", "2018-11-04 01:00 -2", "2018-11-05 00:00 -2"}));
    BOOST_TEST((first(3, daily(23h + 30min, zone), zone, at(2019y / February / 15, 12h)) ==
                texts{"2019-02-15 23:30 -2", "2019-02-16 23:30 -2", "2019-02-17 23:30 -3"}));
    BOOST_TEST((first(2, weekly(Sunday, 0h, zone), zone, at(2018y / std::chrono::November / 3)) ==
                texts{"2018-11-04 01:00 -2", "2018-11-11 00:00 -2"}));
}

BOOST_AUTO_TEST_CASE(
    a_change_over_midnight_gives_the_time_to_the_next_day_or_shows_both_days_twice) {
    // At 23:30 to 0:30, and at 0:01 back to 23:01.
    const zone_of_changes zone{
        0h,
        {{at(2026y / March / 28, 23h + 30min), 1h}, {at(2026y / October / 24, 23h + 1min), 0h}}};
    BOOST_TEST((first(3, daily(23h + 45min, zone), zone, at(2026y / March / 27, 12h)) ==
                texts{"2026-03-27 23:45 +0", "2026-03-29 00:30 +1", "2026-03-29 23:45 +1"}));
    BOOST_TEST((first(2, daily(0h, zone), zone, at(2026y / March / 28, 12h)) ==
                texts{"2026-03-29 00:30 +1", "2026-03-30 00:00 +1"}));
    BOOST_TEST((first(2, daily(23h + 30min, zone), zone, at(2026y / October / 24, 12h)) ==
                texts{"2026-10-24 23:30 +1", "2026-10-25 23:30 +0"}));
    BOOST_TEST((first(2, daily(0h, zone), zone, at(2026y / October / 24, 12h)) ==
                texts{"2026-10-25 00:00 +1", "2026-10-26 00:00 +0"}));
    const auto both = daily(23h + 30min, zone, zone_changes::as_shown);
    BOOST_TEST((first(3, both, zone, at(2026y / October / 24, 12h)) ==
                texts{"2026-10-24 23:30 +1", "2026-10-24 23:30 +0", "2026-10-25 23:30 +0"}));
    // The clock shows the 25th at the time of the question, and then the 24th again.
    BOOST_TEST((first(1, both, zone, at(2026y / October / 24, 23h + 30s)) ==
                texts{"2026-10-24 23:30 +0"}));
}

BOOST_AUTO_TEST_CASE(a_date_that_a_zone_does_not_have_is_left_out) {
    // As in Samoa, which has gone to the other side of the date line.
    const zone_of_changes zone{-10h, {{at(2011y / December / 30, 10h), 14h}}};
    for (const auto time : {0h, 3h, 23h}) {
        std::optional<time_point> t = daily(time, zone)(at(2011y / December / 29, 9h));
        BOOST_TEST_REQUIRE(t.has_value());
        BOOST_TEST((*t == at(2011y / December / 29, 10h + time)));
        t = daily(time, zone)(*t);
        BOOST_TEST((t == at(2011y / December / 30, 10h + time)));
        BOOST_TEST((shown(zone, *t).starts_with("2011-12-31")));
    }
    BOOST_TEST((first(2, weekly(Friday, 9h, zone), zone, at(2011y / December / 20)) ==
                texts{"2011-12-23 09:00 -10", "2012-01-06 09:00 +14"}));
    BOOST_TEST((first(2, monthly(30d, 9h, zone), zone, at(2011y / December / 1)) ==
                texts{"2012-01-30 09:00 +14", "2012-03-30 09:00 +14"}));
}

BOOST_AUTO_TEST_CASE(a_date_that_comes_twice_has_one_time) {
    // As in Kwajalein in 1969, which has gone there and back.
    const zone_of_changes zone{11h, {{at(1969y / std::chrono::September / 30, 13h), -12h}}};
    BOOST_TEST((first(3, daily(9h, zone), zone, at(1969y / std::chrono::September / 28, 23h)) ==
                texts{"1969-09-30 09:00 +11", "1969-10-01 09:00 -12", "1969-10-02 09:00 -12"}));
    BOOST_TEST((first(2, daily(9h, zone, zone_changes::as_shown), zone,
                      at(1969y / std::chrono::September / 28, 23h)) ==
                texts{"1969-09-30 09:00 +11", "1969-09-30 09:00 -12"}));
}

BOOST_AUTO_TEST_CASE(a_period_may_have_the_offset_of_the_one_before) {
    zone_of_changes zone = spring_and_autumn;
    zone.changes.insert(zone.changes.begin() + 1, {at(2026y / May / 1, 10h), 2h});
    const time_point start = at(2026y / April / 30);
    BOOST_TEST((first(3, daily(12h, zone), zone, start) ==
                first(3, daily(12h, spring_and_autumn), spring_and_autumn, start)));
}

// --- Zones ----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_fixed_offset_is_more_than_utc_or_less) {
    BOOST_TEST((first(1, daily(3h, fixed_offset(5h + 30min)), at(2026y / May / 1)) ==
                texts{"2026-05-01 21:30 +0"}));
    BOOST_TEST((first(1, daily(23h, fixed_offset(-8h)), at(2026y / May / 1)) ==
                texts{"2026-05-01 07:00 +0"}));
    BOOST_TEST((utc == fixed_offset(0s)));
}

BOOST_AUTO_TEST_CASE(a_zone_is_a_value_or_what_points_to_one) {
    const auto shared = std::make_shared<const zone_of_changes>(spring_and_autumn);
    const time_point start = at(2026y / March / 29);
    const auto expected = daily(2h, spring_and_autumn)(start);
    BOOST_TEST((daily(2h, &spring_and_autumn)(start) == expected));
    BOOST_TEST((daily(2h, shared)(start) == expected));
    static_assert(civil_zone<local_zone> && civil_zone<fixed_offset>);
    static_assert(civil_zone<const zone_of_changes*>);
    static_assert(!civil_zone<const char*> && !civil_zone<int>);
    static_assert(!civil_zone<std::unique_ptr<zone_of_changes>>); // It can't be copied.
}

// --- Values -----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(rules_are_small_values_that_compare) {
    static_assert(std::copyable<decltype(daily(3h))>);
    static_assert(std::is_trivially_copyable_v<decltype(monthly(last, 3h, &spring_and_autumn))>);
    static_assert(sizeof(weekly(Monday, 3h)) <= 4 * sizeof(std::chrono::seconds));
    BOOST_TEST((daily(3h) == daily(180min)));
    BOOST_TEST((daily(3h) != daily(4h)));
    BOOST_TEST((daily(3h, utc) != daily(3h, utc, zone_changes::as_shown)));
    BOOST_TEST((daily(3h, fixed_offset(1h)) != daily(3h, utc)));
    BOOST_TEST((weekly(Monday, 3h) != weekly(Sunday, 3h)));
    BOOST_TEST((monthly(last, 3h) == monthly(last, 3h)));
    BOOST_TEST((monthly(1d, 3h) != monthly(2d, 3h)));
    BOOST_TEST((yearly(May / last, 3h) != yearly(June / last, 3h)));
    auto times = daily(3h, utc);
    times = daily(4h, utc);
    BOOST_TEST((times == daily(4h, utc)));
}

BOOST_AUTO_TEST_CASE(a_time_of_day_is_a_duration_or_its_parts) {
    static_assert(time_of_day(3h + 30min).to_duration() == 3h + 30min);
    static_assert(time_of_day(std::chrono::hh_mm_ss(3h + 30min)) == time_of_day(210min));
    static_assert(days_of_week({Monday, Friday}).contains(Friday));
    static_assert(!days_of_week(Monday).contains(Friday));
}

BOOST_AUTO_TEST_CASE(what_is_no_time_no_day_and_no_offset_is_refused) {
    const auto refusal = [](auto make) { return message_of([&] { static_cast<void>(make()); }); };
    BOOST_TEST(refusal([] { return daily(-1s); }) ==
               "asio_wheel: the time of day is -1 s, but must be from 0 to 86399 s");
    BOOST_TEST(refusal([] { return daily(24h); }) ==
               "asio_wheel: the time of day is 86400 s, but must be from 0 to 86399 s");
    BOOST_TEST(refusal([] { return daily(std::chrono::hours::max()); }) != "nothing");
    BOOST_TEST(refusal([] { return weekly(std::chrono::weekday(8), 3h); }) ==
               "asio_wheel: a day of the week is 8, but must be from 0 to 7");
    BOOST_TEST(
        refusal([] { return monthly(std::chrono::day(32), 3h); }) ==
        "asio_wheel: the day of monthly() is not valid, but must be a day from 1 to 31, or a "
        "weekday from [1] to [5]");
    BOOST_TEST(refusal([] { return monthly(Monday[6], 3h); }) != "nothing");
    BOOST_TEST(refusal([] { return monthly(std::chrono::weekday(8)[last], 3h); }) != "nothing");
    BOOST_TEST(refusal([] { return yearly(February / 30, 3h); }) ==
               "asio_wheel: the day of yearly() is not valid, but must be a day that some years "
               "have");
    BOOST_TEST(refusal([] { return fixed_offset(24h); }) ==
               "asio_wheel: the offset from UTC is 86400 s, but must be less than a day");
    BOOST_TEST(refusal([] { return fixed_offset(-24h); }) != "nothing");
    BOOST_TEST(refusal([] { return daily(23h + 59min + 59s, fixed_offset(1s - 24h)); }) ==
               "nothing");
}

BOOST_AUTO_TEST_CASE(without_such_a_day_or_beyond_the_clock_there_is_no_next_time) {
    const auto never = on_days([](const std::chrono::year_month_day&) { return false; }, 3h, utc);
    BOOST_TEST(!never(at(2026y / May / 1)));
    BOOST_TEST(!daily(3h, utc)(time_point::max()));
    BOOST_TEST(!daily(3h, spring_and_autumn)(time_point::max() - 1s));
    BOOST_TEST((daily(3h, utc)(time_point::min()) > time_point::min()));
}

// For a clock with a longer range than that of this system may have.
BOOST_AUTO_TEST_CASE(rules_are_for_the_years_from_1_to_9999) {
    const auto next = [](sys_seconds t) {
        return detail::next_time(detail::every_day(), 3h, utc, false, t);
    };
    BOOST_TEST((next(sys_seconds::min()) == at(1y / January / 1, 3h)));
    BOOST_TEST((next(at(9999y / December / 29, 3h)) == at(9999y / December / 30, 3h)));
    BOOST_TEST(!next(at(9999y / December / 31, 3h)));
    BOOST_TEST(!next(sys_seconds::max()));
}

BOOST_AUTO_TEST_SUITE_END()
