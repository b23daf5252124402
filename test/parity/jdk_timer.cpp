// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of the JDK's java.util.Timer and TimerTask.

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

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

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::missed;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

// java.util.Date is the wall clock.
using wall_clock = std::chrono::system_clock;
using date_scheduler = asio_wheel::basic_scheduler<wall_clock>;

struct wall_time : virtual_time_on<wall_clock> {
    std::string log_text;
    date_scheduler tasks{ctx};

    [[nodiscard]] auto note(std::string what) {
        return [this, what = std::move(what)] { log_text += what; };
    }
    [[nodiscard]] std::string take_log() { return std::exchange(log_text, {}); }
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

BOOST_FIXTURE_TEST_CASE(a_task_runs_once_after_its_delay, logged_scheduler) {
    tasks.schedule_after(10s, note("a"));
    pass(10s - 1ns);
    BOOST_TEST(take_log() == "");
    pass(1ns);
    BOOST_TEST(take_log() == "a");
    pass(1h);
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(a_task_runs_at_a_date_or_at_once_if_that_has_passed, wall_time) {
    const auto midnight = std::chrono::ceil<std::chrono::days>(now() + 1s);
    tasks.schedule_at(midnight, note("a"));
    tasks.schedule_at(now() - 24h, note("b"));
    poll();
    BOOST_TEST(take_log() == "b");
    pass(midnight - now() - 1us);
    BOOST_TEST(take_log() == "");
    pass(1ms + 1us);
    BOOST_TEST(take_log() == "a");
}

BOOST_FIXTURE_TEST_CASE(delays_of_less_than_zero_run_at_once, logged_scheduler) {
    tasks.schedule_after(-1s, note("a")); // Theirs: IllegalArgumentException.
    poll();
    BOOST_TEST(take_log() == "a");
}

BOOST_FIXTURE_TEST_CASE(periods_of_zero_or_less_and_empty_tasks_are_refused, logged_scheduler) {
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

BOOST_FIXTURE_TEST_CASE(a_period_may_begin_when_the_call_is_over, logged_scheduler) {
    const task_handle h = tasks.schedule_with_fixed_delay(1s, 3s, [this] {
        elapse(1s);
        log_text += "x";
    });
    pass(1s);
    BOOST_TEST((h.remaining() == 3s));
    pass(3s);
    BOOST_TEST(take_log() == "xx");
    h.cancel();
}

// scheduleAtFixedRate(task, delay, period), scheduleAtFixedRate(task, firstTime, period)

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_does_not_drift_and_catches_up, logged_scheduler) {
    const auto start = now();
    std::vector<std::chrono::nanoseconds> due;
    const auto work = [&](const task_handle& self) {
        due.push_back(self.expiry() - start);
        elapse(due.size() == 1 ? 2500ms : 100ms); // For example a garbage collection.
    };
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, work, missed::catch_up);
    pass(1s);
    pass(0s);
    pass(0s);
    pass(0s);
    const std::vector<std::chrono::nanoseconds> expected{1s, 2s, 3s};
    BOOST_TEST((due == expected));
    BOOST_TEST((h.expiry() == start + 4s));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_that_began_long_ago_catches_up, logged_scheduler) {
    const task_handle h = tasks.schedule_at_fixed_rate(-5s, 2s, note("x"), missed::catch_up);
    poll();
    pass(0s);
    pass(0s);
    BOOST_TEST(take_log() == "xxx"); // Those of -5, -3 and -1 s.
    BOOST_TEST((h.remaining() == 1s));
    h.cancel();
}

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

// TimerTask.scheduledExecutionTime()

BOOST_FIXTURE_TEST_CASE(a_task_can_tell_that_it_is_too_late, logged_scheduler) {
    const auto work = [this](const task_handle& self) {
        log_text += now() - self.expiry() >= 500ms ? "-" : "x"; // MAX_TARDINESS
    };
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, work, missed::catch_up);
    pass(1s);
    elapse(2400ms);
    poll();
    pass(0s);
    BOOST_TEST(take_log() == "x-x"); // That of 1 s, and those of 2 and 3 s at 3400 ms.
    h.cancel();
}

