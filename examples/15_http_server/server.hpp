// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Accepts the connections of the HTTP server.

#ifndef HTTP_SERVER_SERVER_HPP
#define HTTP_SERVER_SERVER_HPP

#include "../support/accept.hpp"
#include "session.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace http_server {

/// Returns when the acceptor is closed.
inline asio::awaitable<void> server(tcp::acceptor& acceptor, record& seen) {
    const auto serve = [&](tcp::socket socket) {
        asio::co_spawn(acceptor.get_executor(), session(stream(std::move(socket)), seen),
                       asio::detached);
    };
    return demo::accept_until_closed(acceptor, serve);
}

} // namespace http_server

#endif
