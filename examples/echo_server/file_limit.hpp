// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The limit of open files. Each connection uses a file descriptor in both processes.

#ifndef ECHO_FILE_LIMIT_HPP
#define ECHO_FILE_LIMIT_HPP

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace echo {

/// Raises the limit of open files of this process as far as allowed, and returns the new limit.
inline long raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 256; // The lowest default of common systems.
    }
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        limit.rlim_cur = before; // macOS rejects "unlimited".
    }
    constexpr rlim_t most = std::numeric_limits<int>::max();
    return static_cast<long>(std::min(limit.rlim_cur, most));
}

/// Returns how many connections a process with that limit can hold besides its other files.
inline int connections_allowed(long file_limit) {
    constexpr long other_files = 32;
    return static_cast<int>(std::max(file_limit - other_files, 1L));
}

} // namespace echo

#endif
