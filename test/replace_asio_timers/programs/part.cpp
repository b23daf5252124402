// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A part of a program that waits on one of Asio's timers.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

#ifndef _WIN32
__attribute__((visibility("default")))
#endif
void wait_for_a_while() {
    boost::asio::io_context ctx;
    boost::asio::steady_timer timer(ctx, std::chrono::milliseconds(1));
    timer.async_wait([](const boost::system::error_code&) {});
    ctx.run();
}
