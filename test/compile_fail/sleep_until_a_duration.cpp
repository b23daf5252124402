// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this takes a time_point, not a duration. For a duration use async_sleep_for

#include <asio_wheel/sleep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

void sleep_until_a_duration(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_until(ctx, 5s, [](boost::system::error_code) {});
#else
    asio_wheel::async_sleep_for(ctx, 5s, [](boost::system::error_code) {});
#endif
}
