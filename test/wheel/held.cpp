// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Held entries: their tick has come, but not their exact time within it.

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/wheel_fixture.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

static_assert(noexcept(std::declval<wheel&>().hold(std::declval<wheel_entry&>())));
static_assert(noexcept(std::declval<wheel&>().release_held()));

// Entries that expired at tick 100 and have been held since, and one that is due long after.
struct holding {
    explicit holding(shape s, std::size_t count = 3) : w(s.slots, s.levels), held(count) {
        for (entry& e : held) {
            w.insert(e, 100);
        }
        w.insert(later, 5000);
        BOOST_TEST_REQUIRE(expire(w, 100).size() == count);
        for (entry& e : held) {
            w.hold(e);
        }
        check_invariants(w);
    }

    wheel w;
    entry_set held;
    entry later;
};

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_held)

TEST_CASE_FOR_EACH(a_held_entry_is_filed_with_the_tick_that_was_told, with_shapes, shape s) {
    const holding at(s);
    BOOST_TEST(at.w.size() == 4U);
    for (const entry& e : at.held) {
        BOOST_TEST(e.filed());
        BOOST_TEST(e.deadline() == 100U);
    }
}

TEST_CASE_FOR_EACH(advance_does_not_hand_out_what_is_held, with_shapes, shape s) {
    holding at(s);
    for (const tick_t now : {tick_t{100}, tick_t{99}, tick_t{0}, tick_t{100}}) {
        const slice nothing = advance_once(at.w, now, 1);
        BOOST_TEST(nothing.looked_at() == 0U);
        BOOST_TEST(!nothing.more);
        check_invariants(at.w);
    }
    entry fresh; // Others of its tick are not held back.
    at.w.insert(fresh, 100);
    BOOST_TEST(expire(at.w, 100) == ticks{100}, per_element);
    BOOST_TEST(!fresh.filed());
    BOOST_TEST(at.w.size() == 4U);
}

TEST_CASE_FOR_EACH(what_was_released_is_due_at_the_next_advance, with_shapes, shape s) {
    holding at(s);
    at.w.release_held();
    check_invariants(at.w);
    BOOST_TEST(at.w.size() == 4U);
    BOOST_TEST(at.w.next_expiry() <= 100U);
    BOOST_TEST(expire(at.w, 100, 1) == ticks(3, 100), per_element);
    BOOST_TEST(at.w.next_expiry() == 5000U);
    check_invariants(at.w);
}

TEST_CASE_FOR_EACH(what_was_released_is_due_even_if_the_clock_then_goes_backwards, with_shapes,
                   shape s) {
    holding at(s);
    BOOST_TEST_REQUIRE(at.w.elapsed() == 100U);
    at.w.release_held();
    BOOST_TEST(expire(at.w, 7) == ticks(3, 100), per_element);
}

TEST_CASE_FOR_EACH(an_entry_can_be_held_again_and_again, with_shapes, shape s) {
    holding at(s);
    std::array<wheel_entry*, 8> due{};
    for (int pass = 0; pass < 20; ++pass) {
        at.w.release_held();
        const auto [expired, more] = at.w.advance(100, 64, due);
        BOOST_REQUIRE_EQUAL(expired, 3U);
        BOOST_REQUIRE(!more);
        for (wheel_entry* const e : std::span(due).first(expired)) {
            at.w.hold(*e);
            BOOST_REQUIRE_EQUAL(e->deadline(), 100U);
        }
        check_invariants(at.w);
    }
}

TEST_CASE_FOR_EACH(what_is_held_in_one_slice_is_not_handed_out_by_the_next, with_wheels, wheel& w) {
    entry_set entries(50);
    for (entry& e : entries) {
        w.insert(e, 10);
    }
    std::array<wheel_entry*, 8> due{};
    for (int pass = 0; pass < 3; ++pass) {
        w.release_held();
        std::size_t handed_out = 0;
        for (bool more = true; more;) {
            const wheel::progress done = w.advance(10, 7, due);
            handed_out += done.expired;
            more = done.more;
            for (wheel_entry* const e : std::span(due).first(done.expired)) {
                w.hold(*e);
            }
            check_invariants(w);
        }
        BOOST_TEST(handed_out == 50U);
        BOOST_TEST(w.size() == 50U);
    }
}

