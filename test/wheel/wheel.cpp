// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The wheel's promises about deadlines, for each shape and each edge case: no expiry is early or
// late, and no entry is visited too often. slices.cpp tests what happens between the slices of an
// advance, moves.cpp tests changes of deadlines.

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/wheel_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <type_traits>
#include <utility>

namespace {

using namespace asio_wheel::test;

static_assert(!std::is_copy_constructible_v<wheel> && !std::is_move_constructible_v<wheel>);
static_assert(!std::is_copy_constructible_v<wheel_entry> && !std::is_destructible_v<wheel_entry>);
static_assert(noexcept(std::declval<wheel&>().advance(0, 1, {})));

// Inserts entries at `deadlines`. Checks that each expires at its tick and not before, and that
// next_expiry() returns that tick.
void check_each_at_its_tick(wheel& w, const ticks& deadlines) {
    entry_set entries(deadlines.size());
    for (std::size_t i = 0; i < deadlines.size(); ++i) {
        w.insert(entries[i], deadlines[i]);
    }
    BOOST_TEST(w.size() == deadlines.size());
    check_invariants(w);
    const ticks order = sorted(deadlines);
    std::size_t rounds = 0;
    for (auto first = order.begin(); first != order.end();) {
        const auto next = std::upper_bound(first, order.end(), *first);
        BOOST_TEST_CONTEXT("deadline " << *first << ", now " << w.elapsed()) {
            BOOST_REQUIRE_EQUAL(w.next_expiry(), *first);
            if (*first > w.elapsed()) {
                BOOST_REQUIRE(expire(w, *first - 1).empty());
                BOOST_REQUIRE_EQUAL(w.next_expiry(), *first);
            }
            BOOST_REQUIRE(expire(w, *first) == ticks(first, next));
            if (++rounds % 16 == 0) { // It visits every slot, which is slow for many slots.
                check_invariants(w);
            }
        }
        first = next;
    }
    BOOST_TEST(w.empty());
    BOOST_TEST(w.next_expiry() == no_tick);
    check_invariants(w);
}

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_)

BOOST_AUTO_TEST_CASE(slots_are_rounded_up_to_a_power_of_two_and_are_at_least_two) {
    for (const auto& [asked, given] : {std::pair<std::size_t, std::size_t>{0, 2},
                                       {1, 2},
                                       {2, 2},
                                       {3, 4},
                                       {5, 8},
                                       {63, 64},
                                       {64, 64},
                                       {65, 128},
                                       {256, 256},
                                       {257, 512},
                                       {5000, 8192}}) {
        const wheel w(asked, 1);
        BOOST_TEST(w.slots() == given);
        BOOST_TEST(w.levels() == 1U);
    }
    BOOST_TEST(wheel(256, 8).levels() == 8U);
}

TEST_CASE_FOR_EACH(an_empty_wheel_has_no_expiry_and_follows_the_clock, with_wheels, wheel& w) {
    for (const tick_t now : {tick_t{0}, tick_t{1}, tick_t{1} << 40, last_tick, no_tick}) {
        BOOST_TEST(w.empty());
        BOOST_TEST(w.next_expiry() == no_tick);
        BOOST_TEST(expire(w, now).empty());
        BOOST_TEST(w.elapsed() == std::min(now, last_tick));
        check_invariants(w);
    }
}

BOOST_AUTO_TEST_CASE(an_entry_is_filed_from_insert_until_erase_or_expiry) {
    wheel w(16, 2);
    entry a;
    BOOST_TEST(!a.filed());
    w.insert(a, 5);
    BOOST_TEST(a.filed());
    BOOST_TEST(a.deadline() == 5U);
    BOOST_TEST(w.size() == 1U);
    w.erase(a);
    BOOST_TEST(!a.filed());
    BOOST_TEST(w.empty());
    BOOST_TEST(w.next_expiry() == no_tick);
    w.insert(a, 7);
    BOOST_TEST(expire(w, 7) == ticks{7}, per_element);
    BOOST_TEST(!a.filed());
    BOOST_TEST(w.empty());
}

BOOST_AUTO_TEST_CASE(what_is_still_filed_when_the_wheel_ends_is_forgotten) {
    entry_set entries(100);
    {
        wheel w(16, 2);
        wheel_entry* due[1] = {};
        for (entry& e : entries) {
            w.insert(e, 20);
        }
        BOOST_TEST(w.advance(20, 1, due).more); // Some of them are in the opened slot.
    }
    BOOST_TEST(std::count_if(entries.begin(), entries.end(),
                             [](const entry& e) { return e.filed(); }) == 99);
}

BOOST_AUTO_TEST_CASE(every_level_edge_is_kept_exactly_from_zero) {
    ticks edges;
    for (unsigned power = 1; power < 64; ++power) {
        edges.insert(edges.end(), {edge(power, -1), edge(power), edge(power, 1)});
    }
    with_wheels([&](wheel& w) { check_each_at_its_tick(w, edges); });
}

