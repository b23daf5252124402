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

namespace {

using namespace asio_wheel::test;
using asio_wheel::detail::zero_memory;

} // namespace

BOOST_AUTO_TEST_SUITE(memory_of_zeros)

BOOST_AUTO_TEST_CASE(memory_begins_with_zeros_and_is_aligned_to_a_cache_line) {
    for (const std::size_t size : {1U, 100U, 65'535U, 65'536U, 1'000'000U}) {
        for (const std::size_t zeros : {size, size / 2}) { // With the contents of earlier uses.
            const zero_memory memory(size, zeros);
            BOOST_TEST_REQUIRE(memory.begin() != nullptr);
            std::byte* const end = memory.begin() + zeros;
            BOOST_TEST(memory.size() == size);
            BOOST_TEST(reinterpret_cast<std::uintptr_t>(memory.begin()) % 64 == 0U);
            BOOST_TEST(
                std::all_of(memory.begin(), end, [](std::byte b) { return b == std::byte{}; }));
            std::fill(memory.begin(), memory.begin() + size, std::byte{0xff});
        }
    }
}

BOOST_AUTO_TEST_CASE(there_is_none_if_the_system_has_none, *only_if(!is_sanitized)) {
    constexpr std::size_t most_of_all_addresses = std::numeric_limits<std::size_t>::max() / 64 * 63;
    BOOST_TEST(zero_memory(most_of_all_addresses, 0).begin() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
