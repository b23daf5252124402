// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What all clients of the load generator share: the plan, and the tally of what they saw.

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
    std::uint64_t cut_off = 0;     ///< Requests answered by the end of the connection.
    std::uint64_t ignored = 0;     ///< Those of them sent well before the deadline.
    std::uint64_t left = 0;        ///< Connections that a client ended without a word.
    std::uint64_t idle_closed = 0; ///< Closed by the server, by what the client was doing.
    std::uint64_t slow_loris_closed = 0;
    std::uint64_t waiting = 0; ///< Clients that wait for the server to close, now.

    /// One close by the server. It must lie in [earliest allowed, latest expected]: the line that
    /// counts reached the server after it was sent and before its reply arrived here. What this
    /// process was late itself in looking is no fault of the server's.
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
    steady_clock::duration idle;   ///< What the server allows.
    steady_clock::duration margin; ///< How late its closing may be seen here.
    steady_clock::time_point end;
    client_stats seen;
    own_delay delay;
    std::optional<steady_clock::duration> pause; ///< Between two heartbeats, if it was chosen.
    std::mt19937 random{20260101};

    /// Heartbeats come often enough that a short hiccup of this process costs no connection.
    steady_clock::duration heartbeat() const {
        if (pause) {
            return *pause;
        }
        return std::min<steady_clock::duration>(std::chrono::seconds(1), idle / 3);
    }

    /// `d`, give or take a fifth.
    steady_clock::duration about(steady_clock::duration d) {
        std::uniform_real_distribution<double> factor(0.8, 1.2);
        return std::chrono::duration_cast<steady_clock::duration>(d * factor(random));
    }
};

} // namespace echo

#endif
