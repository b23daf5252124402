// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tree of the slots' earliest deadlines, compared with a linear search.

#include <asio_wheel/detail/wheel/earliest_ticks.hpp>

#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using asio_wheel::no_tick;
using asio_wheel::tick_t;
using namespace asio_wheel::test;

// Both do the same and must return the same results.
struct pair_of_models {
    explicit pair_of_models(std::size_t slots)
        : keys(asio_wheel::detail::earliest_ticks(nullptr, slots).room(), 0),
          tree(keys.data(), slots), ticks(slots, no_tick) {}

    void lower(std::size_t slot, tick_t tick) {
        tree.lower(slot, tick);
        ticks[slot] = tick;
    }
    void forget(std::size_t slot) {
        tree.forget(slot);
        ticks[slot] = no_tick;
    }
    [[nodiscard]] std::size_t first_between(std::size_t begin, std::size_t end) const {
        const auto at = [this](std::size_t slot) {
            return ticks.begin() + static_cast<std::ptrdiff_t>(slot);
        };
        return static_cast<std::size_t>(
            std::find_if(at(begin), at(end), [](tick_t t) { return t != no_tick; }) -
            ticks.begin());
    }
    [[nodiscard]] tick_t smallest() const { return *std::min_element(ticks.begin(), ticks.end()); }

    std::vector<std::uint64_t> keys;
    asio_wheel::detail::earliest_ticks tree;
    std::vector<tick_t> ticks;
};

} // namespace

BOOST_AUTO_TEST_SUITE(earliest_ticks)

BOOST_AUTO_TEST_CASE(a_tree_of_zeros_has_no_ticks) {
    for (const std::size_t slots : {2U, 8U, 9U, 64U, 65U, 1024U, 4097U}) {
        const pair_of_models m(slots);
        BOOST_TEST(m.tree.smallest() == no_tick);
        BOOST_TEST(m.tree[0] == no_tick);
        BOOST_TEST(m.tree[slots - 1] == no_tick);
    }
}

BOOST_AUTO_TEST_CASE(each_slot_may_have_the_smallest) {
    for (const std::size_t slots : {2U, 7U, 8U, 9U, 63U, 64U, 65U, 600U}) {
        pair_of_models m(slots);
        std::size_t wrong = 0;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            m.lower(slot, 1000 - slot);
            wrong += m.tree.smallest() == 1000 - slot ? 0 : 1;
        }
        for (std::size_t slot = slots; slot-- > 0;) {
            m.forget(slot);
            wrong += m.tree.smallest() == m.smallest() ? 0 : 1;
        }
        BOOST_TEST(wrong == 0U);
    }
}

BOOST_AUTO_TEST_CASE(a_tree_knows_what_a_search_finds) {
    std::mt19937_64 random(seed());
    for (const std::size_t slots : {2U, 5U, 16U, 100U, 512U, 4096U, 5000U}) {
        pair_of_models m(slots);
        std::size_t wrong = 0;
        for (int step = 0; step < 3000; ++step) {
            const std::size_t slot = random() % slots;
            if (m.ticks[slot] != no_tick && random() % 2 == 0) {
                m.forget(slot);
            } else {
                const tick_t less = random() % 4 == 0 ? random() : random() % 50;
                if (less < m.ticks[slot]) {
                    m.lower(slot, less);
                }
            }
            wrong += m.tree.smallest() == m.smallest() ? 0 : 1;
            wrong += m.tree[slot] == m.ticks[slot] ? 0 : 1;
            const std::size_t begin = random() % slots;
            const std::size_t end = begin + random() % (slots - begin + 1);
            wrong += m.tree.first_between(begin, end) == m.first_between(begin, end) ? 0 : 1;
        }
        BOOST_TEST(wrong == 0U);
    }
}

BOOST_AUTO_TEST_CASE(each_slot_with_a_tick_is_found_after_the_other) {
    for (const std::size_t slots : {2U, 8U, 9U, 64U, 512U, 600U}) {
        pair_of_models m(slots);
        std::size_t wrong = 0;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            m.lower(slot, slot);
            for (std::size_t begin = 0; begin < slots; ++begin) {
                const std::size_t found = m.tree.first_between(begin, slots);
                wrong += found == (begin <= slot ? slot : slots) ? 0 : 1;
            }
            m.forget(slot);
        }
        BOOST_TEST(wrong == 0U);
        BOOST_TEST(m.tree.first_between(0, 0) == 0U);
    }
}

BOOST_AUTO_TEST_CASE(the_latest_tick_of_all_is_a_tick) {
    pair_of_models m(100);
    m.lower(70, asio_wheel::last_tick);
    BOOST_TEST(m.tree.smallest() == asio_wheel::last_tick);
    m.forget(70);
    BOOST_TEST(m.tree.smallest() == no_tick);
}

BOOST_AUTO_TEST_SUITE_END()