BOOST_AUTO_TEST_CASE(what_is_held_is_due_when_time_goes_on_to_a_later_tick) {
    for (const shape s : shapes) {
        for (const tick_t now : {tick_t{101}, tick_t{4999}, last_tick}) {
            BOOST_TEST_CONTEXT(s << ", at " << now) {
                holding at(s);
                const ticks expired = expire(at.w, now, 1);
                BOOST_TEST(std::count(expired.begin(), expired.end(), 100U) == 3);
                BOOST_TEST(expired.front() == 100U); // In order of deadlines.
                BOOST_TEST(at.w.size() == (now == last_tick ? 0U : 1U));
                check_invariants(at.w);
            }
        }
    }
}

TEST_CASE_FOR_EACH(the_next_expiry_is_not_later_than_what_is_held, with_shapes, shape s) {
    holding at(s, 1);
    const auto expect_held = [&] {
        BOOST_TEST(at.w.next_expiry() <= 100U);
        BOOST_TEST(at.w.find_next_expiry() <= 100U);
        BOOST_TEST(at.w.find_next_expiry(1).value() <= 100U);
        check_invariants(at.w);
    };
    expect_held();
    expire(at.w, 100);
    expect_held();
    at.w.reschedule(at.later, 200); // Other entries come and go.
    at.w.erase(at.later);
    expect_held();
    at.w.insert(at.later, 300);
    expect_held();
    at.w.release_held();
    BOOST_TEST(at.w.next_expiry() <= 100U);
    BOOST_TEST(at.w.find_next_expiry() == 100U);
    check_invariants(at.w);
    expire(at.w, 100);
    BOOST_TEST(at.w.next_expiry() == 300U);
}

TEST_CASE_FOR_EACH(a_held_entry_can_be_erased, with_shapes, shape s) {
    holding at(s);
    for (entry& e : at.held) {
        BOOST_TEST(at.w.next_expiry() == 100U);
        at.w.erase(e);
        BOOST_TEST(!e.filed());
        check_invariants(at.w);
    }
    BOOST_TEST(at.w.size() == 1U);
    BOOST_TEST(at.w.next_expiry() == 5000U);
    at.w.release_held();
    BOOST_TEST(at.w.next_expiry() == 5000U);
    BOOST_TEST(expire(at.w, 4999).empty());
    check_invariants(at.w);
}

TEST_CASE_FOR_EACH(a_released_entry_can_be_erased, with_shapes, shape s) {
    holding at(s);
    at.w.release_held();
    for (entry& e : at.held) {
        at.w.erase(e);
        check_invariants(at.w);
    }
    BOOST_TEST(at.w.next_expiry() == 5000U);
    BOOST_TEST(expire(at.w, 4999).empty());
}

TEST_CASE_FOR_EACH(a_held_entry_can_be_replaced, with_shapes, shape s) {
    holding at(s, 1);
    entry fresh;
    at.w.replace(at.held[0], fresh);
    BOOST_TEST(!at.held[0].filed());
    BOOST_TEST(fresh.filed());
    BOOST_TEST(fresh.deadline() == 100U);
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100).empty());
    at.w.release_held();
    BOOST_TEST(expire(at.w, 100) == ticks{100}, per_element);
    BOOST_TEST(!fresh.filed());
}

BOOST_AUTO_TEST_CASE(a_held_entry_moved_to_a_later_tick_expires_then) {
    for (const shape s : shapes) {
        for (const bool released : {false, true}) {
            for (const tick_t target : {tick_t{101}, tick_t{130}, tick_t{4000}, last_tick}) {
                BOOST_TEST_CONTEXT(s << ", to " << target << (released ? ", released" : "")) {
                    holding at(s);
                    at.w.reschedule(at.held[0], target);
                    at.w.postpone(at.held[1], target);
                    BOOST_TEST(at.held[0].deadline() == target);
                    check_invariants(at.w);
                    if (released) {
                        at.w.release_held();
                        check_invariants(at.w);
                        BOOST_TEST(expire(at.w, 100) == ticks{100}, per_element);
                    }
                    const ticks before = expire(at.w, target - 1, 1);
                    BOOST_TEST(at.held[0].filed());
                    BOOST_TEST(at.held[1].filed());
                    BOOST_TEST(!at.held[2].filed() == (released || target > 101));
                    const ticks then = expire(at.w, target, 1);
                    BOOST_TEST(std::count(then.begin(), then.end(), target) == 2);
                    check_invariants(at.w);
                }
            }
        }
    }
}

