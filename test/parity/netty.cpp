// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of Netty: io.netty.util.HashedWheelTimer with Timeout and TimerTask, and the
// handlers of io.netty.handler.timeout.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/manual_layer.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::idle_timer;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

// new HashedWheelTimer(threadFactory, 10, MILLISECONDS, 500): Netty's shape, with 512 slots.
struct hashed_wheel : logged_scheduler {
    hashed_wheel() : logged_scheduler({.tick = 10ms, .slots = 500, .levels = 1}) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_netty, *boost::unit_test::timeout(60))

// HashedWheelTimer(tickDuration, unit, ticksPerWheel)

BOOST_AUTO_TEST_CASE(tick_and_size_of_the_wheel_are_options_and_bad_ones_are_refused) {
    const auto refusal = [](const asio_wheel::wheel_options& options) {
        asio::io_context ctx;
        return thrown_by<std::invalid_argument>([&] { asio_wheel::make_wheel(ctx, options); });
    };
    BOOST_TEST(!refusal({.tick = 100ms, .slots = 512, .levels = 1}));
    BOOST_TEST(!refusal({.tick = 50us})); // Netty rounds it up to a millisecond.
    BOOST_TEST(refusal({.tick = 0ms}).has_value());
    BOOST_TEST(refusal({.slots = 0}).has_value());
}

// newTimeout(task, delay, unit)

BOOST_FIXTURE_TEST_CASE(a_timeout_runs_after_its_delay_and_never_before, hashed_wheel) {
    for (int delay = 0; delay != 400; ++delay) {
        const auto due = now() + delay * 7ms;
        tasks.schedule_after(delay * 7ms, [this, due] {
            BOOST_TEST((now() >= due));
            BOOST_TEST((now() < due + 10ms));
            log_text += ".";
        });
    }
    pass_in(3000, 1ms);
    BOOST_TEST(take_log().size() == 400U);
}

BOOST_FIXTURE_TEST_CASE(a_timeout_longer_than_a_round_of_the_wheel_runs_in_its_round,
                        hashed_wheel) {
    tasks.schedule_after(5120ms * 3 + 20ms, note("a")); // Its slot comes three times before.
    tasks.schedule_after(20ms, note("b"));
    pass_in(1536, 10ms);
    BOOST_TEST(take_log() == "b");
    pass_in(2, 10ms);
    BOOST_TEST(take_log() == "a");
}

