// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// pch: off

// The pool of blocks for operations (detail/memory/block_pool.hpp) in all interleavings: threads
// that allocate, free blocks of other threads, and end.

#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include "interleave/support/explorer.hpp"
#include "support/sanitizers.hpp"

#include <boost/align/aligned_alloc.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace {

// The heap memory of the pool, which alone requests this alignment. Not counted with
// ThreadSanitizer, whose operator new cannot be replaced.
std::atomic<int> slabs = 0;

} // namespace

#if !ASIO_WHEEL_TEST_THREAD_SANITIZER

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto a = static_cast<std::size_t>(alignment);
    void* const memory = boost::alignment::aligned_alloc(a, size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    slabs += a >= 4096 ? 1 : 0;
    return memory;
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
    slabs -= static_cast<std::size_t>(alignment) >= 4096 ? 1 : 0;
    boost::alignment::aligned_free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
    ::operator delete(memory, alignment);
}
#endif

namespace {

using namespace asio_wheel::test::interleave;
using asio_wheel::detail::atomic;
using asio_wheel::detail::block_pool;

constexpr std::size_t size = 256; // The largest size, so a slab is used up soonest.
constexpr int more_than_a_slab = 400;

// A block that contains its owner.
class block {
public:
    explicit block(int owner) : memory_(static_cast<int*>(block_pool::allocate(size))) {
        std::fill_n(memory_, size / sizeof(int), owner);
    }
    block(block&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    block& operator=(block&& other) noexcept {
        std::swap(memory_, other.memory_);
        return *this;
    }
    ~block() {
        if (memory_ != nullptr) {
            block_pool::deallocate(memory_, size);
        }
    }
    [[nodiscard]] bool is_of(int owner) const {
        return std::all_of(memory_, memory_ + size / sizeof(int),
                           [owner](int i) { return i == owner; });
    }

private:
    int* memory_;
};

[[nodiscard]] std::vector<block> blocks(int owner, int count) {
    std::vector<block> all;
    for (int i = 0; i < count; ++i) {
        all.emplace_back(owner);
    }
    return all;
}

void check_all(const std::vector<block>& all, int owner) {
    check(std::all_of(all.begin(), all.end(), [owner](const block& b) { return b.is_of(owner); }),
          "a block has one owner");
}

// Allocates and frees `count` blocks.
void use(int owner, int count) {
    check_all(blocks(owner, count), owner);
}

// Memory does not grow from one run to the next: everything allocated was freed. But what this
// thread caches may be spread over one slab more than after the first run, if its blocks were freed
// in another order. (The vector of libc++ destroys its last element first.)
std::function<void()> without_leak(std::function<void()> scenario) {
    return [scenario = std::move(scenario), most = 0]() mutable {
        scenario();
        most = most == 0 ? slabs.load() : most;
        check(slabs <= most + 1, "what is free goes back to the heap");
    };
}

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_block_pool)

BOOST_AUTO_TEST_CASE(threads_have_blocks_of_their_own) {
    explore_both("own_blocks", 4, {.schedules = 2},
                 without_leak([] { together([] { use(1, 1); }, [] { use(2, 1); }); }));
    explore_both("own_blocks_of_three", 2, {.schedules = 10}, without_leak([] {
                     together([] { use(1, 1); }, [] { use(2, 1); }, [] { use(3, 1); });
                 }));
    explore_both("many_blocks", 3, {.schedules = 50},
                 without_leak([] { together([] { use(1, 150); }, [] { use(2, 150); }); }));
}

// Among them are the block that completes a slab, and the one that empties it.
BOOST_AUTO_TEST_CASE(a_slab_is_used_up_by_one_thread_while_another_one_empties_it) {
    explore_both("edge_of_slab", 3, {.schedules = 10}, without_leak([] {
                     std::vector<block> most = blocks(1, more_than_a_slab);
                     together([&] { check_all(most, 1), most.clear(); }, [] { use(2, 70); });
                 }));
}

BOOST_AUTO_TEST_CASE(what_one_thread_allocates_another_one_frees) {
    explore_both("handed_over", 4, {.schedules = 5, .outcomes = {"taken", "left"}},
                 without_leak([] {
                     atomic<block*> offered;
                     block* taken = nullptr;
                     together(
                         [&] {
                             block here(1);
                             block* const b = new block(std::move(here));
                             offered.store(b);
                             use(1, 1);
                         },
                         [&] {
                             use(2, 1);
                             taken = offered.exchange(nullptr);
                             if (taken != nullptr) {
                                 check(taken->is_of(1), "a block keeps what is in it");
                                 delete taken;
                             }
                         });
                     outcome(taken != nullptr ? "taken" : "left");
                     delete offered.exchange(nullptr);
                 }));
}

// Their thread_caches are returned by then. What is allocated and freed afterwards is not cached.
BOOST_AUTO_TEST_CASE(a_thread_may_allocate_at_its_very_end) {
    struct at_end {
        bool wanted = false;
        ~at_end() {
            if (wanted) {
                use(3, 2);
            }
        }
    };
    explore_both("end_of_thread", 3, {.schedules = 20}, without_leak([] {
                     together(
                         [] {
                             thread_local at_end
                                 last; // Constructed before the pool's, so destroyed after it.
                             last.wanted = true;
                             use(1, 1);
                         },
                         [] { use(2, 1); });
                 }));
}

BOOST_AUTO_TEST_SUITE_END()
