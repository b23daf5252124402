// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Entries whose deadlines change, or that leave the wheel: postpone, reschedule, erase, replace.

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/wheel_fixture.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::wheel_inspector;

// The position of an entry among others that are due at the same tick.
constexpr std::size_t places = 9;

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_moves)

BOOST_AUTO_TEST_CASE(a_postponed_entry_expires_at_its_new_time_only) {
    for (const shape s : shapes) {
        for (unsigned power = 1; power < 63; ++power) {
            for (const int off : {-1, 0, 1}) {
                const tick_t later = 1000 + edge(power, off);
                BOOST_TEST_CONTEXT(s << ", postponed from 1000 to " << later) {
                    wheel w(s.slots, s.levels);
                    entry e;
                    w.insert(e, 1000);
                    w.postpone(e, later);
                    BOOST_TEST(e.deadline() == later);
                    BOOST_TEST(w.next_expiry() <= later);
                    BOOST_TEST(expire(w, 1000).empty());
                    BOOST_TEST(w.next_expiry() == later); // Time has passed: exact again.
                    BOOST_TEST(expire(w, later - 1).empty());
                    BOOST_TEST(expire(w, later) == ticks{later}, per_element);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_postponed_entry_is_touched_when_its_old_slot_comes_up_and_not_before) {
    wheel w(256, 4);
    entry e;
    w.insert(e, 30'000);
    const unsigned level = wheel_inspector::level_of(w, e).value();
    for (tick_t now = 0; now < 30'000; now += 3) {
        BOOST_REQUIRE(expire(w, now).empty());
        w.postpone(e, now + 30'000);
        BOOST_REQUIRE_EQUAL(w.next_expiry(), 30'000U);
    }
    BOOST_TEST(wheel_inspector::level_of(w, e).value() == level);
    BOOST_TEST(w.cascaded() == 0U);
    BOOST_TEST(expire(w, 30'000).empty());
    BOOST_TEST(w.cascaded() == 1U);
    BOOST_TEST(w.next_expiry() == 59'997U);
    BOOST_TEST(expire(w, 59'997) == ticks{59'997}, per_element);
    BOOST_TEST(w.cascaded() == 1U);
}

TEST_CASE_FOR_EACH(postponing_one_entry_leaves_the_others_of_its_slot_alone, with_wheels,
                   wheel& w) {
    entry_set entries(places);
    for (entry& e : entries) {
        w.insert(e, 700);
    }
    w.postpone(entries[0], 700); // Stays in its slot.
    w.postpone(entries[4], 701);
    w.postpone(entries[8], no_tick);
    BOOST_TEST(entries[8].deadline() == last_tick);
    BOOST_TEST(expire(w, 700) == ticks(places - 2, 700), per_element);
    BOOST_TEST(expire(w, 701) == ticks{701}, per_element);
    BOOST_TEST(expire(w, last_tick - 1).empty());
    BOOST_TEST(expire(w, last_tick) == ticks{last_tick}, per_element);
}

BOOST_AUTO_TEST_CASE(a_rescheduled_entry_expires_at_its_new_time_only) {
    const ticks times{0,   1,    2,      100,    255,       256,      257,      300,      511,
                      512, 4096, 65'535, 65'536, 1'000'000, edge(32), edge(63), last_tick};
    for (const shape s : shapes) {
        for (const tick_t from : times) {
            for (const tick_t to : times) {
                BOOST_TEST_CONTEXT(s << ", moved from " << from << " to " << to) {
                    wheel w(s.slots, s.levels);
                    entry_set entries(2);
                    w.insert(entries[0], from);
                    w.insert(entries[1], from); // Keeps the slot occupied.
                    w.reschedule(entries[0], to);
                    BOOST_TEST(entries[0].deadline() == to);
                    BOOST_TEST(w.next_expiry() <= std::min(from, to));
                    check_invariants(w);
                    BOOST_TEST(expire(w, last_tick) == sorted({from, to}), per_element);
                }
            }
        }
    }
}

TEST_CASE_FOR_EACH(the_last_of_several_reschedules_wins, with_wheels, wheel& w) {
    entry_set entries(3);
    for (entry& e : entries) {
        w.insert(e, 1000);
    }
    w.reschedule(entries[0], 5000);
    w.reschedule(entries[0], 10);
    w.reschedule(entries[1], 10);
    w.reschedule(entries[1], 5000);
    w.reschedule(entries[2], no_tick);
    w.reschedule(entries[2], 999);
    check_invariants(w);
    BOOST_TEST(expire(w, 10'000) == (ticks{10, 999, 5000}), per_element);
}

TEST_CASE_FOR_EACH(an_entry_can_be_moved_earlier_after_time_has_entered_its_slot, with_wheels,
                   wheel& w) {
    entry e;
    w.insert(e, 200);
    BOOST_TEST(expire(w, 80).empty());
    w.reschedule(e, 120);
    BOOST_TEST(w.next_expiry() == 120U);
    BOOST_TEST(expire(w, 119).empty());
    BOOST_TEST(expire(w, 120) == ticks{120}, per_element);
}

TEST_CASE_FOR_EACH(an_entry_moved_into_the_past_is_due_at_the_next_advance, with_wheels, wheel& w) {
    entry_set entries(3);
    w.insert(entries[0], 5000);
    w.insert(entries[1], 5000);
    w.insert(entries[2], 6000);
    BOOST_TEST(expire(w, 1000).empty());
    w.reschedule(entries[0], 0);
    w.reschedule(entries[2], 500);
    BOOST_TEST(w.next_expiry() <= 1000U);
    check_invariants(w);
    BOOST_TEST(expire(w, 1000).size() == 2U);
    BOOST_TEST(entries[1].filed());
}

BOOST_AUTO_TEST_CASE(moving_later_is_one_store_by_whichever_name) {
    wheel w(256, 4);
    entry_set entries(2);
    for (entry& e : entries) {
        w.insert(e, 300);
    }
    w.postpone(entries[0], 1'000'000);
    w.reschedule(entries[1], 1'000'000);
    for (entry& e : entries) {
        BOOST_TEST(wheel_inspector::level_of(w, e).value() ==
                   1U); // In its old slot, not in the one for its deadline.
    }
    BOOST_TEST(expire(w, 300).empty());
    for (entry& e : entries) {
        BOOST_TEST(wheel_inspector::level_of(w, e).value() == 2U);
    }
    BOOST_TEST(expire(w, 1'000'000) == ticks(2, 1'000'000), per_element);
}

BOOST_AUTO_TEST_CASE(moving_earlier_is_one_store_where_the_slot_comes_up_early_enough) {
    wheel w(256, 4);
    entry_set entries(2);
    w.insert(entries[0], 260);
    w.insert(entries[1], 300);
    w.reschedule(entries[1], 260);
    BOOST_TEST(wheel_inspector::level_of(w, entries[1]).value() == 1U);
    w.reschedule(entries[1], 259); // The slot's earliest tick is 260, which would be too late.
    BOOST_TEST(w.next_expiry() == 259U);
    w.reschedule(entries[1], 255);
    BOOST_TEST(wheel_inspector::level_of(w, entries[1]).value() == 0U);
    BOOST_TEST(w.next_expiry() == 255U);
    BOOST_TEST(w.cascaded() == 0U);
    BOOST_TEST(expire(w, 300) == (ticks{255, 260}), per_element);
}

BOOST_AUTO_TEST_CASE(any_entry_of_a_slot_can_be_erased) {
    for (const shape s : shapes) {
        for (std::size_t place = 0; place < places; ++place) {
            BOOST_TEST_CONTEXT(s << ", place " << place) {
                wheel w(s.slots, s.levels);
                entry_set entries(places);
                for (entry& e : entries) {
                    w.insert(e, 12'345);
                }
                w.erase(entries[place]);
                BOOST_TEST(!entries[place].filed());
                BOOST_TEST(w.size() == places - 1);
                check_invariants(w);
                BOOST_TEST(expire(w, 12'345).size() == places - 1);
                BOOST_TEST(w.empty());
            }
        }
    }
}

TEST_CASE_FOR_EACH(every_entry_can_be_erased_in_any_order, with_random_wheels, wheel& w,
                   std::mt19937_64& random) {
    entry_set entries(200);
    std::vector<entry*> order;
    std::multiset<tick_t> left;
    for (entry& e : entries) {
        const tick_t deadline = random() % 2 == 0 ? random() % 50 : any_distance(random);
        w.insert(e, deadline);
        left.insert(e.deadline());
        order.push_back(&e);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (entry* const e : order) {
        left.erase(left.find(e->deadline()));
        w.erase(*e);
        BOOST_REQUIRE_EQUAL(w.size(), left.size());
        BOOST_REQUIRE_LE(w.next_expiry(), left.empty() ? no_tick : *left.begin());
    }
    BOOST_TEST(w.next_expiry() == no_tick);
    BOOST_TEST(expire(w, last_tick).empty());
    check_invariants(w);
}

BOOST_AUTO_TEST_CASE(a_replacement_takes_the_place_of_the_old_entry) {
    for (const shape s : shapes) {
        for (std::size_t place = 0; place < places; ++place) {
            BOOST_TEST_CONTEXT(s << ", place " << place) {
                wheel w(s.slots, s.levels);
                entry_set entries(places);
                for (entry& e : entries) {
                    w.insert(e, 777);
                }
                entry fresh;
                w.replace(entries[place], fresh);
                BOOST_TEST(!entries[place].filed());
                BOOST_TEST(fresh.filed());
                BOOST_TEST(fresh.deadline() == 777U);
                BOOST_TEST(w.size() == places);
                BOOST_TEST(w.next_expiry() == 777U);
                check_invariants(w);
                w.insert(entries[place], 800); // The old one is free.
                BOOST_TEST(expire(w, 777).size() == places);
                BOOST_TEST(!fresh.filed());
                BOOST_TEST(expire(w, 800).size() == 1U);
            }
        }
    }
}

TEST_CASE_FOR_EACH(a_replacement_can_be_erased_or_moved_like_any_other, with_wheels, wheel& w) {
    entry_set entries(4);
    w.insert(entries[0], 777); // Alone in its slot.
    w.replace(entries[0], entries[1]);
    w.erase(entries[1]);
    BOOST_TEST(w.next_expiry() == no_tick);
    check_invariants(w);
    w.insert(entries[0], 777);
    w.postpone(entries[0], 900);
    w.replace(entries[0], entries[2]); // Takes over the new deadline and the old slot.
    BOOST_TEST(entries[2].deadline() == 900U);
    w.replace(entries[2], entries[3]);
    w.reschedule(entries[3], 5);
    check_invariants(w);
    BOOST_TEST(expire(w, 10'000) == ticks{5}, per_element);
    BOOST_TEST(!entries[3].filed());
}

BOOST_AUTO_TEST_CASE(replacing_an_entry_that_is_not_filed_does_nothing) {
    wheel w(16, 2);
    entry_set entries(3);
    w.insert(entries[0], 5);
    w.replace(entries[1], entries[2]);
    BOOST_TEST(!entries[1].filed());
    BOOST_TEST(!entries[2].filed());
    BOOST_TEST(w.size() == 1U);
    check_invariants(w);
    expire(w, 5);
    w.replace(entries[0], entries[2]); // It has expired.
    BOOST_TEST(!entries[2].filed());
    BOOST_TEST(w.empty());
}

BOOST_AUTO_TEST_SUITE_END()
