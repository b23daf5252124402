// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection that sends pings while it is idle, and gives up a peer that stays silent.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/sleep.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio_wheel::heartbeat;
using asio_wheel::heartbeat_event;

// Answers for a while.
asio::awaitable<void> peer(heartbeat& pulse) {
    for (int i = 0; i < 3; ++i) {
        co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 20ms,
                                             asio::use_awaitable);
        pulse.received();
    }
}

asio::awaitable<void> keep_alive(heartbeat& pulse, int& pings) {
    for (;; ++pings) {
        const auto [ec, event] = co_await pulse.async_next(asio::as_tuple(asio::use_awaitable));
        if (ec || event == heartbeat_event::dead) {
            break; // On any error, such as a full wheel, the connection ends too.
        }
    }
}

int main() {
    asio::io_context ctx;
    heartbeat pulse(ctx, {.send_every = 30ms, .dead_after = 100ms});
    int pings = 0;
    const auto start = std::chrono::steady_clock::now();
    asio::co_spawn(ctx, peer(pulse), asio::detached);
    asio::co_spawn(ctx, keep_alive(pulse, pings), asio::detached);
    ctx.run();
    const auto took = std::chrono::steady_clock::now() - start;
    std::cout << pings << " pings, dead after " << took / 1ms << " ms\n";
    return pings >= 1 && took >= 160ms ? 0 : 1;
}
