// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The clients: a well-behaved one, one that sends byte by byte (a slow-loris), and one that sends
// nothing.

#ifndef HTTP_SERVER_CLIENTS_HPP
#define HTTP_SERVER_CLIENTS_HPP

#include "session.hpp"

#include <asio_wheel/sleep.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace http_server {

// Sends some requests on one connection. Returns how many were answered.
inline asio::awaitable<int> well_behaved(tcp::endpoint where, int questions) {
    stream connection(co_await asio::this_coro::executor);
    connection.expires_after(1s);
    co_await connection.async_connect(where, asio::use_awaitable);
    boost::beast::flat_buffer in;
    int answers = 0;
    for (int i = 0; i < questions; ++i) {
        http::request<http::string_body> request(http::verb::post, "/", 11, std::to_string(i));
        request.keep_alive(i + 1 < questions);
        request.prepare_payload();
        connection.expires_after(1s);
        co_await http::async_write(connection, request, asio::use_awaitable);
        http::response<http::string_body> response;
        co_await http::async_read(connection, in, response, asio::use_awaitable);
        answers += response.body() == std::to_string(i) ? 1 : 0;
        co_await asio_wheel::async_sleep_for(connection.get_executor(), 20ms, asio::use_awaitable);
    }
    co_return answers;
}

// Sends `at_once`, and then a byte at a time until the server closes the connection. Returns how
// long that took.
inline asio::awaitable<std::chrono::milliseconds> slow_loris(tcp::endpoint where,
                                                             std::string at_once) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::use_awaitable);
    const auto start = std::chrono::steady_clock::now();
    boost::system::error_code ec;
    std::string text = std::move(at_once);
    while (!ec) {
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await asio::async_write(socket, asio::buffer(text), std::move(token));
        text = "x";
        co_await asio_wheel::async_sleep_for(socket.get_executor(), 10ms, asio::use_awaitable);
    }
    co_return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
}

// Connects and waits until the server closes the connection.
inline asio::awaitable<void> silent(tcp::endpoint where) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::use_awaitable);
    char c = 0;
    const auto token = asio::as_tuple(asio::use_awaitable);
    co_await socket.async_read_some(asio::buffer(&c, 1), token);
}

} // namespace http_server

#endif
