// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// requires: zones
// pch: off

// Thirty years of real time zones, against what a library of time zones says itself: <chrono>, or
// Howard Hinnant's date where the standard library has no zones. It converts from local times,
// which civil_time.hpp never does.

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/seed.hpp"

#include <boost/asio/wait_traits.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
namespace zones = std::chrono;
#else
#include <date/tz.h>
namespace zones = date;
#endif

namespace {

using wall_clock =
    asio_wheel::test::manual_clock<struct zone_clock, std::chrono::system_clock::duration, false>;

} // namespace

// The traits of all timers on this clock: see manual_clock.hpp.
template <>
struct boost::asio::wait_traits<wall_clock> : asio_wheel::test::impatient<wall_clock> {};

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel;
using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year_month_day;
using system_time = std::chrono::system_clock::time_point;
using times = std::vector<system_time>;

const char* const names[] = {
    "Europe/Berlin",       // changes at 1:00 UTC
    "Europe/Dublin",       // the same, with a negative saving in winter
    "America/New_York",    // changes at 2:00 of its clock
    "America/Sao_Paulo",   // in the south, at midnight; none since 2019
    "America/Santiago",    // the same, at another midnight of each year
    "America/St_Johns",    // half an hour beside; at 0:01 until 2011
    "America/Caracas",     // changed by half an hour, in 2007 and 2016
    "Africa/Casablanca",   // four changes a year, round the Ramadan
    "Asia/Tehran",         // at midnight, and half an hour beside
    "Asia/Kathmandu",      // three quarters of an hour beside, no changes
    "Australia/Lord_Howe", // half an hour of daylight saving
    "Antarctica/Troll",    // two hours of it
    "Pacific/Apia",        // without 2011-12-30
    "Pacific/Kwajalein",   // without 1993-08-21
};
constexpr sys_days begin = sys_days(1990y / 1 / 1);
constexpr sys_days end = sys_days(2020y / 1 / 1);

bool zones_are_installed() {
    try {
        return std::all_of(std::begin(names), std::end(names),
                           [](const char* name) { return zones::locate_zone(name) != nullptr; });
    } catch (const std::exception&) {
        return false;
    }
}

zones::local_seconds local(sys_seconds t) {
    return zones::local_seconds(t.time_since_epoch());
}
sys_seconds shown(zones::local_seconds t, std::chrono::seconds offset) {
    return sys_seconds(t.time_since_epoch() - offset);
}

/// Whether the clock of the zone shows this date at all.
bool has_date(const zones::time_zone* zone, sys_days date) {
    const auto midnight = zone->get_info(local(date));
    return midnight.result != zones::local_info::nonexistent ||
           local(midnight.first.end + midnight.first.offset) > local(date) ||
           local(midnight.second.begin + midnight.second.offset) < local(date + days(1));
}

/// The times of a rule, by the conversions of the library.
template <class Chosen>
times expected(const zones::time_zone* zone, std::chrono::seconds time, Chosen chosen,
               zone_changes changes = zone_changes::once) {
    const bool once = changes == zone_changes::once;
    times all;
    for (sys_days date = begin; date < end; date += days(1)) {
        if (!chosen(year_month_day(date))) {
            continue;
        }
        const auto t = local(date + time);
        const auto info = zone->get_info(t);
        if (info.result == zones::local_info::nonexistent) {
            if (once && has_date(zone, date)) {
                all.emplace_back(info.first.end);
            }
            continue;
        }
        all.emplace_back(shown(t, info.first.offset));
        if (!once && info.result == zones::local_info::ambiguous) {
            all.emplace_back(shown(t, info.second.offset));
        }
    }
    return all;
}

/// The day of the week, 0 is Sunday; as it was counted before <chrono>.
int weekday_of(const year_month_day& date) {
    return static_cast<int>((sys_days(date).time_since_epoch().count() + 4) % 7);
}
bool is_last_of_month(const year_month_day& date) {
    return year_month_day(sys_days(date) + days(1)).day() == 1d;
}
constexpr auto each = [](const year_month_day&) { return true; };

