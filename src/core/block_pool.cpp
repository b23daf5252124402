// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/memory/block_pool.hpp>

#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#if defined(__unix__) || defined(__APPLE__)
#define ASIO_WHEEL_HAS_FORK 1
#include <pthread.h>
#endif

namespace asio_wheel::detail {

namespace {

/// Blocks of one size, shared by all threads.
class central_cache {
public:
    explicit central_cache(std::size_t block_size) noexcept
        : block_size_(block_size), capacity_((slab_size - header_size) / block_size) {}

    central_cache(const central_cache&) = delete;
    central_cache& operator=(const central_cache&) = delete;

    /// Returns a list of at least one block, and at most `max_count`. May throw std::bad_alloc.
    [[nodiscard]] free_block* take(std::size_t max_count) {
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
    void put(free_block* list) noexcept {
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

} // namespace

/// The central caches of all sizes.
struct block_pool::central {
    // Never destroyed: a static object of the program may free a block after any other has ended.
    [[nodiscard]] static central_cache* central_caches() noexcept {
        alignas(central_cache) static std::byte memory[sizes * sizeof(central_cache)];
        static auto* const all = [] {
            auto* const first = reinterpret_cast<central_cache*>(memory);
            for (std::size_t i = 0; i < sizes; ++i) {
                ::new (first + i) central_cache(size_of(i));
            }
            return first;
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

    static const bool made_early;
};

// Before there are threads. If another thread were making the caches during a fork(), the child
// would wait for ever until they are made.
const bool block_pool::central::made_early = central_caches() != nullptr;

struct block_pool::thread_exit {
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

bool block_pool::register_thread() noexcept {
    this_thread_.phase = state::registered;
    static thread_local const thread_exit notice;
    return true;
}

void block_pool::refill(std::size_t n, std::size_t count) {
    thread_cache& c = this_thread_.thread_caches[n];
    free_block* list = central::cache_of(n).take(count);
    while (list != nullptr) {
        push_block(c.first, pop_block(list));
        ++c.count;
    }
}

void block_pool::flush(std::size_t n, std::size_t count) noexcept {
    thread_cache& c = this_thread_.thread_caches[n];
    BOOST_ASSERT(count <= c.count);
    free_block* list = nullptr;
    for (; count != 0; --count, --c.count) {
        push_block(list, pop_block(c.first));
    }
    if (list != nullptr) {
        central::cache_of(n).put(list);
    }
}

} // namespace asio_wheel::detail
