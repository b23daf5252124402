// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Counts allocations and system calls by replacing functions of the C and C++ libraries. Include
// this in one source file of a program. System calls that the C library makes on its own, such as
// futexes and memory, are not counted.
//
// Allocations are calls of operator new and, with glibc on Linux, of aligned_alloc(), which Asio
// uses. System calls are those of Asio's reactor, with glibc on Linux only (see
// `counts_system_calls`).

#ifndef BENCH_COUNTED_CALLS_HPP
#define BENCH_COUNTED_CALLS_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// Other C libraries declare these functions slightly differently.
#if defined(__linux__) && defined(__GLIBC__)
#define BENCH_COUNTS_SYSTEM_CALLS 1
#else
#define BENCH_COUNTS_SYSTEM_CALLS 0
#endif

#if BENCH_COUNTS_SYSTEM_CALLS
#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#endif

namespace bench {

struct call_counts {
    std::uint64_t allocations = 0;
    std::uint64_t system_calls = 0;
    std::uint64_t sleeps = 0; // System calls that may block to wait for events.
};

namespace detail {
inline std::atomic<std::uint64_t> allocations{0};
inline std::atomic<std::uint64_t> system_calls{0};
inline std::atomic<std::uint64_t> sleeps{0};

inline void count(std::atomic<std::uint64_t>& calls) noexcept {
    calls.fetch_add(1, std::memory_order_relaxed);
}
} // namespace detail

/// Returns the counts of all threads so far.
[[nodiscard]] inline call_counts counted_calls() noexcept {
    return {detail::allocations.load(std::memory_order_relaxed),
            detail::system_calls.load(std::memory_order_relaxed),
            detail::sleeps.load(std::memory_order_relaxed)};
}

inline call_counts operator-(const call_counts& a, const call_counts& b) noexcept {
    return {a.allocations - b.allocations, a.system_calls - b.system_calls, a.sleeps - b.sleeps};
}

} // namespace bench

// Not inline: otherwise the compiler warns of malloc() paired with delete, and of new with free().
[[gnu::noinline]] void* operator new(std::size_t size) {
    bench::detail::count(bench::detail::allocations);
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

#if BENCH_COUNTS_SYSTEM_CALLS

namespace bench {
constexpr bool counts_system_calls = true;

namespace detail {
/// Returns the library's own function with this name.
template <class Function>
Function* next(const char* name) noexcept {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
} // namespace detail
} // namespace bench

extern "C" {

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    static auto* const real = bench::detail::next<void*(std::size_t, std::size_t)>("aligned_alloc");
    bench::detail::count(bench::detail::allocations);
    return real(alignment, size);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
    static auto* const real = bench::detail::next<int(int, epoll_event*, int, int)>("epoll_wait");
    bench::detail::count(bench::detail::system_calls);
    if (timeout != 0) {
        bench::detail::count(bench::detail::sleeps);
    }
    return real(epoll, events, most, timeout);
}

int epoll_ctl(int epoll, int operation, int file, epoll_event* event) noexcept {
    static auto* const real = bench::detail::next<int(int, int, int, epoll_event*)>("epoll_ctl");
    bench::detail::count(bench::detail::system_calls);
    return real(epoll, operation, file, event);
}

int timerfd_settime(int file, int flags, const itimerspec* value, itimerspec* old) noexcept {
    static auto* const real =
        bench::detail::next<int(int, int, const itimerspec*, itimerspec*)>("timerfd_settime");
    bench::detail::count(bench::detail::system_calls);
    return real(file, flags, value, old);
}

ssize_t read(int file, void* data, std::size_t size) {
    static auto* const real = bench::detail::next<ssize_t(int, void*, std::size_t)>("read");
    bench::detail::count(bench::detail::system_calls);
    return real(file, data, size);
}

ssize_t write(int file, const void* data, std::size_t size) {
    static auto* const real = bench::detail::next<ssize_t(int, const void*, std::size_t)>("write");
    bench::detail::count(bench::detail::system_calls);
    return real(file, data, size);
}

} // extern "C"

#else

namespace bench {
constexpr bool counts_system_calls = false;
} // namespace bench

#endif

#endif
