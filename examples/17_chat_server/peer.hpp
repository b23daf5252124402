// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A peer of the chat server. It sends one message at a time, and answers pings while it reads.

#ifndef CHAT_PEER_HPP
#define CHAT_PEER_HPP

#include <boost/asio.hpp>

#include <string>

namespace chat {

namespace asio = boost::asio;
using asio::ip::tcp;

struct peer {
    explicit peer(const asio::any_io_executor& ex) : socket(ex) {}

    asio::awaitable<void> connect(tcp::endpoint where) {
        socket.open(where.protocol());
        socket.set_option(asio::socket_base::receive_buffer_size(4096));
        co_await socket.async_connect(where, asio::use_awaitable);
    }

    /// Returns false when the connection has ended.
    asio::awaitable<bool> send(std::string bytes) {
        const auto token = asio::as_tuple(asio::use_awaitable);
        const auto [ec, n] = co_await asio::async_write(socket, asio::buffer(bytes), token);
        co_return !ec;
    }

    /// Returns the next line without its newline, or an empty string at the end of the connection.
    /// Answers pings.
    asio::awaitable<std::string> hear() {
        for (;;) {
            const auto token = asio::as_tuple(asio::use_awaitable);
            auto text = asio::dynamic_buffer(in);
            const auto [ec, n] = co_await asio::async_read_until(socket, text, '\n', token);
            if (ec) {
                co_return std::string();
            }
            const std::string line = in.substr(0, n - 1);
            in.erase(0, n);
            if (line != "PING") {
                co_return line;
            }
            ++pings;
            co_await send("PONG\n");
        }
    }

    tcp::socket socket;
    std::string in{};
    int pings = 0;
};

} // namespace chat

#endif
