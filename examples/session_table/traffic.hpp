// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The traffic of the peers: they open the sessions, and send datagrams.

#ifndef SESSIONS_TRAFFIC_HPP
#define SESSIONS_TRAFFIC_HPP

#include "../support/coroutine.hpp"
#include "peers.hpp"
#include "settings.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstdint>
#include <random>

namespace sessions {

inline constexpr int burst = 64;

/// Opens all sessions, spread over a quarter of the idle time.
inline asio::awaitable<void> open_all(peers& all, const load_settings& s) {
    const auto count = static_cast<std::uint32_t>(s.sessions);
    asio::steady_timer pace(co_await asio::this_coro::executor);
    const auto begin = steady_clock::now();
    for (std::uint32_t next = 0; next < count;) {
        pace.expires_at(begin + from_seconds(s.idle / 4 * next / count));
        if (steady_clock::now() < pace.expiry()) {
            co_await pace.async_wait(as_result);
        }
        co_await all.room(burst);
        const auto some = static_cast<int>(std::min<std::uint32_t>(burst, count - next));
        all.send_burst(some, [&next] { return next++; });
    }
}

/// Sends datagrams of random sessions from `first` to `last`, as fast as the relay forwards.
inline asio::awaitable<void> send_traffic(peers& all, std::uint32_t first, std::uint32_t last,
                                          std::mt19937& random, steady_clock::duration how_long) {
    const auto end = steady_clock::now() + how_long;
    std::uniform_int_distribution<std::uint32_t> any(first, last);
    while (steady_clock::now() < end) {
        co_await all.room(burst);
        all.send_burst(burst, [&] { return any(random); });
    }
}

} // namespace sessions

#endif