// TimerTask.cancel()

BOOST_FIXTURE_TEST_CASE(cancelling_a_task_says_whether_it_prevents_a_call, logged_scheduler) {
    const task_handle once = tasks.schedule_after(1s, note("a"));
    const task_handle ran = tasks.schedule_after(0s, [] {});
    const task_handle often = tasks.schedule_at_fixed_rate(0s, 1s, note("x"));
    poll();
    BOOST_TEST((once.cancel().result == cancel_result::cancelled));
    BOOST_TEST((ran.cancel().result == cancel_result::already_fired));
    BOOST_TEST((often.cancel().result == cancel_result::cancelled));
    BOOST_TEST((often.cancel().result == cancel_result::already_cancelled));
    pass(1h);
    BOOST_TEST(take_log() == "x");
}

BOOST_FIXTURE_TEST_CASE(a_repeated_task_may_cancel_itself, logged_scheduler) {
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

BOOST_FIXTURE_TEST_CASE(cancelling_the_timer_in_a_task_makes_that_the_last_one, logged_scheduler) {
    tasks.schedule_at_fixed_rate(1s, 1s, [this] {
        static_cast<void>(tasks.stop());
        log_text += "last";
    });
    tasks.schedule_after(1s + 1ms, note("a"));
    pass_in(5, 1s);
    BOOST_TEST(take_log() == "last");
    static_cast<void>(tasks.stop()); // May be called again.
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
}

BOOST_FIXTURE_TEST_CASE(cancelled_tasks_need_not_be_purged, logged_scheduler) {
    const auto held = std::make_shared<int>();
    for (int i = 0; i != 1000; ++i) {
        tasks.schedule_after(24h, [held] {}).cancel();
    }
    BOOST_TEST(tasks.pending() == 0U);
    poll();
    BOOST_TEST(held.use_count() == 1);
}

// Known problems of Timer

BOOST_FIXTURE_TEST_CASE(a_task_that_throws_does_not_end_the_timer, logged_scheduler) {
    const task_handle h =
        tasks.schedule_at_fixed_rate(1s, 1s, [] { throw std::runtime_error("oh."); });
    tasks.schedule_after(2s, note("a"));
    pass(1s);
    tasks.schedule_after(1s, note("b")); // Theirs: "Timer already cancelled."
    pass(1s);
    BOOST_TEST(take_log().size() == 2U);
    BOOST_TEST(errors == "oh.oh.");
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_slow_task_does_not_hog_the_timer, logged_scheduler) {
    scheduler slow(asio::make_strand(ctx));
    scheduler quick(asio::make_strand(ctx));
    slow.schedule_after(1s, [this] {
        log_text += "(";
        elapse(10s);
        std::thread([this] { ctx.poll(); }).join(); // The work of another thread in the meantime.
        log_text += ")";
    });
    quick.schedule_after(2s, note("q"));
    pass(1s);
    BOOST_TEST(take_log() == "(q)");
}

// Theirs measures delays by the wall clock, so setting that back makes them longer.
BOOST_FIXTURE_TEST_CASE(delays_do_not_depend_on_the_clock_on_the_wall, logged_scheduler) {
    auto& wall = asio_wheel::use_wheel<wall_clock>(ctx);
    wall.pause();
    date_scheduler dates(ctx);
    dates.schedule_at(wall.now() + 24h, note("date"));
    tasks.schedule_after(10s, note("delay"));
    wall.advance(25h); // The clock is set.
    poll();
    BOOST_TEST(take_log() == "date");
    pass(10s);
    BOOST_TEST(take_log() == "delay");
}

BOOST_AUTO_TEST_SUITE_END()
