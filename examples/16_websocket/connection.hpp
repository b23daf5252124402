// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection of the WebSocket server: the state that its two coroutines share.

#ifndef WEBSOCKET_SERVER_CONNECTION_HPP
#define WEBSOCKET_SERVER_CONNECTION_HPP

#include <asio_wheel/beast.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <utility>

namespace websocket_server {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using stream = asio_wheel::timeout_stream<tcp::socket>;

inline constexpr auto ping_after = 40ms;
inline constexpr auto dead_after = 300ms;
inline constexpr std::size_t longest_message = 65'536;

struct outcome { // What became of a connection.
    int pings = 0;
    int messages = 0;
    boost::system::error_code end;
};

// The coroutine that reads shares this with the one that pings.
struct connection {
    explicit connection(tcp::socket socket)
        : ws(std::move(socket)), quiet(ws.get_executor(), ping_after) {}

    // Call this when something has arrived. It is called between two reads of the stream, even if
    // both are parts of one read of the WebSocket, because the deadline of a read may be set then.
    void heard() {
        boost::beast::get_lowest_layer(ws).read_expires_after(dead_after);
        quiet.touch();
    }

    websocket::stream<stream> ws;
    asio_wheel::idle_timer quiet;
    outcome result;
};

} // namespace websocket_server

#endif
