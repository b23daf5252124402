// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prints the state of the server once a second.

#ifndef ECHO_PROGRESS_HPP
#define ECHO_PROGRESS_HPP

#include "../support/coroutine.hpp"
#include "../support/process_usage.hpp"
#include "meters.hpp"
#include "other_deadlines.hpp"
#include "server_summary.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace echo {

template <class Timer>
asio::awaitable<void> show_progress(asio::io_context& io, typename plain_timer<Timer>::type& ticker,
                                    const meters& m) {
    std::printf("%5s %12s %8s %10s %11s %12s %31s\n", "s", "connections", "waits", "re-arms/s",
                "wake-ups/s", "closed idle", "lateness ms:  p50     p99     max");
    std::uint64_t lines = 0;
    std::uint64_t wake_ups = process_usage::now().wake_ups;
    ticker.expires_after(std::chrono::seconds(1));
    for (int second = 1;; ++second) {
        auto [error] = co_await ticker.async_wait(as_result);
        if (error) {
            co_return;
        }
        const auto used = process_usage::now();
        const auto& late = m.lateness;
        std::printf("%5d %12.0f %8.0f %10.0f %11.0f %12.0f %15.2f %7.2f %7.2f\n", second,
                    number(m.connections), number(waits_pending<Timer>(io, m)),
                    number(m.lines - std::exchange(lines, m.lines)),
                    number(used.wake_ups - std::exchange(wake_ups, used.wake_ups)),
                    number(m.idle_closes), milliseconds(late.quantile(0.50)),
                    milliseconds(late.quantile(0.99)), milliseconds(late.max()));
        std::fflush(stdout);
        ticker.expires_at(ticker.expiry() + std::chrono::seconds(1));
    }
}

} // namespace echo

#endif
