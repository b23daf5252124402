// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the first result of an operation that is tried again

#include <asio_wheel/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <string>

void retry_of_an_operation_without_error(boost::asio::io_context& ctx,
                                         boost::asio::ip::tcp::socket& socket) {
    const boost::asio::ip::tcp::endpoint peer;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto f = [&](auto token) { return boost::asio::post(ctx, token); };
    asio_wheel::async_retry(ctx, f, {}, [] {});
    static_cast<void>(socket);
#else
    const auto f = [&](auto token) { return socket.async_connect(peer, token); };
    asio_wheel::async_retry(ctx, f, {}, [](boost::system::error_code) {});
#endif
}
