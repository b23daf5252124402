// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: put boost::asio::bind_executor inside, round the handler

#include <asio_wheel/cancel_after.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

void cancel_after_without_executor(boost::asio::io_context& ctx) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    auto handler = [] {};
#else
    auto handler = boost::asio::bind_executor(ctx, [] {});
#endif
    auto token = asio_wheel::cancel_after(std::chrono::seconds(5), handler);
    boost::asio::async_initiate<decltype(token), void()>([](auto handler) { handler(); }, token);
}