/// A clock that shows 1990 when the test begins.
struct past_clock {
    using duration = std::chrono::system_clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<past_clock>;
    static constexpr bool is_steady = false;

    static time_point now() {
        static const auto first = std::chrono::system_clock::now();
        return time_point(begin.time_since_epoch() + (std::chrono::system_clock::now() - first));
    }
};

/// The times of a rule on another clock.
template <class Clock, class Times>
auto on_clock(Times rule) {
    using time_point = typename Clock::time_point;
    return [=](time_point previous, time_point now) -> std::optional<time_point> {
        const auto t =
            rule(system_time(previous.time_since_epoch()), system_time(now.time_since_epoch()));
        return t ? std::optional(time_point(t->time_since_epoch())) : std::nullopt;
    };
}

/// Tasks in virtual time, each with the times at which it was called, and with those expected.
struct thirty_years {
    struct task {
        std::string what;
        times expected, called;
    };

    ~thirty_years() {
        tasks.stop().clear();
        time.advance(0s);
    }

    template <class Times>
    void add(const std::string& what, const Times& rule, times expected) {
        task& t = all.emplace_back(task{what, std::move(expected), {}});
        tasks.schedule(on_clock<past_clock>(rule), [&t](const auto& h) {
            t.called.emplace_back(h.expiry().time_since_epoch());
        });
    }

    void run() {
        time.advance(end - begin);
        for (task& t : all) {
            // The first may have passed when the time was stopped; another may come in the zone's
            // next year.
            BOOST_TEST_CONTEXT(t.what) {
                const system_time first(began.time_since_epoch());
                const system_time last = first + (end - begin);
                std::erase_if(t.expected, [&](auto e) { return e <= first || e > last; });
                std::erase_if(t.called, [&](auto c) { return c >= system_time(end) - days(2); });
                std::erase_if(t.expected, [&](auto e) { return e >= system_time(end) - days(2); });
                BOOST_TEST(t.expected.size() > 300U);
                BOOST_TEST(t.called.size() == t.expected.size());
                const auto [c, e] = std::mismatch(t.called.begin(), t.called.end(),
                                                  t.expected.begin(), t.expected.end());
                if (e != t.expected.end() || c != t.called.end()) {
                    BOOST_ERROR("the first difference is number "
                                << (e - t.expected.begin()) << ", expected "
                                << (e == t.expected.end() ? 0 : e->time_since_epoch().count())
                                << ", called "
                                << (c == t.called.end() ? 0 : c->time_since_epoch().count()));
                }
            }
        }
    }

    asio::io_context ctx;
    asio_wheel::virtual_time time{ctx};
    basic_scheduler<past_clock> tasks{ctx};
    const past_clock::time_point began = use_wheel<past_clock>(ctx).now();
    std::deque<task> all;
};

} // namespace

BOOST_AUTO_TEST_SUITE(civil_time_zones,
                      *only_if(zones_are_installed()) * boost::unit_test::timeout(300))

