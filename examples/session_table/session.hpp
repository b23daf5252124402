// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A session of the relay.

#ifndef SESSIONS_SESSION_HPP
#define SESSIONS_SESSION_HPP

#include "idle_timeout.hpp"
#include "requests.hpp"
#include "timers.hpp"
#include "udp_link.hpp"

#include <cstdint>

namespace sessions {

template <class Timer>
struct session {
    session(const executor& ex, std::uint32_t number, const udp::endpoint& from,
            steady_clock::time_point due)
        : peer(from), id(number), idle(ex, due) {}

    // The members that each datagram needs come first, adjacent in memory.
    udp::endpoint peer;
    std::uint32_t id;
    bool ends_together = false;
    request<Timer>* pending = nullptr;
    idle_timeout<Timer> idle;
};

} // namespace sessions

#endif
