// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the third argument of async_retry() is a retry_options

#include <asio_wheel/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <string>

void retry_without_options(boost::asio::io_context& ctx, boost::asio::ip::tcp::socket& socket) {
    const boost::asio::ip::tcp::endpoint peer;
    const auto connect = [&](auto token) { return socket.async_connect(peer, token); };
#ifdef ASIO_WHEEL_TEST_MISTAKE
    asio_wheel::async_retry(ctx, connect, [](boost::system::error_code) {});
#else
    asio_wheel::async_retry(ctx, connect, {}, [](boost::system::error_code) {});
#endif
}
