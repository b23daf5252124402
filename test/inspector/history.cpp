// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What an inspector keeps of each minute.

#include "inspector/client.hpp"
#include "inspector/served.hpp"
#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/inspector.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::inspector_options;

using numbers = std::vector<std::string>;

struct remembering : served_wheel {
    remembering() : served_wheel({.history = 3min}) {}

    /// A minute passes, with all that happens in it.
    void minute() { pass(60s); }

    /// A column of all minutes of a wheel.
    [[nodiscard]] numbers column(const std::string& wheel_name, const std::string& column) {
        const auto json = parsed(get("/history.json").body);
        std::size_t at = 0;
        for (const auto& name : json.get_child("columns")) {
            if (name.second.data() == column) {
                break;
            }
            ++at;
        }
        numbers result;
        for (const auto& one : json.get_child("wheels")) {
            if (one.second.get<std::string>("name") == wheel_name) {
                for (const auto& m : one.second.get_child("minutes")) {
                    result.push_back(std::next(m.second.begin(), static_cast<std::ptrdiff_t>(at))
                                         ->second.data());
                }
            }
        }
        return result;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(inspector_history)

BOOST_FIXTURE_TEST_CASE(each_minute_is_kept_though_nobody_looks, remembering) {
    virtual_time other;
    wheels.add("other", other.wheel.watched());
    const auto fire = [&](int n) {
        std::deque<timer> timers;
        for (int i = 0; i < n; ++i) {
            timers.emplace_back(other.ctx, 1ms).async_wait(ignore);
        }
        BOOST_TEST(timers.front().postpone(2ms) == 1U);
        BOOST_TEST(timers.back().cancel() == 1U);
        other.pass(2ms);
    };
    timer pending(other.ctx, 1h);
    pending.async_wait(ignore);
    fire(5);
    minute();
    fire(3);
    minute();
    BOOST_TEST((column("other", "fired") == numbers{"4", "2"}));
    BOOST_TEST((column("other", "scheduled") == numbers{"6", "3"}));
    BOOST_TEST((column("other", "cancelled") == numbers{"1", "1"}));
    BOOST_TEST((column("other", "postponed") == numbers{"1", "1"}));
    BOOST_TEST((column("other", "pending") == numbers{"1", "1"}));
    BOOST_TEST((column("other", "severity") == numbers{"ok", "ok"}));
    pending.cancel();
    other.poll();
}

BOOST_FIXTURE_TEST_CASE(no_more_minutes_are_kept_than_the_option_says, remembering) {
    for (int i = 0; i < 5; ++i) {
        minute();
    }
    BOOST_TEST(column("main", "pending").size() == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_minute_tells_how_late_its_waits_were, remembering) {
    using clock = manual_clock<struct late_minute>;
    drained_context other;
    wheels.add("late", asio_wheel::use_wheel<clock, impatient<clock>>(other.ctx).watched());
    asio_wheel::basic_waitable_timer<clock, impatient<clock>> t(other.ctx, 20ms);
    t.async_wait(ignore);
    clock::advance(320ms);
    minute();
    look(other.ctx);
    minute();
    BOOST_TEST((column("late", "late_waits") == numbers{"0", "1"}));
    BOOST_TEST(column("late", "longest_ns").back() == "300000000");
    BOOST_TEST((column("late", "severity") == numbers{"critical", "critical"}));
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_late_at_any_time_is_in_a_minute, remembering) {
    using clock = manual_clock<struct any_time>;
    drained_context other;
    wheels.add("late", asio_wheel::use_wheel<clock, impatient<clock>>(other.ctx).watched());
    clock::time_point begin(1h);
    for (const auto after : {0ms, 999ms, 1000ms, 59'999ms}) {
        clock::set(begin - 1s);
        asio_wheel::basic_waitable_timer<clock, impatient<clock>> t(other.ctx,
                                                                    begin + after - 300ms);
        t.async_wait(ignore);
        clock::set(begin);
        minute();
        clock::set(begin + after);
        look(other.ctx);
        clock::set(begin + 60s);
        minute();
        BOOST_TEST(column("late", "late_waits").back() == "1", after / 1ms << " ms after the last");
        begin += 1h;
    }
}

// One wake-up in a minute; and none if that is turned off.
BOOST_AUTO_TEST_CASE(the_history_needs_one_timer) {
    for (const auto history : {3min, 0min}) {
        served_wheel world({.history = history});
        BOOST_TEST(world.wheel.pending() == (history == 0min ? 0U : 1U));
        world.pass(60s);
        BOOST_TEST(world.wheel.pending() == (history == 0min ? 0U : 1U));
        BOOST_TEST(world.wheel.stats().fired == (history == 0min ? 0U : 1U));
    }
}

BOOST_FIXTURE_TEST_CASE(a_context_that_has_ended_has_no_further_minutes, remembering) {
    std::optional<virtual_time> other(std::in_place);
    wheels.add("other", other->wheel.watched());
    minute();
    other.reset();
    minute();
    BOOST_TEST(column("other", "pending").size() == 1U);
    BOOST_TEST(column("main", "pending").size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
