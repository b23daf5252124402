// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ECHO_MEMORY_PHASE_HPP
#define ECHO_MEMORY_PHASE_HPP

#include "../support/coroutine.hpp"
#include "../support/process_usage.hpp"
#include "../support/record.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace echo {

using namespace demo;

/// The memory of a timer with a pending wait. Must be the first phase of a process: memory that was
/// used before would be used again.
template <class Timer>
record memory_phase() {
    constexpr std::size_t n = 100'000;
    asio::io_context io(1);
    std::vector<Timer> timers;
    const double before = resident_bytes();
    timers.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        timers.emplace_back(io, std::chrono::hours(1)).async_wait([](error_code) {});
    }
    return {{"pending_bytes", (resident_bytes() - before) / n}};
}

} // namespace echo

#endif
