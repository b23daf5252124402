// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory for operations: many small blocks of few sizes, which come and go in any order, on any
// thread. A general allocator spends more time on merging a million of them than the wheel does on
// expiring them.
//
// Each thread has a cache of free blocks of each size, which needs no lock. All threads share a
// central cache for each size. A thread's cache that is empty gets some dozens of blocks from
// there; one that is too full gives some dozens back. A central cache cuts blocks of its size out
// of slabs. It returns a slab to operator new's heap as soon as all of the slab is free.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP

#include <asio_wheel/detail/memory/address_sanitizer.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

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

struct free_block {
    free_block* next;
};

// AddressSanitizer is to see that nobody uses a block that is free.
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

    /// A list of at most `most` blocks, at least one. May throw std::bad_alloc.
    [[nodiscard, gnu::noinline]] free_block* take(std::size_t max_count) {
        const std::lock_guard<mutex> guard(mutex_);
        if (partial_slabs_.empty()) {
            partial_slabs_.push_back(*::new (::operator new(slab_size, alignment)) slab);
        }
        slab& s = partial_slabs_.front();
        free_block* list = nullptr;
        for (; max_count != 0 && s.in_use < capacity_; --max_count, ++s.in_use) {
            free_block* const block = s.free != nullptr ? std::exchange(s.free, s.free->next)
                                                        : ::new (s.at(s.carved++ * block_size_))
                                                              free_block;
            block->next = std::exchange(list, block);
        }
        if (s.in_use == capacity_) {
            partial_slabs_.pop_front();
        }
        return list;
    }

    // For fork() alone.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    /// Takes a list of blocks back.
    [[gnu::noinline]] void put(free_block* list) noexcept {
        const std::lock_guard<mutex> guard(mutex_);
        while (list != nullptr) {
            free_block* const block = std::exchange(list, list->next);
            slab& s = slab_of(block);
            if (s.in_use == capacity_) {
                partial_slabs_.push_back(s);
            }
            block->next = std::exchange(s.free, block);
            // One that is empty is kept, for whoever waits and stops waiting in turn.
            if (--s.in_use == 0 && &partial_slabs_.front() != &partial_slabs_.back()) {
                partial_slabs_.erase(partial_slabs_.iterator_to(s));
                s.~slab();
                ::operator delete(&s, alignment);
            }
        }
    }

private:
    // A slab is found by rounding down a block's address. With what a heap puts before it, it is as
    // long as it is aligned: so slabs follow one another without gaps.
    static constexpr std::size_t slab_length = 65536;
    static constexpr std::size_t slab_size = slab_length - 2 * sizeof(void*);
    static constexpr std::size_t header_size = 64;
    static constexpr std::align_val_t alignment{slab_length};

    struct slab : boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::normal_link>> {
        free_block* free = nullptr; // Blocks that have been used before.
        std::size_t carved = 0;     // How many were ever cut out,
        std::size_t in_use = 0;     // and how many of them are not here.

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
    const std::size_t capacity_;
    mutex mutex_;
    boost::intrusive::list<slab, boost::intrusive::constant_time_size<false>> partial_slabs_;
};

/// The free blocks of this thread, by size: a multiple of `granularity`, up to `largest`. What is
/// larger comes from operator new.
///
/// A block may be freed by another thread than the one that allocated it. When a thread ends, its
/// free blocks go to the central caches. These also serve objects of static lifetime, which may
/// allocate after that.
class block_pool {
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
        free_block* const block = std::exchange(c.first, c.first->next);
        unpoison(block, size_of(n));
        return block;
    }

    /// Makes sure that this thread can allocate `count` blocks of a size without fail. False
    /// without memory, and at the end of a thread, which keeps no blocks any more.
    [[nodiscard, gnu::noinline]] static bool reserve(std::size_t size, std::size_t count) noexcept {
        const std::size_t n = index_of(size);
        const thread_cache& c = this_thread_.thread_caches[n];
        if (!registered()) {
            return false;
        }
        try {
            while (c.count < count) {
                refill(n, batch);
            }
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
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
    static constexpr std::size_t max_pooled_size = 256;
    static constexpr std::size_t sizes = max_pooled_size / granularity;
    static constexpr std::size_t batch = 64;
    static constexpr std::size_t max_cached = 4 * batch;

    struct thread_cache {
        free_block* first;
        std::size_t count;
    };

    // Trivial, so that it can be used until the very end of the thread.
    struct state {
        thread_cache thread_caches[sizes];
        enum : std::uint8_t { initial, registered, exited } phase;
    };

    struct thread_exit {
        thread_exit() = default;
        thread_exit(const thread_exit&) = delete;
        thread_exit& operator=(const thread_exit&) = delete;
        ~thread_exit() {
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

    // Whether the end of this thread will be noticed.
    [[nodiscard, gnu::noinline]] static bool registered() noexcept {
        if (this_thread_.phase == state::initial) {
            this_thread_.phase = state::registered;
            static thread_local const thread_exit watch;
        }
        return this_thread_.phase == state::registered;
    }

    // May throw std::bad_alloc.
    [[gnu::noinline]] static void refill(std::size_t n, std::size_t count) {
        thread_cache& c = this_thread_.thread_caches[n];
        free_block* list = cache_of(n).take(count);
        while (list != nullptr) {
            free_block* const block = std::exchange(list, list->next);
            block->next = std::exchange(c.first, block);
            ++c.count;
        }
    }

    [[gnu::noinline]] static void flush(std::size_t n, std::size_t count) noexcept {
        thread_cache& c = this_thread_.thread_caches[n];
        free_block* list = nullptr;
        for (; count != 0; --count, --c.count) {
            free_block* const block = std::exchange(c.first, c.first->next);
            block->next = std::exchange(list, block);
        }
        if (list != nullptr) {
            cache_of(n).put(list);
        }
    }

    // Never destroyed: there is no end after which nobody gives a block back.
    [[nodiscard, gnu::noinline]] static central_cache* central_caches() {
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

    // The child of a fork has one thread. A central_cache that another thread was changing would
    // stay locked there. So fork() waits until no thread changes one.
    static bool register_fork_handlers() noexcept {
#ifdef ASIO_WHEEL_HAS_FORK
        return ::pthread_atfork(
                   [] {
                       std::for_each_n(central_caches(), sizes, [](central_cache& d) { d.lock(); });
                   },
                   [] {
                       std::for_each_n(central_caches(), sizes,
                                       [](central_cache& d) { d.unlock(); });
                   },
                   [] {
                       std::for_each_n(central_caches(), sizes,
                                       [](central_cache& d) { d.unlock(); });
                   }) == 0;
#else
        return true;
#endif
    }

    static inline thread_local constinit state this_thread_{};
};

} // namespace asio_wheel::detail

#endif
