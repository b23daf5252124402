// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Accepts connections until the server is shut down. The server runs on one thread or one strand.

#ifndef CHAT_SERVER_HPP
#define CHAT_SERVER_HPP

#include "../support/accept.hpp"
#include "visit.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace chat {

class server {
public:
    server(asio::io_context& ctx, const settings& s)
        : acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
          room(std::make_shared<chat::room>(ctx.get_executor(), s)) {}

    /// Returns after shut_down().
    asio::awaitable<void> accept() {
        return demo::accept_until_closed(
            acceptor, [r = room](tcp::socket socket) { enter(r, std::move(socket)); });
    }

    /// Stops accepting connections, tells all peers, sends the messages in the outboxes, and waits
    /// until the peers have left. After the farewell time, closes the remaining connections.
    /// Returns their number.
    asio::awaitable<std::size_t> shut_down() {
        acceptor.close();
        room->finish("shutdown", line("BYE shutdown"));
        co_await room->emptied();
        co_return room->close("shutdown");
    }

    tcp::acceptor acceptor;
    std::shared_ptr<chat::room> room;
};

} // namespace chat

#endif
