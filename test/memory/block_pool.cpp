// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Threads that allocate and free blocks of operation memory, their own and each other's.

#include <asio_wheel/detail/memory/block_pool.hpp>

#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::detail::block_pool;
using block = std::pair<void*, std::size_t>;

std::atomic<int> broken = 0;

void free_if_intact(const block& b) {
    broken += *static_cast<std::size_t*>(b.first) == b.second ? 0 : 1;
    block_pool::deallocate(b.first, b.second);
}

} // namespace

BOOST_AUTO_TEST_SUITE(block_pool_threads)

BOOST_AUTO_TEST_CASE(threads_may_exchange_blocks_at_will) {
    const std::uint64_t number = seed();
    std::mutex mutex;
    std::deque<block> shared;
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, random = std::mt19937_64(number + t)]() mutable {
            std::vector<block> mine;
            for (int i = 0; i < 20'000; ++i) {
                const std::size_t size = 120 + random() % 16;
                mine.emplace_back(block_pool::allocate(size), size);
                *static_cast<std::size_t*>(mine.back().first) = size;
                if (random() % 64 == 0) {
                    const std::lock_guard guard(mutex);
                    shared.insert(shared.end(), mine.begin(), mine.end());
                    mine.clear();
                    while (shared.size() > 500) {
                        mine.push_back(shared.front());
                        shared.pop_front();
                    }
                    while (mine.size() > 100) {
                        free_if_intact(mine.back());
                        mine.pop_back();
                    }
                }
            }
            std::for_each(mine.begin(), mine.end(), free_if_intact);
        });
    }
    threads.clear();
    std::for_each(shared.begin(), shared.end(), free_if_intact);
    BOOST_TEST(broken == 0, seed_note(number));
}

// Else a program that starts and ends many threads would grow.
BOOST_AUTO_TEST_CASE(the_blocks_of_a_thread_that_has_ended_are_used_again) {
    constexpr std::size_t size = 120;
    constexpr std::size_t blocks_of_a_thread = 20;
    std::set<void*> seen;
    for (int i = 0; i < 100; ++i) {
        std::thread([&seen] {
            std::vector<void*> mine(blocks_of_a_thread);
            for (void*& block : mine) {
                block = block_pool::allocate(size);
            }
            seen.insert(mine.begin(), mine.end());
            for (void* const block : mine) {
                block_pool::deallocate(block, size);
            }
        }).join();
    }
    // Some more, because a thread caches a batch, from which it takes any.
    BOOST_TEST(seen.size() < 20 * blocks_of_a_thread);
}

BOOST_AUTO_TEST_SUITE_END()
