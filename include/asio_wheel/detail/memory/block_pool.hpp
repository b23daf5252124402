// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory for operations: many small blocks of few sizes, which are allocated and freed in any
// order, on any thread. A general allocator spends more time on merging a million such blocks than
// the wheel spends on expiring a million timers.
//
// There are two layers.
//
//  - A thread cache has free blocks of each size for one thread. It needs no lock.
//  - A central cache has blocks of one size for all threads, and a mutex: see block_pool.cpp. It
//    carves its blocks out of slabs. It returns a slab to operator new's heap when all blocks of
//    the slab are free.
//
// Blocks move between the two in batches: to a thread cache that is empty, and from one that is too
// full. When a thread ends, all of its blocks move to the central caches.
//
// A thread cache works until the very end of its thread, because destructors of thread-local and
// static objects may still allocate and free blocks. Its phase says how:
//
//   phase        meaning                                          caches blocks
//   initial      the thread has not used the pool yet             none
//   registered   the end of the thread will be noticed            up to max_cached of each size
//   exited       the thread is ending; its caches were flushed    none
//
// A thread goes from initial to registered when it first uses the pool, and from registered to
// exited when its thread-local objects are destroyed.
//
// Where the end of a thread cannot be noticed (see thread_exit.hpp), each thread is in the phase
// exited from its beginning. So each operation takes the lock of a central cache.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/memory/address_sanitizer.hpp>
#include <asio_wheel/detail/threads/thread_exit.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#ifdef ASIO_WHEEL_HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace asio_wheel::detail {

/// A block in a singly linked list of free blocks.
struct free_block {
    free_block* next;
};

inline void push_block(free_block*& list, free_block* block) noexcept {
    block->next = std::exchange(list, block);
}

/// The list must not be empty.
[[nodiscard]] inline free_block* pop_block(free_block*& list) noexcept {
    return std::exchange(list, list->next);
}

// Let AddressSanitizer report any use of a block while it is free.
inline void poison([[maybe_unused]] free_block* block, [[maybe_unused]] std::size_t size) noexcept {
#ifdef ASIO_WHEEL_HAS_ADDRESS_SANITIZER
    ASAN_POISON_MEMORY_REGION(block + 1, size - sizeof(free_block));
#endif
}
inline void unpoison([[maybe_unused]] free_block* block,
                     [[maybe_unused]] std::size_t size) noexcept {
#ifdef ASIO_WHEEL_HAS_ADDRESS_SANITIZER
    ASAN_UNPOISON_MEMORY_REGION(block, size);
#endif
}

/// Allocates blocks. Sizes are rounded up to a multiple of `granularity`. Blocks larger than
/// `max_pooled_size` come from operator new.
///
/// Any thread may free a block, whichever thread has allocated it.
class ASIO_WHEEL_ONE_INSTANCE block_pool {
public:
    [[nodiscard]] static void* allocate(std::size_t size) {
        const std::size_t n = index_of(size);
        if (n >= sizes) {
            return ::operator new(size);
        }
        thread_cache& c = this_thread_.thread_caches[n];
        if (c.first == nullptr) {
            refill(n, registered() ? batch : 1);
        }
        --c.count;
        free_block* const block = pop_block(c.first);
        unpoison(block, size_of(n));
        return block;
    }

    static void deallocate(void* memory, std::size_t size) noexcept {
        const std::size_t n = index_of(size);
        if (n >= sizes) {
            return ::operator delete(memory);
        }
        thread_cache& c = this_thread_.thread_caches[n];
        c.first = ::new (memory) free_block{c.first};
        poison(c.first, size_of(n));
        if (++c.count > (registered() ? max_cached : 0)) {
            flush(n, registered() ? batch : c.count);
        }
    }

private:
    static constexpr std::size_t granularity = 16;
    static constexpr std::size_t max_pooled_size = 512;
    static constexpr std::size_t sizes = max_pooled_size / granularity;
    static constexpr std::size_t batch = 64;
    static constexpr std::size_t max_cached = 4 * batch;

    struct thread_cache {
        free_block* first;
        std::size_t count;
    };

    // Trivially destructible, so that it can be used until the very end of the thread.
    struct state {
        thread_cache thread_caches[sizes];
        enum : std::uint8_t { initial, registered, exited } phase;
    };
    static constexpr auto first_phase = has_thread_exit ? state::initial : state::exited;

    struct thread_exit;
    struct central;

    [[nodiscard]] static constexpr std::size_t index_of(std::size_t size) noexcept {
        return (size - 1) / granularity;
    }
    [[nodiscard]] static constexpr std::size_t size_of(std::size_t index) noexcept {
        return (index + 1) * granularity;
    }

    // Whether the end of the thread will be noticed. Registers an initial thread.
    [[nodiscard]] static bool registered() noexcept {
        return this_thread_.phase == state::registered ||
               (this_thread_.phase == state::initial && register_thread());
    }
    static bool register_thread() noexcept;

    // Moves up to `count` blocks, at least one, to the thread cache. May throw std::bad_alloc.
    static void refill(std::size_t n, std::size_t count);

    // Moves `count` blocks to the central cache.
    static void flush(std::size_t n, std::size_t count) noexcept;

    static inline thread_local constinit state this_thread_{{}, first_phase};
};

} // namespace asio_wheel::detail

#endif
