// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the first argument must be an executor or an execution context

#include <asio_wheel/sleep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

void sleep_with_swapped_arguments(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(5s, ctx, [](boost::system::error_code) {});
#else
    asio_wheel::async_sleep_for(ctx, 5s, [](boost::system::error_code) {});
#endif
}
