// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program for Asio's steady_timer with one change: the namespace of the timer.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;
using asio_wheel::steady_timer; // was: using boost::asio::steady_timer;

int main() {
    boost::asio::io_context ctx;
    int fired = 0;
    int aborted = 0;
    const auto count = [&](const boost::system::error_code& ec) {
        ++(ec == boost::asio::error::operation_aborted ? aborted : fired);
    };

    steady_timer short_one(ctx, 20ms);
    short_one.async_wait(count);

    steady_timer moved(ctx, 1h);
    moved.async_wait(count);
    moved.expires_after(10ms); // aborts the wait above, as with Asio
    moved.async_wait(count);

    steady_timer cancelled(ctx, 1h);
    cancelled.async_wait(count);
    cancelled.cancel();

    // Not in Asio: the pending wait continues with a later expiry. No handler is called and nothing
    // is allocated. Idle timeouts are extended in this way.
    steady_timer idle(ctx, 10ms);
    idle.async_wait(count);
    const bool goes_on = idle.postpone(30ms) == 1;

    ctx.run();
    std::cout << fired << " waits fired, " << aborted << " were aborted\n";
    return goes_on && fired == 3 && aborted == 2 ? 0 : 1;
}
