// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A user's program that imports asio-wheel as a module.

#include <boost/asio.hpp>

#include <chrono>
#include <iostream>

import asio_wheel;

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> use(int& done) {
    asio_wheel::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    co_await timer.async_wait(asio_wheel::tag("a wait", asio::use_awaitable));
    co_await asio_wheel::async_sleep_for(timer.get_executor(), 1ms, asio::use_awaitable);
    timer.expires_after(1h);
    try {
        co_await timer.async_wait(asio_wheel::timeout(1ms, asio::use_awaitable));
    } catch (const boost::system::system_error& e) {
        done += e.code() == asio_wheel::error::timed_out ? 1 : 0;
    }
    asio_wheel::idle_timer idle(timer.get_executor(), 1ms);
    co_await idle.async_wait(asio::use_awaitable);
    ++done;
}

int main() {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 1ms});
    int done = 0;
    asio::co_spawn(ctx, use(done), asio::detached);
    ctx.run();
    const asio_wheel::wheel_stats stats = wheel.stats();
    std::cout << wheel.report();
    return done == 2 && stats.expired[asio_wheel::wait_kind::timeout] == 1 ? 0 : 1;
}
