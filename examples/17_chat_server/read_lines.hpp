// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The coroutine that reads. There is a time limit for each line, so a peer that sends a byte now
// and then (a slow-loris) gains nothing.

#ifndef CHAT_READ_LINES_HPP
#define CHAT_READ_LINES_HPP

#include "connection.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace chat {

/// Calls `said` with each line, except for answers to pings and for empty lines, which only show
/// that the user is there.
template <class Said>
asio::awaitable<void> read_lines(connection& c, Said said) {
    std::array<char, 1024> block;
    for (std::string in;;) {
        const auto end = in.find('\n');
        if (std::min(end, in.size()) > c.set.longest_line) {
            co_return c.close("long line");
        }
        if (end == in.npos) {
            const auto n =
                co_await c.stream.async_read_some(asio::buffer(block), asio::use_awaitable);
            c.pulse.received();
            if (in.empty()) { // The line begins now. Further bytes do not move its deadline.
                c.stream.read_expires_after(c.set.line_time);
            }
            in.append(block.data(), n);
            continue;
        }
        const std::string text = in.substr(0, end);
        in.erase(0, end + 1);
        c.stream.read_expires_never();
        if (!in.empty()) { // The next line has begun already.
            c.stream.read_expires_after(c.set.line_time);
        }
        if (text == "PONG") {
            ++c.pongs;
        } else if (c.ended_by.empty()) {
            c.quiet.touch();
            if (!text.empty()) {
                said(text);
                // A block may have hundreds of lines. The writers have a turn after each one. Who
                // hears his own lines late says the next one later.
                co_await asio::post(c.stream.get_executor(), asio::use_awaitable);
                co_await c.out.room();
            }
        }
    }
}

} // namespace chat

#endif
