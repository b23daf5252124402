// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection of the chat server: the state that its coroutines share.

#ifndef CHAT_CONNECTION_HPP
#define CHAT_CONNECTION_HPP

#include "outbox.hpp"
#include "settings.hpp"

#include <asio_wheel.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <string_view>
#include <utility>

namespace chat {

using asio::ip::tcp;

struct connection {
    connection(tcp::socket socket, const settings& s)
        : set(s), stream(std::move(socket)), out(stream.get_executor(), s.longest_outbox),
          pulse(stream.get_executor(), {.send_every = s.ping_after, .dead_after = s.dead_after}),
          quiet(stream.get_executor(), s.idle_after) {}

    void send(message m) {
        if (!out.push(std::move(m))) {
            close("fell behind");
        }
    }

    /// Sends the messages in the outbox and then `last`. The peer should close the connection then.
    void finish(std::string_view why, message last) {
        if (ended_by.empty()) {
            ended_by = why;
            out.finish(std::move(last));
        }
    }

    /// Ends the connection now. Every operation that its coroutines wait for is aborted, a write
    /// that hangs included, so all of them return. The first call of finish() or close() names the
    /// reason.
    void close(std::string_view why) {
        if (ended_by.empty()) {
            ended_by = why;
        }
        stream.close();
        out.close();
        pulse.cancel();
        quiet.cancel();
    }

    [[nodiscard]] bool open() { return stream.socket().is_open(); }

    const settings& set;
    asio_wheel::timeout_stream<tcp::socket> stream;
    outbox out;
    asio_wheel::heartbeat pulse;  // Detects a dead peer.
    asio_wheel::idle_timer quiet; // Detects an idle user.
    std::string_view ended_by{};
    bool writing = false;
    int pongs = 0; // The number of pings that the peer has answered.
};

} // namespace chat

#endif
