// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Accepts the connections of the WebSocket server.

#ifndef WEBSOCKET_SERVER_SERVER_HPP
#define WEBSOCKET_SERVER_SERVER_HPP

#include "../support/accept.hpp"
#include "session.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <functional>
#include <utility>

namespace websocket_server {

/// Returns when the acceptor is closed. Calls `over` with what became of each connection.
inline asio::awaitable<void> server(tcp::acceptor& acceptor,
                                    std::function<void(const outcome&)> over) {
    const auto start = [&acceptor, over](tcp::socket socket) {
        asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)),
                       [over](std::exception_ptr, const outcome& o) { over(o); });
    };
    return demo::accept_until_closed(acceptor, start);
}

} // namespace websocket_server

#endif
