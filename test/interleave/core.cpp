// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// The real core in all interleavings, with a queue, a driver and a clock that are deterministic:
// the owner of a timer beside a thread that runs the context. No Asio is involved.

#include "support/manual_core.hpp"

#include "interleave/support/explorer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <vector>

namespace {

using namespace asio_wheel::test;
using namespace asio_wheel::test::interleave;
using asio_wheel::detail::timer_life;
using asio_wheel::detail::timer_state;

/// A core, a timer and a wait for 1,050.
struct scene {
    manual_wait wait;
    manual_wait second;
    timer_state timer;
    manual_core core;

    explicit scene(bool tombstone = false) {
        timer.expiry.set(1'050);
        core.start(timer, tombstone ? second : wait);
        if (tombstone) {
            core.cancel(timer);
            core.run_until(1'000);
        }
        core.time = 1'060; // No thread changes it while they run together.
    }
    ~scene() {
        if (timer.life() != timer_life::unknown) {
            core->remove(timer);
        }
        core.run_until(core.time);
        check(core.queue.work() == 0, "no work is left");
    }

    /// What a thread of the context does.
    void run() { core.run_until(core.time); }
};

/// Two threads, and a preemption wherever it may hurt.
constexpr bounds most{.preemptions = 2};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_core)

BOOST_AUTO_TEST_CASE(what_cancel_has_counted_is_what_the_handler_sees) {
    explore_all("core_cancel", most, {.schedules = 20, .outcomes = {"cancelled", "due"}}, [] {
        scene s;
        std::size_t cancelled = 0;
        together([&] { cancelled = s.core.cancel(s.timer); }, [&] { s.run(); });
        s.run();
        check(s.wait.aborted == static_cast<int>(cancelled), "what was counted was aborted");
        check(s.wait.ended() == 1, "a wait ends once");
        outcome(cancelled != 0 ? "cancelled" : "due");
    });
}

BOOST_AUTO_TEST_CASE(a_wait_that_starts_on_a_tombstone_is_delivered) {
    explore_all("core_start", most, {.schedules = 20}, [] {
        scene s(true);
        together([&] { s.core.start(s.timer, s.wait); }, [&] { s.run(); });
        s.run();
        check(s.wait.delivered == 1, "it is delivered, whether it was filed or not");
    });
}

BOOST_AUTO_TEST_CASE(a_postponed_wait_comes_at_its_new_time_unless_it_was_delivered) {
    explore_all("core_postpone", most, {.schedules = 20, .outcomes = {"postponed", "too late"}},
                [] {
                    scene s;
                    std::size_t moved = 0;
                    together([&] { moved = s.core->postpone(s.timer, 1'200); }, [&] { s.run(); });
                    s.run();
                    check(s.wait.delivered == (moved == 0 ? 1 : 0),
                          "it is early if it comes now, and lost if it was not moved");
                    s.core.run_until(1'200);
                    check(s.wait.delivered == 1, "it comes");
                    outcome(moved != 0 ? "postponed" : "too late");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_moved_earlier_comes_once) {
    explore_all("core_earlier", most, {.schedules = 20}, [] {
        scene s;
        together([&] { static_cast<void>(s.core->postpone(s.timer, 1'020)); }, [&] { s.run(); });
        s.run();
        check(s.wait.delivered == 1, "it comes once");
    });
}

BOOST_AUTO_TEST_CASE(a_timer_that_ends_while_its_wait_is_delivered_is_not_touched_again) {
    explore_all("core_remove", most, {.schedules = 20}, [] {
        scene s;
        together(
            [&] {
                if (s.timer.life() != timer_life::unknown) {
                    s.core->remove(s.timer);
                }
                check(s.timer.life() == timer_life::unknown, "the core does not know it any more");
            },
            [&] { s.run(); });
        s.run();
        check(s.wait.ended() == 1, "a wait ends once");
    });
}

BOOST_AUTO_TEST_CASE(a_core_that_becomes_idle_is_armed_for_the_wait_that_starts) {
    explore_all("core_idle", most, {.schedules = 20}, [] {
        scene s;
        s.core.time = 1'000;
        s.core.cancel(s.timer); // Its turn in the queue finds that nothing waits.
        together([&] { s.core.start(s.timer, s.second); }, [&] { s.run(); });
        s.run();
        check(s.core.driver.armed_for().has_value(), "a wait is pending");
        s.core.run_until(1'060);
        check(s.wait.aborted == 1 && s.second.delivered == 1, "both end as they should");
    });
}

BOOST_AUTO_TEST_CASE(a_core_that_is_drained_ends_every_wait) {
    explore_all("core_drain", most, {.schedules = 20, .outcomes = {"aborted", "due"}}, [] {
        scene s;
        std::vector<asio_wheel::detail::time_count> expiries(s.core->options().budget);
        std::size_t drained = 0;
        together(
            [&] {
                s.core->stop();
                for (bool more = true; more;) {
                    drained += s.core->drain(expiries, more);
                }
            },
            [&] { s.run(); });
        s.run();
        check(s.wait.aborted == static_cast<int>(drained), "what was returned was aborted");
        check(s.wait.ended() == 1, "a wait ends once");
        outcome(drained != 0 ? "aborted" : "due");
    });
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_while_the_context_ends_ends_once) {
    explore_all("core_end", most, {.schedules = 10}, [] {
        manual_wait wait;
        timer_state timer;
        std::size_t cancelled = 0;
        {
            manual_core core;
            timer.expiry.set(1'050);
            core.start(timer, wait);
            together(
                [&] {
                    if (timer.life() != timer_life::unknown) {
                        cancelled = core.cancel(timer);
                    }
                },
                [&] { core.shut_down(); });
        }
        check(wait.ended() == 1, "a wait ends once, in whatever way");
        check(cancelled == 0 || wait.destroyed == 1, "what was queued is destroyed with it");
    });
}

BOOST_AUTO_TEST_SUITE_END()
