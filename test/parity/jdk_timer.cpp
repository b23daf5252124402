// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of the JDK's java.util.Timer and TimerTask.

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::missed;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

// java.util.Date is the wall clock.
using wall_clock = std::chrono::system_clock;
using date_scheduler = asio_wheel::basic_scheduler<wall_clock>;

struct wall_time : virtual_time_on<wall_clock> {
    date_scheduler tasks{ctx};

    [[nodiscard]] auto note(std::string what) {
        return [this, what = std::move(what)] { log.text += what; };
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_jdk_timer, *boost::unit_test::timeout(60))

// new Timer(name, isDaemon): the program owns the threads

BOOST_AUTO_TEST_CASE(a_task_keeps_the_program_running_until_it_is_over) { // real time
    asio::io_context ctx;
    scheduler tasks(ctx);
    int calls = 0;
    tasks.schedule_after(1ms, [&] { ++calls; });
    ctx.run(); // Not a daemon,
    BOOST_TEST(calls == 1);
    BOOST_TEST(ctx.stopped()); // and no task that was not cancelled.
}

BOOST_AUTO_TEST_CASE(a_context_can_be_ended_with_tasks_that_are_pending) { // A daemon.
    asio::io_context ctx;
    scheduler tasks(ctx);
    tasks.schedule_after(1h, [] {});
    const std::size_t handlers = ctx.poll();
    if (counts_only_handlers) {
        BOOST_TEST(handlers == 0U);
    }
    BOOST_TEST(!ctx.stopped());
}

// schedule(task, delay), schedule(task, time)

BOOST_FIXTURE_TEST_CASE(a_task_runs_at_a_date_or_at_once_if_that_has_passed, wall_time) {
    const auto midnight = std::chrono::ceil<std::chrono::days>(now() + 1s);
    tasks.schedule_at(midnight, note("a"));
    tasks.schedule_at(now() - 24h, note("b"));
    BOOST_TEST(log_now() == "b");
    BOOST_TEST(log_after(midnight - now() - 1us) == "");
    BOOST_TEST(log_after(1ms + 1us) == "a");
}

BOOST_FIXTURE_TEST_CASE(delays_of_less_than_zero_run_at_once, logged_scheduler) {
    tasks.schedule_after(-1s, note("a")); // Theirs: IllegalArgumentException.
    BOOST_TEST(log_now() == "a");
}

// schedule(task, delay, period): each call is due a period after the start of the previous one

BOOST_FIXTURE_TEST_CASE(a_period_may_begin_when_the_call_does, logged_scheduler) {
    const auto start = now();
    std::vector<std::chrono::nanoseconds> begun;
    timer t(ctx, 1s);
    std::function<void(error_code)> run = [&](error_code ec) {
        if (!ec) {
            t.expires_after(3s);
            t.async_wait(run);
            begun.push_back(now() - start);
            elapse(begun.size() == 2 ? 5s : 1s); // The second call is slow.
        }
    };
    t.async_wait(run);
    pass(1s); // at 1 s
    pass(2s); // At 4 s, until 9 s: the next one is late already,
    pass(0s); // at 9 s, until 10 s,
    pass(2s); // and then at 12 s.
    const std::vector<std::chrono::nanoseconds> expected{1s, 4s, 9s, 12s};
    BOOST_TEST((begun == expected));
    t.cancel();
    poll();
}

// scheduleAtFixedRate(task, delay, period), scheduleAtFixedRate(task, firstTime, period)

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_may_begin_at_a_date, wall_time) {
    const auto midnight = std::chrono::ceil<std::chrono::days>(now() + 1s);
    const auto h = tasks.schedule_at_fixed_rate(midnight - now(), 24h, note("x"));
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(wheel.advance_to_next() == 1U);
        poll();
    }
    BOOST_TEST(take_log() == "xxx");
    BOOST_TEST((h.expiry() == midnight + 3 * 24h));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_time_of_day_stays_that_when_a_zone_changes_its_clock, wall_time) {
    // A zone that changes its clock by an hour, the day after tomorrow at midnight.
    struct changing_zone {
        std::chrono::sys_seconds change;

        [[nodiscard]] asio_wheel::zone_period get_info(std::chrono::sys_seconds t) const {
            using time = std::chrono::sys_seconds;
            return t < change ? asio_wheel::zone_period{(time::min)(), change, 1h}
                              : asio_wheel::zone_period{change, (time::max)(), 2h};
        }
    };
    const auto today = std::chrono::floor<std::chrono::days>(now());
    const changing_zone zone{today + 48h};
    const auto h = tasks.schedule(asio_wheel::daily(9h, zone), note("x"));
    pass(today + 32h - now()); // Tomorrow at 9:00 in the zone. Today's may have passed.
    static_cast<void>(take_log());
    BOOST_TEST((h.expiry() == today + 48h + 7h)); // 23 hours later it is 9:00 again.
    pass(23h);
    BOOST_TEST(take_log() == "x");
    h.cancel();
}

// TimerTask.scheduledExecutionTime()

BOOST_FIXTURE_TEST_CASE(a_task_can_tell_that_it_is_too_late, logged_scheduler) {
    const auto work = [this](const task_handle& self) {
        log.text += now() - self.expiry() >= 500ms ? "-" : "x"; // MAX_TARDINESS
    };
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, work, missed::catch_up);
    pass(1s);
    elapse(2400ms);
    poll();
    BOOST_TEST(log_after(0s) == "x-x"); // That of 1 s, and those of 2 and 3 s at 3400 ms.
    h.cancel();
}

// Known problems of Timer

// Theirs measures delays by the wall clock, so setting that back makes them longer.
BOOST_FIXTURE_TEST_CASE(delays_do_not_depend_on_the_clock_on_the_wall, logged_scheduler) {
    auto& wall = asio_wheel::use_wheel<wall_clock>(ctx);
    wall.pause();
    date_scheduler dates(ctx);
    dates.schedule_at(wall.now() + 24h, note("date"));
    tasks.schedule_after(10s, note("delay"));
    wall.advance(25h); // The clock is set.
    BOOST_TEST(log_now() == "date");
    BOOST_TEST(log_after(10s) == "delay");
}

BOOST_AUTO_TEST_SUITE_END()
