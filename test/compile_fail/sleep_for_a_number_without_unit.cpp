// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a number has no unit and is not a duration. Write 5s or std::chrono::seconds(n)

#include <asio_wheel/sleep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

void sleep_for_a_number_without_unit(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(ctx, 5, [](boost::system::error_code) {});
#else
    asio_wheel::async_sleep_for(ctx, 5s, [](boost::system::error_code) {});
#endif
}
