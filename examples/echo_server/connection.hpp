// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection of the server: the state that its two coroutines share.

#ifndef ECHO_CONNECTION_HPP
#define ECHO_CONNECTION_HPP

#include "../support/coroutine.hpp"
#include "idle_deadline.hpp"
#include "meters.hpp"

#include <exception>
#include <memory>
#include <utility>

namespace echo {

using namespace demo;

/// Shared by the two coroutines of a connection. Destroyed when both have ended.
template <class Timer>
struct connection {
    connection(tcp::socket s, steady_clock::duration idle, meters& m)
        : socket(std::move(s)), deadline(socket.get_executor(), idle, m), meter(m) {
        ++meter.accepted;
        ++meter.connections;
    }
    ~connection() { --meter.connections; }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    void close() {
        error_code ignored;
        socket.close(ignored);
    }

    tcp::socket socket;
    idle_deadline<Timer> deadline;
    meters& meter;
};

/// Closes a connection when the coroutine that owns this ends, or is destroyed because memory has
/// run out. So neither coroutine outlives the other.
template <class Timer>
struct closer {
    ~closer() {
        c.deadline.stop();
        c.close();
    }
    connection<Timer>& c;
};

/// For `co_spawn`: counts a connection whose coroutine threw because memory has run out. That
/// connection is closed, and the others continue.
template <class Timer>
auto or_given_up(const std::shared_ptr<connection<Timer>>& c) {
    return [&m = c->meter](std::exception_ptr thrown) { m.given_up += thrown ? 1 : 0; };
}

} // namespace echo

#endif
