// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Sleeping without a timer object: retries a connection after longer and longer pauses.

#include <asio_wheel/sleep.hpp>

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

bool connect(int attempt) {
    return attempt == 4;
}

// Returns the number of attempts.
asio::awaitable<int> connect_patiently() {
    const auto ex = co_await asio::this_coro::executor;
    auto pause = 5ms;
    for (int attempt = 1;; ++attempt) {
        if (connect(attempt)) {
            co_return attempt;
        }
        co_await asio_wheel::async_sleep_for(ex, pause, asio::use_awaitable);
        pause *= 2;
    }
}

asio::awaitable<void> program(int& attempts) {
    attempts = co_await connect_patiently();
}

int main() {
    asio::io_context ctx;
    const auto start = std::chrono::steady_clock::now();
    int attempts = 0;
    asio::co_spawn(ctx, program(attempts), asio::detached);

    // Callbacks can sleep too. No timer object has to be kept alive.
    bool called = false;
    asio_wheel::async_sleep_until(ctx, asio_wheel::now(ctx) + 10ms, [&](auto ec) { called = !ec; });

    ctx.run();
    const auto took = std::chrono::steady_clock::now() - start;
    std::cout << attempts << " attempts in " << took / 1ms << " ms\n";
    return attempts == 4 && called && took >= 35ms ? 0 : 1;
}
