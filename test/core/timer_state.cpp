// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// What a timer's owner does without the lock: the state, the expiry and the count of visits, by
// themselves and in one thread. A visit happens before, between or after the owner's operations.
// interleave/timer_state.cpp has all orders.

#define ASIO_WHEEL_SYNC_HEADER "support/watched_sync.hpp"

#include <asio_wheel/detail/core/timer_state.hpp>

#include <asio_wheel/detail/core/expiry_cell.hpp>
#include <asio_wheel/detail/core/visit_count.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>

namespace {

using namespace asio_wheel::detail;
using asio_wheel::test::before_exchange;
using asio_wheel::test::last_store;

struct some_wait : wait_node {
    some_wait() : wait_node(form()) {}
};

struct scene {
    timer_state timer;
    some_wait wait;
    visit_count visits;

    // As if it were filed.
    void begin_as(timer_life life) {
        if (life != timer_life::inactive) {
            timer.set_life(timer_life::waiting);
            timer.set_life(life);
        }
    }
    void begin_with_wait() {
        begin_as(timer_life::waiting);
        timer.waits.push_back(wait);
        wait.owner = &timer;
    }
    void visit(bool stay_odd = false) {
        visits.begin();
        visits.end(stay_odd);
    }
};

constexpr timer_life lives[] = {timer_life::inactive, timer_life::tombstone, timer_life::waiting,
                                timer_life::guarded, timer_life::due};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_state_)

// ---- The count of visits

BOOST_FIXTURE_TEST_CASE(an_owner_meets_a_visit_unless_it_was_over_before_or_begins_after, scene) {
    const visit_count::glance before(visits);
    BOOST_TEST(before.met_none());
    for (int i = 0; i < 3; ++i) {
        const visit_count::glance earlier(visits);
        visits.begin();
        const visit_count::glance during(visits);
        BOOST_TEST(!earlier.met_none());
        BOOST_TEST(!during.met_none());
        visits.end(false);
        BOOST_TEST(!earlier.met_none());
        BOOST_TEST(!during.met_none());
        const visit_count::glance after(visits);
        BOOST_TEST(after.met_none());
    }
    BOOST_TEST(!before.met_none());
}

BOOST_FIXTURE_TEST_CASE(owners_meet_visits_until_one_ends_for_good, scene) {
    for (int i = 0; i < 3; ++i) {
        visit(true);
        const visit_count::glance between(visits);
        BOOST_TEST(!between.met_none());
        visits.begin();
        const visit_count::glance during(visits);
        BOOST_TEST(!during.met_none());
        visits.end(true);
        BOOST_TEST(!during.met_none());
    }
    visit();
    const visit_count::glance after(visits);
    BOOST_TEST(after.met_none());
}

// ---- Starts

