// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Queries that check when the relay ends a session.

#ifndef SESSIONS_QUERIES_HPP
#define SESSIONS_QUERIES_HPP

#include "peer_stats.hpp"
#include "protocol.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sessions {

/// A query, and the time to send it.
struct timed_query {
    steady_clock::time_point when;
    datagram what;
};
using queries = std::vector<timed_query>;

inline datagram expect(std::uint32_t session, expectation what, steady_clock::time_point bound) {
    return {.stamp = to_stamp(bound),
            .session = session,
            .number = static_cast<std::uint32_t>(what),
            .what = kind::query};
}

/// The step that visits about five hundred of `of` sessions.
inline std::uint32_t step(std::uint32_t of) {
    return std::max(of / 500, 1U);
}

} // namespace sessions

#endif
