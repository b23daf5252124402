// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory that a process has of the system.

#ifndef BENCH_MEMORY_HPP
#define BENCH_MEMORY_HPP

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <unistd.h>
#endif

#include <cstddef>
#include <cstdio>

namespace bench {

/// Returns free memory to the system, where the C library can do that: what is allocated next has to
/// be asked of the system anew, as in a program that has just begun.
inline void give_memory_back() noexcept {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

/// Bytes of memory that the process really has, or zero where that is not known.
inline std::size_t resident_memory() noexcept {
    std::size_t pages = 0;
    std::size_t page = 0;
#ifdef __linux__
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*s %zu", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
#endif
    return pages * page;
}

} // namespace bench

#endif
