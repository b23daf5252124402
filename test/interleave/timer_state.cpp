// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// A timer's state by itself, without a wheel, a context or a clock: what its owner does without the
// lock, while a visit changes the same timer.

#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/visit_count.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include "interleave/support/explorer.hpp"

#include <boost/test/unit_test.hpp>

#include <mutex>

namespace {

using namespace asio_wheel::detail;
using namespace asio_wheel::test::interleave;

struct some_wait : wait_node {
    some_wait() : wait_node(form()) {}
};

/// A timer for time 1, and a wheel that knows nothing but it.
struct scene {
    timer_state timer;
    some_wait wait;
    visit_count visits;
    mutex lock;
    bool due = false; ///< A visit has made the wait due.

    explicit scene(timer_life life) {
        timer.expiry.set(1);
        timer.set_life(timer_life::waiting); // Filed.
        if (life == timer_life::tombstone) {
            timer.set_life(life);
        } else {
            timer.waits.push_back(wait);
            wait.owner = &timer;
        }
    }

    /// What the wheel does when its time is `now`: a visit, and the delivery of what is due.
    void visit(time_count now) {
        look(now);
        const std::lock_guard<mutex> guard(lock);
        if (timer.life() == timer_life::due) {
            timer.waits.clear();
            timer.set_life(timer_life::inactive);
        }
    }

    void look(time_count now) {
        const std::lock_guard<mutex> guard(lock);
        visits.begin();
        const timer_life life = timer.drop_if_tombstone();
        if ((life == timer_life::waiting || life == timer_life::guarded) &&
            timer.expiry.get_in_visit() <= now) {
            check(!timer.waits.empty(), "a timer that waits has a wait");
            timer.overwrite_life(life, timer_life::due);
            due = true;
        }
        visits.end(false);
    }

    [[nodiscard]] bool start() { return timer.try_start(wait, true); }

    /// Whether the owner has cancelled the wait.
    [[nodiscard]] bool cancel() {
        const visit_count::glance glance(visits);
        switch (timer.try_cancel(glance, true)) {
        case unlocked::done:
            break;
        case unlocked::refused:
            return false;
        case unlocked::met_visit:
            const std::lock_guard<mutex> guard(lock);
            if (!timer.was_cancelled()) {
                return false;
            }
        }
        timer.waits.clear();
        return true;
    }

    [[nodiscard]] unlocked postpone(time_count t) {
        const visit_count::glance glance(visits);
        return timer.try_postpone(t, glance, true);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_timer_state)

BOOST_AUTO_TEST_CASE(a_start_or_the_visit_that_drops_the_tombstone_wins) {
    explore_both("start", 3, {.schedules = 4, .outcomes = {"due", "dropped"}}, [] {
        scene s(timer_life::tombstone);
        bool waits = false;
        together([&] { waits = s.start(); }, [&] { s.visit(1); });
        check(waits == s.due, "the visit sees what has started, and nothing else");
        check(waits || s.timer.life() == timer_life::inactive, "or the timer has left the wheel");
        check(waits || (s.timer.waits.empty() && s.wait.owner == nullptr),
              "a start that fails leaves nothing");
        outcome(waits ? "due" : "dropped");
    });
}

BOOST_AUTO_TEST_CASE(a_wait_is_cancelled_or_due_and_never_both) {
    explore_both("cancel", 3, {.schedules = 5, .outcomes = {"cancelled", "due"}}, [] {
        scene s(timer_life::waiting);
        bool cancelled = false;
        together([&] { cancelled = s.cancel(); }, [&] { s.visit(1); });
        check(cancelled != s.due, "one of them has the wait");
        outcome(cancelled ? "cancelled" : "due");
    });
}

BOOST_AUTO_TEST_CASE(two_visits_decide_once_about_a_wait_that_is_cancelled) {
    explore_both(
        "cancel_and_two_visits", 2, {.schedules = 10, .outcomes = {"cancelled", "due"}}, [] {
            scene s(timer_life::waiting);
            bool cancelled = false;
            together([&] { cancelled = s.cancel(); }, [&] { s.visit(0); }, [&] { s.visit(1); });
            check(cancelled != s.due, "one of them has the wait");
            outcome(cancelled ? "cancelled" : "due");
        });
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_and_started_again_is_due_once) {
    explore_both("cancel_and_start", 2,
                 {.schedules = 10, .outcomes = {"due at first", "due again", "dropped"}}, [] {
                     scene s(timer_life::waiting);
                     bool cancelled = false;
                     bool again = false;
                     together(
                         [&] {
                             cancelled = s.cancel();
                             again = cancelled && s.start();
                         },
                         [&] { s.visit(1); }, [&] { s.visit(1); });
                     check(s.due == (again || !cancelled) ||
                               (again && s.timer.life() == timer_life::waiting),
                           "a wait that goes on is due, or still filed");
                     outcome(!cancelled ? "due at first" : again ? "due again" : "dropped");
                 });
}

BOOST_AUTO_TEST_CASE(a_wait_that_was_postponed_without_a_visit_is_not_due) {
    explore_both(
        "postpone", 3, {.schedules = 5, .outcomes = {"postponed", "met, due", "met, not due"}}, [] {
            scene s(timer_life::waiting);
            unlocked result = unlocked::refused;
            together([&] { result = s.postpone(2); }, [&] { s.visit(1); });
            check(result != unlocked::done || !s.due, "what was postponed goes on");
            if (result == unlocked::refused) {
                check(s.due, "the visit was first");
                return outcome("met, due");
            }
            outcome(result == unlocked::done ? "postponed" : s.due ? "met, due" : "met, not due");
        });
}

// While the wheel gives way, the count stays odd.
BOOST_AUTO_TEST_CASE(owners_meet_a_visit_as_long_as_its_count_stays_odd) {
    scene s(timer_life::waiting);
    s.visits.begin();
    s.visits.end(true);
    BOOST_TEST((s.postpone(2) == unlocked::met_visit));
    s.visits.begin(); // The next one.
    s.visits.end(true);
    const visit_count::glance during(s.visits);
    BOOST_TEST((s.timer.try_cancel(during, true) == unlocked::met_visit));
    BOOST_TEST(s.timer.was_cancelled());
    s.visits.begin();
    s.visits.end(false);
    BOOST_TEST(s.start());
    BOOST_TEST((s.postpone(3) == unlocked::done));
}

BOOST_AUTO_TEST_CASE(only_the_states_of_the_table_can_be_left_without_the_lock) {
    for (const bool concurrent : {false, true}) {
        for (const timer_life life : {timer_life::inactive, timer_life::guarded, timer_life::due}) {
            scene s(timer_life::waiting);
            s.timer.waits.clear();
            s.timer.set_life(life);
            const visit_count::glance glance(s.visits);
            BOOST_TEST(!s.timer.try_start(s.wait, concurrent));
            BOOST_TEST(s.timer.waits.empty());
            BOOST_TEST((s.timer.try_cancel(glance, concurrent) == unlocked::refused));
            BOOST_TEST((s.timer.try_postpone(2, glance, concurrent) == unlocked::refused));
            BOOST_TEST((s.timer.life() == life));
            BOOST_TEST((s.timer.expiry.get() == 1));
        }
        scene s(timer_life::waiting);
        const visit_count::glance glance(s.visits);
        BOOST_TEST(
            (s.timer.try_postpone(0, glance, concurrent) == unlocked::refused)); // An earlier time.
        BOOST_TEST((s.timer.expiry.get() == 1));
        BOOST_TEST(!s.timer.try_start(s.wait, concurrent));
    }
}

BOOST_AUTO_TEST_SUITE_END()
