// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a completion token must be given, because this executor has no default token
// boost_before: 1.86

#include <asio_wheel/sleep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

void sleep_without_token(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_sleep_for(ctx, 5s);
#else
    asio_wheel::async_sleep_for(ctx, 5s, [](boost::system::error_code) {});
#endif
}
