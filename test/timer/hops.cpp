// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Waits whose handlers run on a strand or on another context: what happens while they are queued
// there, and that nothing else is blocked by them.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/threads.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;
using clock_type = std::chrono::steady_clock;

} // namespace

BOOST_AUTO_TEST_SUITE(timer_hops, *boost::unit_test::timeout(200))

BOOST_AUTO_TEST_CASE_TEMPLATE(a_blocked_strand_delays_no_other_timer, Timer, timers) {
    thread_checks all;
    drained_context world;
    const auto strand = asio::make_strand(world.ctx);
    signal_flag other_ran;
    Timer first(strand, 1ms); // Creates the wheel.
    Timer blocked(strand, 1ms);
    Timer other(world.ctx, 5ms);
    first.async_wait([&](const error_code&) { all.expect(other_ran.wait()); });
    blocked.async_wait(ignore);
    other.async_wait([&](const error_code&) { other_ran.set(); });
    const runners both(world.ctx, 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_blocking_its_own_pool_delays_no_other_timer, Timer,
                              timers) {
    thread_checks all;
    asio::thread_pool pool(1);
    drained_context world;
    signal_flag other_ran;
    Timer slow(world.ctx, 1ms);
    Timer quick(world.ctx, 5ms);
    slow.async_wait(
        asio::bind_executor(pool, [&](const error_code&) { all.expect(other_ran.wait()); }));
    quick.async_wait([&](const error_code&) { other_ran.set(); });
    world.run();
    pool.join();
}

// The strand is busy with the function below while another thread of its context finds the wait
// due. The result of cancel() on the strand matches what the handler sees.
BOOST_AUTO_TEST_CASE(a_wait_on_its_way_to_a_busy_strand_can_be_cancelled) {
    const std::function<std::size_t(steady_timer&)> ways[] = {
        [](auto& t) { return t.cancel(); },
        [](auto& t) { return t.cancel_one(); },
        [](auto& t) { return t.expires_after(1h); },
    };
    for (const auto& way : ways) {
        for (const bool bound : {false, true}) {
            drained_context world;
            auto& wheel = use_wheel(world.ctx);
            wheel.pause();
            journal seen;
            const auto strand = asio::make_strand(world.ctx);
            steady_timer on_strand(strand, 1s);
            steady_timer plain(world.ctx, 1s);
            steady_timer& t = bound ? plain : on_strand;
            t.async_wait(asio::bind_executor(strand, seen.note("t")));
            asio::post(strand, [&] {
                wheel.advance(2s);
                std::jthread([&] { world.ctx.poll(); }).join();
                BOOST_TEST(seen.take() == "");
                BOOST_TEST(way(t) == 1U);
            });
            world.run();
            BOOST_TEST(seen.take() == "t!");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_wait_on_its_way_to_a_busy_strand_can_be_postponed) {
    drained_context world;
    auto& wheel = use_wheel(world.ctx);
    wheel.pause();
    journal seen;
    const auto strand = asio::make_strand(world.ctx);
    steady_timer t(strand, 1s);
    t.async_wait(seen.note("t"));
    asio::post(strand, [&] {
        wheel.advance(2s);
        std::jthread([&] { world.ctx.poll(); }).join();
        BOOST_TEST(t.postpone(1h) == 1U);
    });
    world.poll();
    BOOST_TEST(seen.take() == "");
    wheel.advance(2h);
    world.run();
    BOOST_TEST(seen.take() == "t");
}

// The second context continues to run while the first one is destroyed with handlers in the second
// one's queue.
BOOST_AUTO_TEST_CASE(a_context_may_end_while_its_waits_arrive_elsewhere) {
    std::atomic<int> called = 0;
    constexpr int contexts = 100;
    constexpr int waits = 20;
    const auto alive = std::make_shared<int>();
    {
        asio::io_context other;
        auto work = std::make_optional(asio::make_work_guard(other));
        const runners both(other, 2);
        for (int i = 0; i < contexts; ++i) {
            asio::io_context ctx;
            std::deque<steady_timer> timers;
            for (int k = 0; k < waits; ++k) {
                timers.emplace_back(ctx).async_wait(
                    asio::bind_executor(other, [alive, &called](const error_code&) { ++called; }));
            }
            const int before = called;
            ctx.poll();
            for (const auto give_up = clock_type::now() + 20s;
                 called == before && i % 3 != 0 && clock_type::now() < give_up;) {
                std::this_thread::yield();
            }
            if (i % 2 == 0) {
                timers.clear(); // Cancels those that have not arrived.
            }
        }
        work.reset();
    }
    BOOST_TEST_MESSAGE(contexts * waits - called << " of the handlers were destroyed on their way");
    BOOST_TEST(called >= contexts / 3);
    BOOST_TEST(alive.use_count() == 1);
}

// Serialised without a lock: otherwise the sanitizer and the counter would report it.
BOOST_AUTO_TEST_CASE(handlers_on_a_strand_of_a_pool_are_serial) {
    asio::thread_pool pool(4);
    const auto strand = asio::make_strand(pool);
    std::deque<steady_timer> timers;
    int called = 0;
    for (int i = 0; i < 1000; ++i) {
        timers.emplace_back(strand, i % 5 * 500us).async_wait([&](const error_code&) { ++called; });
    }
    pool.join();
    BOOST_TEST(called == 1000);
}

BOOST_AUTO_TEST_SUITE_END()
