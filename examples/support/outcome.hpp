// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a trial ended, and what its two processes and the machine showed.

#ifndef DEMO_OUTCOME_HPP
#define DEMO_OUTCOME_HPP

#include "record.hpp"

#include <algorithm>
#include <string>

namespace demo {

/// What was seen of the machine, each as the longest of its kind, in milliseconds.
struct machine_lateness {
    double clients_ms = 0;      ///< The load generator, in looking at its sockets.
    double idle_process_ms = 0; ///< A process that does nothing but sleep: the demo itself.
    double cpu_wait_ms = 0;     ///< A process waited for a processor so long in one second.

    double worst() const { return std::max({clients_ms, idle_process_ms, cpu_wait_ms}); }
};

/// How the two processes of a trial came to their end.
enum class ending {
    reported,    ///< Both said what they found.
    out_of_time, ///< They were still running long after their time.
    broken       ///< One of them crashed, or gave up.
};

/// One server and its load, after the end.
struct outcome {
    std::string timer; ///< Name of the timer type.
    ending end = ending::broken;
    record server;
    record load;
    machine_lateness machine;
};

inline double figure(const record& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}

} // namespace demo

#endif