BOOST_FIXTURE_TEST_CASE(a_delay_of_zero_or_less_runs_on_the_next_turn, hashed_wheel) {
    tasks.schedule_after(0s, note("a"));
    tasks.schedule_after(-1h, note("b"));
    BOOST_TEST(take_log() == "");
    poll(); // Netty's are called a tick later.
    BOOST_TEST(take_log().size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(the_longest_delay_does_not_overflow, hashed_wheel) {
    const task_handle never = tasks.schedule_after(std::chrono::milliseconds::max(), note("a"));
    pass(24h * 365 * 100);
    BOOST_TEST(take_log() == "");
    BOOST_TEST((never.cancel().result == cancel_result::cancelled));
}

BOOST_FIXTURE_TEST_CASE(an_empty_task_is_refused, hashed_wheel) {
    BOOST_TEST(thrown_by<std::invalid_argument>([&] {
                   tasks.schedule_after(1s, std::function<void()>());
               }).has_value());
}

// Timeout.timer().newTimeout(timeout.task(), ...): a task that is a type stores both.
BOOST_FIXTURE_TEST_CASE(a_task_may_schedule_itself_again, hashed_wheel) {
    struct retry {
        hashed_wheel& world;
        int left;

        void operator()() const {
            world.log_text += std::to_string(left);
            if (left != 0) {
                world.tasks.schedule_after(100ms, retry{world, left - 1});
            }
        }
    };
    tasks.schedule_after(100ms, retry{*this, 3});
    pass_in(100, 10ms);
    BOOST_TEST(take_log() == "3210");
    BOOST_TEST(tasks.pending() == 0U);
}

// start(): not needed. Tasks may be scheduled before the context runs.
BOOST_AUTO_TEST_CASE(whoever_runs_the_context_is_the_worker) {
    asio::io_context ctx;
    scheduler tasks(ctx);
    int calls = 0;
    tasks.schedule_after(0s, [&] { ++calls; });
    BOOST_TEST(calls == 0);
    ctx.run(); // real time
    BOOST_TEST(calls == 1);
}

// stop()

BOOST_FIXTURE_TEST_CASE(stop_returns_what_did_not_run_and_was_not_cancelled, hashed_wheel) {
    tasks.schedule_after(10ms, note("a"));
    const task_handle cancelled = tasks.schedule_after(1s, note("b"));
    std::unordered_map<task_handle, std::string> requests;
    for (const char* const name : {"c", "d"}) {
        requests[tasks.schedule_after(1s, note(name))] = name;
    }
    pass(10ms);
    cancelled.cancel();
    std::size_t failed = 0;
    for (const task_handle& h : tasks.stop()) { // Set<Timeout>
        BOOST_TEST(h.is_cancelled());
        failed += requests.erase(h);
    }
    BOOST_TEST(failed == 2U);
    BOOST_TEST(requests.empty());
    pass(1h);
    BOOST_TEST(take_log() == "a");
}

BOOST_FIXTURE_TEST_CASE(stop_works_before_the_first_task_and_twice_and_in_a_task, hashed_wheel) {
    scheduler unused(ctx);
    BOOST_TEST(unused.stop().empty());
    BOOST_TEST(unused.stop().empty());
    std::size_t never_called = 0;
    tasks.schedule_after(1s, note("a"));
    tasks.schedule_after(10ms, [&] { never_called = tasks.stop().size(); }); // Netty throws.
    pass(10ms);
    BOOST_TEST(never_called == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_stopped_timer_takes_no_timeouts, hashed_wheel) {
    static_cast<void>(tasks.stop());
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
}

// pendingTimeouts(), maxPendingTimeouts

BOOST_FIXTURE_TEST_CASE(pending_timeouts_are_counted_exactly_at_each_step, hashed_wheel) {
    const task_handle a = tasks.schedule_after(1h, [] {});
    const task_handle b = tasks.schedule_after(1h, [] {});
    tasks.schedule_after(90ms, [] {});
    BOOST_TEST(tasks.pending() == 3U);
    a.cancel();
    b.cancel();
    BOOST_TEST(tasks.pending() == 1U); // Netty counts them until the next tick.
    pass(90ms);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(too_many_timeouts_are_refused_until_one_is_over, hashed_wheel) {
    scheduler two(ctx, {.max_pending = 2});
    const auto refusal = [&] { return refusal_of([&] { two.schedule_after(1s, [] {}); }); };
    const task_handle a = two.schedule_after(10ms, [] {});
    const task_handle b = two.schedule_after(1h, [] {});
    BOOST_TEST((refusal() == asio_wheel::error::scheduler_full));
    b.cancel();
    BOOST_TEST((refusal() == error_code())); // Immediately, not a tick later.
    BOOST_TEST((refusal() == asio_wheel::error::scheduler_full));
    pass(10ms);
    BOOST_TEST((refusal() == error_code()));
}

// taskExecutor

BOOST_FIXTURE_TEST_CASE(tasks_run_on_the_executor_that_is_given, hashed_wheel) {
    const auto strand = asio::make_strand(ctx);
    scheduler elsewhere(strand);
    bool there = false;
    elsewhere.schedule_after(10ms, [&] { there = strand.running_in_this_thread(); });
    pass(10ms);
    BOOST_TEST(there);
}

// Timeout

// TimerTask.cancelled(timeout)

BOOST_FIXTURE_TEST_CASE(a_task_is_told_that_its_timeout_was_cancelled, hashed_wheel) {
    struct timer_task {
        std::string* log;
        void operator()() const { *log += "run "; }
        void on_cancel(const task_handle& timeout) const {
            *log += timeout.is_cancelled() ? "cancelled " : "?";
        }
    };
    const task_handle a = tasks.schedule_after(1s, timer_task{&log_text});
    tasks.schedule_after(2s, timer_task{&log_text});
    a.cancel();
    BOOST_TEST(take_log() == "cancelled "); // By the thread that cancels.
    pass(2s);
    BOOST_TEST(take_log() == "run ");
}

BOOST_FIXTURE_TEST_CASE(a_timeout_tells_whether_it_is_expired_or_cancelled, hashed_wheel) {
    const task_handle a = tasks.schedule_after(10ms, [](const task_handle& self) {
        BOOST_TEST(self.is_expired()); // run(Timeout)
        BOOST_TEST((self.cancel().result == cancel_result::already_fired));
    });
    const task_handle b = tasks.schedule_after(10ms, note("b"));
    BOOST_TEST((!a.is_expired() && !a.is_cancelled()));
    BOOST_TEST((b.cancel().result == cancel_result::cancelled));
    BOOST_TEST((b.cancel().result != cancel_result::cancelled));
    pass(10ms);
    BOOST_TEST((a.is_expired() && !a.is_cancelled()));
    BOOST_TEST((!b.is_expired() && b.is_cancelled()));
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(a_timeout_tells_how_long_it_will_be, hashed_wheel) { // toString()
    const task_handle a = tasks.schedule_after(100ms, [] {});
    pass(30ms);
    BOOST_TEST((a.remaining() == 70ms));
}

BOOST_FIXTURE_TEST_CASE(the_first_of_a_tick_cancels_all_others_of_it, hashed_wheel) {
    std::vector<task_handle> others;
    int cancelled = 0;
    int called = 0;
    for (int i = 0; i != 11; ++i) {
        others.push_back(tasks.schedule_after(200ms, [&] {
            ++called;
            for (const task_handle& h : others) {
                cancelled += h.cancel().result == cancel_result::cancelled ? 1 : 0;
            }
        }));
    }
    pass(200ms);
    BOOST_TEST(called == 1);
    BOOST_TEST(cancelled == 10);
    BOOST_TEST(tasks.pending() == 0U);
}

// TimerTask.cancelled(Timeout): the handler of a timer is notified.
BOOST_FIXTURE_TEST_CASE(who_waits_on_a_timer_is_told_of_its_cancellation, hashed_wheel) {
    journal log;
    timer t(ctx, 90ms);
    t.async_wait(log.note("a"));
    t.cancel();
    poll();
    BOOST_TEST(log.take() == "a!");
}

// Known problems of Netty

BOOST_FIXTURE_TEST_CASE(a_task_that_throws_is_reported_and_disturbs_nothing, hashed_wheel) {
    tasks.schedule_after(10ms, [] { throw std::runtime_error("oh."); });
    tasks.schedule_after(10ms, note("a"));
    pass(10ms);
    BOOST_TEST(errors == "oh.");
    BOOST_TEST(take_log() == "a");
}

BOOST_FIXTURE_TEST_CASE(a_slow_task_holds_up_its_own_executor_only, hashed_wheel) {
    scheduler slow(asio::make_strand(ctx));
    scheduler quick(asio::make_strand(ctx));
    slow.schedule_after(10ms, [this] {
        log_text += "(";
        elapse(1s);
        std::thread([this] { ctx.poll(); }).join(); // The work of another thread in the meantime.
        log_text += ")";
    });
    slow.schedule_after(20ms, note("s"));
    quick.schedule_after(30ms, note("q"));
    pass(10ms);
    poll();
    BOOST_TEST(take_log() == "(q)s");
}

BOOST_FIXTURE_TEST_CASE(there_is_no_wake_up_for_each_tick, hashed_wheel) {
    const auto start = now();
    tasks.schedule_after(1h, note("a"));
    BOOST_TEST(wheel.advance_to_next() == 1U); // The next wake-up of the context.
    BOOST_TEST((now() == start + 1h));         // Netty: 360,000 ticks.
    poll();
    BOOST_TEST(take_log() == "a");
}

BOOST_AUTO_TEST_CASE(an_idle_timer_lets_the_context_end) { // Netty's worker continues to tick.
    asio::io_context ctx;
    scheduler tasks(ctx);
    tasks.schedule_after(1h, [] {}).cancel();
    ctx.run();
    BOOST_TEST(ctx.stopped());
}

// IdleStateHandler(readerIdleTime, writerIdleTime, allIdleTime)

BOOST_FIXTURE_TEST_CASE(reader_writer_and_both_are_found_idle_each_by_itself, hashed_wheel) {
    idle_timer reader(ctx, 60s);
    idle_timer writer(ctx, 30s);
    idle_timer all(ctx, 40s);
    const auto read = [&] {
        reader.touch();
        all.touch();
    };
    const auto written = [&] {
        writer.touch();
        all.touch();
    };
    journal log;
    reader.async_wait(log.note("reader"));
    writer.async_wait(log.note("writer"));
    all.async_wait(log.note("all"));
    pass(25s);
    written();
    pass(25s);
    BOOST_TEST(log.take() == "");
    pass(5s); // 30 s after the write
    BOOST_TEST(log.take() == "writer");
    pass(5s); // 60 s without a read
    BOOST_TEST(log.take() == "reader");
    read();
    pass(35s);
    BOOST_TEST(log.take() == "");
    pass(5s);
    BOOST_TEST(log.take() == "all");
}

// IdleStateEvent.isFirst()
BOOST_FIXTURE_TEST_CASE(an_idle_connection_is_reported_again_and_again, hashed_wheel) {
    idle_timer reader(ctx, 10s);
    bool first = true;
    const auto read = [&] {
        reader.touch();
        first = true;
    };
    std::function<void()> watch = [&] {
        reader.async_wait([&](error_code ec) {
            if (!ec) {
                log_text += std::exchange(first, false) ? "F" : "i";
                reader.touch(); // Another period.
                watch();
            }
        });
    };
    watch();
    pass_in(30, 1s);
    BOOST_TEST(take_log() == "Fii");
    read();
    pass_in(20, 1s);
    BOOST_TEST(take_log() == "Fi");
    reader.cancel(); // handlerRemoved()
    pass(1h);
    BOOST_TEST(take_log() == "");
}

// new IdleStateHandler(60, 30, 0), as in its documentation: ping if nothing was written, close if
// nothing was read.
BOOST_FIXTURE_TEST_CASE(a_heartbeat_pings_and_gives_up, hashed_wheel) {
    asio_wheel::heartbeat pulse(ctx, {.send_every = 30s, .dead_after = 60s});
    std::function<void()> watch = [&] {
        pulse.async_next([&](error_code ec, asio_wheel::heartbeat_event event) {
            BOOST_TEST(!ec);
            const bool dead = event == asio_wheel::heartbeat_event::dead;
            log_text += dead ? "close" : "ping ";
            if (!dead) {
                watch();
            }
        });
    };
    watch();
    pass_in(20, 1s);
    pulse.received();
    pass_in(59, 1s);
    BOOST_TEST(take_log() == "ping ping ");
    pass(1s);
    BOOST_TEST(take_log() == "close");
}

// getReaderIdleTimeInMillis(), and a period of 0, which disables theirs; ours is simply omitted.
BOOST_FIXTURE_TEST_CASE(the_period_can_be_asked_for_and_changed, hashed_wheel) {
    idle_timer reader(ctx, 60s);
    BOOST_TEST((reader.period() == 60s));
    reader.period(10s);
    journal log;
    reader.async_wait(log.note("idle"));
    pass(10s);
    BOOST_TEST(log.take() == "idle");
    BOOST_TEST(thrown_by<std::invalid_argument>([&] { reader.period(0s); }).has_value());
}

// ReadTimeoutHandler, WriteTimeoutHandler: each operation has its own deadline, and reports it.
BOOST_FIXTURE_TEST_CASE(reads_and_writes_time_out, hashed_wheel) {
    manual_operation<error_code, std::size_t> read(ctx.get_executor());
    manual_operation<error_code, std::size_t> write(ctx.get_executor());
    read.on_cancel = [&] { read.complete(asio::error::operation_aborted, 3); };
    const auto note = [this](const std::string& what) {
        return [this, what](error_code ec, std::size_t n) {
            log_text += what + (ec == std::errc::timed_out ? " timed out " : " done ") +
                        std::to_string(n) + ". ";
        };
    };
    read.start(asio_wheel::timeout(30s, note("read")));
    write.start(asio_wheel::timeout(30s, note("write")));
    pass(20s);
    write.complete({}, 5);
    pass(10s);
    BOOST_TEST(take_log() == "write done 5. read timed out 3. ");
}

// ReadTimeoutHandler, which closes the connection; and a limit for a message, as nginx'
// client_header_timeout.
BOOST_FIXTURE_TEST_CASE(a_silent_or_slow_connection_is_closed, hashed_wheel) {
    std::array<char, 8> memory{};
    for (const bool slow : {false, true}) {
        asio_wheel::timeout_stream<manual_layer> stream(ctx);
        const auto wire = stream.socket().wire;
        bool late = false;
        const auto next = [&](const auto& self) -> void {
            stream.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) {
                late = ec == std::errc::timed_out;
                if (!ec) {
                    self(self);
                }
            });
        };
        slow ? stream.message_expires_after(5s) : stream.idle_after(30s);
        next(next);
        for (int i = 0; i < 10 && !late; ++i) {
            pass(slow ? 1s : 29s);
            if (!late) {
                wire->read.complete({}, 1);
                poll();
            }
        }
        BOOST_TEST(late == slow); // The byte at 1 s was the first one.
        pass(30s);
        BOOST_TEST(late);
        BOOST_TEST(wire->closed == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
