// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The datagrams of the demo. Both processes run on the same machine and share its steady clock, so
// times are sent as that clock counts them.

#ifndef SESSIONS_PROTOCOL_HPP
#define SESSIONS_PROTOCOL_HPP

#include "../support/coroutine.hpp"

#include <chrono>
#include <cstdint>
#include <type_traits>

namespace sessions {

using namespace demo;

enum class kind : std::uint8_t {
    data,      ///< Peer to upstream. The first one creates the session, each one refreshes it.
    request,   ///< The same, and an answer is expected within a deadline.
    answer,    ///< Upstream to peer. Does not refresh the session: RFC 4787, REQ-6, allows that.
    timed_out, ///< Relay to peer: no answer came in time.
    query,     ///< Peer to relay: does this session exist? Does not refresh it.
    known,     ///< Relay to peer: yes.
    unknown,   ///< Relay to peer: no.
    upstream,  ///< Peer to relay and back: forward to port `number` from now on.
    mark,      ///< Peer to relay and back: a phase of the trial has ended.
    together   ///< Peer to relay: end the first `number` sessions at the same moment, `stamp` from
               ///< now. In the answer, `stamp` is that moment.
};

struct datagram {
    std::int64_t stamp = 0; ///< When data or a request was sent. The answer repeats it.
    std::uint32_t session = 0;
    std::uint32_t number = 0; ///< Of a request, a mark or a query. The answer repeats it.
    kind what = kind::data;
    std::uint8_t unused[7] = {};
};
static_assert(std::has_unique_object_representations_v<datagram> && sizeof(datagram) == 24);

inline std::int64_t to_stamp(steady_clock::time_point t) {
    return std::chrono::nanoseconds(t.time_since_epoch()).count();
}

inline steady_clock::time_point from_stamp(std::int64_t stamp) {
    return steady_clock::time_point(std::chrono::nanoseconds(stamp));
}

/// The phases of a trial, by the mark that ends each.
enum phase : std::uint32_t { begun, opened, warmed_up, talked, ended_together, silent, phases };

} // namespace sessions

#endif
