// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The state that all clients of the load generator share: the settings, and the statistics.

#ifndef ECHO_LOAD_HPP
#define ECHO_LOAD_HPP

#include "../support/coroutine.hpp"
#include "../support/own_delay.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace echo {

using namespace demo;

struct client_stats {
    std::uint64_t connected = 0;
    std::uint64_t not_connected = 0;
    std::uint64_t requests = 0;
    std::uint64_t replies = 0;
    std::uint64_t wrong_replies = 0;
    std::uint64_t cut_off = 0;     ///< Requests that ended with the connection, unanswered.
    std::uint64_t ignored = 0;     ///< Those of them sent well before the deadline.
    std::uint64_t left = 0;        ///< Connections that a client ended abruptly.
    std::uint64_t idle_closed = 0; ///< Closed by the server, by what the client was doing.
    std::uint64_t slow_loris_closed = 0;
    std::uint64_t waiting = 0; ///< Clients that wait for the server to close, now.

    /// Records that the server closed a connection. The last line reached the server between the
    /// moment when it was sent and the moment when its reply arrived here. So the close is early if
    /// it comes before the first moment plus the idle timeout, and late if it comes after the
    /// second moment plus the timeout and the margin. The delay of this process itself is
    /// subtracted.
    void closed(steady_clock::duration after_sent, steady_clock::duration after_reply,
                steady_clock::duration own_delay, steady_clock::duration idle,
                steady_clock::duration margin) {
        early += after_sent < idle ? 1 : 0;
        late += after_reply - own_delay > idle + margin ? 1 : 0;
        earliest_ms = std::min(earliest_ms, milliseconds(after_sent - idle));
        latest_ms = std::max(latest_ms, milliseconds(after_reply - own_delay - idle));
        lateness_ms.push_back(milliseconds(after_reply - idle));
    }
    std::uint64_t early = 0;
    std::uint64_t late = 0;
    double earliest_ms = 1e9;
    double latest_ms = 0;
    std::vector<double> lateness_ms;
};

struct load {
    tcp::endpoint server;
    steady_clock::duration idle;   ///< The idle timeout of the server.
    steady_clock::duration margin; ///< How late a close may be.
    steady_clock::time_point end;
    client_stats seen;
    own_delay delay;
    std::optional<steady_clock::duration> pause; ///< The pause between heartbeats, if specified.
    std::mt19937 random{20260101};

    /// The pause between heartbeats. The default is short enough that a brief stall of this process
    /// costs no connection.
    steady_clock::duration heartbeat() const {
        if (pause) {
            return *pause;
        }
        return std::min<steady_clock::duration>(std::chrono::seconds(1), idle / 3);
    }

    /// Returns `d`, plus or minus up to 20 %.
    steady_clock::duration about(steady_clock::duration d) {
        std::uniform_real_distribution<double> factor(0.8, 1.2);
        return std::chrono::duration_cast<steady_clock::duration>(d * factor(random));
    }
};

} // namespace echo

#endif
