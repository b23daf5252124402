// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The resources that a process has used, as the system reports them.

#ifndef DEMO_PROCESS_USAGE_HPP
#define DEMO_PROCESS_USAGE_HPP

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace demo {

/// The usage of this process so far.
struct process_usage {
    double cpu_seconds = 0;    ///< User and system.
    double kernel_seconds = 0; ///< The system's part of that.
    std::uint64_t wake_ups =
        0;                     ///< Voluntary context switches: the times the process went to sleep.
    double peak_megabytes = 0; ///< Largest resident set.

    static process_usage now() {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        auto seconds = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
        };
#ifdef __APPLE__
        constexpr double units_per_megabyte = 1024 * 1024;
#else
        constexpr double units_per_megabyte = 1024;
#endif
        return {.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime),
                .kernel_seconds = seconds(used.ru_stime),
                .wake_ups = static_cast<std::uint64_t>(used.ru_nvcsw),
                .peak_megabytes = static_cast<double>(used.ru_maxrss) / units_per_megabyte};
    }
};

/// Returns the current resident set, or the largest one so far where the system does not report the
/// current one.
inline double resident_bytes() {
#ifdef __linux__
    std::ifstream file("/proc/self/statm");
    double all = 0;
    double resident = 0;
    if (file >> all >> resident) {
        return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
    }
#endif
    return process_usage::now().peak_megabytes * 1024 * 1024;
}

} // namespace demo

#endif
