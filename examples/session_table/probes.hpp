// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Queries that find out when the relay ends a session.

#ifndef SESSIONS_PROBES_HPP
#define SESSIONS_PROBES_HPP

#include "protocol.hpp"
#include "tally.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sessions {

/// A query, and when it is to be sent.
struct probe {
    steady_clock::time_point when;
    datagram what;
};
using probes = std::vector<probe>;

inline datagram expect(std::uint32_t session, expectation what, steady_clock::time_point bound) {
    return {.stamp = to_stamp(bound),
            .session = session,
            .number = static_cast<std::uint32_t>(what),
            .what = kind::query};
}

/// Some five hundred of them.
inline std::uint32_t step(std::uint32_t of) {
    return std::max(of / 500, 1U);
}

} // namespace sessions

#endif