BOOST_AUTO_TEST_CASE(every_distance_is_kept_exactly_when_now_is_next_to_a_level_edge) {
    for (const shape s : shapes) {
        for (unsigned power = 1; power < 64; ++power) {
            for (const int off : {-2, -1, 0, 1}) {
                const tick_t now = edge(power, off);
                BOOST_TEST_CONTEXT(s << ", 2^" << power << ", now " << now) {
                    wheel w(s.slots, s.levels);
                    start_at(w, now);
                    ticks deadlines{now, now + 1, now + 2};
                    for (unsigned distance = 2; distance < 63; distance += 1 + distance / 8) {
                        for (const int close_by : {-1, 0, 1}) {
                            deadlines.push_back(now + edge(distance, close_by));
                        }
                    }
                    check_each_at_its_tick(w, deadlines);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(after_each_tick_exactly_what_was_due_by_then_has_expired) {
    for (const shape s : shapes) {
        for (const tick_t start :
             {tick_t{0}, edge(16, -500), edge(32, -500), edge(63, -500), last_tick - 1100}) {
            BOOST_TEST_CONTEXT(s << ", start " << start) {
                wheel w(s.slots, s.levels);
                start_at(w, start);
                entry_set entries(1024);
                for (std::size_t i = entries.size(); i-- > 0;) {
                    w.insert(entries[i], start + i);
                }
                for (tick_t t = 0; t < entries.size(); ++t) {
                    const ticks expired = expire(w, start + t);
                    BOOST_REQUIRE_EQUAL(expired.size(), 1U);
                    BOOST_REQUIRE_EQUAL(expired[0], start + t);
                    BOOST_REQUIRE_EQUAL(w.size(), entries.size() - 1 - t);
                }
            }
        }
    }
}

TEST_CASE_FOR_EACH(deadlines_beyond_the_last_tick_are_brought_down_to_it, with_wheels, wheel& w) {
    entry_set entries(3);
    w.insert(entries[0], no_tick);
    w.insert(entries[1], last_tick - 1);
    w.insert(entries[2], last_tick);
    BOOST_TEST(entries[0].deadline() == last_tick);
    BOOST_TEST(expire(w, last_tick - 2).empty());
    BOOST_TEST(w.next_expiry() == last_tick - 1);
    BOOST_TEST(expire(w, last_tick - 1) == ticks{last_tick - 1}, per_element);
    BOOST_TEST(w.next_expiry() == last_tick);
    BOOST_TEST(expire(w, no_tick) == ticks(2, last_tick), per_element);
    BOOST_TEST(w.elapsed() == last_tick);

    // At the end of time everything is due, and nothing is lost.
    w.insert(entries[0], 0);
    w.insert(entries[1], no_tick);
    w.reschedule(entries[1], 5);
    BOOST_TEST(w.next_expiry() == last_tick);
    check_invariants(w);
    BOOST_TEST(expire(w, last_tick) == ticks(2, last_tick), per_element);
}

TEST_CASE_FOR_EACH(a_deadline_that_has_passed_is_due_at_the_next_advance, with_wheels, wheel& w) {
    start_at(w, 1000);
    entry_set entries(4);
    w.insert(entries[0], 0);
    w.insert(entries[1], 999);
    w.insert(entries[2], 1000);
    w.insert(entries[3], 1001);
    BOOST_TEST(w.next_expiry() == 1000U);
    BOOST_TEST(expire(w, 1000).size() == 3U);
    BOOST_TEST(entries[3].filed());

    // If something is still ahead, time has not quite come to 1000 + 500. That must not
    // matter.
    w.reschedule(entries[3], 5000);
    BOOST_TEST(expire(w, 1500).empty());
    w.insert(entries[0], 0);
    w.insert(entries[1], 1200);
    w.insert(entries[2], 1500);
    for (const entry& e : entries) {
        BOOST_TEST(e.deadline() == (&e == &entries[3] ? 5000U : 1500U));
    }
    BOOST_TEST(w.next_expiry() == 1500U);
    BOOST_TEST(expire(w, 1500).size() == 3U);
    check_invariants(w);
}

TEST_CASE_FOR_EACH(a_clock_that_goes_backwards_expires_nothing_and_loses_nothing, with_wheels,
                   wheel& w) {
    entry_set entries(4);
    w.insert(entries[0], 1500);
    w.insert(entries[1], 100'000);
    BOOST_TEST(expire(w, 1000).empty());
    const tick_t reached = w.elapsed();
    BOOST_TEST(expire(w, 400).empty());
    BOOST_TEST(expire(w, 0).empty());
    BOOST_TEST(w.elapsed() == reached);
    BOOST_TEST(w.now() == 1000U);
    w.insert(entries[2], 1200);
    BOOST_TEST(expire(w, 900).empty());
    BOOST_TEST(expire(w, 1199).empty());
    BOOST_TEST(w.next_expiry() == 1200U);
    BOOST_TEST(expire(w, 1200) == ticks{1200}, per_element);
    BOOST_TEST(expire(w, 5).empty());
    BOOST_TEST(w.size() == 2U);
    check_invariants(w);
    BOOST_TEST(expire(w, 100'000) == (ticks{1500, 100'000}), per_element);
}

BOOST_AUTO_TEST_CASE(what_a_slice_left_over_expires_even_if_the_clock_then_goes_backwards) {
    wheel w(16, 2);
    entry_set entries(3);
    for (entry& e : entries) {
        w.insert(e, 10);
    }
    wheel_entry* due[8] = {};
    BOOST_TEST(w.advance(10, 1, due).more);
    BOOST_TEST(expire(w, 3).size() == 2U);
    BOOST_TEST(w.empty());
}

TEST_CASE_FOR_EACH(time_never_comes_further_than_it_is_told_and_never_goes_back, with_random_wheels,
                   wheel& w, std::mt19937_64& random) {
    entry_set entries(20);
    for (entry& e : entries) {
        w.insert(e, any_distance(random));
    }
    tick_t told = 0;
    for (int i = 0; i < 200; ++i) {
        told = std::max(told, std::min(any_distance(random), last_tick));
        const tick_t before = w.elapsed();
        expire(w, told);
        BOOST_TEST(w.elapsed() >= before);
        BOOST_TEST(w.elapsed() <= told);
        BOOST_TEST(w.now() == told);
    }
}

BOOST_AUTO_TEST_SUITE_END()
