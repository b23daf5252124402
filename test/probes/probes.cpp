// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Does what each probe reports, a known number of times: see `check`.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <thread>

int main() {
    using namespace std::chrono_literals;
    boost::asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.stall = 50ms});
    const auto ignore = [](const boost::system::error_code&) {};
    asio_wheel::steady_timer expires(ctx, 5ms);
    asio_wheel::steady_timer is_cancelled(ctx, 1h);
    asio_wheel::steady_timer is_postponed(ctx, 10ms);
    expires.async_wait(ignore);
    is_cancelled.async_wait(ignore);
    is_postponed.async_wait(ignore);
    const bool one = is_postponed.postpone(15ms) == 1 && is_cancelled.cancel() == 1;
    std::this_thread::sleep_for(100ms); // A stall.
    ctx.run();
    return one ? 0 : 1;
}
