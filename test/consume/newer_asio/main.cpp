// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Compiled with versions of Asio whose private interface was changed: the library must use public
// functions then, and work.

#include <asio_wheel.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
namespace asio = boost::asio;

static_assert(asio_wheel::detail::context_queue::is_public == (EXPECT_PUBLIC != 0));

int main() {
    std::atomic<int> called = 0;
    const auto count = [&](const boost::system::error_code&) { ++called; };

    asio::io_context ctx;
    asio_wheel::steady_timer timer(ctx, 1ms);
    timer.async_wait(count);
    asio_wheel::steady_timer cancelled(ctx, 1h);
    cancelled.async_wait(asio::bind_executor(asio::make_strand(ctx), count));
    cancelled.cancel();
    const auto nap = [&]() -> asio::awaitable<void> {
        asio_wheel::steady_timer t(co_await asio::this_coro::executor, 1ms);
        co_await t.async_wait(asio::use_awaitable);
        ++called;
    };
    asio::co_spawn(ctx, nap(), asio::detached);
    ctx.run();

    asio::thread_pool pool(1);
    asio_wheel::steady_timer in_pool(pool, 1ms);
    in_pool.async_wait(count);
    pool.join();

    std::printf("%d handlers of 4\n", called.load());
    return called == 4 ? 0 : 1;
}
