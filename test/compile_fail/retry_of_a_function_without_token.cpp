// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: takes an operation with one completion signature

#include <asio_wheel/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <string>

void retry_of_a_function_without_token(boost::asio::io_context& ctx,
                                       boost::asio::ip::tcp::socket& socket) {
    const boost::asio::ip::tcp::endpoint peer;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto connect = [&] { return socket.connect(peer); };
#else
    const auto connect = [&](auto token) { return socket.async_connect(peer, token); };
#endif
    asio_wheel::async_retry(ctx, connect, {}, [](boost::system::error_code) {});
}
