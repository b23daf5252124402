// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this takes a duration, not a time_point. For a time_point use async_sleep_until

#include <asio_wheel/sleep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

void sleep_for_a_time_point(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
    const auto time = std::chrono::system_clock::now() + 5s;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(ctx, time, [](boost::system::error_code) {});
#else
    asio_wheel::async_sleep_until(ctx, time, [](boost::system::error_code) {});
#endif
}
