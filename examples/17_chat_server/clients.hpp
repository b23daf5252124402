// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The peers of the chat server in this example, except for those in main().

#ifndef CHAT_CLIENTS_HPP
#define CHAT_CLIENTS_HPP

#include "peer.hpp"

#include <asio_wheel.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace chat {

using namespace std::chrono_literals;

struct chatter {
    int lines = 0;         // Lines received.
    bool all_whole = true; // No line was mixed with another one.
    std::string last{};    // The last line received.
};

/// Sends a line, reads the lines of all peers, and repeats this until the server says goodbye.
inline asio::awaitable<void> chat_on(tcp::endpoint where, char name, chatter& seen) {
    peer p(co_await asio::this_coro::executor);
    co_await p.connect(where);
    for (int i = 0; !seen.last.starts_with("BYE"); ++i) {
        const std::string mine = std::to_string(i) + ' ' + std::string(3000, name);
        co_await p.send(mine + '\n');
        do {
            std::string line = co_await p.hear();
            if (line.empty()) {
                co_return;
            }
            if (!line.starts_with("BYE")) {
                const auto text = line.substr(line.find(' ') + 1);
                seen.all_whole = seen.all_whole && text == std::string(3000, text[0]);
                ++seen.lines;
            }
            seen.last = std::move(line);
        } while (seen.last != mine && !seen.last.starts_with("BYE"));
        co_await asio_wheel::async_sleep_for(p.socket.get_executor(), 20ms, asio::use_awaitable);
    }
}

/// Sends `bytes` again and again without reading, until sending fails.
inline asio::awaitable<void> send_only(tcp::endpoint where, std::string bytes) {
    peer p(co_await asio::this_coro::executor);
    co_await p.connect(where);
    while (co_await p.send(bytes)) {
        co_await asio_wheel::async_sleep_for(p.socket.get_executor(), 20ms, asio::use_awaitable);
    }
}

} // namespace chat

#endif
