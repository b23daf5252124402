// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory that composed operations keep: a block that is reused from wait to wait.

#include <asio_wheel/detail/asio/kept_memory.hpp>

#include "support/counting_allocator.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel::detail;

using kept = kept_memory<counting_allocator<>>;
template <class T>
using keeping = kept_memory_allocator<T, counting_allocator<>>;

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
