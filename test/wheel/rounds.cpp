// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Turns of the ring of one level: the order of expiries, and the results of next_expiry().

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/seed.hpp"
#include "support/wheel_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_rounds)

BOOST_AUTO_TEST_CASE(sixty_three_ticks_in_sixteen_slots_take_three_turns_more) {
    wheel w(16, 1);
    entry e;
    w.insert(e, 63);
    for (tick_t t = 0; t < 63; ++t) {
        BOOST_TEST(expire(w, t).empty());
        BOOST_TEST(w.next_expiry() == 63U);
    }
    BOOST_TEST(expire(w, 63) == ticks{63}, per_element);
}

BOOST_AUTO_TEST_CASE(
    entries_of_one_slot_expire_each_in_its_own_round_in_whichever_order_they_came) {
    for (const shape s : {shape{2, 1}, shape{16, 1}, shape{64, 1}, shape{256, 1}, shape{4, 3}}) {
        for (const bool descending : {false, true}) {
            BOOST_TEST_CONTEXT(s << (descending ? ", descending" : ", ascending")) {
                tick_t turn = 1; // The wheel's whole range: deadlines this far apart share a slot.
                for (unsigned level = 0; level < s.levels; ++level) {
                    turn *= s.slots;
                }
                wheel w(s.slots, s.levels);
                entry_set entries(20);
                ticks expected;
                for (tick_t round = 0; round < entries.size(); ++round) {
                    const tick_t r = descending ? entries.size() - 1 - round : round;
                    w.insert(entries[r], turn - 1 + turn * r);
                    expected.push_back(turn - 1 + turn * round);
                }
                check_invariants(w);
                for (const tick_t deadline : expected) {
                    BOOST_TEST(w.next_expiry() == deadline);
                    BOOST_TEST(expire(w, deadline - 1).empty());
                    BOOST_TEST(expire(w, deadline) == ticks{deadline}, per_element);
                    check_invariants(w);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_ring_is_searched_round_the_corner) {
    wheel w(16, 1);
    start_at(w, 12);
    entry_set entries(4);
    w.insert(entries[0], 12 + 16 * 3); // The current slot, three turns ahead.
    w.insert(entries[1], 14 + 16 * 2);
    w.insert(entries[2], 17 + 16); // Past the end of the ring.
    w.insert(entries[3], 27 + 16);
    BOOST_TEST(w.next_expiry() == 33U);
    BOOST_TEST(expire(w, 1000) == (ticks{33, 43, 46, 60}), per_element);
}

BOOST_AUTO_TEST_CASE(a_late_advance_expires_in_the_order_of_deadlines) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (const shape s : shapes) {
        for (const tick_t range : {tick_t{300}, tick_t{100'000}, edge(40), last_tick}) {
            BOOST_TEST_CONTEXT(s << ", range " << range) {
                wheel w(s.slots, s.levels);
                start_at(w, range == last_tick ? 0 : random() % edge(50));
                entry_set entries(300);
                ticks deadlines;
                for (entry& e : entries) {
                    deadlines.push_back(w.elapsed() + random() % range);
                    w.insert(e, deadlines.back());
                }
                BOOST_TEST(expire(w, last_tick, 1 + random() % 50) == sorted(deadlines));
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(wheel_next_expiry)

TEST_CASE_FOR_EACH(it_is_exact_while_nothing_is_erased_or_moved, with_random_wheels, wheel& w,
                   std::mt19937_64& random) {
    entry_set entries(300);
    std::multiset<tick_t> deadlines;
    tick_t now = 0;
    for (entry& e : entries) {
        const tick_t distance = random() % 2 == 0 ? random() % 1000 : any_distance(random) >> 2;
        w.insert(e, std::min(now + distance, last_tick));
        deadlines.insert(e.deadline());
        BOOST_REQUIRE_EQUAL(w.next_expiry(), *deadlines.begin());
        now += any_distance(random) >> 56;
        for (const tick_t expired : expire(w, now)) {
            deadlines.erase(deadlines.find(expired));
        }
        BOOST_REQUIRE_EQUAL(w.next_expiry(), deadlines.empty() ? no_tick : *deadlines.begin());
    }
}

TEST_CASE_FOR_EACH(a_driver_that_sleeps_until_then_never_wakes_in_vain, with_wheels, wheel& w) {
    entry_set entries(100);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        w.insert(entries[i], (i + 1) * (i + 1) * (i + 1) * 97);
    }
    std::size_t wake_ups = 0;
    while (!w.empty()) {
        const tick_t next = w.next_expiry();
        BOOST_REQUIRE_EQUAL(expire(w, next).size(), 1U);
        ++wake_ups;
    }
    BOOST_TEST(wake_ups == 100U);
}

TEST_CASE_FOR_EACH(each_erased_or_postponed_entry_costs_one_wake_up_in_vain_at_most,
                   with_random_wheels, wheel& w, std::mt19937_64& random) {
    entry_set entries(200);
    for (entry& e : entries) {
        w.insert(e, random() % 100'000);
    }
    std::size_t changed = 0;
    for (entry& e : entries) {
        const auto choice = random() % 4;
        changed += choice < 3 ? 1 : 0;
        if (choice == 0) {
            w.erase(e);
        } else if (choice == 1) {
            w.postpone(e, e.deadline() + random() % 100'000);
        } else if (choice == 2) {
            w.reschedule(e, random() % 100'000);
        }
    }
    std::size_t in_vain = 0;
    while (!w.empty()) {
        in_vain += expire(w, w.next_expiry()).empty() ? 1 : 0;
    }
    BOOST_TEST(in_vain <= changed);
}

TEST_CASE_FOR_EACH(it_is_exact_when_an_erased_entry_had_its_slot_to_itself, with_shapes, shape s) {
    wheel w(s.slots, s.levels);
    entry_set entries(3);
    w.insert(entries[0], 1);
    w.insert(entries[1], 6);
    w.insert(entries[2], 1'000'000'000);
    w.erase(entries[0]);
    BOOST_TEST(w.next_expiry() == 6U);
    w.erase(entries[1]);
    if (s.slots * s.levels > 2) { // With two slots, the even ones share one.
        BOOST_TEST(w.next_expiry() == 1'000'000'000U);
    }
    BOOST_TEST(expire(w, 6).empty());
    BOOST_TEST(w.next_expiry() == 1'000'000'000U);
}

BOOST_AUTO_TEST_CASE(it_is_put_right_when_time_comes_by) {
    wheel w(256, 4);
    entry_set entries(2);
    w.insert(entries[0], 300);
    w.insert(entries[1], 310);
    w.erase(entries[0]);
    BOOST_TEST(w.next_expiry() <= 310U);
    BOOST_TEST(expire(w, 300).empty());
    BOOST_TEST(w.next_expiry() == 310U);
}

TEST_CASE_FOR_EACH(it_is_right_at_tick_0_too, with_wheels, wheel& w) {
    entry_set entries(3);
    w.insert(entries[0], 0);
    BOOST_TEST(w.next_expiry() == 0U);
    w.insert(entries[1], 8);
    w.insert(entries[2], 0);
    BOOST_TEST(w.next_expiry() == 0U);
    w.erase(entries[0]);
    BOOST_TEST(w.next_expiry() == 0U);
    check_invariants(w);
    BOOST_TEST(expire(w, 0) == ticks{0}, per_element);
    BOOST_TEST(w.next_expiry() == 8U);
}

TEST_CASE_FOR_EACH(entries_of_one_tick_expire_in_the_order_in_which_they_were_filed,
                   with_random_wheels, wheel& w, std::mt19937_64& random) {
    constexpr tick_t ticks = 3000;
    entry_set entries(1000);
    std::vector<std::pair<tick_t, std::size_t>> filed; // Deadline, and when it was filed.
    std::vector<wheel_entry*> due(entries.size());
    std::size_t next = 0;
    for (tick_t now = 0; now < ticks; now += 1 + random() % 20) {
        // Few deadlines, so that many are equal. They are filed from near and far.
        for (std::size_t n = random() % 10; n != 0 && next < entries.size(); --n, ++next) {
            const tick_t deadline = now + random() % (ticks - now);
            w.insert(entries[next], std::max(now, deadline / 100 * 100));
            filed.emplace_back(entries[next].deadline(), next);
        }
        std::sort(filed.begin(), filed.end());
        const slice whole = advance_once(w, now, 1'000'000, due);
        std::size_t in_order = 0;
        for (std::size_t i = 0; i < whole.expired; ++i) {
            in_order += due[i] == &entries[filed[i].second] ? 1 : 0;
        }
        BOOST_TEST_REQUIRE(in_order == whole.expired);
        filed.erase(filed.begin(), filed.begin() + static_cast<int>(whole.expired));
    }
}

BOOST_AUTO_TEST_CASE(a_question_for_the_next_expiry_between_two_slices_changes_no_order) {
    const auto same = [](void*, wheel_entry& e) noexcept { return e.deadline(); };
    for (const wheel::deadline_query query :
         {wheel::deadline_query(nullptr), wheel::deadline_query(same)}) {
        wheel w(256, 4, query, nullptr);
        entry_set entries(20); // More than a slot has lists.
        for (std::size_t i = 0; i < 20; ++i) {
            w.insert(entries[i], 10);
        }
        std::vector<wheel_entry*> due(1);
        for (std::size_t i = 0; i < 20; ++i) {
            BOOST_TEST(w.advance(10, 64, due).expired == 1U);
            BOOST_TEST(due.front() == &entries[i]);
            BOOST_TEST((w.find_next_expiry(1) == (i == 19 ? asio_wheel::no_tick : 10U)));
            check_invariants(w);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
