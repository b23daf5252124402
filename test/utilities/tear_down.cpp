// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Programs with intervals, idle timers, heartbeats, delay queues and schedulers that are destroyed
// after their first, second, third … handler, with all pending operations.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/names.hpp"
#include "support/tear_down.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
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

namespace {

using namespace asio_wheel::test;
using asio_wheel::test::tear_down_at_every_step;

constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

// All utilities at once, each owned by the coroutine that uses it.
asio::awaitable<void> program() {
    const auto ex = co_await asio::this_coro::executor;
    asio_wheel::delay_queue<std::unique_ptr<int>> queue(ex);
    asio_wheel::scheduler tasks(ex);
    tasks.schedule_at_fixed_rate(1s, 1s, [&queue] { queue.push(500ms, std::make_unique<int>(1)); });
    tasks.schedule_after("key", 1h, [] {});
    for (int i = 0; i < 3; ++i) {
        const std::unique_ptr<int> value = co_await queue.async_pop(asio::use_awaitable);
        auto token = asio_wheel::timeout(100ms, tuple);
        co_await queue.async_pop(token);
    }
    asio_wheel::interval ticks(ex, 1s);
    co_await ticks.async_tick(tuple);
    asio_wheel::idle_timer idle(ex, 2s);
    tasks.schedule_after(1s, [&idle] { idle.touch(); });
    co_await idle.async_wait(tuple);
    asio_wheel::heartbeat pulse(ex, {.send_every = 1s, .dead_after = 3s});
    for (int i = 0; i < 3; ++i) {
        co_await pulse.async_next(tuple);
    }
    co_await queue.async_pop(tuple);
}

// Objects outside of the context, owned by their handlers.
struct session : std::enable_shared_from_this<session> {
    explicit session(asio::io_context& ctx)
        : queue(ctx), tasks(ctx), ticks(ctx, 1s), idle(ctx, 3s) {}

    void start(asio::io_context& ctx) {
        const auto self = shared_from_this();
        const auto strand = asio::make_strand(ctx);
        tasks.schedule_after(1s, [self] { self->queue.push(1s, 1); });
        tasks.schedule_with_fixed_delay(1s, 2s, [self](const asio_wheel::task_handle& h) {
            if (++self->calls == 3) {
                h.cancel();
                static_cast<void>(self->tasks.stop());
                self->queue.close();
            }
        });
        idle.async_wait([self](error_code) { self->ticks.cancel(); });
        queue.async_pop(asio::bind_executor(strand, [self](error_code, int) {
            self->signal.emit(asio::cancellation_type::terminal);
        }));
        queue.async_pop(asio::bind_cancellation_slot(
            signal.slot(), [self](error_code, int) { self->pop_again(); }));
        tick();
    }

    void tick() {
        ticks.async_tick([self = shared_from_this()](error_code ec, std::size_t) {
            if (!ec) {
                self->tick();
            }
        });
    }

    void pop_again() {
        queue.async_pop([self = shared_from_this()](error_code, int) {});
    }

    asio_wheel::delay_queue<int> queue;
    asio_wheel::scheduler tasks;
    asio_wheel::interval ticks;
    asio_wheel::idle_timer idle;
    asio::cancellation_signal signal;
    int calls = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(utilities_tear_down, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(coroutines_that_own_their_utilities) {
    const std::size_t steps = tear_down_at_every_step([](asio::io_context& ctx) {
        const auto end = std::make_shared<asio::cancellation_signal>();
        asio::co_spawn(ctx, program(), asio::bind_cancellation_slot(end->slot(), asio::detached));
        asio_wheel::async_sleep_for(ctx, 20s, [weak = std::weak_ptr(end)](error_code) {
            if (const auto signal = weak.lock()) {
                signal->emit(asio::cancellation_type::terminal);
            }
        });
        return end;
    });
    BOOST_TEST(steps > 20U);
}

BOOST_AUTO_TEST_CASE(objects_that_are_owned_by_their_handlers) {
    std::weak_ptr<session> last;
    const std::size_t steps = tear_down_at_every_step([&last](asio::io_context& ctx) {
        BOOST_TEST(last.expired());
        const auto s = std::make_shared<session>(ctx);
        last = s;
        s->start(ctx);
        return std::shared_ptr<void>(s);
    });
    BOOST_TEST(steps > 10U);
    BOOST_TEST(last.expired());
}

BOOST_AUTO_TEST_SUITE_END()
