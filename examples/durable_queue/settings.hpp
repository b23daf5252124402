// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a worker and a producer are told.

#ifndef DURABLE_QUEUE_SETTINGS_HPP
#define DURABLE_QUEUE_SETTINGS_HPP

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace durable {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::milliseconds;

struct settings {
    std::string port = "6379";    // Of Redis, on this machine.
    std::string queue = "{jobs}"; // Braces: in a cluster, all keys of a queue are on one node.

    // How long a job belongs to its worker, unless the worker renews the lease. If the worker dies,
    // the job waits so long for another one. Much longer than a worker can be delayed.
    milliseconds lease = 30s;

    // A worker asks Redis at least once in this time, in case a notice was lost.
    milliseconds resync = 30s;

    // A command that takes longer has failed.
    milliseconds timeout = 2s;

    // The number of jobs that a worker does at the same time.
    std::size_t places = 8;
};

/// The number in an argument of main(), or `otherwise`.
inline long number(int argc, char** argv, int i, long otherwise) {
    return i < argc ? std::strtol(argv[i], nullptr, 10) : otherwise;
}

} // namespace durable

#endif
