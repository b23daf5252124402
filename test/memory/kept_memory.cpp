// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory that operations reserve: a block that is reused from wait to wait, and the block for
// an executor while an operation is queued there.

#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/service/core_lifetime.hpp>
#include <asio_wheel/detail/service/executor_hop.hpp>
#include <asio_wheel/detail/service/executor_op.hpp>

#include "support/counting_allocator.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel::detail;

using kept = kept_memory<counting_allocator<>>;
template <class T>
using keeping = kept_memory_allocator<T, counting_allocator<>>;

struct core {};

struct some_op : wait_op {
    some_op() noexcept : wait_op(&some_op::run) {}
    static void run(void*, operation*, const boost::system::error_code&, std::size_t) {}
};

// Calls a function on a thread for which the block pool can reserve no blocks: at the very end of a
// thread that has cached some. Where threads cache no blocks, that is any thread.
struct at_the_end {
    std::function<void()> function;
    ~at_the_end() { function(); }
};
void call_without_blocks(const std::function<void()>& function) {
    if constexpr (block_pool::has_thread_caches) {
        std::thread([&] {
            // Destroyed after objects that are created later.
            thread_local const at_the_end guard{function};
            block_pool::deallocate(block_pool::allocate(16), 16);
        }).join();
    } else {
        function();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(kept_blocks)

BOOST_AUTO_TEST_CASE(a_block_goes_from_one_wait_to_the_next) {
    allocations count;
    {
        kept memory{counting_allocator<>(count)};
        keeping<long> allocator(memory);
        long* const first = allocator.allocate(1);
        allocator.deallocate(first, 1);
        BOOST_TEST(count.live == 1U);
        count.refuse = true;
        BOOST_TEST(allocator.allocate(1) == first);
        allocator.deallocate(first, 1);

        kept moved(std::move(memory));
        keeping<long> other(moved);
        BOOST_TEST(other.allocate(1) == first);
        other.deallocate(first, 1);
    }
    BOOST_TEST(count.live == 0U);
    BOOST_TEST(count.total == 1U);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_the_block_comes_from_the_allocator) {
    allocations count;
    {
        kept memory{counting_allocator<>(count)};
        keeping<long> longs(memory);
        keeping<char> chars(longs);
        longs.deallocate(longs.allocate(1), 1); // Is kept from now on.

        char* const c = chars.allocate(1);
        long* const several = longs.allocate(3);
        BOOST_TEST(count.live == 3U);
        chars.deallocate(c, 1); // One is kept already.
        longs.deallocate(several, 3);
        BOOST_TEST(count.live == 1U);

        memory.release();
        BOOST_TEST(count.live == 0U);
        longs.deallocate(longs.allocate(3), 3); // Is not kept.
        BOOST_TEST(count.live == 0U);
    }
    BOOST_TEST(count.live_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(memory_of_hops)

BOOST_AUTO_TEST_CASE(a_wheels_reserve_has_three_blocks) {
    const hop_reserve::owner reserve = hop_reserve::make();
    BOOST_TEST(reserve->acquire());
    void* const first = hop_reserve::allocate(reserve.get());
    void* const second = hop_reserve::allocate(reserve.get());
    void* const third = hop_reserve::allocate(reserve.get());
    void* const fourth = hop_reserve::allocate(reserve.get()); // From the block pool.
    BOOST_TEST(first != second);
    BOOST_TEST(third != second);
    hop_reserve::deallocate(first);
    BOOST_TEST(hop_reserve::allocate(reserve.get()) == first);
    hop_reserve::deallocate(fourth);
    hop_reserve::deallocate(third);
    hop_reserve::deallocate(second);
    hop_reserve::deallocate(first);
    reserve->release();
}

BOOST_AUTO_TEST_CASE(a_wheels_reserve_serves_one_hop_at_a_time) {
    const hop_reserve::owner reserve = hop_reserve::make();
    BOOST_TEST(reserve->acquire());
    BOOST_TEST(!reserve->acquire());
    void* const first = hop_reserve::allocate(reserve.get());
    void* const second = hop_reserve::allocate(reserve.get());
    reserve->release();
    BOOST_TEST(!reserve->acquire()); // The executor still has the blocks.
    hop_reserve::deallocate(first);
    BOOST_TEST(reserve->acquire()); // There are enough for another hop.
    reserve->release();
    hop_reserve::deallocate(second);
    BOOST_TEST(reserve->acquire());
    reserve->release();
}

// Also while a strand is busy, which keeps the blocks of what was sent to it.
BOOST_AUTO_TEST_CASE(a_thread_without_a_cache_has_memory_for_each_of_its_hops) {
    const hop_reserve::owner wheels = hop_reserve::make();
    std::vector<void*> kept;
    int sent = 0;
    call_without_blocks([&] {
        for (some_op op; sent != 5; ++sent) {
            const hop_attempt attempt(op, *wheels);
            if (!attempt.has_memory()) {
                break;
            }
            kept.push_back(hop_attempt::allocate());
            kept.push_back(hop_attempt::allocate());
        }
    });
    BOOST_TEST(sent == 5);
    for (void* const block : kept) {
        hop_reserve::deallocate(block);
    }
}

BOOST_AUTO_TEST_CASE(a_turn_of_a_strand_keeps_its_block_for_the_next_turn) {
    const hop_reserve::owner reserve = hop_reserve::make();
    bool is_same = false;
    bool is_other = false;
    call_without_blocks([&] {
        some_op op;
        const hop_attempt attempt(op, *reserve);
        void* const block = hop_attempt::allocate();
        const turn_memory turn(block);
        hop_attempt::called(op);
        some_op another; // Which the handler sends.
        {
            const hop_attempt inner(another, *reserve);
            void* const others = hop_attempt::allocate();
            is_other = inner.has_memory() && others != block;
            hop_reserve::deallocate(others);
        }
        void* const next = hop_attempt::allocate();
        is_same = next == block;
        hop_reserve::deallocate(next);
    });
    BOOST_TEST(is_other);
    BOOST_TEST(is_same);
}

BOOST_AUTO_TEST_CASE(a_wheels_reserve_is_free_again_when_a_handler_is_called) {
    const hop_reserve::owner reserve = hop_reserve::make();
    bool kept = false;
    bool freed = false;
    call_without_blocks([&] {
        some_op op;
        const hop_attempt attempt(op, *reserve);
        kept = attempt.has_memory() && !reserve->acquire();
        hop_attempt::called(op);
        freed = reserve->acquire(); // As a queued handler does when it arrives.
        reserve->release();
    });
    BOOST_TEST(kept);
    BOOST_TEST(freed);
    BOOST_TEST(reserve->acquire()); // Released once.
    reserve->release();
}

BOOST_AUTO_TEST_CASE(a_wheels_reserve_outlives_its_wheel_while_a_block_is_in_use) {
    core owner;
    void* block = nullptr;
    {
        const lifetime_ptr lifetime(new core_lifetime<core>(owner, true));
        BOOST_TEST(lifetime->reserve->acquire());
        block = hop_reserve::allocate(lifetime->reserve.get());
        lifetime->reserve->release();
    }
    *static_cast<char*>(block) = 'x'; // AddressSanitizer checks it.
    hop_reserve::deallocate(block);
}

BOOST_AUTO_TEST_CASE(a_hop_that_is_too_large_for_the_reserve_is_served_all_the_same) {
    struct alignas(64) large {
        std::byte bytes[1024];
    };
    hop_allocator<large> larges;
    large* const memory = larges.allocate(2);
    BOOST_TEST(memory != nullptr);
    memory[1].bytes[1023] = std::byte{1};
    larges.deallocate(memory, 2);
}

BOOST_AUTO_TEST_CASE(a_pops_reserve_has_two_blocks_and_the_rest_comes_from_the_heap) {
    const dispatch_reserve::owner reserve = dispatch_reserve::make();
    void* const first = reserve->allocate(100);
    void* const second = reserve->allocate(100);
    void* const third = reserve->allocate(100);
    void* const large = reserve->allocate(1000);
    BOOST_TEST(first != second);
    reserve->deallocate(large, 1000);
    reserve->deallocate(third, 100);
    reserve->deallocate(second, 100);
    BOOST_TEST(reserve->allocate(100) == second);
    reserve->deallocate(first, 100);
    reserve->deallocate(second, 100);
}

BOOST_AUTO_TEST_CASE(a_pops_reserve_outlives_its_operation_while_a_block_is_in_use) {
    dispatch_reserve::owner reserve = dispatch_reserve::make();
    resource_allocator<char, dispatch_reserve> allocator(*reserve);
    char* const c = allocator.allocate(8);
    reserve.reset();
    c[7] = 'x';
    allocator.deallocate(c, 8);
}

BOOST_AUTO_TEST_SUITE_END()
