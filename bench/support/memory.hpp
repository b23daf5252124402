// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory that a process gets from the system.

#ifndef BENCH_MEMORY_HPP
#define BENCH_MEMORY_HPP

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdio>

namespace bench {

/// Returns free heap memory to the system, where the C library can do that. Later allocations must
/// then get memory from the system, as in a program that has just started.
inline void trim_heap() noexcept {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

/// Makes glibc allocate every large block by mmap(), as it does in a program that has just started.
/// By default, glibc keeps large blocks that were freed, and then must clear them for calloc().
inline void allocate_large_blocks_by_mmap() noexcept {
#ifdef __GLIBC__
    constexpr int large = 128 * 1024; // The default. Setting it stops glibc from raising it.
    ::mallopt(M_MMAP_THRESHOLD, large);
#endif
}

/// Returns the resident memory of the process in kilobytes, or 0 where the system does not report
/// it.
inline std::size_t resident_memory() noexcept {
    std::size_t found = 0;
#ifdef __linux__
    // The counts in /proc/self/statm are not exact.
    if (std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "r")) {
        char line[256];
        while (found == 0 && std::fgets(line, sizeof line, file) != nullptr) {
            if (std::sscanf(line, "Rss: %zu", &found) != 1) {
                found = 0;
            }
        }
        std::fclose(file);
    }
#endif
    return found;
}

} // namespace bench

#endif