TEST_CASE_FOR_EACH(a_held_entry_moved_within_its_tick_stays_held, with_shapes, shape s) {
    holding at(s);
    at.w.reschedule(at.held[0], 100);
    at.w.reschedule(at.held[1], 400);
    at.w.reschedule(at.held[1], 100); // There and back.
    BOOST_TEST(at.held[1].deadline() == 100U);
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100).empty());
    at.w.release_held();
    BOOST_TEST(expire(at.w, 100) == ticks(3, 100), per_element);
}

TEST_CASE_FOR_EACH(a_held_entry_moved_before_its_tick_is_due_at_the_next_advance, with_shapes,
                   shape s) {
    holding at(s);
    at.w.reschedule(at.held[1], 99);
    check_invariants(at.w);
    BOOST_TEST(expire(at.w, 100) == ticks{100}, per_element);
    BOOST_TEST(!at.held[1].filed());
    BOOST_TEST(at.held[0].filed());
    check_invariants(at.w);
}

BOOST_AUTO_TEST_CASE(a_released_entry_can_be_moved_to_any_time) {
    for (const shape s : shapes) {
        for (const tick_t target : {tick_t{0}, tick_t{99}, tick_t{100}, tick_t{101}, tick_t{900}}) {
            for (const bool another_is_held : {false, true}) {
                BOOST_TEST_CONTEXT(s << ", to " << target) {
                    holding at(s, 1);
                    at.w.release_held();
                    entry other;
                    if (another_is_held) {
                        at.w.hold(other);
                    }
                    at.w.reschedule(at.held[0], target);
                    check_invariants(at.w);
                    if (target > 100) {
                        BOOST_TEST(expire(at.w, 100).empty());
                        expire(at.w, target - 1);
                        BOOST_TEST(at.held[0].filed());
                    }
                    expire(at.w, std::max<tick_t>(target, 100));
                    BOOST_TEST(!at.held[0].filed());
                    check_invariants(at.w);
                }
            }
        }
    }
}

TEST_CASE_FOR_EACH(entries_may_be_held_while_an_advance_is_in_the_middle_of_a_slot, with_wheels,
                   wheel& w) {
    entry_set entries(20);
    for (entry& e : entries) {
        w.insert(e, 10);
    }
    std::array<wheel_entry*, 5> due{};
    BOOST_TEST_REQUIRE(w.advance(10, 64, due).more);
    for (wheel_entry* const e : due) {
        w.hold(*e);
    }
    check_invariants(w);
    w.release_held(); // They join the entries that are left over.
    check_invariants(w);
    BOOST_TEST(w.size() == 20U);
    BOOST_TEST(expire(w, 10, 3) == ticks(20, 10), per_element);
}

// Time lags behind the last advance() if the next slot has begun but its first entry is not due.
TEST_CASE_FOR_EACH(what_is_held_while_time_lags_behind_is_due_at_its_tick, with_wheels, wheel& w) {
    entry_set entries(2);
    w.insert(entries[0], 1'000'000);
    BOOST_TEST(expire(w, 999'999).empty());
    w.hold(entries[1]);
    BOOST_TEST(entries[1].deadline() == 999'999U);
    check_invariants(w);
    BOOST_TEST(expire(w, 999'999).empty());
    w.release_held();
    check_invariants(w);
    BOOST_TEST(expire(w, 999'999) == ticks{999'999}, per_element);
    BOOST_TEST(w.next_expiry() == 1'000'000U);
    check_invariants(w);
}

TEST_CASE_FOR_EACH(held_entries_may_come_from_anywhere_and_at_any_time, with_wheels, wheel& w) {
    entry_set entries(2);
    w.release_held();   // Nothing is held.
    w.hold(entries[0]); // Before the first advance().
    BOOST_TEST(entries[0].deadline() == 0U);
    BOOST_TEST(w.next_expiry() == 0U);
    check_invariants(w);
    BOOST_TEST(expire(w, 0).empty());
    w.release_held();
    BOOST_TEST(expire(w, 0) == ticks{0}, per_element);
    expire(w, last_tick);
    w.hold(entries[1]); // At the end of time.
    BOOST_TEST(expire(w, no_tick).empty());
    BOOST_TEST(w.next_expiry() == last_tick);
    w.release_held();
    BOOST_TEST(expire(w, no_tick) == ticks{last_tick}, per_element);
    BOOST_TEST(w.next_expiry() == no_tick);
}

BOOST_AUTO_TEST_CASE(what_is_held_when_the_wheel_ends_is_forgotten) {
    entry a;
    {
        wheel w(16, 2);
        w.hold(a);
    }
    BOOST_TEST(a.filed());
}

BOOST_AUTO_TEST_SUITE_END()
