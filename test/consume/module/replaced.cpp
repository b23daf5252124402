// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program that imports asio-wheel as a module, and whose timers of Asio are replaced.

#include <asio_wheel/replace_asio_timers.hpp>
#include <boost/asio.hpp>

#include <chrono>

import asio_wheel;

int main() {
    boost::asio::io_context ctx;
    boost::asio::steady_timer timer(ctx, std::chrono::milliseconds(1));
    bool done = false;
    timer.async_wait([&](boost::system::error_code e) { done = !e; });
    ctx.run();
    const asio_wheel::wheel_stats stats = asio_wheel::use_wheel(ctx).stats();
    return done && stats.expired[asio_wheel::wait_kind::timer] == 1 ? 0 : 1;
}
