// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Cancels operations that take too long: asks a server again if it does not answer in time.

#include <asio_wheel/cancel_after.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::udp;
using asio_wheel::cancel_after;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// Answers the third request.
asio::awaitable<void> serve(udp::socket& socket) {
    std::array<char, 64> text;
    udp::endpoint client;
    for (int question = 1; question <= 3; ++question) {
        co_await socket.async_receive_from(asio::buffer(text), client, asio::use_awaitable);
    }
    const std::string answer = "42";
    co_await socket.async_send_to(asio::buffer(answer), client, asio::use_awaitable);
}

asio::awaitable<void> ask(udp::socket& socket, udp::endpoint server, std::string& answer) {
    const std::string question = "?";
    std::array<char, 64> text;
    for (int attempt = 1; attempt <= 10 && answer.empty(); ++attempt) {
        co_await socket.async_send_to(asio::buffer(question), server, asio::use_awaitable);
        // The result is that of the operation itself: operation_aborted if it took too long.
        const auto token = cancel_after(20ms, as_result);
        const auto [ec, size] = co_await socket.async_receive(asio::buffer(text), token);
        std::cout << "attempt " << attempt << ": " << ec.message() << '\n';
        if (!ec) {
            answer = std::string_view(text.data(), size);
        }
    }
}

int main() {
    asio::io_context ctx;
    const udp::endpoint any(asio::ip::address_v4::loopback(), 0);
    udp::socket server(ctx, any), client(ctx, any);
    std::string answer;
    asio::co_spawn(ctx, serve(server), asio::detached);
    asio::co_spawn(ctx, ask(client, server.local_endpoint(), answer), asio::detached);
    ctx.run();
    return answer == "42" ? 0 : 1;
}
