// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The datagrams of the demo. Both processes are on one machine and share its steady clock, so times
// are sent as that clock counts them.

#ifndef SESSIONS_PROTOCOL_HPP
#define SESSIONS_PROTOCOL_HPP

#include "../support/coroutine.hpp"

#include <chrono>
#include <cstdint>
#include <type_traits>

namespace sessions {

using namespace demo;

enum class kind : std::uint8_t {
    data,      ///< Peer to upstream. The first one of a session makes it, each refreshes it.
    request,   ///< The same, and an answer is expected within a deadline.
    answer,    ///< Upstream to peer. It does not refresh the session: RFC 4787, REQ-6, allows that.
    timed_out, ///< Relay to peer: the answer did not come in time.
    query,     ///< Peer to relay: is there such a session? Does not refresh it.
    known,     ///< Relay to peer: yes.
    unknown,   ///< Relay to peer: no.
    upstream,  ///< Peer to relay and back: from now on forward to port `number`.
    mark,      ///< Peer to relay and back: a phase of the trial has ended.
    together   ///< Peer to relay: the first `number` sessions end at one moment, `stamp` from now.
               ///< Back: `stamp` is the moment.
};

struct datagram {
    std::int64_t stamp = 0; ///< When a request or data was sent; comes back with the answer.
    std::uint32_t session = 0;
    std::uint32_t number = 0; ///< Of a request, a mark, a query; comes back with the answer.
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
