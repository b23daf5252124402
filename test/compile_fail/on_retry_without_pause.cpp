// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: on_retry must be callable with a retry_pause&

#include <asio_wheel/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <string>

void on_retry_without_pause(boost::asio::io_context& ctx, boost::asio::ip::tcp::socket& socket) {
    const boost::asio::ip::tcp::endpoint peer;
    const auto connect = [&](auto token) { return socket.async_connect(peer, token); };
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto hook = [](boost::system::error_code) {};
#else
    const auto hook = [](asio_wheel::retry_pause&, boost::system::error_code) {};
#endif
    asio_wheel::async_retry(ctx, connect, asio_wheel::retry_options{.on_retry = hook},
                            [](boost::system::error_code) {});
}
