// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The time of the next expiry: what next_expiry() caches, and what find_next_expiry() searches for.

#include <asio_wheel/wheel.hpp>

#include "support/each.hpp"
#include "support/wheel_fixture.hpp"
#include "support/wheel_inspector.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::wheel_inspector;

static_assert(noexcept(std::declval<wheel&>().find_next_expiry()));
static_assert(noexcept(std::declval<wheel&>().find_next_expiry(1)));

struct answer {
    tick_t tick;
    std::size_t calls;
};

// Searches with a budget of one until the result is known.
answer find_step_by_step(wheel& w) {
    const tick_t now = w.elapsed();
    const tick_t told = w.now();
    for (std::size_t calls = 1;; ++calls) {
        BOOST_REQUIRE_LE(calls, 1 + 3 * w.size());
        const std::optional<tick_t> found = w.find_next_expiry(1);
        BOOST_REQUIRE_EQUAL(w.elapsed(), now);
        BOOST_REQUIRE_EQUAL(w.now(), told);
        check_invariants(w);
        if (found) {
            return {*found, calls};
        }
        BOOST_REQUIRE_LE(w.next_expiry(), told); // A driver that asks now must return at once.
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_next_expiry)

TEST_CASE_FOR_EACH(an_empty_wheel_has_none, with_wheels, wheel& w) {
    BOOST_TEST(w.next_expiry() == no_tick);
    BOOST_TEST(w.find_next_expiry() == no_tick);
    BOOST_TEST((w.find_next_expiry(1) == no_tick));
    entry a;
    w.insert(a, 1000);
    w.erase(a);
    BOOST_TEST(w.find_next_expiry() == no_tick);
    BOOST_TEST(w.next_expiry() == no_tick);
    check_invariants(w);
}

TEST_CASE_FOR_EACH(of_entries_that_were_only_inserted_it_is_found_without_filing_any_again,
                   with_random_wheels, wheel& w, std::mt19937_64& random) {
    entry_set entries(200);
    tick_t first = no_tick;
    for (entry& e : entries) {
        const tick_t deadline = 1 + random() % (entries.size() * w.slots());
        w.insert(e, deadline);
        first = std::min(first, deadline);
        BOOST_REQUIRE((w.find_next_expiry(1) == first));
    }
    while (!w.empty()) {
        const std::optional<tick_t> next = w.find_next_expiry(1);
        BOOST_REQUIRE(next.has_value());
        BOOST_REQUIRE_EQUAL(*next, w.next_expiry());
        const ticks expired = expire(w, *next);
        BOOST_REQUIRE(!expired.empty());
        BOOST_REQUIRE_EQUAL(expired.back(), *next);
        check_invariants(w);
    }
}

TEST_CASE_FOR_EACH(it_is_exact_after_entries_were_postponed_or_erased, with_random_wheels, wheel& w,
                   std::mt19937_64& random) {
    entry_set entries(60);
    for (int round = 0; round < 20; ++round) {
        for (entry& e : entries) {
            if (!e.filed()) {
                w.insert(e, w.now() + any_distance(random) % 100'000);
            } else if (random() % 2 == 0) {
                w.postpone(e, e.deadline() + any_distance(random) % 100'000);
            } else if (random() % 4 == 0) {
                w.erase(e);
            }
        }
        tick_t first = no_tick;
        for (const entry& e : entries) {
            first = e.filed() ? std::min(first, e.deadline()) : first;
        }
        BOOST_REQUIRE_LE(w.next_expiry(), first);
        const bool at_once = random() % 2 == 0;
        BOOST_REQUIRE_EQUAL(at_once ? w.find_next_expiry() : find_step_by_step(w).tick, first);
        BOOST_REQUIRE_EQUAL(w.next_expiry(), first); // The wheel caches the result.
        check_invariants(w);
        expire(w, first);
    }
}

// A postponed entry is filed again in the right slot, and its old slot is no longer considered.
BOOST_AUTO_TEST_CASE(a_lone_postponed_entry_is_filed_again_once) {
    for (const shape s : shapes) {
        for (unsigned power = 1; power < 63; ++power) {
            BOOST_TEST_CONTEXT(s << ", postponed from 1000 by 2^" << power) {
                wheel w(s.slots, s.levels);
                entry e;
                w.insert(e, 1000);
                w.postpone(e, 1000 + edge(power));
                const answer found = find_step_by_step(w);
                BOOST_TEST(found.tick == 1000 + edge(power));
                BOOST_TEST(found.calls == 1U);
                BOOST_TEST(w.next_expiry() == 1000 + edge(power));
                BOOST_TEST(wheel_inspector::occupied(w) == 1U);
                BOOST_TEST(w.cascaded() == 0U); // Time has not passed.
                BOOST_TEST((w.find_next_expiry(1) == 1000 + edge(power)));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(no_call_files_more_entries_again_than_its_budget_and_the_next_goes_on) {
    constexpr std::size_t count = 1000;
    for (const shape s : shapes) {
        for (const std::size_t budget : {1U, 7U, 999U, 1000U, 1001U}) {
            BOOST_TEST_CONTEXT(s << ", budget " << budget) {
                wheel w(s.slots, s.levels);
                entry_set entries(count);
                for (entry& e : entries) {
                    w.insert(e, 100);
                }
                for (entry& e : entries) {
                    w.postpone(e, 50'000'000);
                }
                std::size_t calls = 1;
                std::optional<tick_t> found;
                while (!(found = w.find_next_expiry(budget))) {
                    check_invariants(w);
                    // The entry that it filed again moved from the slot of tick 100 to a later one.
                    std::size_t moved = 0;
                    for (const entry& e : entries) {
                        moved += wheel_inspector::in_opened(w, e) ? 0 : 1;
                    }
                    BOOST_REQUIRE_EQUAL(moved, calls * budget);
                    BOOST_REQUIRE_LE(++calls, count + 1);
                }
                BOOST_TEST(*found == 50'000'000U);
                BOOST_TEST(calls == (count + budget - 1) / budget);
                BOOST_TEST(expire(w, 49'999'999).empty());
                BOOST_TEST(expire(w, 50'000'000).size() == count);
            }
        }
    }
}

// Left-over entries are not considered due merely because they have not been visited yet.
BOOST_AUTO_TEST_CASE(it_is_exact_after_an_advance_that_ran_out_of_budget) {
    for (const shape s : shapes) {
        for (const std::size_t budget : {1U, 3U, 9U}) {
            BOOST_TEST_CONTEXT(s << ", budget " << budget) {
                wheel w(s.slots, s.levels);
                entry_set entries(10);
                for (entry& e : entries) {
                    w.insert(e, 100);
                }
                for (tick_t i = 0; i < entries.size(); ++i) {
                    w.postpone(entries[i], 700 + i);
                }
                wheel_entry* due[16] = {};
                const auto [expired, more] = w.advance(100, budget, due);
                BOOST_TEST_REQUIRE(expired == 0U);
                BOOST_TEST_REQUIRE(more);
                BOOST_TEST_REQUIRE(w.elapsed() == 100U);
                const answer found = find_step_by_step(w);
                BOOST_TEST(found.tick == 700U);
                BOOST_TEST(found.calls == 10 - budget); // Each call files one of the others again.
                BOOST_TEST(w.next_expiry() == 700U);
                BOOST_TEST(expire(w, 699).empty());
                BOOST_TEST(expire(w, 700) == ticks{700}, per_element);
            }
        }
    }
}

TEST_CASE_FOR_EACH(it_is_now_if_an_advance_that_ran_out_of_budget_left_something_that_is_due,
                   with_wheels, wheel& w) {
    entry_set entries(50);
    for (entry& e : entries) {
        w.insert(e, 100);
    }
    wheel_entry* due[1] = {};
    BOOST_TEST_REQUIRE(w.advance(100, 1, due).more);
    // Repeated searches do no more work: one due entry is enough.
    for (int i = 0; i < 100; ++i) {
        BOOST_REQUIRE((w.find_next_expiry(1) == 100U));
        check_invariants(w);
    }
    BOOST_TEST(expire(w, 100, 7).size() == 49U);
    BOOST_TEST(w.find_next_expiry() == no_tick);
}

TEST_CASE_FOR_EACH(the_one_that_is_due_may_be_the_last_that_was_left_over, with_wheels, wheel& w) {
    entry_set entries(40);
    for (entry& e : entries) {
        w.insert(e, 100);
    }
    wheel_entry* due[1] = {};
    BOOST_TEST_REQUIRE(w.advance(100, 1, due).more);
    for (entry& e : entries) {
        if (e.filed() && &e != &entries.back()) {
            w.postpone(e, 5000);
        }
    }
    const answer found = find_step_by_step(w);
    BOOST_TEST(found.tick == 100U);
    BOOST_TEST(found.calls > 20U);
    BOOST_TEST(expire(w, 4999) == ticks{100}, per_element);
    BOOST_TEST(find_step_by_step(w).tick == 5000U);
}

TEST_CASE_FOR_EACH(entries_may_change_while_it_is_being_found, with_wheels, wheel& w) {
    entry_set entries(30);
    for (entry& e : entries) {
        w.insert(e, 100);
    }
    for (entry& e : entries) {
        w.postpone(e, 9000);
    }
    BOOST_TEST(!w.find_next_expiry(20).has_value());
    entry fresh;
    w.insert(fresh, 800);
    w.reschedule(entries[0], 700);
    w.reschedule(entries[29], 600);
    w.postpone(entries[3], 9500);
    w.erase(entries[15]);
    check_invariants(w);
    BOOST_TEST(find_step_by_step(w).tick == 600U);
    w.erase(entries[29]);
    BOOST_TEST(find_step_by_step(w).tick == 700U);
    w.postpone(entries[0], 850);
    BOOST_TEST(find_step_by_step(w).tick == 800U);
    ticks expected(26, 9000);
    expected.insert(expected.begin(), {800, 850});
    expected.push_back(9500);
    BOOST_TEST(expire(w, 10'000, 3) == expected, per_element);
}

TEST_CASE_FOR_EACH(time_may_go_on_while_it_is_being_found, with_wheels, wheel& w) {
    entry_set entries(30);
    for (entry& e : entries) {
        w.insert(e, 100);
    }
    for (tick_t i = 0; i < entries.size(); ++i) {
        w.postpone(entries[i], 200 + 10 * i);
    }
    BOOST_TEST(!w.find_next_expiry(20).has_value());
    BOOST_TEST(expire(w, 150, 2).empty());
    BOOST_TEST(w.find_next_expiry() == 200U);
    w.postpone(entries[0], 1000);
    static_cast<void>(w.find_next_expiry(1));
    BOOST_TEST(expire(w, 229, 2) == (ticks{210, 220}), per_element);
    BOOST_TEST(find_step_by_step(w).tick == 230U);
}

TEST_CASE_FOR_EACH(it_is_found_at_the_end_of_time, with_wheels, wheel& w) {
    entry_set entries(2);
    w.insert(entries[0], 5);
    w.postpone(entries[0], no_tick);
    BOOST_TEST(find_step_by_step(w).tick == last_tick);
    w.insert(entries[1], no_tick);
    BOOST_TEST(find_step_by_step(w).tick == last_tick);
    BOOST_TEST(expire(w, last_tick) == ticks(2, last_tick), per_element);
}

// A wheel with lazy expiries queries them before it files an entry again, and for the next expiry.
// It hands out an entry whose tick has come without a query.
BOOST_AUTO_TEST_CASE(a_wheel_asks_for_the_deadlines_of_what_it_files_again) {
    struct lease : entry {
        tick_t now_for = 0; // no_tick: never.
    };
    std::size_t asked = 0;
    const auto look = [](void* context, wheel_entry& e) noexcept {
        ++*static_cast<std::size_t*>(context);
        return static_cast<lease&>(e).now_for;
    };
    wheel w(4, 6, look, &asked);
    lease gone, later, due;
    w.insert(gone, 100);
    w.insert(later, 110);
    w.insert(due, 120);
    gone.now_for = no_tick;
    later.now_for = 5000;
    due.now_for = 120;
    BOOST_TEST(w.next_expiry() <= 100U);
    BOOST_TEST(w.find_next_expiry() == 120U);
    BOOST_TEST(w.find_next_expiry() == 120U);
    BOOST_TEST(!gone.filed());
    BOOST_TEST(w.size() == 2U);
    BOOST_TEST(asked >= 3U);
    check_invariants(w);
    std::array<wheel_entry*, 8> out{};
    const auto first = w.advance(4000, 100, out);
    BOOST_TEST(first.expired == 1U);
    BOOST_TEST(out[0] == &due);
    due.now_for = 6000; // Its tick has come before: advance() hands it out without a query.
    w.insert(due, 4500);
    const auto second = w.advance(4500, 100, out);
    BOOST_TEST(second.expired == 1U);
    BOOST_TEST(w.advance(5000, 100, out).expired == 1U);
    BOOST_TEST(out[0] == &later);
    BOOST_TEST(w.empty());
}

BOOST_AUTO_TEST_SUITE_END()
