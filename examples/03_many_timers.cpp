// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A hundred thousand timeouts. Most of them are moved, and none of them costs a system call.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;

int main() {
    boost::asio::io_context ctx;

    // A server closes many idle connections within 10 ms of their deadline.
    auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 10ms});

    constexpr std::size_t connections = 100'000;
    std::size_t closed = 0;
    std::vector<asio_wheel::steady_timer> idle;
    idle.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i) {
        idle.emplace_back(ctx, 50ms);
        idle.back().async_wait([&closed](auto ec) {
            if (ec != boost::asio::error::operation_aborted) { // Expired, or the wheel is full.
                ++closed;
            }
        });
    }

    // Two of three connections receive something, so their timeouts move.
    std::size_t moved = 0;
    for (std::size_t i = 0; i < connections; ++i) {
        if (i % 3 != 0) {
            moved += idle[i].postpone(150ms);
        }
    }
    std::cout << moved << " of " << wheel.pending() << " waits moved\n";

    ctx.run();

    const auto stats = wheel.stats();
    std::cout << closed << " closed, after " << stats.wake_ups << " wake-ups; postponed "
              << stats.postponed << ", filed again " << stats.cascaded << " times\n"
              << "late by " << stats.lateness.quantile(0.5).count() / 1000 << " us (median), "
              << stats.lateness.quantile(0.99).count() / 1000 << " us (99 %)\n";
    return closed == connections && wheel.pending() == 0 ? 0 : 1;
}
