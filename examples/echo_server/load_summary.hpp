// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The figures of all clients.

#ifndef ECHO_LOAD_SUMMARY_HPP
#define ECHO_LOAD_SUMMARY_HPP

#include "../support/own_delay.hpp"
#include "../support/record.hpp"
#include "../support/samples.hpp"
#include "load.hpp"

#include <algorithm>
#include <cstdint>

namespace echo {

inline record summary(client_stats& seen, const own_delay& delay, double seconds) {
    auto number = [](std::uint64_t n) { return static_cast<double>(n); };
    std::ranges::sort(seen.lateness_ms);
    return {
        {"replies_per_second", number(seen.replies) / seconds},
        {"connected", number(seen.connected)},
        {"not_connected", number(seen.not_connected)},
        {"requests", number(seen.requests)},
        {"replies", number(seen.replies)},
        {"wrong_replies", number(seen.wrong_replies)},
        {"cut_off", number(seen.cut_off)},
        {"ignored", number(seen.ignored)},
        {"left", number(seen.left)},
        {"idle_closed", number(seen.idle_closed)},
        {"slow_loris_closed", number(seen.slow_loris_closed)},
        {"closes", number(seen.lateness_ms.size())},
        {"early", number(seen.early)},
        {"late", number(seen.late)},
        {"left_open", number(seen.waiting)},
        {"earliest_ms", seen.lateness_ms.empty() ? 0 : seen.earliest_ms},
        {"latest_ms", seen.latest_ms},
        {"own_delay_ms", milliseconds(delay.worst())},
        {"seen_p50_ms", quantile(seen.lateness_ms, 0.50)},
        {"seen_p99_ms", quantile(seen.lateness_ms, 0.99)},
        {"seen_max_ms", quantile(seen.lateness_ms, 1)},
    };
}

} // namespace echo

#endif
