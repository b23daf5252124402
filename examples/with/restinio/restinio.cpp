// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// RESTinio, Boost up to 1.86.

// A server of RESTinio whose time limits are on a wheel: wheel_timer_manager.hpp. Its clients check
// that idle connections are closed when their limit has passed, and not before.

#include "server.hpp"
#include "wheel_timer_manager.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::use_awaitable, asio::ip::tcp;
using namespace std::chrono_literals;
using wheel_server = server<wheel_timer_manager>;

constexpr auto limit = 200ms;

asio::awaitable<bool> is_closed(tcp::socket& socket) {
    char byte = 0;
    const auto [ec, n] =
        co_await socket.async_read_some(asio::buffer(&byte, 1), asio::as_tuple(use_awaitable));
    co_return ec == asio::error::eof;
}

// Sends a request, and then nothing more.
asio::awaitable<bool> is_closed_after_limit(tcp::endpoint where) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, use_awaitable);
    const auto start = std::chrono::steady_clock::now();
    const http::request<http::empty_body> request(http::verb::get, "/", 11);
    co_await http::async_write(socket, request, use_awaitable);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> answer;
    co_await http::async_read(socket, buffer, answer, use_awaitable);
    const bool closed = co_await is_closed(socket);
    co_return answer.body() == "hello" &&
        closed&& std::chrono::steady_clock::now() >= start + limit;
}

bool closes_idle_connections(int connections) {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.tick = 10ms}); // The fewer ticks, the fewer wake-ups.
    wheel_server server(ctx, limit, 20ms);
    int left = connections;
    int well = 0;
    const auto note = [&](std::exception_ptr error, bool result) {
        well += !error && result ? 1 : 0;
        if (--left == 0) {
            server.close();
        }
    };
    for (int i = 0; i < connections; ++i) {
        asio::co_spawn(ctx, is_closed_after_limit(server.where()), note);
    }
    ctx.run();
    std::cout << well << " of " << connections << " idle connections were closed at their limit\n";
    return well == connections;
}

// The wheel has room for one connection.
asio::awaitable<bool> second_is_closed(wheel_server& server) {
    tcp::socket first(co_await asio::this_coro::executor);
    tcp::socket second(first.get_executor());
    co_await first.async_connect(server.where(), use_awaitable);
    co_await second.async_connect(server.where(), use_awaitable);
    const bool closed = co_await is_closed(second);
    server.close();
    co_return closed;
}

bool closes_what_the_wheel_refuses() {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.max_pending = 1});
    wheel_server server(ctx, 1h, 1h);
    bool well = false;
    asio::co_spawn(ctx, second_is_closed(server),
                   [&](std::exception_ptr error, bool result) { well = !error && result; });
    ctx.run();
    std::cout << "a connection beyond the wheel's limit is closed: " << well << '\n';
    return well;
}

int main() {
    return closes_idle_connections(100) && closes_what_the_wheel_refuses() ? 0 : 1;
}
