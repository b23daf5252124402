// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory that a process has of the system.

#ifndef BENCH_MEMORY_HPP
#define BENCH_MEMORY_HPP

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdio>

namespace bench {

/// Returns free memory to the system, where the C library can do that: what is allocated next has
/// to be asked of the system anew, as in a program that has just begun.
inline void trim_heap() noexcept {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

/// glibc's heap keeps large blocks that were freed once, and has to clear them by hand for
/// calloc(). From now on it takes large blocks from the system each time, as it does at first.
inline void allocate_large_blocks_by_mmap() noexcept {
#ifdef __GLIBC__
    constexpr int large = 128 * 1024; // As it is at first. Setting it keeps it so.
    ::mallopt(M_MMAP_THRESHOLD, large);
#endif
}

/// Kilobytes of memory that the process really has, or zero where that is not known.
inline std::size_t resident_memory() noexcept {
    std::size_t found = 0;
#ifdef __linux__
    // In statm the numbers of the processors are not added up exactly.
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
