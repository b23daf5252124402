// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The outcome of a trial: how it ended, and the figures of its two processes and of the machine.

#ifndef DEMO_OUTCOME_HPP
#define DEMO_OUTCOME_HPP

#include "record.hpp"

#include <algorithm>
#include <string>

namespace demo {

/// The lateness of the machine: the maximum of each kind, in milliseconds.
struct machine_lateness {
    double clients_ms = 0;      ///< Of the load generator, in handling events of its sockets.
    double idle_process_ms = 0; ///< Of a process that only sleeps: the demo itself.
    double cpu_wait_ms = 0;     ///< The time that a process waited for a processor in one second.

    double worst() const { return std::max({clients_ms, idle_process_ms, cpu_wait_ms}); }
};

/// How the two processes of a trial ended.
enum class ending {
    reported,    ///< Both reported their figures.
    out_of_time, ///< They did not end in time.
    crashed      ///< One of them crashed or failed.
};

/// The outcome of one server and its load, and of its timers alone.
struct outcome {
    std::string timer; ///< Name of the timer type.
    ending end = ending::crashed;
    record server;
    record load;
    record alone{}; ///< Of the timers without a server. Only the echo server's demo has it.
    machine_lateness machine;
};

inline double figure(const record& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}

} // namespace demo

#endif
