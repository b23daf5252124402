// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The periods and the limits of a chat server.

#ifndef CHAT_SETTINGS_HPP
#define CHAT_SETTINGS_HPP

#include <chrono>
#include <cstddef>

namespace chat {

struct settings {
    using duration = std::chrono::milliseconds;

    duration ping_after = std::chrono::seconds(20);   // after the last message to a peer
    duration dead_after = std::chrono::seconds(60);   // after the last byte from a peer
    duration idle_after = std::chrono::minutes(10);   // after the last line from a peer
    duration line_time = std::chrono::seconds(10);    // from the first byte of a line to its end
    duration write_time = std::chrono::seconds(90);   // for one message to a peer
    duration farewell_time = std::chrono::seconds(5); // from the last message to the end
    std::size_t longest_line = 4096;                  // bytes
    std::size_t longest_outbox = 256;                 // messages
};

} // namespace chat

#endif
