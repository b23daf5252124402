// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Replaces operator new by one that fails on request of another process: from SIGUSR1 on, random
// allocations throw, alone or many in a row. From SIGUSR2 on, none does. For programs with one
// thread; include it before everything else.
//
// Small allocations never fail: to destroy a coroutine, Asio allocates memory in a destructor. If
// there is none, std::terminate() is called.

#ifndef ASIO_WHEEL_TEST_FAULTS_FAILING_MEMORY_HPP
#define ASIO_WHEEL_TEST_FAULTS_FAILING_MEMORY_HPP

#ifdef BOOST_ASIO_DETAIL_CONFIG_HPP
#error "failing_memory.hpp has to come before Asio"
#endif

// Asio allocates the memory of handlers by aligned_alloc(), if available, and caches some.
#define BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC 1
#define BOOST_ASIO_DISABLE_BOOST_ALIGN 1
#define BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING 1

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace asio_wheel::test {

/// Whether allocations fail, and how many have.
struct failing_memory {
    static constexpr std::size_t smallest = 128;

    volatile std::sig_atomic_t on = 0; ///< Written by signal handlers.
    std::uint32_t random = 1;
    std::uint32_t row = 0; ///< How many more allocations fail, one after the other.
    std::uint64_t failures = 0;

    [[nodiscard]] bool fails(std::size_t size) noexcept {
        if (on == 0 || size < smallest) {
            row = on == 0 ? 0 : row;
            return false;
        }
        random = random * 1664525U + 1013904223U; // As in "Numerical Recipes".
        if (row == 0 && random >> 27U == 0) {     // One in 32.
            row = 1 + ((random >> 22U) % 2) * ((random >> 16U) % 64);
        }
        failures += row != 0 ? 1 : 0;
        return row != 0 && row-- != 0;
    }
};

inline failing_memory memory_fails;

/// Lets other processes control it by signals.
inline void let_memory_fail() {
    std::signal(SIGUSR1, [](int) { memory_fails.on = 1; });
    std::signal(SIGUSR2, [](int) { memory_fails.on = 0; });
}

} // namespace asio_wheel::test

// Not inline: otherwise the compiler warns that memory of operator new is passed to std::free().
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const memory =
        asio_wheel::test::memory_fails.fails(size) ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

#endif
