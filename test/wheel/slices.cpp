// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The wheel's budget: an advance in slices, and what may happen between two slices. The first slice
// opens a slot. These tests call the entries that it leaves there "left over".

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/wheel_fixture.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::wheel_inspector;

// Advances until nothing is left to do, and checks the work of each slice. Returns the number of
// slices.
std::size_t count_slices(wheel& w, tick_t now, std::size_t budget, std::size_t& expired) {
    std::vector<wheel_entry*> due(budget);
    for (std::size_t slices = 1;; ++slices) {
        const slice done = advance_once(w, now, budget, due);
        expired += done.expired;
        BOOST_REQUIRE_LE(done.looked_at(), budget);
        if (!done.more) {
            return slices;
        }
        BOOST_REQUIRE_EQUAL(done.looked_at(), budget);
        BOOST_REQUIRE_LE(w.next_expiry(), now); // A driver that asks now must return at once.
        check_invariants(w);
    }
}

// Ten entries that are due at tick 100, in a wheel of one or several levels. A slice of three has
// expired.
struct sliced {
    explicit sliced(shape s, tick_t deadline = 100) : w(s.slots, s.levels) {
        for (entry& e : entries) {
            w.insert(e, deadline);
        }
        const auto [expired, more] = w.advance(deadline, 3, due);
        BOOST_TEST_REQUIRE(expired == 3U);
        BOOST_TEST_REQUIRE(more);
        for (entry& e : entries) {
            if (e.filed()) {
                left.push_back(&e);
            }
        }
        BOOST_TEST_REQUIRE(left.size() == 7U);
    }

    wheel w;
    entry_set entries = entry_set(10);
    std::array<wheel_entry*, 16> due{};
    std::vector<entry*> left;
};

// Entries at 256, 272 … 432, all in one slot of level 2. A slice of one has been visited: most of
// the others must still be filed again.
struct sliced_cascade {
    sliced_cascade() {
        for (tick_t i = 0; i < entries.size(); ++i) {
            w.insert(entries[i], 256 + 16 * i);
        }
        BOOST_TEST_REQUIRE(wheel_inspector::occupied(w) == 1U);
        BOOST_TEST_REQUIRE(w.advance(256, 1, due).more);
        for (entry& e : entries) {
            if (e.filed() && !wheel_inspector::level_of(w, e).has_value()) {
                left.push_back(&e);
            }
        }
        BOOST_TEST_REQUIRE(left.size() == 11U);
    }

    wheel w{16, 4};
    entry_set entries = entry_set(12);
    std::array<wheel_entry*, 16> due{};
    std::vector<entry*> left; // In order of deadlines.
};

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_slices)

