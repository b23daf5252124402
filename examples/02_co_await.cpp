// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// co_await on wheel timers: a deadline for an operation, and a loop with a fixed rate.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// Five beats, 10 ms apart. Each expiry is counted from the previous one, not from now, so lateness
// does not add up.
asio::awaitable<void> beat(int& beats) {
    asio_wheel::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(10ms);
    while (beats < 5) {
        co_await timer.async_wait(asio::use_awaitable);
        ++beats;
        timer.expires_at(timer.expiry() + 10ms);
    }
}

// Waits at most 25 ms for something that takes an hour.
asio::awaitable<void> impatient(bool& gave_up) {
    const auto ex = co_await asio::this_coro::executor;
    asio_wheel::steady_timer slow(ex, 1h);
    asio_wheel::steady_timer deadline(ex, 25ms);
    deadline.async_wait([&slow](auto ec) {
        if (ec != asio::error::operation_aborted) { // Expired, or refused by a full wheel.
            slow.cancel();
        }
    });
    const auto [ec] = co_await slow.async_wait(as_result);
    deadline.cancel();
    gave_up = ec == asio::error::operation_aborted;
}

int main() {
    asio::io_context ctx;
    int beats = 0;
    bool gave_up = false;
    asio::co_spawn(ctx, beat(beats), asio::detached);
    asio::co_spawn(ctx, impatient(gave_up), asio::detached);
    ctx.run();
    std::cout << beats << " beats; gave up: " << std::boolalpha << gave_up << '\n';
    return beats == 5 && gave_up ? 0 : 1;
}
