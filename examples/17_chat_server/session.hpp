// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The coroutines of a connection, except for the one that reads. One writes, and two wait for
// timeouts. Only write_messages() writes, because a write blocks if the peer has stopped reading,
// and the others must continue.

#ifndef CHAT_SESSION_HPP
#define CHAT_SESSION_HPP

#include "connection.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>

namespace chat {

inline asio::awaitable<void> write_messages(connection& c) {
    for (;;) {
        const message next = co_await c.out.next();
        if (next == nullptr) {
            break;
        }
        c.writing = true;
        // A peer that sends but does not read is not dead for the heartbeat, so limit the write
        // too.
        c.stream.write_expires_after(c.set.write_time);
        co_await asio::async_write(c.stream, asio::buffer(*next), asio::use_awaitable);
        c.writing = false;
        c.pulse.sent();
    }
    boost::system::error_code ignored; // Tells the peer that nothing more follows.
    c.stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

inline asio::awaitable<void> watch_pulse(connection& c, message ping) {
    while (c.open()) {
        const auto event = co_await c.pulse.async_next(asio::use_awaitable);
        if (event == asio_wheel::heartbeat_event::dead) {
            c.close("dead");
        }
        if (c.out.empty() && !c.writing) { // Otherwise a pending message serves as a ping.
            c.send(ping);
        }
    }
}

inline asio::awaitable<void> watch_silence(connection& c) {
    co_await c.quiet.async_wait(asio::use_awaitable);
    c.finish("idle", line("BYE idle"));
    c.quiet.period(c.set.farewell_time); // From now on, this limits the time to leave.
    c.quiet.touch();
    if (c.open()) {
        co_await c.quiet.async_wait(asio::use_awaitable);
    }
    c.close("idle");
}

} // namespace chat

#endif
