// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory of a wheel. wheel/cost.cpp tests how much of it is resident.

#include <asio_wheel/detail/memory/zero_memory.hpp>

#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace {

using namespace asio_wheel::test;
using asio_wheel::detail::zero_memory;

} // namespace

BOOST_AUTO_TEST_SUITE(memory_of_zeros)

BOOST_AUTO_TEST_CASE(memory_is_zero_and_aligned_to_a_cache_line) {
    for (const std::size_t size : {1U, 100U, 65'535U, 65'536U, 1'000'000U}) {
        for (int again = 0; again < 2; ++again) { // With the contents of earlier uses.
            const zero_memory memory(size);
            std::byte* const end = memory.begin() + size;
            BOOST_TEST(memory.size() == size);
            BOOST_TEST(reinterpret_cast<std::uintptr_t>(memory.begin()) % 64 == 0U);
            BOOST_TEST(
                std::all_of(memory.begin(), end, [](std::byte b) { return b == std::byte{}; }));
            std::fill(memory.begin(), end, std::byte{0xff});
        }
    }
}

BOOST_AUTO_TEST_CASE(what_the_system_does_not_have_is_refused, *only_if(!is_sanitized)) {
    constexpr std::size_t most_of_all_addresses = std::numeric_limits<std::size_t>::max() / 64 * 63;
    BOOST_CHECK_THROW(zero_memory{most_of_all_addresses}, std::bad_alloc);
}

BOOST_AUTO_TEST_SUITE_END()
