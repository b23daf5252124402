// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timers and deadlines in boost::asio::experimental::coro.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/coro.hpp>
#include <boost/asio/experimental/use_coro.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <chrono>
#include <exception>
#include <string>

namespace {

using namespace asio_wheel::test;
using asio::experimental::coro;
using asio::experimental::use_coro;
using asio_wheel::async_sleep_for;
using asio_wheel::cancel_after;
using asio_wheel::cancel_at;
using asio_wheel::timeout;
using asio_wheel::timeout_at;

const std::string late = "(" + error_code(asio_wheel::error::timed_out).message() + ")";

// Runs `c` until it ends or waits. An exception of it fails the test.
void start(coro<void()>& c, bool& ended) {
    c.async_resume([&](const std::exception_ptr& e) {
        BOOST_TEST((e == nullptr));
        ended = true;
    });
}

// Runs program(context, world, log) while time passes in steps of a second. Returns the log.
template <class Program>
std::string run(Program program) {
    virtual_world world;
    journal log;
    bool ended = false;
    coro<void()> c = program(world.ctx, world, log);
    start(c, ended);
    world.poll();
    for (int i = 0; i < 20 && !ended; ++i) {
        world.pass(1s);
    }
    BOOST_TEST(ended);
    BOOST_TEST(world.wheel.pending() == 0U);
    return log.take();
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_coro, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(a_coro_waits_for_timers) {
    struct program {
        static coro<void()> waits(asio::io_context&, virtual_world& world, journal& log) {
            timer t(world.ctx, 1s);
            co_await t;
            log.add("timer");
            t.expires_after(1s);
            co_await t.async_wait(use_coro);
            log.add("use_coro");
            t.expires_after(1s);
            co_await t.async_wait(asio::deferred);
            log.add("deferred");
            co_await async_sleep_for(world.ctx, 1s, use_coro);
            log.add("sleep");
            using by_default = asio::experimental::use_coro_t<>::as_default_on_t<timer>;
            by_default d(world.ctx, 1s);
            co_await d.async_wait();
            log.add("default");
        }
    };
    BOOST_TEST(run(program::waits) == "timer use_coro deferred sleep default");
}

BOOST_AUTO_TEST_CASE(a_deadline_without_a_token_throws_in_a_coro) {
    struct program {
        static coro<void()> waits(asio::io_context&, virtual_world& world, journal& log) {
            timer t(world.ctx), limit(world.ctx);
            for (const auto d : {1s, 3s}) {
                const auto end = world.now() + 2s;
                try {
                    t.expires_after(d);
                    co_await t.async_wait(timeout(2s));
                    log.add("1");
                } catch (const boost::system::system_error& e) {
                    log.add("1", e.code());
                }
                try {
                    co_await async_sleep_for(world.ctx, d, timeout_at(end + 2s));
                    log.add("2");
                } catch (const boost::system::system_error& e) {
                    log.add("2", e.code());
                }
                try {
                    co_await async_sleep_for(world.ctx, d, cancel_after(2s));
                    log.add("3");
                } catch (const boost::system::system_error& e) {
                    log.add("3", e.code());
                }
                try {
                    co_await async_sleep_for(world.ctx, d, timeout(limit, 2s, asio::deferred));
                    log.add("4");
                } catch (const boost::system::system_error& e) {
                    log.add("4", e.code());
                }
            }
        }
    };
    BOOST_TEST(run(program::waits) == "1 2 3 4 1" + late + " 2" + late + " 3! 4" + late);
}

// Asio's use_coro loses the error_code of an operation that has no further result.
BOOST_AUTO_TEST_CASE(with_use_coro_an_operation_ends_in_time_and_tells_nothing) {
    struct program {
        static coro<void()> waits(asio::io_context&, virtual_world& world, journal& log) {
            timer limit(world.ctx);
            const auto begin = world.now();
            const auto note = [&] {
                using seconds = std::chrono::duration<int>;
                log.add(std::to_string(
                    std::chrono::duration_cast<seconds>(world.now() - begin).count()));
            };
            co_await async_sleep_for(world.ctx, 1h, timeout(1s, use_coro));
            note();
            co_await async_sleep_for(world.ctx, 1h, timeout_at(begin + 2s)(use_coro));
            note();
            co_await async_sleep_for(world.ctx, 1h, cancel_after(1s, use_coro));
            note();
            co_await async_sleep_for(world.ctx, 1h, cancel_at(begin + 4s)(use_coro));
            note();
            co_await async_sleep_for(world.ctx, 1h, cancel_after(5s, timeout(1s, use_coro)));
            note();
            co_await async_sleep_for(world.ctx, 1h, timeout(limit, 1s, use_coro));
            note();
            using by_default = asio::experimental::use_coro_t<>::as_default_on_t<timer>;
            by_default d(world.ctx, 1h);
            co_await d.async_wait(timeout(1s));
            note();
            co_await async_sleep_for(world.ctx, 1s, timeout(1h, use_coro));
            note();
        }
    };
    BOOST_TEST(run(program::waits) == "1 2 3 4 5 6 7 8");
}

// In Boost 1.81, use_coro does not compile with such an operation.
#if BOOST_VERSION >= 108300
BOOST_AUTO_TEST_CASE(with_use_coro_an_operation_with_a_result_throws) {
    struct program {
        static coro<void()> waits(asio::io_context&, virtual_world& world, journal& log) {
            manual_operation<error_code, int> op(world.ctx.get_executor());
            op.on_cancel = [&op] { op.complete(aborted, 0); };
            try {
                co_await op.start(timeout(1s, use_coro));
            } catch (const boost::system::system_error& e) {
                log.add("late", e.code());
            }
            op.on_start = [&op] { op.complete({}, 5); };
            const int n = co_await op.start(timeout(1s)(use_coro));
            log.add(std::to_string(n));
        }
    };
    BOOST_TEST(run(program::waits) == "late" + late + " 5");
}
#endif

// What the cases above say about use_coro is so with Asio's timers, too.
BOOST_AUTO_TEST_CASE(asios_timer_tells_nothing_with_use_coro_either) {
    struct program {
        static coro<void()> waits(asio::io_context&, asio::steady_timer& t, journal& log) {
            co_await t.async_wait(use_coro);
            log.add("ended");
            try {
                co_await t.async_wait(asio::deferred);
            } catch (const boost::system::system_error& e) {
                log.add("deferred", e.code());
            }
        }
    };
    drained_context world;
    journal log;
    asio::steady_timer t(world.ctx, 1h);
    bool ended = false;
    coro<void()> c = program::waits(world.ctx, t, log);
    start(c, ended);
    for (const char* const expected : {"ended", "deferred!"}) {
        world.poll();
        t.cancel();
        BOOST_TEST(world.log_now(log) == expected);
    }
    BOOST_TEST(ended);
}

BOOST_AUTO_TEST_SUITE_END()
