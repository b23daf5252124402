// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// virtual_time, while other threads use timers of its contexts.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/latch.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace asio_wheel::test;

BOOST_AUTO_TEST_SUITE(virtual_time_threads, *boost::unit_test::timeout(120))

// Each of the timers is the first one on its wheel.
BOOST_AUTO_TEST_CASE(other_threads_make_wheels_while_time_is_moved) {
    for (int i = 0; i < 100; ++i) {
        asio::io_context a, b;
        asio_wheel::virtual_time time(a, b);
        barrier begin(3);
        std::atomic<int> expired{0};
        const auto wait_on = [&]<class Timer>(asio::io_context& context, Timer*) {
            begin.arrive_and_wait();
            Timer(context, 1s).wait();
            ++expired;
        };
        std::thread first([&] { wait_on(a, static_cast<asio_wheel::steady_timer*>(nullptr)); });
        std::thread second([&] { wait_on(b, static_cast<asio_wheel::system_timer*>(nullptr)); });
        begin.arrive_and_wait();
        while (expired != 2) {
            time.advance(100ms);
            std::this_thread::yield();
        }
        first.join();
        second.join();
        BOOST_TEST(time.elapsed() >= 1s);
    }
}

// There is no limit that time could reach.
BOOST_AUTO_TEST_CASE(run_until_goes_on_whenever_another_thread_starts_a_wait) {
    asio::io_context ctx;
    asio_wheel::virtual_time time({.io_grace = 0s, .spin_limit = 0}, ctx);
    std::atomic<bool> done{false};
    std::thread other([&] {
        asio_wheel::steady_timer timer(ctx);
        for (int i = 0; i < 100'000; ++i) {
            timer.expires_after(1ms);
            timer.async_wait([](error_code) {});
            timer.cancel();
            for (const auto begin = std::chrono::steady_clock::now();
                 std::chrono::steady_clock::now() - begin < 2us;) {
            }
        }
        done = true;
    });
    BOOST_CHECK_NO_THROW(time.run_until([&] { return done.load(); }));
    other.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
