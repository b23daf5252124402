// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The zone of the system. The C library says what its clock shows, and not when that changes.

#include <asio_wheel/civil_time.hpp>

#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::daily;
using asio_wheel::local_zone;
using asio_wheel::zone_changes;
using std::chrono::April;
using std::chrono::March;
using std::chrono::October;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

#ifdef _WIN32
constexpr bool has_rules = false; // Its C library has those of the USA for all zones.
#else
constexpr bool has_rules = true;
#endif

/// The environment variable TZ, until the end.
class system_zone {
public:
    explicit system_zone(const char* rules) {
        if (const char* const before = std::getenv("TZ")) {
            before_ = before;
        }
        set(rules);
    }
    system_zone(const system_zone&) = delete;
    system_zone& operator=(const system_zone&) = delete;
    ~system_zone() { set(before_ ? before_->c_str() : nullptr); }

private:
    static void set([[maybe_unused]] const char* rules) {
#ifndef _WIN32
        rules == nullptr ? unsetenv("TZ") : setenv("TZ", rules, 1);
        tzset();
#endif
    }

    std::optional<std::string> before_;
};

/// The seconds at which the offset changes, and the new offset.
using changes = std::vector<std::pair<sys_seconds, std::chrono::seconds>>;

/// Those in 2026.
changes changes_in_2026() {
    changes all;
    const local_zone zone;
    const sys_seconds end = sys_days(2027y / 1 / 1);
    auto period = zone.get_info(sys_days(2026y / 1 / 1));
    while (period.end < end) {
        const auto next = zone.get_info(period.end);
        BOOST_TEST_REQUIRE((next.begin == period.end));
        BOOST_TEST_REQUIRE((next.end > next.begin));
        // It is the same period wherever one asks.
        BOOST_TEST((zone.get_info(next.end - 1s).begin == next.begin));
        if (next.offset != period.offset) {
            all.emplace_back(next.begin, next.offset);
        }
        period = next;
    }
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(civil_time_local_zone, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(the_changes_of_the_systems_zone_are_found_to_the_second, *only_if(has_rules)) {
    const struct {
        const char* rules;
        changes expected;
    } zones[] = {
        {"UTC0", {}},
        {"CET-1CEST,M3.5.0,M10.5.0/3", // Berlin
         {{sys_days(2026y / March / 29) + 1h, 2h}, {sys_days(2026y / October / 25) + 1h, 1h}}},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", // Dublin: winter has the "daylight saving time", -1 h
         {{sys_days(2026y / March / 29) + 1h, 1h}, {sys_days(2026y / October / 25) + 1h, 0h}}},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", // Lord Howe: half an hour, in the south
         {{sys_days(2026y / April / 4) + 15h, 10h + 30min},
          {sys_days(2026y / October / 3) + 15h + 30min, 11h}}},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", // Nuuk: before midnight
         {{sys_days(2026y / March / 29) + 1h, -1h}, {sys_days(2026y / October / 25) + 1h, -2h}}},
        {"AAA0BBB,M3.5.0/0,M10.5.0/1", // At midnight UTC, where the search begins.
         {{sys_days(2026y / March / 29), 1h}, {sys_days(2026y / October / 25), 0h}}},
    };
    for (const auto& zone : zones) {
        BOOST_TEST_CONTEXT(zone.rules) {
            const system_zone set(zone.rules);
            BOOST_TEST((changes_in_2026() == zone.expected));
        }
    }
}

BOOST_AUTO_TEST_CASE(without_a_zone_a_rule_is_in_that_of_the_system, *only_if(has_rules)) {
    const system_zone set("CET-1CEST,M3.5.0,M10.5.0/3");
    const auto next = daily(2h + 30min);
    BOOST_TEST((next == daily(2h + 30min, local_zone())));
    BOOST_TEST((next(sys_days(2026y / March / 27)) == sys_days(2026y / March / 27) + 90min));
    BOOST_TEST((next(sys_days(2026y / March / 28) + 2h) == sys_days(2026y / March / 29) + 1h));
    BOOST_TEST(
        (next(sys_days(2026y / October / 24) + 2h) == sys_days(2026y / October / 25) + 30min));
    BOOST_TEST(
        (next(sys_days(2026y / October / 25) + 30min) == sys_days(2026y / October / 26) + 90min));
    BOOST_TEST((daily(2h + 30min, local_zone(),
                      zone_changes::as_shown)(sys_days(2026y / October / 25) + 30min) ==
                sys_days(2026y / October / 25) + 90min));
}

BOOST_AUTO_TEST_CASE(the_systems_zone_has_an_answer_for_all_times) {
    for (const sys_seconds t : {sys_seconds(), sys_seconds(sys_days(1900y / 1 / 1)),
                                sys_seconds(sys_days(9999y / 12 / 31)),
                                sys_seconds(sys_seconds::max().time_since_epoch() / 2)}) {
        const auto period = local_zone().get_info(t);
        BOOST_TEST((period.begin <= t && t < period.end));
        BOOST_TEST((period.offset < 24h && period.offset > -24h));
    }
}

BOOST_AUTO_TEST_SUITE_END()
