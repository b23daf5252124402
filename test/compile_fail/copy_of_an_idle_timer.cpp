// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: deleted

#include <asio_wheel/idle_timer.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>

void copy_of_an_idle_timer(boost::asio::io_context& ctx) {
    asio_wheel::idle_timer idle(ctx, std::chrono::seconds(30));
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::idle_timer other = idle;
#else
    asio_wheel::idle_timer& other = idle;
#endif
    other.touch();
}
