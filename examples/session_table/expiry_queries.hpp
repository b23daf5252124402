// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Queries about idle sessions: when each must still exist, and when it must be gone.

#ifndef SESSIONS_EXPIRY_QUERIES_HPP
#define SESSIONS_EXPIRY_QUERIES_HPP

#include "../support/coroutine.hpp"
#include "peers.hpp"
#include "queries.hpp"
#include "settings.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace sessions {

/// Returns how late an end may be: the margin and a tick of one millisecond.
[[nodiscard]] inline steady_clock::duration margin(const load_settings& s) {
    return std::chrono::milliseconds(s.margin + 1);
}

/// Returns queries about some sessions from `first` on. Just before its end a session must exist,
/// and after it, it must be gone.
inline queries queries_of_idle_sessions(const peers& seen, const load_settings& s,
                                        std::uint32_t first) {
    const auto count = static_cast<std::uint32_t>(s.sessions);
    queries all;
    const auto idle = from_seconds(s.idle);
    for (std::uint32_t i = first; i < count; i += step(count - first)) {
        const auto& heard = seen.heard(i);
        const auto earliest = from_stamp(heard.sent) + idle;
        const auto latest = from_stamp(heard.arrived) + idle + margin(s);
        const auto ask_at = earliest - std::chrono::milliseconds(20);
        if (steady_clock::now() < ask_at) {
            all.push_back({ask_at, expect(i, expectation::there, earliest)});
        }
        all.push_back({latest, expect(i, expectation::gone, latest)});
    }
    // Query once more after the last session must have ended.
    all.push_back({steady_clock::now() + idle + margin(s), all.back().what});
    return all;
}

/// Returns queries about some of the first sessions, which end together at `due`.
inline queries queries_of_mass_expiry(steady_clock::time_point due, steady_clock::time_point gone,
                                      std::uint32_t together) {
    queries some;
    for (std::uint32_t i = 0; i < together; i += step(together)) {
        some.push_back({due - std::chrono::milliseconds(20), expect(i, expectation::there, due)});
        some.push_back({gone, expect(i, expectation::gone, gone)});
    }
    return some;
}

inline asio::awaitable<void> ask_all(peers& peer, queries all) {
    std::ranges::sort(all, {}, &timed_query::when);
    asio::steady_timer until(co_await asio::this_coro::executor);
    for (const timed_query& p : all) {
        until.expires_at(p.when);
        co_await until.async_wait(as_result);
        peer.query(p.what);
    }
    until.expires_after(std::chrono::milliseconds(100)); // For the last reply.
    co_await until.async_wait(as_result);
}

} // namespace sessions

#endif
