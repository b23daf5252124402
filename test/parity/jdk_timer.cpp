// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the JDK's java.util.Timer and TimerTask give their users.

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/refusals.hpp"
#include "support/telling.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;
using boost::system::error_code;

// java.util.Date is the clock on the wall.
using wall_clock = std::chrono::system_clock;
using date_scheduler = asio_wheel::basic_scheduler<wall_clock>;

struct wall_time : virtual_time_on<wall_clock> {
    std::string story;
    date_scheduler tasks{ctx};

    [[nodiscard]] auto tell(std::string what) {
        return [this, what = std::move(what)] { story += what; };
    }
    [[nodiscard]] std::string told() { return std::exchange(story, {}); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_jdk_timer, *boost::unit_test::timeout(60))

// new Timer(name, isDaemon): threads are the program's

BOOST_AUTO_TEST_CASE(a_task_keeps_the_program_running_until_it_is_over) { // real time
    asio::io_context ctx;
    scheduler tasks(ctx);
    int calls = 0;
    tasks.schedule_after(1ms, [&] { ++calls; });
    ctx.run(); // Not a daemon,
    BOOST_TEST(calls == 1);
    BOOST_TEST(ctx.stopped()); // and nothing that forgot its cancel().
}

BOOST_AUTO_TEST_CASE(a_context_can_be_ended_with_tasks_that_are_pending) { // A daemon.
    asio::io_context ctx;
    scheduler tasks(ctx);
    tasks.schedule_after(1h, [] {});
    BOOST_TEST(ctx.poll() == 0U);
}

// schedule(task, delay), schedule(task, time)

BOOST_FIXTURE_TEST_CASE(a_task_runs_once_after_its_delay, telling) {
    tasks.schedule_after(10s, tell("a"));
    pass(10s - 1ns);
    BOOST_TEST(told() == "");
    pass(1ns);
    BOOST_TEST(told() == "a");
    pass(1h);
    BOOST_TEST(told() == "");
}

BOOST_FIXTURE_TEST_CASE(a_task_runs_at_a_date_or_at_once_if_that_has_passed, wall_time) {
    const auto midnight = std::chrono::ceil<std::chrono::days>(now() + 1s);
    tasks.schedule_at(midnight, tell("a"));
    tasks.schedule_at(now() - 24h, tell("b"));
    poll();
    BOOST_TEST(told() == "b");
    pass(midnight - now() - 1us);
    BOOST_TEST(told() == "");
    pass(1ms + 1us);
    BOOST_TEST(told() == "a");
}

BOOST_FIXTURE_TEST_CASE(delays_of_less_than_zero_run_at_once, telling) {
    tasks.schedule_after(-1s, tell("a")); // There: IllegalArgumentException.
    poll();
    BOOST_TEST(told() == "a");
}

BOOST_FIXTURE_TEST_CASE(periods_of_zero_or_less_and_empty_tasks_are_refused, telling) {
    BOOST_TEST(thrown_by<std::invalid_argument>([&] {
                   tasks.schedule_at_fixed_rate(0s, 0s, [] {});
               }).has_value());
    BOOST_TEST(thrown_by<std::invalid_argument>([&] {
                   tasks.schedule_with_fixed_delay(0s, -1s, [] {});
               }).has_value());
    BOOST_TEST(thrown_by<std::invalid_argument>([&] {
                   tasks.schedule_after(0s, std::function<void()>());
               }).has_value());
}

// schedule(task, delay, period): the next one a period after the last one has begun

BOOST_FIXTURE_TEST_CASE(a_period_may_begin_when_the_call_does, telling) {
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
    pass(2s); // at 4 s, until 9 s: the next is late already,
    pass(0s); // at 9 s, until 10 s,
    pass(2s); // and then at 12 s.
    const std::vector<std::chrono::nanoseconds> expected{1s, 4s, 9s, 12s};
    BOOST_TEST((begun == expected));
    t.cancel();
    poll();
}

BOOST_FIXTURE_TEST_CASE(a_period_may_begin_when_the_call_is_over, telling) {
    const task_handle h = tasks.schedule_with_fixed_delay(1s, 3s, [this] {
        elapse(1s);
        story += "x";
    });
    pass(1s);
    BOOST_TEST((h.remaining() == 3s));
    pass(3s);
    BOOST_TEST(told() == "xx");
    h.cancel();
}

// scheduleAtFixedRate(task, delay, period), scheduleAtFixedRate(task, firstTime, period)

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_does_not_drift_and_catches_up, telling) {
    const auto start = now();
    std::vector<std::chrono::nanoseconds> due;
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, [&](const task_handle& self) {
        due.push_back(self.expiry() - start);
        elapse(due.size() == 1 ? 2500ms : 100ms); // A collection of garbage, say.
    });
    pass(1s);
    pass(0s);
    pass(0s);
    pass(0s);
    const std::vector<std::chrono::nanoseconds> expected{1s, 2s, 3s};
    BOOST_TEST((due == expected));
    BOOST_TEST((h.expiry() == start + 4s));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_that_began_long_ago_catches_up, telling) {
    const task_handle h = tasks.schedule_at_fixed_rate(-5s, 2s, tell("x"));
    poll();
    pass(0s);
    pass(0s);
    BOOST_TEST(told() == "xxx"); // of -5, -3 and -1 s
    BOOST_TEST((h.remaining() == 1s));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_may_begin_at_a_date, wall_time) {
    const auto midnight = std::chrono::ceil<std::chrono::days>(now() + 1s);
    const auto h = tasks.schedule_at_fixed_rate(midnight - now(), 24h, tell("x"));
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(wheel.advance_to_next() == 1U);
        poll();
    }
    BOOST_TEST(told() == "xxx");
    BOOST_TEST((h.expiry() == midnight + 3 * 24h));
    h.cancel();
}

