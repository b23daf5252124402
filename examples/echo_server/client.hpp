// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A client that may also go idle or disconnect: the ways in which a connection ends.

#ifndef ECHO_CLIENT_HPP
#define ECHO_CLIENT_HPP

#include "../support/coroutine.hpp"
#include "active_client.hpp"

#include <cstdint>

namespace echo {

class client : public active_client {
public:
    using active_client::active_client;

    /// One byte of a line that never ends.
    asio::awaitable<void> send_byte() { co_await socket_.send("x"); }

    /// Sends nothing more and waits until the server closes the connection.
    asio::awaitable<void> wait_for_close() {
        ++plan_.seen.waiting;
        const bool unasked = co_await socket_.read_line("nothing more", plan_.seen.wrong_replies);
        --plan_.seen.waiting;
        if (!unasked) {
            note_closed();
        }
    }

    /// Ends the connection abruptly, as a crash does: with a FIN or with a reset.
    asio::awaitable<void> leave() {
        if (steady_clock::now() >= sent_ + plan_.idle) {
            co_await wait_for_close(); // Too late: the server closes it, or has done so.
            co_return;
        }
        if (plan_.random() % 2 == 0) {
            socket_.reset();
        }
        close();
        ++plan_.seen.left;
    }
};

} // namespace echo

#endif
