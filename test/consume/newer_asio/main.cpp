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
#include <future>

using namespace std::chrono_literals;
namespace asio = boost::asio;

static_assert(asio_wheel::detail::context_queue::is_public == (EXPECT_PUBLIC != 0));

// The last wait of a pool ends in a thread that has not started it. join() must not wait for the
// wake-up in an hour.
bool stops_with_its_last_wait() {
    asio::thread_pool pool(2);
    const auto strand = asio::make_strand(pool); // It hides the pool's own executor.
    asio_wheel::steady_timer soon(strand, 20ms), late(strand, 1h);
    late.async_wait([](const boost::system::error_code&) {});
    soon.async_wait([&](const boost::system::error_code&) { late.cancel(); });
    const auto begin = std::chrono::steady_clock::now();
    auto joined = std::async(std::launch::async, [&] { pool.join(); });
    const bool in_time = joined.wait_for(30s) == std::future_status::ready;
    pool.stop();
    std::printf("joined after %lld ms\n",
                static_cast<long long>((std::chrono::steady_clock::now() - begin) / 1ms));
    return in_time;
}

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
    return called == 4 && stops_with_its_last_wait() ? 0 : 1;
}
