// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory for operations: many small blocks of few sizes, which are allocated and freed in any
// order, on any thread. A general allocator spends more time on merging a million such blocks than
// the wheel spends on expiring a million timers.
//
// There are two layers.
//
//  - A thread cache has free blocks of each size for one thread. It needs no lock.
//  - A central cache has blocks of one size for all threads, and a mutex. It carves its blocks out
//    of slabs. It returns a slab to operator new's heap when all blocks of the slab are free.
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
// g++ for Windows frees a thread's thread-local objects before it calls their destructors (its bug
// 80816). So the blocks that a thread has cached would be lost at its end. There, each thread is in
// the phase exited from its beginning.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/memory/address_sanitizer.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#define ASIO_WHEEL_HAS_FORK 1
#include <pthread.h>
#endif

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

/// Blocks of one size, shared by all threads.
class central_cache {
public:
    explicit central_cache(std::size_t block_size) noexcept
        : block_size_(block_size), capacity_((slab_size - header_size) / block_size) {}

    central_cache(const central_cache&) = delete;
    central_cache& operator=(const central_cache&) = delete;

    /// Returns a list of at least one block, and at most `max_count`. May throw std::bad_alloc.
    [[nodiscard]] ASIO_WHEEL_NOINLINE free_block* take(std::size_t max_count) {
        const std::lock_guard<mutex> guard(mutex_);
        if (partial_slabs_.empty()) {
            partial_slabs_.push_back(*::new (::operator new(slab_size, alignment)) slab);
        }
        slab& s = partial_slabs_.front();
        free_block* list = nullptr;
        for (; max_count != 0 && s.in_use < capacity_; --max_count, ++s.in_use) {
            push_block(list, s.free != nullptr ? pop_block(s.free)
                                               : ::new (s.at(s.carved++ * block_size_)) free_block);
        }
        if (s.in_use == capacity_) {
            partial_slabs_.pop_front();
        }
        return list;
    }

    /// Takes back all blocks of a list.
    ASIO_WHEEL_NOINLINE void put(free_block* list) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        while (list != nullptr) {
            free_block* const block = pop_block(list);
            slab& s = slab_of(block);
            BOOST_ASSERT(s.in_use != 0);
            if (s.in_use == capacity_) {
                partial_slabs_.push_back(s);
            }
            push_block(s.free, block);
            // The only partial slab is kept, even if it is empty. Otherwise a program that starts
            // and ends one wait again and again would allocate a slab each time.
            if (--s.in_use == 0 && &partial_slabs_.front() != &partial_slabs_.back()) {
                partial_slabs_.erase(partial_slabs_.iterator_to(s));
                s.~slab();
                ::operator delete(&s, alignment);
            }
        }
    }

    // For fork() alone.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    // The address of a block, rounded down, is the address of its slab. A slab is shorter than its
    // alignment by what a heap puts before it. So slabs can follow each other without gaps.
    static constexpr std::size_t slab_length = 65536;
    static constexpr std::size_t slab_size = slab_length - 2 * sizeof(void*);
    static constexpr std::size_t header_size = 64;
    static constexpr std::align_val_t alignment{slab_length};

    struct slab : boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::normal_link>> {
        free_block* free = nullptr; // Blocks that were carved, and are in no thread cache or use.
        std::size_t carved = 0;     // How many blocks were ever cut out of the slab.
        std::size_t in_use = 0;     // How many of them are in a thread cache or in use.

        [[nodiscard]] void* at(std::size_t offset) noexcept {
            return reinterpret_cast<std::byte*>(this) + header_size + offset;
        }
    };
    static_assert(sizeof(slab) <= header_size);

    [[nodiscard]] static slab& slab_of(free_block* block) noexcept {
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(block) % slab_length;
        return *reinterpret_cast<slab*>(reinterpret_cast<std::byte*>(block) - offset);
    }

    const std::size_t block_size_;
    const std::size_t capacity_; // How many blocks a slab has room for.
    mutex mutex_;                // Guards partial_slabs_ and all slabs.
    // The slabs with room for at least one block. Full slabs are in no list.
    boost::intrusive::list<slab, boost::intrusive::constant_time_size<false>> partial_slabs_;
};