// TimerTask.scheduledExecutionTime()

BOOST_FIXTURE_TEST_CASE(a_task_can_tell_that_it_is_too_late, telling) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, [this](const task_handle& self) {
        story += now() - self.expiry() >= 500ms ? "-" : "x"; // MAX_TARDINESS
    });
    pass(1s);
    elapse(2400ms);
    poll();
    pass(0s);
    BOOST_TEST(told() == "x-x"); // of 1 s, and of 2 and 3 s at 3400 ms
    h.cancel();
}

// TimerTask.cancel()

BOOST_FIXTURE_TEST_CASE(cancelling_a_task_says_whether_it_prevents_a_call, telling) {
    const task_handle once = tasks.schedule_after(1s, tell("a"));
    const task_handle ran = tasks.schedule_after(0s, [] {});
    const task_handle often = tasks.schedule_at_fixed_rate(0s, 1s, tell("x"));
    poll();
    BOOST_TEST((once.cancel().result == cancel_result::cancelled));
    BOOST_TEST((ran.cancel().result == cancel_result::already_fired));
    BOOST_TEST((often.cancel().result == cancel_result::cancelled));
    BOOST_TEST((often.cancel().result == cancel_result::already_cancelled));
    pass(1h);
    BOOST_TEST(told() == "x");
}

BOOST_FIXTURE_TEST_CASE(a_repeated_task_may_cancel_itself, telling) {
    int calls = 0;
    tasks.schedule_with_fixed_delay(1s, 1s, [&](const task_handle& self) {
        if (++calls == 2) {
            self.cancel();
        }
    });
    pass_in(5, 1s);
    BOOST_TEST(calls == 2);
}

// Timer.cancel(), purge()

BOOST_FIXTURE_TEST_CASE(cancelling_the_timer_in_a_task_makes_that_the_last_one, telling) {
    tasks.schedule_at_fixed_rate(1s, 1s, [this] {
        static_cast<void>(tasks.stop());
        story += "last";
    });
    tasks.schedule_after(1s + 1ms, tell("a"));
    pass_in(5, 1s);
    BOOST_TEST(told() == "last");
    static_cast<void>(tasks.stop()); // May be called again.
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
}

BOOST_FIXTURE_TEST_CASE(cancelled_tasks_need_not_be_purged, telling) {
    const auto held = std::make_shared<int>();
    for (int i = 0; i != 1000; ++i) {
        tasks.schedule_after(24h, [held] {}).cancel();
    }
    BOOST_TEST(tasks.pending() == 0U);
    poll();
    BOOST_TEST(held.use_count() == 1);
}

// What Timer does not do well

BOOST_FIXTURE_TEST_CASE(a_task_that_throws_does_not_end_the_timer, telling) {
    const task_handle h =
        tasks.schedule_at_fixed_rate(1s, 1s, [] { throw std::runtime_error("oh."); });
    tasks.schedule_after(2s, tell("a"));
    pass(1s);
    tasks.schedule_after(1s, tell("b")); // There: "Timer already cancelled."
    pass(1s);
    BOOST_TEST(told().size() == 2U);
    BOOST_TEST(errors == "oh.oh.");
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_slow_task_does_not_hog_the_timer, telling) {
    scheduler slow(asio::make_strand(ctx));
    scheduler quick(asio::make_strand(ctx));
    slow.schedule_after(1s, [this] {
        story += "(";
        elapse(10s);
        std::thread([this] { ctx.poll(); }).join(); // What another thread does meanwhile.
        story += ")";
    });
    quick.schedule_after(2s, tell("q"));
    pass(1s);
    BOOST_TEST(told() == "(q)");
}

// There, a delay is counted by the clock on the wall: whoever sets that back makes it longer.
BOOST_FIXTURE_TEST_CASE(delays_do_not_depend_on_the_clock_on_the_wall, telling) {
    auto& wall = asio_wheel::use_wheel<wall_clock>(ctx);
    wall.pause();
    date_scheduler dates(ctx);
    dates.schedule_at(wall.now() + 24h, tell("date"));
    tasks.schedule_after(10s, tell("delay"));
    wall.advance(25h); // Somebody sets it.
    poll();
    BOOST_TEST(told() == "date");
    pass(10s);
    BOOST_TEST(told() == "delay");
}

BOOST_AUTO_TEST_SUITE_END()
