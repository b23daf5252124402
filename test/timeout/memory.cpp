// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// The allocations of sleeps and deadlines, and their behaviour without memory. operator new is
// counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/empty_pool.hpp"
#include "support/manual_operation.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::async_sleep_for;
using asio_wheel::timeout;

// The result of an attempt.
struct attempt {
    bool failed = false; // An allocation failed.
    bool thrown = false;
    int calls = 0;
    error_code ec;
    long left = 0; // Copies of the handler.
    std::size_t pending = 0;
};

// Starts a sleep with a deadline on `executor` of the context, with a handler that is larger by
// `Padding`. Allocation `n` fails, and no memory is cached.
// `on_timer`: the deadline is on a timer of the user's.
template <std::size_t Padding, class ExecutorOf>
attempt try_with(std::size_t n, ExecutorOf executor, bool on_timer) {
    attempt a;
    std::thread([&] {
        const empty_pool pool;
        asio::io_context ctx;
        auto& wheel = asio_wheel::use_wheel(ctx);
        wheel.pause();
        const auto ex = executor(ctx);
        asio::cancellation_signal signal;
        const auto alive = std::make_shared<int>();
        asio_wheel::steady_timer limit(ctx, 1h);
        {
            const auto handler = [&a, alive, padding = std::array<char, Padding>()](error_code ec) {
                static_cast<void>(padding);
                ++a.calls;
                a.ec = ec;
            };
            const auto bound = asio::bind_cancellation_slot(signal.slot(), handler);
            auto token = timeout(2s, bound);
            auto token_on_timer = timeout(limit, 2s, bound);
            const fail_after failure(n);
            try {
                if (on_timer) {
                    async_sleep_for(ex, 1s, std::move(token_on_timer));
                } else {
                    async_sleep_for(ex, 1s, std::move(token));
                }
            } catch (const std::bad_alloc&) {
                a.thrown = true;
            }
            a.failed = failure.has_failed();
        }
        ctx.poll();
        wheel.advance(3s);
        ctx.restart();
        ctx.poll();
        a.pending = wheel.pending();
        BOOST_TEST(ctx.stopped());
        signal.slot().clear();
        a.left = alive.use_count() - 1;
    }).join();
    return a;
}

// Returns whether an operation had no memory for its deadline. (Not if the deadline's wait has the
// size of another cached block.)
template <std::size_t Padding, class ExecutorOf>
bool check_each_allocation(ExecutorOf executor, bool on_timer) {
    std::size_t n = 0;
    bool told = false;
    for (;; ++n) {
        const attempt a = try_with<Padding>(n, executor, on_timer);
        BOOST_TEST_CONTEXT("allocation " << n) {
            BOOST_TEST(a.left == 0);
            BOOST_TEST(a.pending == 0U);
            // It was not started; or it was started and is cancelled because its deadline has no
            // memory; or everything succeeded.
            BOOST_TEST(a.calls == (a.thrown ? 0 : 1));
            if (a.calls != 0) {
                BOOST_TEST((!a.ec || (a.failed && a.ec == boost::system::errc::not_enough_memory)));
            }
        }
        told = told || a.ec == boost::system::errc::not_enough_memory;
        if (!a.failed) {
            break;
        }
    }
    BOOST_TEST(n >= 2U);
    return told;
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_memory)

BOOST_AUTO_TEST_CASE(any_allocation_may_fail) {
    const auto itself = [](asio::io_context& ctx) { return ctx.get_executor(); };
    const auto strand = [](asio::io_context& ctx) { return asio::make_strand(ctx); };
    for (const bool on_timer : {false, true}) {
        int told = 0;
        told += check_each_allocation<1>(itself, on_timer) ? 1 : 0;
        told += check_each_allocation<100>(itself, on_timer) ? 1 : 0;
        told += check_each_allocation<1000>(itself, on_timer) ? 1 : 0; // Not cached.
        told += check_each_allocation<1>(strand, on_timer) ? 1 : 0;
        told += check_each_allocation<100>(strand, on_timer) ? 1 : 0;
        BOOST_TEST(told > 0);
    }
}

BOOST_FIXTURE_TEST_CASE(without_memory_for_its_exception_a_timeout_reports_bad_alloc,
                        virtual_time) {
    manual_operation<std::exception_ptr> operation(ctx.get_executor());
    std::exception_ptr result;
    operation.start(timeout(2s, [&](std::exception_ptr e) { result = std::move(e); }));
    pass(2s);
    const auto cancelled = std::make_exception_ptr(boost::system::system_error(aborted));
    {
        const out_of_memory no_memory;
        operation.complete_inline(cancelled);
    }
    BOOST_TEST_REQUIRE((result != nullptr));
    BOOST_CHECK_THROW(std::rethrow_exception(result), std::bad_alloc);
}

BOOST_FIXTURE_TEST_CASE(sleeps_and_deadlines_in_a_loop_allocate_nothing, virtual_world) {
    int left = 0;
    bool on_timer = false;
    timer limit(ctx);
    const auto again = [&](const auto& self, error_code) -> void {
        const auto next = [&](error_code ec) { self(self, ec); };
        if (--left > 0 && on_timer) {
            async_sleep_for(ctx, 1s, timeout(limit, 2s, next));
        } else if (left > 0) {
            async_sleep_for(ctx, 1s, timeout(2s, next));
        }
    };
    const auto run = [&](int rounds) {
        left = rounds;
        asio::post(ctx, [&] { again(again, {}); });
        poll();
        while (left > 0) {
            pass(1s);
        }
    };
    for (on_timer = false;; on_timer = true) {
        run(10);                                              // Fills the caches.
        BOOST_TEST(allocations_of([&] { run(1000); }) <= 5U); // Of run() itself.
        if (on_timer) {
            break;
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