BOOST_AUTO_TEST_CASE(a_wait_starts_on_a_tombstone_and_nowhere_else) {
    for (const bool concurrent : {false, true}) {
        for (const timer_life life : lives) {
            scene s;
            s.begin_as(life);
            const bool is_tombstone = life == timer_life::tombstone;
            BOOST_TEST(s.timer.try_start(s.wait, concurrent) == is_tombstone);
            BOOST_TEST((s.timer.life() == (is_tombstone ? timer_life::waiting : life)));
            BOOST_TEST(s.timer.waits.empty() == !is_tombstone);
            BOOST_TEST(s.wait.owner == (is_tombstone ? &s.timer : nullptr));
            if (is_tombstone) {
                BOOST_TEST(&s.timer.waits.front() == &s.wait);
            }
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_start_that_comes_after_the_tombstone_was_dropped_leaves_nothing, scene) {
    begin_as(timer_life::tombstone);
    before_exchange = [this] { BOOST_TEST((timer.drop_if_tombstone() == timer_life::inactive)); };
    BOOST_TEST(!timer.try_start(wait, true));
    BOOST_TEST((timer.life() == timer_life::inactive));
    BOOST_TEST(timer.waits.empty());
    BOOST_TEST(wait.owner == nullptr);
}

BOOST_FIXTURE_TEST_CASE(a_visit_that_comes_after_a_start_does_not_drop_the_tombstone, scene) {
    begin_as(timer_life::tombstone);
    before_exchange = [this] { BOOST_TEST(timer.try_start(wait, true)); };
    BOOST_TEST((timer.drop_if_tombstone() == timer_life::waiting));
    BOOST_TEST((timer.life() == timer_life::waiting));
}

// ---- Cancellations

BOOST_AUTO_TEST_CASE(what_waits_is_cancelled_and_nothing_else) {
    for (const bool concurrent : {false, true}) {
        for (const timer_life life : lives) {
            scene s;
            s.begin_as(life);
            const bool waits = life == timer_life::waiting;
            const visit_count::glance glance(s.visits);
            BOOST_TEST((s.timer.try_cancel(glance, concurrent) ==
                        (waits ? unlocked::done : unlocked::refused)));
            BOOST_TEST((s.timer.life() == (waits ? timer_life::tombstone : life)));
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_that_has_met_a_visit_says_so, scene) {
    begin_with_wait();
    const visit_count::glance glance(visits);
    visit();
    BOOST_TEST((timer.try_cancel(glance, true) == unlocked::met_visit));
    BOOST_TEST((timer.life() == timer_life::tombstone));
    BOOST_TEST(timer.was_cancelled()); // The visit was before.
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_that_comes_after_a_visit_has_made_the_wait_due_is_refused,
                        scene) {
    begin_with_wait();
    const visit_count::glance glance(visits);
    before_exchange = [this] { timer.overwrite_life(timer_life::waiting, timer_life::due); };
    BOOST_TEST((timer.try_cancel(glance, true) == unlocked::refused));
    BOOST_TEST((timer.life() == timer_life::due));
    BOOST_TEST(timer.waits.size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_a_visit_has_left_tells_whether_it_saw_the_cancellation) {
    for (const timer_life life : lives) {
        scene s;
        s.begin_as(life);
        BOOST_TEST(!s.timer.was_cancelled()); // Another thread has taken the wait.
        s.timer.waits.push_back(s.wait);
        const bool cancelled = life == timer_life::tombstone || life == timer_life::inactive;
        BOOST_TEST(s.timer.was_cancelled() == cancelled);
    }
}

// ---- Postponements

BOOST_AUTO_TEST_CASE(what_waits_is_postponed_to_the_same_time_or_a_later_one) {
    for (const bool concurrent : {false, true}) {
        for (const timer_life life : lives) {
            for (const time_count t : {9, 10, 11}) {
                scene s;
                s.begin_as(life);
                s.timer.expiry.set(10);
                const bool goes = life == timer_life::waiting && t >= 10;
                const visit_count::glance glance(s.visits);
                BOOST_TEST((s.timer.try_postpone(t, glance, concurrent) ==
                            (goes ? unlocked::done : unlocked::refused)));
                BOOST_TEST(s.timer.expiry.get() == (goes ? t : 10));
                BOOST_TEST((s.timer.life() == life));
            }
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_postponement_that_has_met_a_visit_says_so, scene) {
    begin_with_wait();
    const visit_count::glance glance(visits);
    visit();
    BOOST_TEST((timer.try_postpone(10, glance, true) == unlocked::met_visit));
    BOOST_TEST(timer.expiry.get() == 10);
}

// ---- The expiry

BOOST_AUTO_TEST_CASE(an_expiry_is_what_was_set_last) {
    expiry_cell expiry;
    BOOST_TEST(expiry.get() == 0); // The epoch of the clock.
    expiry.set(7);
    BOOST_TEST(expiry.get() == 7);
    BOOST_TEST(expiry.get_in_visit() == 7);
    for (const bool concurrent : {false, true}) {
        const time_count t = concurrent ? 9 : 8;
        expiry.set_then_look(t, concurrent);
        BOOST_TEST(expiry.get() == t);
    }
    BOOST_TEST(!expiry.change(8, 5));
    BOOST_TEST(expiry.get() == 9);
    BOOST_TEST(expiry.change(9, 5));
    BOOST_TEST(expiry.get() == 5);
}

BOOST_AUTO_TEST_CASE(an_owner_that_looks_for_a_visit_pays_for_the_order_only_among_threads) {
    expiry_cell expiry;
    expiry.set_then_look(1, true);
    BOOST_TEST((last_store == std::memory_order_seq_cst));
    expiry.set_then_look(2, false);
    BOOST_TEST((last_store == std::memory_order_relaxed));
}

BOOST_AUTO_TEST_SUITE_END()
