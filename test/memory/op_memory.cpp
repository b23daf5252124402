// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// The memory of waits whose handlers have no allocator: how much of it threads keep, and how much
// they return. operator new is counted.

#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/detail/threads/thread_exit.hpp>
#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/seed.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::detail::block_pool;
using asio_wheel::detail::has_thread_exit;
using block = std::pair<void*, std::size_t>;

template <class Function>
void in_a_new_thread(Function f) {
    std::thread(f).join();
}

std::vector<block> many_blocks(std::size_t count, std::size_t size) {
    std::vector<block> blocks;
    blocks.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        blocks.emplace_back(block_pool::allocate(size), size);
    }
    return blocks;
}

void free_all(const std::vector<block>& blocks) {
    for (const auto& [memory, size] : blocks) {
        block_pool::deallocate(memory, size);
    }
}

// Destroyed after all other objects of the main thread, with a wait that the thread has started.
struct late_end {
    asio::io_context ctx;
    std::optional<asio_wheel::steady_timer> timer;
};
late_end static_world;

} // namespace

BOOST_AUTO_TEST_SUITE(op_memory)

BOOST_AUTO_TEST_CASE(moving_many_timeouts_at_once_allocates_nothing) {
    constexpr std::size_t count = 200;
    virtual_time world;
    std::deque<timer> timers;
    for (std::size_t i = 0; i < count; ++i) {
        timers.emplace_back(world.ctx, 30s).async_wait(ignore);
    }
    const auto move_all = [&] {
        for (timer& t : timers) {
            t.expires_after(30s);
            t.async_wait(ignore);
        }
        world.poll();
    };
    move_all();
    BOOST_TEST(allocations_of([&] {
                   for (int i = 0; i < 1000; ++i) {
                       move_all();
                   }
               }) == 0U);
}

// This counts slabs: a thread may keep some blocks, but only of the slab that is left.
BOOST_AUTO_TEST_CASE(memory_shrinks_again_when_blocks_are_freed_in_whatever_order) {
    std::mt19937_64 random(seed());
    for (const std::size_t size : {16U, 64U, 208U}) {
        const std::size_t before = heap.live;
        {
            std::vector<block> blocks = many_blocks(100'000, size);
            BOOST_TEST(heap.live - before >= blocks.size() * size / 65536);
            BOOST_TEST(heap.live - before <= blocks.size() * size / 65000 + 3);
            std::shuffle(blocks.begin(), blocks.end(), random);
            free_all(blocks);
        }
        // The blocks of this thread may lie on as many slabs.
        in_a_new_thread([] {});
        BOOST_TEST(heap.live <= before + 257U);
        const std::vector<block> again = many_blocks(257, size);
        BOOST_TEST(heap.live <= before + 258U);
        free_all(again);
    }
}

BOOST_AUTO_TEST_CASE(blocks_that_are_freed_are_had_again_without_the_heap) {
    free_all(many_blocks(256, 64));
    BOOST_TEST(allocations_of([] {
                   std::array<void*, 256> blocks{};
                   for (int i = 0; i < 1000; ++i) {
                       for (void*& memory : blocks) {
                           memory = block_pool::allocate(64);
                       }
                       for (void* memory : blocks) {
                           block_pool::deallocate(memory, 64);
                       }
                   }
               }) == 0U);
}

BOOST_AUTO_TEST_CASE(blocks_of_every_size_hold_what_they_are_asked_for) {
    in_a_new_thread([] {
        for (int round = 0; round < 2; ++round) {
            std::vector<block> blocks;
            for (std::size_t size = 1; size <= 600; ++size) {
                void* const memory = block_pool::allocate(size);
                std::fill_n(static_cast<unsigned char*>(memory), size,
                            static_cast<unsigned char>(size));
                blocks.emplace_back(memory, size);
            }
            for (const auto& [memory, size] : blocks) {
                const auto* const bytes = static_cast<unsigned char*>(memory);
                BOOST_TEST(std::count(bytes, bytes + size, static_cast<unsigned char>(size)) ==
                           static_cast<std::ptrdiff_t>(size));
            }
            free_all(blocks);
        }
    });
}

BOOST_AUTO_TEST_CASE(what_a_thread_keeps_is_given_back_at_its_end) {
    const std::size_t before = heap.live;
    for (int i = 0; i < 10; ++i) {
        in_a_new_thread([] { free_all(many_blocks(10'000, 96)); });
        BOOST_TEST(heap.live <= before + 1); // The one slab that is kept.
    }
}

BOOST_AUTO_TEST_CASE(a_block_may_be_freed_by_another_thread) {
    const std::size_t before = heap.live;
    std::vector<block> blocks;
    in_a_new_thread([&] { blocks = many_blocks(10'000, 112); });
    in_a_new_thread([&] { free_all(blocks); });
    BOOST_TEST(heap.live <= before + 2); // The vector, and the one slab that is kept.
}

// At the end of a thread, objects that are destroyed later can still allocate and free blocks.
// (Where threads have no exit, such an object is freed before it is destroyed: see
// thread_exit.hpp.)
BOOST_AUTO_TEST_CASE(what_ends_after_its_thread_can_use_blocks, *only_if(has_thread_exit)) {
    struct late {
        void* memory = nullptr;
        late() = default;
        late(const late&) = delete;
        late& operator=(const late&) = delete;
        ~late() {
            if (memory != nullptr) {
                block_pool::deallocate(memory, 64);
                block_pool::deallocate(block_pool::allocate(64), 64);
            }
        }
    };
    const std::size_t before = heap.live;
    in_a_new_thread([] {
        static thread_local late first; // Destroyed after the thread's cache.
        first.memory = block_pool::allocate(64);
        block_pool::deallocate(block_pool::allocate(64), 64);
    });
    BOOST_TEST(heap.live <= before + 1); // The one slab that is kept.
}

// Sanitizers and the exit status report violations.
BOOST_AUTO_TEST_CASE(a_context_of_static_lifetime_may_have_waits_at_its_end) {
    static_world.timer.emplace(static_world.ctx, 1h);
    static_world.timer->async_wait(ignore);
    BOOST_TEST(asio_wheel::use_wheel(static_world.ctx).pending() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
