// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Helpers of the tests of class wheel: the shapes to test each promise on, and functions for common
// steps.

#ifndef ASIO_WHEEL_TEST_SUPPORT_WHEEL_FIXTURE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_WHEEL_FIXTURE_HPP

#include <asio_wheel/wheel.hpp>

#include "seed.hpp"
#include "wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <ostream>
#include <random>
#include <span>
#include <vector>

namespace asio_wheel::test {

using asio_wheel::last_tick;
using asio_wheel::no_tick;
using asio_wheel::tick_t;
using asio_wheel::wheel;
using asio_wheel::wheel_entry;

struct entry : wheel_entry {};
using entry_set = std::deque<entry>; // A deque never moves its elements.

using ticks = std::vector<tick_t>;

inline const auto per_element = boost::test_tools::per_element();

struct shape {
    std::size_t slots;
    unsigned levels;

    friend std::ostream& operator<<(std::ostream& out, const shape& s) {
        return out << s.slots << " slots, " << s.levels << " levels";
    }
};

/// From one ring of two slots to all 64 bits; powers that divide 64, and others.
inline constexpr shape shapes[] = {{2, 1},   {16, 1},  {64, 1},  {256, 1}, {4096, 1}, {2, 8},
                                   {2, 64},  {4, 3},   {4, 32},  {16, 4},  {16, 16},  {64, 2},
                                   {64, 10}, {128, 9}, {256, 4}, {256, 8}, {1024, 6}, {4096, 5}};

/// Returns 2^power + off, modulo 2^64. For off = -1 and power = 0 that is 0.
[[nodiscard]] constexpr tick_t edge(unsigned power, int off = 0) {
    return (tick_t{1} << power) + static_cast<tick_t>(static_cast<std::int64_t>(off));
}

/// Returns a number of any magnitude.
[[nodiscard]] inline tick_t any_distance(std::mt19937_64& random) {
    return random() >> (random() % 64);
}

/// Calls test(shape) for each shape. A failure reports the shape.
template <class Test>
void with_shapes(Test test) {
    for (const shape s : shapes) {
        BOOST_TEST_CONTEXT(s) {
            test(s);
        }
    }
}

/// Calls test(wheel) for a new wheel of each shape.
template <class Test>
void with_wheels(Test test) {
    with_shapes([&](shape s) {
        wheel w(s.slots, s.levels);
        test(w);
    });
}

/// Calls test(wheel, random) for a new wheel of each shape. A failure also reports the seed.
template <class Test>
void with_random_wheels(Test test) {
    std::mt19937_64 random(seed());
    with_wheels([&](wheel& w) { test(w, random); });
}

inline void check_invariants(const wheel& w) {
    BOOST_TEST(wheel_inspector::audit(w) == "");
}

/// Advances to `now` in slices of `budget`. Returns the deadlines of the expired entries, in order
/// of expiry.
inline ticks expire(wheel& w, tick_t now, std::size_t budget = 64) {
    ticks expired;
    wheel_entry* due[32] = {};
    for (;;) {
        const auto [count, more] = w.advance(now, budget, due);
        for (std::size_t i = 0; i < count; ++i) {
            BOOST_REQUIRE(!due[i]->filed());
            expired.push_back(due[i]->deadline());
        }
        if (!more) {
            return expired;
        }
    }
}

/// Advances an empty wheel to `now`.
inline void start_at(wheel& w, tick_t now) {
    BOOST_TEST_REQUIRE(expire(w, now).empty());
    BOOST_TEST_REQUIRE(w.elapsed() == std::min(now, last_tick));
}

/// The result of one call of advance().
struct slice {
    std::size_t expired;
    std::size_t filed_again;
    bool more;

    /// Returns how many entries it visited.
    [[nodiscard]] std::size_t looked_at() const { return expired + filed_again; }
};

inline slice advance_once(wheel& w, tick_t now, std::size_t budget, std::span<wheel_entry*> due) {
    const std::uint64_t before = w.cascaded();
    const auto [expired, more] = w.advance(now, budget, due);
    return {expired, static_cast<std::size_t>(w.cascaded() - before), more};
}

/// The same with enough room.
inline slice advance_once(wheel& w, tick_t now, std::size_t budget) {
    std::vector<wheel_entry*> due(w.size() + 1);
    return advance_once(w, now, budget, due);
}

[[nodiscard]] inline ticks sorted(ticks unsorted) {
    std::sort(unsorted.begin(), unsorted.end());
    return unsorted;
}

} // namespace asio_wheel::test

#endif
