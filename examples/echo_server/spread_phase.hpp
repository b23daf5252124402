// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Waits that expire at random times: how often the process wakes up for them, and how late they
// are.

#ifndef ECHO_SPREAD_PHASE_HPP
#define ECHO_SPREAD_PHASE_HPP

#include "../support/coroutine.hpp"
#include "../support/process_usage.hpp"
#include "../support/record.hpp"
#include "../support/samples.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

namespace echo {

using namespace demo;

template <class Timer>
record spread_phase() {
    constexpr int n = 5'000;
    constexpr std::chrono::microseconds within{500'000};
    std::mt19937 random{20260101};
    std::uniform_int_distribution<long> moment(0, within.count());
    asio::io_context io(1);
    samples late_ms;
    std::vector<Timer> timers;
    timers.reserve(n);
    const auto begin = steady_clock::now() + std::chrono::milliseconds(50);
    for (int i = 0; i < n; ++i) {
        const auto due = begin + std::chrono::microseconds(moment(random));
        timers.emplace_back(io, due).async_wait([&late_ms, due](error_code) {
            late_ms.push_back(milliseconds(steady_clock::now() - due));
        });
    }
    const auto before = process_usage::now();
    io.run();
    const auto after = process_usage::now();
    const double seconds = std::chrono::duration<double>(within).count();
    std::ranges::sort(late_ms);
    return {{"spread_wake_ups", static_cast<double>(after.wake_ups - before.wake_ups) / seconds},
            {"spread_cpu_ms", (after.cpu_seconds - before.cpu_seconds) * 1e3 / seconds},
            {"spread_early",
             static_cast<double>(std::ranges::count_if(late_ms, [](double ms) { return ms < 0; }))},
            {"spread_p50_ms", quantile(late_ms, 0.50)},
            {"spread_p99_ms", quantile(late_ms, 0.99)}};
}

} // namespace echo

#endif
