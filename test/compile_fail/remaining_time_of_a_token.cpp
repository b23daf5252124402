// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a completion token has no remaining time yet

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

bool remaining_time_of_a_token(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
    const auto token = asio_wheel::timeout(5s, [](boost::system::error_code) {});
#ifdef ASIO_WHEEL_TEST_MISTAKE
    static_cast<void>(ctx);
    return asio_wheel::remaining_time(token) > 1s;
#else
    static_cast<void>(token);
    return asio_wheel::remaining_time(ctx.get_executor()) > 1s;
#endif
}
