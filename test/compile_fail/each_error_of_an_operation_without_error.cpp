// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: one of the results must be or contain an error_code or a std::exception_ptr

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <chrono>

void each_error_of_an_operation_without_error(boost::asio::io_context& ctx) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    boost::asio::post(ctx, asio_wheel::timeout(5s, asio_wheel::each_error, [] {}));
#else
    boost::asio::post(ctx, asio_wheel::cancel_after(5s, [] {}));
#endif
}
