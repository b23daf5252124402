// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Measures how late this process handles events of its sockets, because it has no processor time.

#ifndef DEMO_OWN_DELAY_HPP
#define DEMO_OWN_DELAY_HPP

#include "coroutine.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace demo {

/// Sends a byte to itself every few milliseconds. The byte is read after everything that was
/// pending at other sockets before.
class own_delay {
public:
    explicit own_delay(asio::io_context& io) : here_(io), there_(io), pause_(io) {
        asio::local::connect_pair(here_, there_);
    }

    void run() {
        if (stopped_) {
            return;
        }
        // Start the read first: a read of data that is already there would complete out of turn.
        there_.async_read_some(asio::buffer(&byte_, 1), [this](error_code, std::size_t) {
            const auto now = steady_clock::now();
            last_ = now - due_;
            worst_ = std::max(worst_, last_);
            due_ = now + period;
            pause_.expires_at(due_);
            pause_.async_wait([this](error_code) { run(); });
        });
        here_.write_some(asio::buffer("x", 1));
    }

    void stop() {
        stopped_ = true;
        pause_.cancel();
    }

    /// Returns the delay of an event that is handled now.
    steady_clock::duration at(steady_clock::time_point now) const {
        return std::max({steady_clock::duration::zero(), last_, now - due_});
    }

    /// Returns the longest delay so far.
    steady_clock::duration worst() const { return worst_; }

private:
    static constexpr std::chrono::milliseconds period{5};

    asio::local::stream_protocol::socket here_;
    asio::local::stream_protocol::socket there_;
    asio::steady_timer pause_;
    char byte_ = 0;
    steady_clock::time_point due_ = steady_clock::now(); // Of the current byte, or the next one.
    steady_clock::duration last_{};
    steady_clock::duration worst_{};
    bool stopped_ = false;
};

} // namespace demo

#endif
