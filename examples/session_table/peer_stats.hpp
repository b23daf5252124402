// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the peers saw of the relay.

#ifndef SESSIONS_PEER_STATS_HPP
#define SESSIONS_PEER_STATS_HPP

#include "../support/record.hpp"
#include "protocol.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sessions {

/// What a peer that asks for a session knows of it.
enum class expectation : std::uint32_t {
    there, ///< It has not been silent for its idle time until `stamp`.
    gone   ///< Its idle time and the margin had passed when the query was sent.
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

    /// A request that got no answer, `after` it was sent. What this process was late itself in
    /// looking is no fault of the relay's.
    void timed_out(steady_clock::duration after, steady_clock::duration own_delay,
                   steady_clock::duration deadline, steady_clock::duration margin) {
        ++timeouts;
        early += after < deadline ? 1 : 0;
        late += after - own_delay > deadline + margin ? 1 : 0;
    }

    /// The relay's answer to a query.
    void queried(bool is_there, expectation expected, bool in_time) {
        if (expected == expectation::gone) {
            ++(is_there ? late : found_gone);
        } else if (is_there) {
            ++found_there;
        } else if (in_time) { // If not, it may have ended rightly meanwhile.
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
