// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Programs with sleeps and deadlines that are destroyed after their first, second, third … handler,
// with all pending operations.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/tear_down.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::async_sleep_for;
using asio_wheel::cancel_after;
using asio_wheel::timeout;
using asio_wheel::test::tear_down_at_every_step;

constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

// The objects of a program outside of its context.
struct objects {
    explicit objects(asio::io_context& ctx) : timer(ctx, 1h), limit(ctx), inner(ctx) {}

    asio_wheel::steady_timer timer;
    asio_wheel::steady_timer limit, inner; // For deadlines.
    asio::cancellation_signal signal, other;
};

asio::awaitable<void> child(std::chrono::seconds d) {
    const auto ex = co_await asio::this_coro::executor;
    co_await async_sleep_for(ex, d, asio::use_awaitable);
    const auto inner = timeout(1s, tuple);
    co_await async_sleep_for(ex, d, inner);
}

asio::awaitable<void> parent() {
    const auto ex = co_await asio::this_coro::executor;
    for (const auto d : {1s, 3s}) {
        auto limited = child(d);
        auto token = timeout(2s, tuple);
        co_await asio::co_spawn(ex, std::move(limited), token);
        auto nested = timeout(2s, timeout(1s, tuple));
        co_await async_sleep_for(ex, 4s, nested);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_tear_down, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(coroutines_with_deadlines) {
    const std::size_t steps = tear_down_at_every_step([](asio::io_context& ctx) {
        auto o = std::make_shared<objects>(ctx);
        asio::co_spawn(ctx, parent(),
                       asio::bind_cancellation_slot(o->signal.slot(), asio::detached));
        asio::co_spawn(asio::make_strand(ctx), parent(), asio::detached);
        return o;
    });
    BOOST_TEST(steps > 10U);
}

BOOST_AUTO_TEST_CASE(callbacks_with_deadlines_and_signals) {
    const std::size_t steps = tear_down_at_every_step([](asio::io_context& ctx) {
        auto o = std::make_shared<objects>(ctx);
        const std::weak_ptr<objects> weak = o;
        o->timer.async_wait(
            timeout(2s, asio::bind_cancellation_slot(o->signal.slot(), [weak](error_code) {
                        if (const auto p = weak.lock()) {
                            p->other.emit(asio::cancellation_type::terminal);
                        }
                    })));
        async_sleep_for(
            asio::make_strand(ctx), 5s,
            cancel_after(4s, asio::bind_cancellation_slot(o->other.slot(), [weak](error_code) {
                             if (const auto p = weak.lock()) {
                                 p->timer.cancel();
                             }
                         })));
        async_sleep_for(ctx, 1s, cancel_after(1s, [weak](error_code) {
                            if (const auto p = weak.lock()) {
                                p->signal.emit(asio::cancellation_type::terminal);
                            }
                        }));
        return o;
    });
    BOOST_TEST(steps >= 3U);
}

BOOST_AUTO_TEST_CASE(deadlines_on_timers_of_their_own) {
    const std::size_t steps = tear_down_at_every_step([](asio::io_context& ctx) {
        auto o = std::make_shared<objects>(ctx);
        const std::weak_ptr<objects> weak = o;
        const auto again = [weak, &ctx](error_code) {
            if (const auto p = weak.lock()) { // The timers can be used at once.
                async_sleep_for(ctx, 2s, timeout(p->limit, 1s, cancel_after(p->inner, 3s, ignore)));
            }
        };
        o->timer.async_wait(timeout(
            o->limit, 2s,
            cancel_after(o->inner, 3s, asio::bind_cancellation_slot(o->signal.slot(), again))));
        async_sleep_for(ctx, 1s, [weak](error_code) {
            if (const auto p = weak.lock()) {
                static_cast<void>(p->limit.postpone(4s));
            }
        });
        return o;
    });
    BOOST_TEST(steps >= 3U);
}

BOOST_AUTO_TEST_SUITE_END()
