// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The statistics of the peers.

#ifndef SESSIONS_PEER_STATS_HPP
#define SESSIONS_PEER_STATS_HPP

#include "../support/record.hpp"
#include "protocol.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sessions {

/// The expected answer to a query about a session.
enum class expectation : std::uint32_t {
    there, ///< It exists: its idle time is not over before `stamp`.
    gone   ///< It is gone: its idle time and the margin had passed when the query was sent.
};

struct peer_stats {
    std::uint64_t requests = 0;
    std::uint64_t answered = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t lost = 0; ///< Datagrams that never arrived.
    std::uint64_t found_there = 0;
    std::uint64_t found_gone = 0;
    std::uint64_t early = 0; ///< Sessions and requests that ended too soon.
    std::uint64_t late = 0;
    steady_clock::duration longest_answer{}; ///< From a request to its answer.

    steady_clock::duration
        longest_meanwhile{}; ///< The same while many sessions ended at one moment.

    /// Records that a request timed out, `after` it was sent. `own_delay`, the delay of this
    /// process, is subtracted.
    void timed_out(steady_clock::duration after, steady_clock::duration own_delay,
                   steady_clock::duration deadline, steady_clock::duration margin) {
        ++timeouts;
        early += after < deadline ? 1 : 0;
        late += after - own_delay > deadline + margin ? 1 : 0;
    }

    /// Records the relay's answer to a query.
    void queried(bool is_there, expectation expected, bool in_time) {
        if (expected == expectation::gone) {
            ++(is_there ? late : found_gone);
        } else if (is_there) {
            ++found_there;
        } else if (in_time) { // Otherwise it may have ended in the meantime.
            ++early;
        }
    }

    [[nodiscard]] record to_record() const {
        auto number = [](std::uint64_t n) { return static_cast<double>(n); };
        return {
            {"requests", number(requests)},
            {"answered", number(answered)},
            {"timeouts", number(timeouts)},
            {"lost", number(lost)},
            {"found_there", number(found_there)},
            {"found_gone", number(found_gone)},
            {"early", number(early)},
            {"late", number(late)},
            {"longest_answer_ms", milliseconds(longest_meanwhile)},
        };
    }
};

} // namespace sessions

#endif
