// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Replaces operator new by one that fails on request of another process: from SIGUSR1 on, random
// allocations throw, alone or many in a row; from SIGHUP on, all; from SIGUSR2 on, none. For
// programs with one thread; include it before everything else.
//
// Small allocations never fail: to destroy a coroutine, Asio allocates memory in a destructor. If
// there is none, std::terminate() is called. So if the system has no memory for a small allocation,
// a reserve has.

#ifndef ASIO_WHEEL_TEST_FAULTS_FAILING_MEMORY_HPP
#define ASIO_WHEEL_TEST_FAULTS_FAILING_MEMORY_HPP

#ifdef BOOST_ASIO_DETAIL_CONFIG_HPP
#error "failing_memory.hpp has to come before Asio"
#endif

// Asio allocates the memory of handlers by aligned_alloc(), if available, and caches some, as it
// does with coroutine frames.
#define BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC 1
#define BOOST_ASIO_DISABLE_BOOST_ALIGN 1
#define BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING 1
#define BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE 0

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

namespace asio_wheel::test {

/// Sizes below this are small.
inline constexpr std::size_t smallest_that_fails = 128;

/// Memory for small allocations when the system has none.
class memory_reserve {
public:
    /// Returns a null pointer if the reserve is used up.
    [[nodiscard]] void* allocate() noexcept {
        if (free_ != nullptr) {
            return std::exchange(free_, free_->next);
        }
        return used_ == std::size(blocks_) ? nullptr : &blocks_[used_++];
    }

    /// Takes back what allocate() returned. Returns false for other memory.
    [[nodiscard]] bool deallocate(void* memory) noexcept {
        if (std::less{}(memory, std::begin(blocks_)) || !std::less{}(memory, std::end(blocks_))) {
            return false;
        }
        free_ = ::new (memory) free_block{free_};
        return true;
    }

private:
    struct free_block {
        free_block* next;
    };
    struct alignas(std::max_align_t) block {
        std::byte bytes[smallest_that_fails];
    };

    block blocks_[4096] = {};
    std::size_t used_ = 0;       ///< How many blocks from the start were ever allocated.
    free_block* free_ = nullptr; ///< Those of them that are free.
};

/// Whether allocations fail, and how many have.
struct failing_memory {
    enum which : std::sig_atomic_t { none, some, all };

    volatile std::sig_atomic_t on = none; ///< Written by signal handlers.
    std::uint32_t random = 1;
    std::uint32_t row = 0; ///< How many more allocations fail, one after the other.
    std::uint64_t failures = 0;

    [[nodiscard]] bool fails(std::size_t size) noexcept {
        if (on == none || size < smallest_that_fails) {
            row = on == none ? 0 : row;
            return false;
        }
        if (on == all) {
            ++failures;
            return true;
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
inline constinit memory_reserve reserve;

/// Lets other processes control it by signals.
inline void let_memory_fail() {
    std::signal(SIGUSR1, [](int) { memory_fails.on = failing_memory::some; });
    std::signal(SIGHUP, [](int) { memory_fails.on = failing_memory::all; });
    std::signal(SIGUSR2, [](int) { memory_fails.on = failing_memory::none; });
}

} // namespace asio_wheel::test

// Not inline: otherwise the compiler warns that memory of operator new is passed to std::free().
// For std::nothrow, too: AddressSanitizer has its own, whose memory std::free() does not accept.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    using namespace asio_wheel::test;
    void* memory = memory_fails.fails(size) ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr && size < smallest_that_fails) {
        memory = reserve.allocate();
    }
    return memory;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
    void* memory = operator new(size, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
    if (!asio_wheel::test::reserve.deallocate(memory)) {
        std::free(memory);
    }
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

#endif
