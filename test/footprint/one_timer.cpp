// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>

int main() {
    boost::asio::io_context ctx;
    asio_wheel::steady_timer timer(ctx, std::chrono::milliseconds(10));
    bool expired = false;
    timer.async_wait([&](const boost::system::error_code& ec) { expired = !ec; });
    ctx.run();
    return expired ? 0 : 1;
}
