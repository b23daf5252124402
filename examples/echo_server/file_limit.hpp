// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Every connection is a file descriptor, at both of its ends.

#ifndef ECHO_FILE_LIMIT_HPP
#define ECHO_FILE_LIMIT_HPP

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace echo {

/// Raises this process's limit of open files as far as it may, and returns what it is then.
inline long raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 256; // what the most frugal systems grant
    }
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        limit.rlim_cur = before; // macOS refuses "unlimited"
    }
    constexpr rlim_t most = std::numeric_limits<int>::max();
    return static_cast<long>(std::min(limit.rlim_cur, most));
}

/// How many connections a process with that limit can hold beside its other files.
inline int connections_allowed(long file_limit) {
    constexpr long other_files = 32;
    return static_cast<int>(std::max(file_limit - other_files, 1L));
}

} // namespace echo

#endif
