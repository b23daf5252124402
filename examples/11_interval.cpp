// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Work at a fixed rate that sometimes takes longer than a period.

#include <asio_wheel/interval.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;
namespace asio = boost::asio;

asio::awaitable<void> work(std::size_t& periods) {
    asio_wheel::interval every(co_await asio::this_coro::executor, 5ms);
    for (int i = 0; i < 6; ++i) {
        const std::size_t passed = co_await every.async_tick(asio::use_awaitable);
        periods += passed;
        if (passed != 1) {
            std::cout << passed - 1 << " ticks were missed\n";
        }
        if (i == 2) {
            std::this_thread::sleep_for(12ms); // Blocks the thread for more than two periods.
        }
    }
}

int main() {
    asio::io_context ctx;
    std::size_t periods = 0;
    const auto start = std::chrono::steady_clock::now();
    asio::co_spawn(ctx, work(periods), asio::detached);
    ctx.run();
    const auto took = std::chrono::steady_clock::now() - start;
    std::cout << periods << " periods in " << took / 1ms << " ms\n";
    return periods >= 7 && took >= periods * 5ms ? 0 : 1;
}
