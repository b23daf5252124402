// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The clients: one that answers pings, and one that does not.

#ifndef WEBSOCKET_SERVER_CLIENTS_HPP
#define WEBSOCKET_SERVER_CLIENTS_HPP

#include "session.hpp"

#include <asio_wheel/sleep.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <memory>

namespace websocket_server {

using client = std::shared_ptr<websocket::stream<stream>>;

inline asio::awaitable<client> connect(tcp::endpoint where) {
    auto ws = std::make_shared<websocket::stream<stream>>(co_await asio::this_coro::executor);
    stream& below = boost::beast::get_lowest_layer(*ws);
    below.expires_after(1s);
    co_await below.async_connect(where, asio::use_awaitable);
    co_await ws->async_handshake("localhost", "/", asio::use_awaitable);
    below.expires_never();
    co_return ws;
}

// Reads until the connection ends. Beast answers pings while a read is pending.
inline asio::awaitable<void> listen(client ws) {
    boost::beast::flat_buffer in;
    const auto token = asio::as_tuple(asio::use_awaitable);
    for (bool open = true; open; in.clear()) {
        const auto [failed, n] = co_await ws->async_read(in, token);
        open = !failed;
    }
}

// Sends a message, stays idle for longer than the server waits for an answer to its pings, and
// closes the connection.
inline asio::awaitable<void> lively_peer(tcp::endpoint where) {
    const client ws = co_await connect(where);
    asio::co_spawn(ws->get_executor(), listen(ws), asio::detached);
    co_await ws->async_write(asio::buffer("hello", 5), asio::use_awaitable);
    co_await asio_wheel::async_sleep_for(ws->get_executor(), dead_after * 3 / 2,
                                         asio::use_awaitable);
    const auto token = asio::as_tuple(asio::use_awaitable);
    co_await ws->async_close(websocket::close_code::normal, token);
}

// Stays connected, but neither sends nor reads.
inline asio::awaitable<void> lost_peer(tcp::endpoint where) {
    const client ws = co_await connect(where);
    co_await asio_wheel::async_sleep_for(ws->get_executor(), dead_after * 3 / 2,
                                         asio::use_awaitable);
}

} // namespace websocket_server

#endif
