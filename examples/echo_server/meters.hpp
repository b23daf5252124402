// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The server's own statistics, which are the same for each timer.

#ifndef ECHO_METERS_HPP
#define ECHO_METERS_HPP

#include <asio_wheel/stats.hpp>

#include <chrono>
#include <cstdint>

namespace echo {

struct meters {
    bool accepting = false;           ///< While the coroutine that accepts exists.
    std::uint64_t accepted = 0;       ///< Connections accepted in all.
    std::uint64_t not_accepted = 0;   ///< Failures to accept, for lack of files or memory.
    std::uint64_t given_up = 0;       ///< Connections closed for lack of memory.
    std::uint64_t connections = 0;    ///< Connections open now.
    std::uint64_t waits = 0;          ///< Connections with a pending wait for the idle deadline.
    std::uint64_t lines = 0;          ///< Complete lines. Each gets a reply and moves a deadline.
    std::uint64_t timer_handlers = 0; ///< Completed waits of timers, with any result.
    std::uint64_t idle_closes = 0;
    std::uint64_t early_closes = 0;          ///< Idle closes before the deadline. Must stay 0.
    asio_wheel::lateness_histogram lateness; ///< From the deadline to the close.

    void closed_for_idleness(std::chrono::nanoseconds late) {
        ++idle_closes;
        early_closes += late < late.zero() ? 1 : 0;
        lateness.add(late);
    }
};

} // namespace echo

#endif
