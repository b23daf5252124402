// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The relay's own statistics, which are the same for each timer.

#ifndef SESSIONS_METERS_HPP
#define SESSIONS_METERS_HPP

#include "../support/process_usage.hpp"
#include "protocol.hpp"

#include <asio_wheel/stats.hpp>

#include <array>
#include <chrono>
#include <cstdint>

namespace sessions {

/// The lateness of timeouts, and the number of early ones.
struct lateness {
    std::uint64_t early = 0; ///< Must stay zero.
    asio_wheel::lateness_histogram late;

    void add(std::chrono::nanoseconds by) {
        early += by < by.zero() ? 1 : 0;
        late.add(by);
    }
};

/// The state of the process at the end of a phase.
struct snapshot {
    process_usage used;
    double resident_bytes = 0;
    std::uint64_t datagrams = 0;
    std::uint64_t sessions = 0;
    std::uint64_t timer_handlers = 0;
};

struct meters {
    std::uint64_t datagrams = 0; ///< Datagrams from peers and from upstream.
    std::uint64_t made = 0;
    std::uint64_t expired = 0;
    std::uint64_t requests = 0;
    std::uint64_t answered = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t given_up = 0;       ///< Requests whose session asked again or ended before.
    std::uint64_t late_answers = 0;   ///< Answers after the deadline, which are not forwarded.
    std::uint64_t timer_handlers = 0; ///< Completed waits of timers, with any result.
    lateness idle_late;
    lateness deadline_late;
    lateness together_late; ///< Of the sessions that end at the same moment.
    std::array<snapshot, phases> marks;

    /// Returns the current number of sessions.
    [[nodiscard]] std::uint64_t sessions() const { return made - expired; }

    void mark(std::uint32_t which) {
        if (which < marks.size()) {
            marks[which] = {.used = process_usage::now(),
                            .resident_bytes = resident_bytes(),
                            .datagrams = datagrams,
                            .sessions = sessions(),
                            .timer_handlers = timer_handlers};
        }
    }
};

} // namespace sessions

#endif
