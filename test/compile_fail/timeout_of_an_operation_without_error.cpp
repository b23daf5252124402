// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: which must be an error_code or a std::exception_ptr

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

void timeout_of_an_operation_without_error(boost::asio::io_context& ctx) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    boost::asio::post(ctx, asio_wheel::timeout(std::chrono::seconds(5), [] {}));
#else
    boost::asio::post(ctx, asio_wheel::cancel_after(std::chrono::seconds(5), [] {}));
#endif
}