/// Allocates blocks. Sizes are rounded up to a multiple of `granularity`. Blocks larger than
/// `max_pooled_size` come from operator new.
///
/// Any thread may free a block, whichever thread has allocated it.
class block_pool {
public:
    /// Whether threads cache blocks. If not, each operation takes the lock of a central cache.
#if defined(__MINGW32__) && !defined(__clang__)
    static constexpr bool has_thread_caches = false;
#else
    static constexpr bool has_thread_caches = true;
#endif

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
    static constexpr auto first_phase = has_thread_caches ? state::initial : state::exited;

    struct thread_exit {
        thread_exit() = default;
        thread_exit(const thread_exit&) = delete;
        thread_exit& operator=(const thread_exit&) = delete;
        ~thread_exit() {
            BOOST_ASSERT(this_thread_.phase == state::registered);
            this_thread_.phase = state::exited;
            for (std::size_t n = 0; n < sizes; ++n) {
                flush(n, this_thread_.thread_caches[n].count);
            }
        }
    };

    [[nodiscard]] static constexpr std::size_t index_of(std::size_t size) noexcept {
        return (size - 1) / granularity;
    }
    [[nodiscard]] static constexpr std::size_t size_of(std::size_t index) noexcept {
        return (index + 1) * granularity;
    }

    // Registers an initial thread. False if the thread is ending.
    [[nodiscard]] ASIO_WHEEL_NOINLINE static bool registered() noexcept {
        if (this_thread_.phase == state::initial) {
            this_thread_.phase = state::registered;
            static thread_local const thread_exit notice;
        }
        return this_thread_.phase == state::registered;
    }

    // Moves up to `count` blocks, at least one, to the thread cache. May throw std::bad_alloc.
    ASIO_WHEEL_NOINLINE static void refill(std::size_t n, std::size_t count) {
        thread_cache& c = this_thread_.thread_caches[n];
        free_block* list = cache_of(n).take(count);
        while (list != nullptr) {
            push_block(c.first, pop_block(list));
            ++c.count;
        }
    }

    // Moves `count` blocks to the central cache.
    ASIO_WHEEL_NOINLINE static void flush(std::size_t n, std::size_t count) noexcept {
        thread_cache& c = this_thread_.thread_caches[n];
        BOOST_ASSERT(count <= c.count);
        free_block* list = nullptr;
        for (; count != 0; --count, --c.count) {
            push_block(list, pop_block(c.first));
        }
        if (list != nullptr) {
            cache_of(n).put(list);
        }
    }

    // Never destroyed: a static object of the program may free a block after any other has ended.
    [[nodiscard]] ASIO_WHEEL_NOINLINE static central_cache* central_caches() {
        static auto* const all = [] {
            auto* const memory =
                static_cast<central_cache*>(::operator new(sizes * sizeof(central_cache)));
            for (std::size_t i = 0; i < sizes; ++i) {
                ::new (memory + i) central_cache(size_of(i));
            }
            return memory;
        }();
        [[maybe_unused]] static const bool fork_handled = register_fork_handlers();
        return all;
    }
    [[nodiscard]] static central_cache& cache_of(std::size_t n) { return central_caches()[n]; }

    // The child of a fork() has one thread. If another thread of the parent held a central cache's
    // mutex, it would stay locked in the child for ever. So fork() takes all of them first.
    static bool register_fork_handlers() noexcept {
#ifdef ASIO_WHEEL_HAS_FORK
        return ::pthread_atfork(&lock_all, &unlock_all, &unlock_all) == 0;
#else
        return true;
#endif
    }
    static void lock_all() {
        std::for_each_n(central_caches(), sizes, [](central_cache& c) { c.lock(); });
    }
    static void unlock_all() {
        std::for_each_n(central_caches(), sizes, [](central_cache& c) { c.unlock(); });
    }

    static inline thread_local constinit state this_thread_{{}, first_phase};
};

} // namespace asio_wheel::detail

#endif