BOOST_AUTO_TEST_CASE(each_day_of_thirty_years_has_one_time_or_the_times_that_its_clock_shows) {
    for (const char* const name : names) {
        const auto* const zone = zones::locate_zone(name);
        for (const std::chrono::seconds time : {0h + 0min, 0h + 30min, 2h + 15min, 23h + 30min}) {
            for (const auto changes : {zone_changes::once, zone_changes::as_shown}) {
                BOOST_TEST_CONTEXT(name << " at " << time.count() << " s, "
                                        << static_cast<int>(changes)) {
                    const auto rule = daily(time, zone, changes);
                    const times all = expected(zone, time, each, changes);
                    BOOST_TEST(all.size() > 10'000U);
                    std::size_t wrong = 0;
                    for (std::size_t i = 1; i < all.size(); ++i) {
                        wrong += rule(all[i - 1]) == all[i] ? 0U : 1U;
                    }
                    BOOST_TEST(wrong == 0U);
                }
            }
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_daily_task_is_called_once_each_day_of_thirty_years, thirty_years) {
    for (const char* const name : names) {
        const auto* const zone = zones::locate_zone(name);
        for (const std::chrono::seconds at : {0h + 15min, 2h + 30min}) {
            add(name, daily(at, zone), expected(zone, at, each));
        }
    }
    run();
}

BOOST_FIXTURE_TEST_CASE(weekly_and_monthly_tasks_are_called_on_their_days_of_thirty_years,
                        thirty_years) {
    using namespace std::chrono;
    for (const char* const name : names) {
        const std::string zone_name(name);
        const auto* const zone = zones::locate_zone(name);
        const auto add_rule = [&](const char* what, const auto& rule, auto chosen) {
            add(zone_name + " " + what, rule, expected(zone, 2h, chosen));
        };
        add_rule("weekdays", on_weekdays(2h, zone), [](const year_month_day& date) {
            return weekday_of(date) != 0 && weekday_of(date) != 6;
        });
        add_rule("Sunday", weekly(Sunday, 2h, zone),
                 [](const year_month_day& date) { return weekday_of(date) == 0; });
        add_rule("the 28th", monthly(28d, 2h, zone),
                 [](const year_month_day& date) { return date.day() == 28d; });
        add_rule("the last day", monthly(last, 2h, zone), is_last_of_month);
        add_rule("the first Sunday", monthly(Sunday[1], 2h, zone), [](const year_month_day& date) {
            return weekday_of(date) == 0 && date.day() <= 7d;
        });
        add_rule("the last Sunday", monthly(Sunday[last], 2h, zone),
                 [](const year_month_day& date) {
                     return weekday_of(date) == 0 &&
                            year_month_day(sys_days(date) + days(7)).month() != date.month();
                 });
    }
    run();
}

BOOST_AUTO_TEST_CASE(no_time_is_called_twice_however_the_wall_clock_is_set_in_thirty_years) {
    std::mt19937_64 random(seed());
    const auto below = [&random](std::chrono::minutes most) {
        return std::chrono::minutes(random() % static_cast<std::uint64_t>(most.count()));
    };
    for (const char* const name :
         {"Europe/Dublin", "America/Santiago", "Australia/Lord_Howe", "Pacific/Apia"}) {
        BOOST_TEST_CONTEXT(name) {
            const auto* const zone = zones::locate_zone(name);
            const times all = expected(zone, 2h + 30min, each);
            const auto after = [&all](system_time t) {
                const auto next = std::upper_bound(all.begin(), all.end(), t);
                return next == all.end() ? system_time::max() : *next;
            };
            wall_clock::set(wall_clock::time_point(begin.time_since_epoch()));
            const auto now = [] { return system_time(wall_clock::now().time_since_epoch()); };
            drained_context world;
            basic_scheduler<wall_clock> tasks(world.ctx);
            std::vector<system_time> called;
            const auto task = tasks.schedule(
                on_clock<wall_clock>(daily(2h + 30min, zone)), [&](const auto& self) {
                    BOOST_TEST((self.expiry() <= wall_clock::now()));
                    called.emplace_back(self.expiry().time_since_epoch());
                });
            system_time next = after(now());
            while (next < system_time(end) - days(10)) {
                switch (random() % 8) {
                case 0:
                    wall_clock::advance(-below(48h));
                    break;
                case 1:
                    wall_clock::advance(below(100h));
                    break;
                case 2:
                    wall_clock::advance(below(90min));
                    break;
                default:
                    wall_clock::set(wall_clock::time_point(next.time_since_epoch()));
                    break;
                }
                look(world.ctx);
                BOOST_TEST_REQUIRE(called.size() == (now() >= next ? 1U : 0U));
                if (!called.empty()) {
                    BOOST_TEST_REQUIRE((called.back() == next)); // So it is later than the last.
                    called.clear();
                    next = after((std::max)(next, now()));
                }
                BOOST_TEST_REQUIRE((task.expiry().time_since_epoch() == next.time_since_epoch()));
            }
            task.cancel();
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
