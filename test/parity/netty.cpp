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

#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/manual_layer.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>

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

// newTimeout(task, delay, unit)

BOOST_FIXTURE_TEST_CASE(a_timeout_runs_after_its_delay_and_never_before, hashed_wheel) {
    for (int delay = 0; delay != 400; ++delay) {
        const auto due = now() + delay * 7ms;
        tasks.schedule_after(delay * 7ms, [this, due] {
            BOOST_TEST((now() >= due));
            BOOST_TEST((now() < due + 10ms));
            log.text += ".";
        });
    }
    pass_in(3000, 1ms);
    BOOST_TEST(take_log().size() == 400U);
}

// Timeout.timer().newTimeout(timeout.task(), ...): a task that is a type stores both.
BOOST_FIXTURE_TEST_CASE(a_task_may_schedule_itself_again, hashed_wheel) {
    struct retry {
        hashed_wheel& world;
        int left;

        void operator()() const {
            world.log.text += std::to_string(left);
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
    BOOST_TEST(log_after(1h) == "a");
}

// TimerTask.cancelled(timeout)

BOOST_FIXTURE_TEST_CASE(a_task_is_told_that_its_timeout_was_cancelled, hashed_wheel) {
    struct timer_task {
        std::string* log;
        void operator()() const { *log += "run "; }
        void on_cancel(const task_handle& timeout) const {
            *log += timeout.is_cancelled() ? "cancelled " : "?";
        }
    };
    const task_handle a = tasks.schedule_after(1s, timer_task{&log.text});
    tasks.schedule_after(2s, timer_task{&log.text});
    a.cancel();
    BOOST_TEST(take_log() == "cancelled "); // By the thread that cancels.
    BOOST_TEST(log_after(2s) == "run ");
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

// Known problems of Netty

BOOST_FIXTURE_TEST_CASE(a_slow_task_holds_up_its_own_executor_only, hashed_wheel) {
    scheduler slow(asio::make_strand(ctx));
    scheduler quick(asio::make_strand(ctx));
    slow.schedule_after(10ms, [this] {
        log.text += "(";
        elapse(1s);
        std::thread([this] { ctx.poll(); }).join(); // The work of another thread in the meantime.
        log.text += ")";
    });
    slow.schedule_after(20ms, note("s"));
    quick.schedule_after(30ms, note("q"));
    pass(10ms);
    BOOST_TEST(log_now() == "(q)s");
}

BOOST_FIXTURE_TEST_CASE(there_is_no_wake_up_for_each_tick, hashed_wheel) {
    const auto start = now();
    tasks.schedule_after(1h, note("a"));
    BOOST_TEST(wheel.advance_to_next() == 1U); // The next wake-up of the context.
    BOOST_TEST((now() == start + 1h));         // Netty: 360,000 ticks.
    BOOST_TEST(log_now() == "a");
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
    reader.async_wait(log.note("reader"));
    writer.async_wait(log.note("writer"));
    all.async_wait(log.note("all"));
    pass(25s);
    written();
    BOOST_TEST(log_after(25s) == "");
    pass(5s); // 30 s after the write
    BOOST_TEST(log.take() == "writer");
    pass(5s); // 60 s without a read
    BOOST_TEST(log.take() == "reader");
    read();
    BOOST_TEST(log_after(35s) == "");
    BOOST_TEST(log_after(5s) == "all");
}

// new IdleStateHandler(60, 30, 0), as in its documentation: ping if nothing was written, close if
// nothing was read.
BOOST_FIXTURE_TEST_CASE(a_heartbeat_pings_and_gives_up, hashed_wheel) {
    asio_wheel::heartbeat pulse(ctx, {.send_every = 30s, .dead_after = 60s});
    std::function<void()> watch = [&] {
        pulse.async_next([&](error_code ec, asio_wheel::heartbeat_event event) {
            BOOST_TEST(!ec);
            const bool dead = event == asio_wheel::heartbeat_event::dead;
            log.text += dead ? "close" : "ping ";
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
    BOOST_TEST(log_after(1s) == "close");
}

// ReadTimeoutHandler, WriteTimeoutHandler: each operation has its own deadline, and reports it.
BOOST_FIXTURE_TEST_CASE(reads_and_writes_time_out, hashed_wheel) {
    manual_operation<error_code, std::size_t> read(ctx.get_executor());
    manual_operation<error_code, std::size_t> write(ctx.get_executor());
    read.on_cancel = [&] { read.complete(asio::error::operation_aborted, 3); };
    const auto note = [this](const std::string& what) {
        return [this, what](error_code ec, std::size_t n) {
            log.text += what + (ec == std::errc::timed_out ? " timed out " : " done ") +
                        std::to_string(n) + ". ";
        };
    };
    read.start(asio_wheel::timeout(30s, note("read")));
    write.start(asio_wheel::timeout(30s, note("write")));
    pass(20s);
    write.complete({}, 5);
    BOOST_TEST(log_after(10s) == "write done 5. read timed out 3. ");
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
