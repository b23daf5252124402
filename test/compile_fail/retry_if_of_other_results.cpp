// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: retry_if must be callable with the error of a try

#include <asio_wheel/retry.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <string>

void retry_if_of_other_results(boost::asio::io_context& ctx, boost::asio::ip::tcp::socket& socket) {
    const boost::asio::ip::tcp::endpoint peer;
    const auto connect = [&](auto token) { return socket.async_connect(peer, token); };
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto worth_it = [](const std::string& answer) { return answer.empty(); };
#else
    const auto worth_it = [](boost::system::error_code ec) { return ec.failed(); };
#endif
    asio_wheel::async_retry(ctx, connect, asio_wheel::retry_options{.retry_if = worth_it},
                            [](boost::system::error_code) {});
}
