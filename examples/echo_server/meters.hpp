// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the server counts about itself, alike for every timer.

#ifndef ECHO_METERS_HPP
#define ECHO_METERS_HPP

#include <asio_wheel/stats.hpp>

#include <chrono>
#include <cstdint>

namespace echo {

struct meters {
    bool accepting = false;           ///< As long as there is the coroutine that accepts.
    std::uint64_t accepted = 0;       ///< Connections ever accepted.
    std::uint64_t not_accepted = 0;   ///< Times there was no file or no memory for another one.
    std::uint64_t given_up = 0;       ///< Connections closed for want of memory.
    std::uint64_t connections = 0;    ///< Those open now.
    std::uint64_t waits = 0;          ///< Those whose idle deadline is being waited for.
    std::uint64_t lines = 0;          ///< Complete lines; each is a reply and a deadline moved.
    std::uint64_t timer_handlers = 0; ///< Times a wait of a timer completed, for whatever reason.
    std::uint64_t idle_closes = 0;
    std::uint64_t early_closes = 0;          ///< Those of them before the deadline. Must stay zero.
    asio_wheel::lateness_histogram lateness; ///< From the deadline to the close.

    void closed_for_idleness(std::chrono::nanoseconds late) {
        ++idle_closes;
        early_closes += late < late.zero() ? 1 : 0;
        lateness.add(late);
    }
};

} // namespace echo

#endif
