// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A part of a program that waits on one of Asio's timers, and on one that is not replaced.

#define BOOST_CHRONO_HEADER_ONLY

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/chrono/duration.hpp>
#include <boost/chrono/system_clocks.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

#ifndef _WIN32
__attribute__((visibility("default")))
#endif
void wait_for_a_while() {
    boost::asio::io_context ctx;
    boost::asio::steady_timer timer(ctx, std::chrono::milliseconds(1));
    timer.async_wait([](const boost::system::error_code&) {});
    boost::asio::basic_waitable_timer<boost::chrono::steady_clock> other(
        ctx, boost::chrono::milliseconds(1));
    other.async_wait([](const boost::system::error_code&) {});
    ctx.run();
}
