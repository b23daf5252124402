// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of Dubbo: org.apache.dubbo.common.timer.HashedWheelTimer with Timer, Timeout and
// TimerTask, and what Dubbo builds on them: calls that time out, retries of failed calls,
// heartbeats and reconnects.

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
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

// DefaultFuture: a timeout for each call, which the answer cancels

BOOST_FIXTURE_TEST_CASE(calls_time_out_and_answers_cancel_their_timeouts, dubbo_timer) {
    std::array<call, 2> calls{call{ctx, log.text}, call{ctx, log.text}};
    calls[0].start(0, 1s);
    calls[1].start(1, 1s);
    pass(500ms);
    calls[0].answer.complete({});
    BOOST_TEST(log_now() == "0! ");
    BOOST_TEST(wheel.pending() == 1U); // Dubbo's stays in its slot until the next tick.
    BOOST_TEST(log_after(1s) == "1? ");
}

// AbstractRetryTask of a registry, FailbackClusterInvoker: three retries, five seconds apart

BOOST_FIXTURE_TEST_CASE(what_failed_is_tried_again_later_and_given_up_in_the_end, dubbo_timer) {
    struct retry {
        dubbo_timer& world;
        int left;

        void operator()() const {
            world.log.text += "x"; // It fails.
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
                log.text += "h";
            } else {
                log.text += "r";
                pulse.received(); // Connected again.
            }
            watch();
        });
    };
    watch();
    pass_in(17, 10s);
    BOOST_TEST(take_log() == "hh");     // at 60 and 120 s
    BOOST_TEST(log_after(10s) == "rh"); // at 180 s, and to the new one at once
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
