// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the handler must be callable with one error_code

#include <asio_wheel/sleep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>

void sleep_with_a_handler_of_another_operation(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(ctx, 5s, [](boost::system::error_code, std::size_t) {});
#else
    asio_wheel::async_sleep_for(ctx, 5s, [](boost::system::error_code) {});
#endif
}
