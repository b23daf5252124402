// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: put boost::asio::bind_executor inside, round the handler

#include <asio_wheel/cancel_after.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

void cancel_after_inside_bind_executor(boost::asio::io_context& ctx) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    auto token =
        boost::asio::bind_executor(ctx, asio_wheel::cancel_after(std::chrono::seconds(5), [] {}));
#else
    auto token =
        asio_wheel::cancel_after(std::chrono::seconds(5), boost::asio::bind_executor(ctx, [] {}));
#endif
    boost::asio::async_initiate<decltype(token), void()>([](auto handler) { handler(); }, token);
}
