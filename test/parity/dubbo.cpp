// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of Dubbo: org.apache.dubbo.common.timer.HashedWheelTimer with Timer, Timeout and
// TimerTask, and what Dubbo builds on them: calls that time out, retries of failed calls,
// heartbeats and reconnects.

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

// As Dubbo creates them: new HashedWheelTimer(threadFactory, 30, MILLISECONDS), 512 slots.
struct dubbo_timer : logged_scheduler {
    dubbo_timer() : logged_scheduler({.tick = 30ms, .slots = 512, .levels = 1}) {}
};

// The result of a call: its number, and whether there was an answer.
struct call {
    manual_operation<error_code> answer;
    std::string& log_text;

    call(asio::io_context& ctx, std::string& s) : answer(ctx.get_executor()), log_text(s) {
        answer.on_cancel = [this] { answer.complete(asio::error::operation_aborted); };
    }

    void start(int number, std::chrono::milliseconds timeout) {
        answer.start(asio_wheel::timeout(timeout, [this, number](error_code ec) {
            log_text += std::to_string(number) + (ec == std::errc::timed_out ? "? " : "! ");
        }));
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_dubbo, *boost::unit_test::timeout(60))

// HashedWheelTimer(tickDuration, unit, ticksPerWheel, maxPendingTimeouts)

BOOST_AUTO_TEST_CASE(unusable_wheels_are_refused_in_words) {
    asio::io_context ctx;
    const auto refused = thrown_by<std::invalid_argument>(
        [&] { asio_wheel::make_wheel(ctx, {.tick = 0ms, .slots = 512, .levels = 1}); });
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST(std::string(refused->what()).find("tick") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_wheel_for_each_context_needs_no_thread_of_its_own) {
    // Dubbo warns of more than 64 timers: each has a thread.
    std::array<asio::io_context, 65> contexts;
    for (asio::io_context& ctx : contexts) {
        scheduler tasks(ctx);
        bool called = false;
        tasks.schedule_after(0s, [&] { called = true; });
        ctx.run();
        BOOST_TEST(called);
    }
}

// newTimeout(task, delay, unit)

BOOST_FIXTURE_TEST_CASE(a_timeout_runs_once_in_its_tick, dubbo_timer) {
    tasks.schedule_after(100ms, note("a"));
    pass(100ms - 1ns);
    BOOST_TEST(take_log() == "");
    pass(20ms + 1ns);
    BOOST_TEST(take_log() == "a");
    pass(1h);
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(deadlines_of_any_length_are_kept, dubbo_timer) {
    tasks.schedule_after(24h * 365, note("year"));
    const task_handle never = tasks.schedule_after(std::chrono::hours::max(), note("never"));
    pass(24h * 365 - 30ms);
    BOOST_TEST(take_log() == "");
    pass(60ms);
    BOOST_TEST(take_log() == "year");
    BOOST_TEST((never.cancel().result == cancel_result::cancelled));
}

BOOST_FIXTURE_TEST_CASE(what_is_due_already_runs_at_once, dubbo_timer) {
    tasks.schedule_after(-1s, note("a"));
    poll();
    BOOST_TEST(take_log() == "a");
}

// maxPendingTimeouts, pendingTimeouts()

BOOST_FIXTURE_TEST_CASE(the_limit_is_of_what_is_pending, dubbo_timer) {
    scheduler two(ctx, {.max_pending = 2});
    const task_handle a = two.schedule_after(1h, [] {});
    two.schedule_after(1h, [] {});
    BOOST_TEST(
        (refusal_of([&] { two.schedule_after(1h, [] {}); }) == asio_wheel::error::scheduler_full));
    BOOST_TEST(two.pending() == 2U);
    BOOST_TEST((a.cancel().result == cancel_result::cancelled));
    BOOST_TEST(two.pending() == 1U);
    two.schedule_after(1h, [] {});
}

// stop(), isStop()

BOOST_FIXTURE_TEST_CASE(a_timer_can_be_stopped_once_for_all, dubbo_timer) {
    const task_handle a = tasks.schedule_after(1h, note("a"));
    BOOST_TEST(!tasks.closed());
    const auto never_called = tasks.stop();
    BOOST_TEST(tasks.closed());
    BOOST_TEST((never_called == std::vector{a}));
    BOOST_TEST(tasks.stop().empty());
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
    pass(2h);
    BOOST_TEST(take_log() == "");
}

// Timeout.cancel(), isCancelled(), isExpired()

BOOST_FIXTURE_TEST_CASE(cancel_says_whether_it_was_in_time, dubbo_timer) {
    const task_handle a = tasks.schedule_after(60ms, note("a"));
    const task_handle b = tasks.schedule_after(60ms, note("b"));
    BOOST_TEST((a.cancel().result == cancel_result::cancelled));
    BOOST_TEST(a.is_cancelled());
    pass(60ms);
    BOOST_TEST((b.cancel().result == cancel_result::already_fired));
    BOOST_TEST(b.is_expired());
    BOOST_TEST((a.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST(take_log() == "b");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_throws_stops_nothing, dubbo_timer) {
    tasks.schedule_after(30ms, [] { throw std::runtime_error("oh."); });
    tasks.schedule_after(60ms, note("a"));
    pass_in(2, 30ms);
    BOOST_TEST(errors == "oh.");
    BOOST_TEST(take_log() == "a");
}

// DefaultFuture: a timeout for each call, which the answer cancels

BOOST_FIXTURE_TEST_CASE(calls_time_out_and_answers_cancel_their_timeouts, dubbo_timer) {
    std::array<call, 2> calls{call{ctx, log_text}, call{ctx, log_text}};
    calls[0].start(0, 1s);
    calls[1].start(1, 1s);
    pass(500ms);
    calls[0].answer.complete({});
    poll();
    BOOST_TEST(take_log() == "0! ");
    BOOST_TEST(wheel.pending() == 1U); // Dubbo's stays in its slot until the next tick.
    pass(1s);
    BOOST_TEST(take_log() == "1? ");
}

// AbstractRetryTask of a registry, FailbackClusterInvoker: three retries, five seconds apart

BOOST_FIXTURE_TEST_CASE(what_failed_is_tried_again_later_and_given_up_in_the_end, dubbo_timer) {
    struct retry {
        dubbo_timer& world;
        int left;

        void operator()() const {
            world.log_text += "x"; // It fails.
            if (left != 0) {
                world.tasks.schedule_after(5s, retry{world, left - 1});
            }
        }
    };
    tasks.schedule_after(5s, retry{*this, 3});
    pass_in(40, 1s);
    BOOST_TEST(take_log() == "xxxx");
}

BOOST_FIXTURE_TEST_CASE(retries_may_back_off_instead, dubbo_timer) {
    asio_wheel::backoff pauses({.initial = 1s, .max = 5s, .factor = 2, .jitter = 0});
    std::vector<std::chrono::seconds> attempts;
    const auto start = now();
    std::function<void()> attempt = [&] {
        attempts.push_back(std::chrono::round<std::chrono::seconds>(now() - start));
        tasks.schedule_after(pauses.next(), attempt);
    };
    attempt();
    pass_in(20 * 100, 10ms);
    BOOST_TEST((attempts == std::vector<std::chrono::seconds>{0s, 1s, 3s, 7s, 12s, 17s}));
}

// HeartbeatTimerTask, ReconnectTimerTask, CloseTimerTask

BOOST_FIXTURE_TEST_CASE(connections_have_heartbeats_and_are_reconnected, dubbo_timer) {
    asio_wheel::heartbeat pulse(ctx, {.send_every = 60s, .dead_after = 180s});
    std::function<void()> watch = [&] {
        pulse.async_next([&](error_code ec, asio_wheel::heartbeat_event event) {
            if (ec) {
                return;
            }
            if (event == asio_wheel::heartbeat_event::send) {
                log_text += "h";
            } else {
                log_text += "r";
                pulse.received(); // Connected again.
            }
            watch();
        });
    };
    watch();
    pass_in(17, 10s);
    BOOST_TEST(take_log() == "hh"); // at 60 and 120 s
    pass(10s);
    BOOST_TEST(take_log() == "rh"); // at 180 s, and to the new one at once
    pulse.received();
    pass_in(17, 10s);
    BOOST_TEST(take_log() == "hh");
    pulse.cancel();
    poll();
}

// A single task that scans all channels periodically

BOOST_FIXTURE_TEST_CASE(a_sweep_over_all_channels_is_repeated_until_it_is_cancelled, dubbo_timer) {
    std::map<int, std::size_t> swept{{1, 0}, {2, 0}};
    const task_handle sweep = tasks.schedule_with_fixed_delay(1s, 1s, [&] {
        for (auto& [channel, times] : swept) {
            ++times;
        }
    });
    pass_in(100, 50ms);
    BOOST_TEST(swept[1] >= 4U);
    BOOST_TEST(swept[2] == swept[1]);
    sweep.cancel();
    const std::size_t before = swept[1];
    pass(1h);
    BOOST_TEST(swept[1] == before);
}

BOOST_AUTO_TEST_SUITE_END()
