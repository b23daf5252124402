// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection of the WebSocket server. The server pings while the peer is idle, and closes the
// connection if the peer does not answer.

#ifndef WEBSOCKET_SERVER_SESSION_HPP
#define WEBSOCKET_SERVER_SESSION_HPP

#include "connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <utility>

namespace websocket_server {

inline asio::awaitable<void> ping(std::shared_ptr<connection> c) {
    const auto token = asio::as_tuple(asio::use_awaitable);
    for (bool open = true; open;) {
        const auto [cancelled] = co_await c->quiet.async_wait(token);
        if (cancelled) {
            co_return;
        }
        c->quiet.touch(); // The next ping is due a period from now.
        const auto [failed] = co_await c->ws.async_ping({}, token);
        open = !failed;
        c->result.pings += open ? 1 : 0;
    }
}

// Closes the connection when its reader ends for any reason, so that ping() ends too.
struct closer {
    ~closer() {
        c.quiet.cancel();
        boost::beast::get_lowest_layer(c.ws).close();
    }
    connection& c;
};

inline asio::awaitable<outcome> serve(tcp::socket socket) {
    const auto c = std::make_shared<connection>(std::move(socket));
    const closer at_the_end{*c};
    stream& below = boost::beast::get_lowest_layer(c->ws);
    c->ws.control_callback([&c = *c](websocket::frame_type, boost::beast::string_view) {
        c.heard(); // Usually a pong.
    });
    try {
        below.expires_after(1s);
        co_await c->ws.async_accept(asio::use_awaitable);
        below.expires_never();
        below.idle_after(dead_after); // For peers that send requests but never read the answers.
        asio::co_spawn(below.get_executor(), ping(c), asio::detached);
        c->ws.read_message_max(longest_message);
        boost::beast::flat_buffer in;
        for (;;) {
            // The next message, or a pong, has to come within this time. So a peer that answers
            // pings may take its time for a message, which is limited.
            c->heard();
            co_await c->ws.async_read(in, asio::use_awaitable);
            in.clear();
            ++c->result.messages;
        }
    } catch (const boost::system::system_error& e) {
        c->result.end = e.code();
    }
    co_return c->result;
}

} // namespace websocket_server

#endif