BOOST_AUTO_TEST_CASE(a_slice_expires_no_more_than_its_budget_and_the_next_goes_on) {
    for (const shape s : shapes) {
        for (const std::size_t budget : {1U, 7U, 64U, 999U, 1000U, 1001U}) {
            BOOST_TEST_CONTEXT(s << ", budget " << budget) {
                wheel w(s.slots, s.levels);
                entry_set entries(1000);
                for (entry& e : entries) {
                    w.insert(e, 100'000);
                }
                std::size_t expired = 0;
                const std::size_t slices = count_slices(w, 100'000, budget, expired);
                BOOST_TEST(expired == 1000U);
                BOOST_TEST(slices == (1000 + budget - 1) / budget);
                BOOST_TEST(w.empty());
                BOOST_TEST(w.cascaded() == 0U);
                BOOST_TEST(w.next_expiry() == no_tick);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_slice_files_no_more_entries_again_than_its_budget_and_the_next_goes_on) {
    for (const std::size_t budget : {1U, 7U, 64U, 999U, 1000U, 1001U}) {
        BOOST_TEST_CONTEXT("budget " << budget) {
            wheel w(256, 4);
            entry_set entries(1000);
            for (std::size_t i = 0; i < entries.size(); ++i) {
                w.insert(entries[i], 0x1'0000 + i * 60); // One slot of level 2.
            }
            BOOST_TEST(wheel_inspector::occupied(w) == 1U);
            std::size_t expired = 0;
            const std::size_t slices = count_slices(w, 0x1'0000, budget, expired);
            BOOST_TEST(expired == 1U);
            BOOST_TEST(w.cascaded() == 999U);
            BOOST_TEST(slices == (1000 + budget - 1) / budget);
            BOOST_TEST(w.next_expiry() == 0x1'0000U + 60);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_budget_holds_where_expiry_and_filing_again_are_mixed) {
    for (const shape s : {shape{2, 1}, shape{2, 8}, shape{16, 1}, shape{16, 4}, shape{256, 4}}) {
        for (const std::size_t budget : {1U, 2U, 13U, 100U}) {
            BOOST_TEST_CONTEXT(s << ", budget " << budget) {
                wheel w(s.slots, s.levels);
                entry_set entries(200);
                for (std::size_t i = 0; i < entries.size(); ++i) {
                    w.insert(entries[i], 1 + i * i % 4999);
                }
                std::size_t expired = 0;
                count_slices(w, 2500, budget, expired);
                count_slices(w, 5000, budget, expired);
                BOOST_TEST(expired == 200U);
            }
        }
    }
}

TEST_CASE_FOR_EACH(a_slice_expires_no_more_than_there_is_room_for, with_wheels, wheel& w) {
    entry_set entries(23);
    for (entry& e : entries) {
        w.insert(e, 9);
    }
    std::array<wheel_entry*, 6> due{};
    for (const std::size_t expected : {5U, 5U, 5U, 5U, 3U}) {
        const slice done = advance_once(w, 9, 1000, std::span(due).first(5));
        BOOST_TEST(done.expired == expected);
        BOOST_TEST(done.more == (expected == 5));
        BOOST_TEST(due[5] == nullptr); // Not beyond the given room.
    }
    BOOST_TEST(w.empty());
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_just_enough_leaves_nothing_to_come_back_for) {
    wheel w(16, 2);
    entry_set entries(3);
    for (entry& e : entries) {
        w.insert(e, 9);
    }
    const slice done = advance_once(w, 9, 3);
    BOOST_TEST(done.expired == 3U);
    BOOST_TEST(!done.more);
}

TEST_CASE_FOR_EACH(what_is_inserted_between_slices_is_due_at_its_time, with_shapes, shape s) {
    sliced at(s);
    entry_set fresh(5);
    at.w.insert(fresh[0], 0); // Long past.
    at.w.insert(fresh[1], 100);
    at.w.insert(fresh[2], 101);
    at.w.insert(fresh[3], 100 + s.slots); // The same index, a turn later.
    at.w.insert(fresh[4], 1'000'000);
    BOOST_TEST(fresh[0].deadline() == 100U);
    BOOST_TEST(at.w.size() == 12U);
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100, 2) == ticks(9, 100), per_element);
    BOOST_TEST(!fresh[0].filed());
    BOOST_TEST(!fresh[1].filed());
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 1'000'000, 2) == (ticks{101, 100 + s.slots, 1'000'000}), per_element);
}

TEST_CASE_FOR_EACH(an_entry_that_comes_back_at_once_does_not_hold_up_the_others, with_wheels,
                   wheel& w) {
    entry_set entries(100);
    for (tick_t i = 0; i < entries.size(); ++i) {
        w.insert(entries[i], 1 + i);
    }
    entry restless;
    w.insert(restless, 1);
    std::array<wheel_entry*, 1> due{};
    std::size_t others = 0;
    // One entry per slice, at a time when all are due. A turn of a single ring visits all
    // of them.
    for (std::size_t slices = 0; others < 100 && slices < 20'000; ++slices) {
        if (w.advance(100, 1, due).expired == 1) {
            if (due[0] == &restless) {
                w.insert(restless, 100);
            } else {
                ++others;
            }
        }
    }
    BOOST_TEST(others == 100U);
    BOOST_TEST(restless.filed());
}

BOOST_AUTO_TEST_CASE(entries_that_are_filed_in_the_past_again_and_again_starve_nobody) {
    for (const shape s : shapes) {
        for (const std::size_t budget : {1U, 16U, 100U}) {
            BOOST_TEST_CONTEXT(s << ", budget " << budget) {
                wheel w(s.slots, s.levels);
                entry_set restless(150); // More than a slice can expire.
                for (entry& e : restless) {
                    w.insert(e, 10);
                }
                entry_set others(50);
                for (tick_t i = 0; i < others.size(); ++i) {
                    w.insert(others[i], 12 + 18 * i);
                }
                std::vector<wheel_entry*> due(budget);
                std::vector<const wheel_entry*> expired;
                for (std::size_t slices = 0; expired.size() < 400 && slices < 20'000; ++slices) {
                    const std::size_t count = w.advance(1000, budget, due).expired;
                    for (std::size_t i = 0; i < count; ++i) {
                        expired.push_back(due[i]);
                        const bool is_restless =
                            std::any_of(restless.begin(), restless.end(),
                                        [&](const entry& e) { return &e == due[i]; });
                        if (is_restless) {
                            w.insert(*due[i], i); // Long past.
                            BOOST_REQUIRE_EQUAL(due[i]->deadline(), 1000U);
                        }
                    }
                }
                // All others expired before any of these expired for the second time.
                BOOST_TEST_REQUIRE(expired.size() >= 400U);
                for (const entry& e : others) {
                    BOOST_TEST(!e.filed());
                    const auto place = std::find(expired.begin(), expired.end(), &e);
                    BOOST_TEST((place - expired.begin()) < 200);
                }
            }
        }
    }
}

TEST_CASE_FOR_EACH(what_is_erased_between_slices_does_not_expire, with_shapes, shape s) {
    sliced at(s);
    at.w.erase(*at.left[6]);
    at.w.erase(*at.left[0]);
    at.w.erase(*at.left[3]);
    check_invariants(at.w);
    BOOST_TEST(at.w.size() == 4U);
    BOOST_TEST(expire(at.w, 100).size() == 4U);
    BOOST_TEST(at.w.empty());
    check_invariants(at.w);
}

BOOST_AUTO_TEST_CASE(nothing_is_left_when_all_that_was_left_over_is_erased) {
    for (const shape s : shapes) {
        for (const bool backwards : {false, true}) {
            BOOST_TEST_CONTEXT(s) {
                sliced at(s);
                if (backwards) {
                    std::reverse(at.left.begin(), at.left.end());
                }
                for (entry* const e : at.left) {
                    BOOST_TEST(at.w.next_expiry() == 100U);
                    at.w.erase(*e);
                    check_invariants(at.w);
                }
                BOOST_TEST(at.w.empty());
                BOOST_TEST(at.w.next_expiry() == no_tick);
                const slice done = advance_once(at.w, 100, 1);
                BOOST_TEST(done.looked_at() == 0U);
                BOOST_TEST(!done.more);
            }
        }
    }
}

TEST_CASE_FOR_EACH(erasing_what_was_left_over_does_not_touch_what_came_into_its_slot_since,
                   with_shapes, shape s) {
    sliced at(s);
    entry_set fresh(2);
    at.w.insert(fresh[0], 100);
    at.w.insert(fresh[1], 100 + s.slots);
    for (entry* const e : at.left) {
        at.w.erase(*e);
        check_invariants(at.w);
    }
    BOOST_TEST(at.w.next_expiry() == 100U);
    BOOST_TEST(expire(at.w, 100 + s.slots) == (ticks{100, 100 + s.slots}), per_element);
}

TEST_CASE_FOR_EACH(what_is_postponed_between_slices_expires_at_its_new_time, with_shapes, shape s) {
    sliced at(s);
    at.w.postpone(*at.left[0], 101);
    at.w.postpone(*at.left[1], 100'000);
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100, 1) == ticks(5, 100), per_element);
    BOOST_TEST(at.w.next_expiry() == 101U);
    BOOST_TEST(expire(at.w, 101) == ticks{101}, per_element);
    BOOST_TEST(at.w.next_expiry() == 100'000U);
    BOOST_TEST(expire(at.w, 100'000) == ticks{100'000}, per_element);
}

TEST_CASE_FOR_EACH(what_is_rescheduled_between_slices_expires_at_its_new_time, with_shapes,
                   shape s) {
    sliced at(s);
    at.w.reschedule(*at.left[0], 150);
    at.w.reschedule(*at.left[1], 3); // In the past: it stays due.
    at.w.reschedule(*at.left[2], 100);
    at.w.reschedule(*at.left[3], 900);
    at.w.reschedule(*at.left[3], 120); // Later, and earlier again.
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100, 1) == ticks(5, 100), per_element);
    BOOST_TEST(expire(at.w, 149, 1) == ticks{120}, per_element);
    BOOST_TEST(expire(at.w, 150, 1) == ticks{150}, per_element);
    BOOST_TEST(at.w.empty());
}

BOOST_AUTO_TEST_CASE(what_still_has_to_be_filed_again_can_be_moved_to_any_time) {
    for (const tick_t target : {tick_t{0}, tick_t{256}, tick_t{257}, tick_t{270}, tick_t{300},
                                tick_t{511}, tick_t{512}, tick_t{100'000}}) {
        BOOST_TEST_CONTEXT("moved to " << target) {
            sliced_cascade at;
            entry& moved = *at.left.back();
            BOOST_TEST(moved.deadline() > 256U);
            at.w.reschedule(moved, target);
            check_invariants(at.w);
            const tick_t expected = std::max<tick_t>(target, 256);
            BOOST_TEST(moved.deadline() == expected);
            if (expected > 256) {
                expire(at.w, expected - 1, 1);
                BOOST_TEST(moved.filed());
            }
            expire(at.w, expected, 1);
            BOOST_TEST(!moved.filed());
            check_invariants(at.w);
            expire(at.w, 100'000, 1);
            BOOST_TEST(at.w.empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(what_still_has_to_be_filed_again_can_be_erased) {
    sliced_cascade at;
    ticks rest;
    for (entry& e : at.entries) {
        if (std::find(at.left.begin(), at.left.end(), &e) == at.left.end() && e.filed()) {
            rest.push_back(e.deadline());
        }
    }
    for (entry* const e : at.left) {
        at.w.erase(*e);
        check_invariants(at.w);
    }
    BOOST_TEST(at.w.size() == rest.size());
    BOOST_TEST(expire(at.w, 1000, 1) == rest, per_element);
}

TEST_CASE_FOR_EACH(what_is_replaced_between_slices_expires_as_its_replacement, with_shapes,
                   shape s) {
    sliced at(s);
    entry_set fresh(2);
    at.w.replace(*at.left[0], fresh[0]);
    at.w.replace(*at.left[6], fresh[1]);
    BOOST_TEST(!at.left[0]->filed());
    BOOST_TEST(fresh[0].filed());
    BOOST_TEST(fresh[0].deadline() == 100U);
    check_invariants(at.w);
    at.w.erase(fresh[1]);
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100, 1).size() == 6U);
    BOOST_TEST(!fresh[0].filed());
    BOOST_TEST(at.w.empty());
}

TEST_CASE_FOR_EACH(time_may_go_on_between_slices, with_shapes, shape s) {
    sliced at(s);
    entry later;
    at.w.insert(later, 500);
    ticks expected(7, 100);
    expected.push_back(500);
    BOOST_TEST(expire(at.w, 1000, 2) == expected, per_element);
    BOOST_TEST(at.w.elapsed() == 1000U);
}

BOOST_AUTO_TEST_SUITE_END()
