// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// labels: threads

// The memory of waits whose handlers have no allocator: what threads keep of it. operator new is
// counted.

#include "support/operator_new.hpp"

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio_wheel::test;
using asio_wheel::detail::free_blocks;
using boost::system::error_code;
using block = std::pair<void*, std::size_t>;

const auto ignore = [](const error_code&) {};

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kept = 2;
#else
constexpr std::size_t kept = 256;
#endif

template <class Function>
void in_a_new_thread(Function f) {
    std::thread(f).join();
}

// As many as a thread can keep, and twice that.
std::vector<block> many_blocks(std::size_t size) {
    std::vector<block> blocks;
    for (std::size_t i = 0; i < 3 * kept; ++i) {
        blocks.emplace_back(free_blocks::allocate(size), size);
    }
    return blocks;
}

void free_all(std::vector<block>& blocks) {
    for (const auto& [memory, size] : blocks) {
        free_blocks::deallocate(memory, size);
    }
}

// Ends after everything that belongs to the main thread, with a wait that thread has started.
struct late_end {
    asio::io_context ctx;
    std::optional<asio_wheel::steady_timer> timer;
};
late_end static_world;

} // namespace

BOOST_AUTO_TEST_SUITE(op_memory)

BOOST_AUTO_TEST_CASE(moving_many_timeouts_at_once_allocates_nothing) {
    constexpr std::size_t count = std::min<std::size_t>(kept, 64);
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

BOOST_AUTO_TEST_CASE(a_thread_keeps_so_many_blocks_of_a_size_and_no_more) {
    in_a_new_thread([] {
        std::vector<block> small = many_blocks(64);
        std::vector<block> large = many_blocks(128);
        const std::size_t before = heap.live;
        const std::size_t sum = small.size() + large.size();
        free_all(small);
        free_all(large);
        const std::size_t freed = before - heap.live;
        BOOST_TEST(freed == sum - 2 * kept);
        BOOST_TEST(allocations_of([] {
                       std::array<void*, kept> again{};
                       for (void*& memory : again) {
                           memory = free_blocks::allocate(64);
                       }
                       for (void* memory : again) {
                           free_blocks::deallocate(memory, 64);
                       }
                   }) == 0U);
    });
}

BOOST_AUTO_TEST_CASE(blocks_of_every_size_hold_what_they_are_asked_for) {
    in_a_new_thread([] {
        for (int round = 0; round < 2; ++round) {
            std::vector<block> blocks;
            for (std::size_t size = 1; size <= 600; ++size) {
                void* const memory = free_blocks::allocate(size);
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
    in_a_new_thread([] {
        std::vector<block> blocks = many_blocks(64);
        free_all(blocks);
    });
    BOOST_TEST(heap.live == before);
}

BOOST_AUTO_TEST_CASE(a_block_may_be_freed_by_another_thread) {
    std::vector<block> blocks;
    const std::size_t before = heap.live;
    in_a_new_thread([&] { blocks = many_blocks(64); });
    in_a_new_thread([&] { free_all(blocks); });
    BOOST_TEST(heap.live == before + 1); // the vector
}

// At the end of its thread a block can still be had and given back: by what ends later.
BOOST_AUTO_TEST_CASE(what_ends_after_its_thread_can_use_blocks) {
    struct late {
        void* memory = nullptr;
        late() = default;
        late(const late&) = delete;
        late& operator=(const late&) = delete;
        ~late() {
            if (memory != nullptr) {
                free_blocks::deallocate(memory, 64);
                free_blocks::deallocate(free_blocks::allocate(64), 64);
            }
        }
    };
    const std::size_t before = heap.live;
    in_a_new_thread([] {
        static thread_local late first; // is destroyed after what the thread keeps
        first.memory = free_blocks::allocate(64);
        free_blocks::deallocate(free_blocks::allocate(64), 64);
    });
    BOOST_TEST(heap.live == before);
}

// Found out, if not so, by the sanitizers and by whoever looks at the exit status.
BOOST_AUTO_TEST_CASE(a_context_of_static_lifetime_may_have_waits_at_its_end) {
    static_world.timer.emplace(static_world.ctx, 1h);
    static_world.timer->async_wait(ignore);
    BOOST_TEST(asio_wheel::use_wheel(static_world.ctx).pending() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
