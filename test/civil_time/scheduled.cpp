// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// Tasks at civil times: in virtual time, and on a wall clock that is set.

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/wait_traits.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace {

using wall_clock =
    asio_wheel::test::manual_clock<struct civil_clock, std::chrono::nanoseconds, false>;

} // namespace

// The traits of all timers on this clock: see manual_clock.hpp.
template <>
struct boost::asio::wait_traits<wall_clock> : asio_wheel::test::impatient<wall_clock> {};

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel;
using std::chrono::sys_days;
using system_time = std::chrono::system_clock::time_point;

constexpr auto day = 24h;

/// The times of a rule on the clock that the test sets.
template <class Times>
auto on_wall_clock(Times times) {
    using time_point = wall_clock::time_point;
    const auto to_system = [](time_point t) {
        using to = std::chrono::system_clock::duration;
        return system_time(std::chrono::duration_cast<to>(t.time_since_epoch()));
    };
    return [=](time_point previous, time_point now) -> std::optional<time_point> {
        const auto t = times(to_system(previous), to_system(now));
        return t ? std::optional(time_point(t->time_since_epoch())) : std::nullopt;
    };
}

/// A task at 03:30 each day, on the 1st of May 2026 at midnight.
struct daily_task : drained_context {
    using scheduler = basic_scheduler<wall_clock>;

    daily_task() {
        wall_clock::set(start);
        task = tasks.schedule(
            on_wall_clock(daily(3h + 30min, utc)),
            [this](const scheduler::handle& h) { called.push_back(h.expiry() - start); });
    }
    ~daily_task() { task.cancel(); }

    // The clock jumps.
    void set(std::chrono::nanoseconds d) {
        wall_clock::set(start + d);
        look(ctx);
    }
    // The clock runs, in steps of 10 minutes, until it shows this.
    void run_to(std::chrono::nanoseconds d) {
        while (wall_clock::now() < start + d) {
            wall_clock::advance(10min);
            look(ctx);
        }
    }
    // The times that were called, since the start.
    [[nodiscard]] auto taken() { return std::exchange(called, {}); }

    using times = std::vector<std::chrono::nanoseconds>;
    const wall_clock::time_point start{sys_days(2026y / 5 / 1).time_since_epoch()};
    scheduler tasks{ctx};
    scheduler::handle task;
    times called;
};

} // namespace

BOOST_AUTO_TEST_SUITE(civil_time_scheduled, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(a_task_is_called_at_its_time_each_day) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    system_scheduler tasks(ctx);
    std::vector<system_time> called;
    const auto h = tasks.schedule(daily(3h + 30min, utc), [&](const auto& self) {
        BOOST_TEST((use_wheel<std::chrono::system_clock>(ctx).now() == self.expiry()));
        called.push_back(self.expiry());
    });
    const system_time first = h.expiry();
    BOOST_TEST((first.time_since_epoch() % day == 3h + 30min));
    time.advance(10 * day);
    BOOST_TEST_REQUIRE(called.size() == 10U);
    for (std::size_t i = 0; i < called.size(); ++i) {
        BOOST_TEST((called[i] == first + i * day));
    }
    h.cancel();
    time.advance(0s);
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_set_back_does_not_call_the_task_a_second_time, daily_task) {
    run_to(3h + 30min);
    BOOST_TEST((taken() == times{3h + 30min}));
    for (const auto back : {3h + 29min, 2h + 0min, -22h + 0min}) {
        set(back);
        run_to(day);
        BOOST_TEST(taken().empty());
    }
    run_to(day + 3h + 30min);
    BOOST_TEST((taken() == times{day + 3h + 30min}));
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_set_back_before_the_time_does_not_call_an_earlier_day,
                        daily_task) {
    set(-2 * day);
    run_to(3h);
    BOOST_TEST(taken().empty());
    run_to(day);
    BOOST_TEST((taken() == times{3h + 30min}));
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_set_back_in_the_call_does_not_repeat_it, daily_task) {
    task.cancel();
    task =
        tasks.schedule(on_wall_clock(daily(3h + 30min, utc)), [this](const scheduler::handle& h) {
            called.push_back(h.expiry() - start);
            wall_clock::set(start + 3h);
        });
    set(3h + 30min);
    BOOST_TEST(called.size() == 1U);
    run_to(day);
    BOOST_TEST((taken() == times{3h + 30min}));
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_set_forward_over_the_time_calls_the_task_once, daily_task) {
    set(9h);
    BOOST_TEST((taken() == times{3h + 30min}));
    set(10 * day); // Nine times are one call; so they are if the process did not run.
    BOOST_TEST((taken() == times{day + 3h + 30min}));
    run_to(11 * day);
    BOOST_TEST((taken() == times{10 * day + 3h + 30min}));
}

BOOST_FIXTURE_TEST_CASE(a_call_that_takes_days_counts_for_all_of_them, daily_task) {
    task.cancel();
    task =
        tasks.schedule(on_wall_clock(daily(3h + 30min, utc)), [this](const scheduler::handle& h) {
            called.push_back(h.expiry() - start);
            wall_clock::advance(2 * day + 1h);
        });
    set(3h + 30min);
    BOOST_TEST((taken() == times{3h + 30min}));
    BOOST_TEST((task.expiry() == start + 3 * day + 3h + 30min));
}

BOOST_FIXTURE_TEST_CASE(to_schedule_anew_under_the_same_key_counts_from_what_the_clock_shows,
                        daily_task) {
    task.cancel();
    int count = 0;
    set(1000 * day);
    const auto begin = [&] {
        return tasks.schedule("backup", on_wall_clock(daily(3h + 30min, utc)), [&] { ++count; });
    };
    begin();
    set(0h); // The clock was wrong by years.
    const auto h = begin();
    BOOST_TEST(tasks.pending() == 1U);
    run_to(2 * day);
    BOOST_TEST(count == 2);
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_rule_without_days_is_no_task, daily_task) {
    const auto h = tasks.schedule(on_wall_clock(weekly({}, 3h)), [] {});
    BOOST_TEST((h == scheduler::handle()));
    BOOST_TEST(tasks.pending() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
