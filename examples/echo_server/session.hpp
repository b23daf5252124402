// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The coroutines of a connection: a session that reads and answers, and a watchdog that closes the
// connection at its idle deadline.

#ifndef ECHO_SESSION_HPP
#define ECHO_SESSION_HPP

#include "../support/coroutine.hpp"
#include "connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace echo {

using namespace demo;

/// Returns the answer to a line: `PONG x` for `PING x`, and the line itself for any other.
inline std::string answer(std::string line) {
    if (line.starts_with("PING ")) {
        line[1] = 'O';
    }
    return line;
}

template <class Timer>
asio::awaitable<void> watchdog(std::shared_ptr<connection<Timer>> self) {
    const closer<Timer> at_the_end{*self}; // Ends the session.
    ++self->meter.waits;
    const bool idle = co_await self->deadline.passed();
    --self->meter.waits;
    if (idle) {
        self->meter.closed_for_idleness(steady_clock::now() - self->deadline.due());
    }
}

/// Only a complete line moves the deadline. A client that sends single bytes gets no more time.
template <class Timer>
asio::awaitable<void> session(std::shared_ptr<connection<Timer>> self, std::string greeting) {
    constexpr std::size_t longest_line = 512;
    const closer<Timer> at_the_end{*self};                 // Ends the watchdog.
    if constexpr (requires { self->deadline.passed(); }) { // Without deadlines: no watchdog.
        asio::co_spawn(self->socket.get_executor(), watchdog(self), or_given_up(self));
    }
    std::string received;
    std::string reply = std::move(greeting);
    for (;;) {
        auto [not_written, written] =
            co_await asio::async_write(self->socket, asio::buffer(reply), as_result);
        if (not_written) {
            break;
        }
        auto [not_read, size] = co_await asio::async_read_until(
            self->socket, asio::dynamic_buffer(received, longest_line), '\n', as_result);
        if (not_read) {
            break; // The peer closed, the line is too long, or the watchdog closed the socket.
        }
        self->deadline.touch();
        ++self->meter.lines;
        reply = answer(received.substr(0, size));
        received.erase(0, size);
    }
}

} // namespace echo

#endif
