// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// pch: off

// A wheel without a lock is for one thread. With assertions on, use by a second thread is detected,
// and the message names the wheel and the two calls.

#define BOOST_ENABLE_ASSERT_HANDLER 1

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/threads.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

std::atomic<int> complaints = 0;
std::atomic<bool> expected = false;

} // namespace

namespace boost {

void assertion_failed(const char* expr, const char* function, const char* file, long line) {
    std::fprintf(stderr, "%s:%ld: %s: assertion failed: %s\n", file, line, function, expr);
    std::abort();
}

void assertion_failed_msg(const char* expr, const char* message, const char* function,
                          const char* file, long line) {
    if (!expected || std::string(message).find("locking = false") == std::string::npos) {
        assertion_failed(expr, function, file, line);
    }
    ++complaints;
}

} // namespace boost

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;

} // namespace

BOOST_AUTO_TEST_SUITE(one_thread)

BOOST_AUTO_TEST_CASE(a_second_thread_in_a_handler_of_an_unlocked_wheel_is_found_out) {
    drained_context world;
    asio_wheel::make_wheel(world.ctx, {.locking = false});
    steady_timer t(world.ctx), other(world.ctx, 1h);
    expected = true;
    complaints = 0;
    t.async_wait([&](error_code) { std::jthread([&] { other.expires_after(2h); }).join(); });
    other.async_wait(ignore);
    world.poll();
    // As if nothing had happened: the two calls did not overlap.
    std::jthread([&] { world.poll(); }).join();
    expected = false;
    BOOST_TEST(complaints >= 1);
    other.cancel();
}

BOOST_AUTO_TEST_CASE(a_handler_that_arrives_on_another_thread_is_found_out) {
    drained_context world, second;
    asio_wheel::make_wheel(world.ctx, {.locking = false});
    steady_timer sent(world.ctx), t(world.ctx);
    int called = 0;
    expected = true;
    complaints = 0;
    sent.async_wait(asio::bind_executor(second.ctx, [&](error_code) { ++called; }));
    world.poll(); // It is now in the queue of the second context.
    t.async_wait([&](error_code) { std::jthread([&] { second.poll(); }).join(); });
    world.poll();
    expected = false;
    BOOST_TEST(called == 1);
    BOOST_TEST(complaints >= 1);
}

// One after the other, and inside handlers: no assertion fails.
BOOST_AUTO_TEST_CASE(one_thread_at_a_time_is_never_blamed) {
    drained_context world;
    auto& wheel = asio_wheel::make_wheel(world.ctx, {.locking = false, .budget = 2});
    wheel.pause();
    int called = 0;
    steady_timer a(world.ctx, 1s), b(world.ctx, 1s);
    const auto work = [&] {
        a.expires_after(1s);
        a.async_wait([&](error_code) {
            ++called;
            b.expires_after(0s);
            b.async_wait([&](error_code) {
                ++called;
                steady_timer inner(world.ctx);
                inner.async_wait(ignore);
                world.ctx.poll();
            });
            world.ctx.poll();
        });
        wheel.advance(1s);
        world.poll();
        static_cast<void>(wheel.stats());
    };
    work();
    std::jthread(work).join();
    work();
    asio_wheel::scale_idle_timers(wheel, 0.5);
    static_cast<void>(wheel.drain());
    BOOST_TEST(called == 6);
}

BOOST_AUTO_TEST_SUITE_END()
