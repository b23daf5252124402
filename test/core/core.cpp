// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The core with a queue, a driver and a clock that are plain numbers.

#include "support/manual_core.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::wheel_options;
using asio_wheel::detail::timer_life;
using asio_wheel::detail::timer_state;

constexpr asio_wheel::detail::time_count ms = 1'000'000;

/// A timer with one wait.
struct armed : manual_wait {
    using manual_wait::manual_wait;

    timer_state timer;
};

void start(manual_core& core, armed& wait, asio_wheel::detail::time_count expiry) {
    wait.timer.expiry.set(expiry);
    core.start(wait.timer, wait);
}

/// It guards no I/O.
struct nap : armed {
    nap() : armed({.kind = asio_wheel::wait_kind::sleep}) {}
};

struct dispatched_wait : armed {
    dispatched_wait() : armed({.is_dispatched = true}) {}
};

/// Its clock can be set. It gives way if it is late by more than eight ticks.
struct stalling_core : manual_core {
    stalling_core()
        : manual_core({.tick = std::chrono::nanoseconds(tick),
                       .slots = 8,
                       .stall = std::chrono::nanoseconds(8 * tick)},
                      {.is_steady = false}) {}
};

/// Does something once, in the place of a handler.
struct on_call : wait_listener {
    std::function<void()> then;

    void called(asio_wheel::detail::wait_node&) override {
        if (then) {
            std::exchange(then, nullptr)();
        }
    }
    void destroyed(asio_wheel::detail::wait_node&) override {}
};

struct world {
    explicit world(const wheel_options& options = {}) : core(options) {}

    std::deque<armed> waits; // They outlive the core, which may have them in its queue.
    manual_core core;

    armed& start_at(asio_wheel::detail::time_count t) {
        armed& a = waits.emplace_back();
        a.timer.expiry.set(t);
        core.start(a.timer, a);
        return a;
    }
    // The first one was aborted, and the second one is due.
    void run_in_order(const armed& first, const armed& second) {
        while (first.aborted == 0 && core.run_one()) {
            BOOST_TEST(second.delivered == 0);
        }
        core.run_all();
        BOOST_TEST(second.delivered == 1);
        BOOST_TEST(core.queue.work() == 0);
    }
    ~world() {
        for (armed& a : waits) {
            if (a.timer.life() != timer_life::inactive) {
                core->remove(a.timer);
            }
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(core_)

BOOST_FIXTURE_TEST_CASE(a_wait_is_delivered_when_its_time_has_come_and_never_before, world) {
    armed& a = start_at(1'095);
    BOOST_TEST(*core.driver.armed_for() == 1'100); // Its tick begins.
    core.run_until(1'099);
    BOOST_TEST(a.ended() == 0);
    core.run_until(1'100);
    BOOST_TEST(a.delivered == 1);
    BOOST_TEST(core.queue.work() == 0);
}

BOOST_FIXTURE_TEST_CASE(so_many_waits_are_so_many_handlers_in_the_order_of_their_expiry, world) {
    for (int i = 0; i < 10; ++i) {
        start_at(1'050 - i);
    }
    BOOST_TEST(core.run_until(1'060) == 10U);
    for (const armed& a : waits) {
        BOOST_TEST(a.delivered == 1);
    }
}

BOOST_FIXTURE_TEST_CASE(many_waits_take_many_slices_and_none_is_lost, world) {
    for (int i = 0; i < 1'000; ++i) {
        start_at(1'050 + i % 7);
    }
    core.run_until(1'060);
    for (const armed& a : waits) {
        BOOST_TEST(a.delivered == 1);
    }
    BOOST_TEST(core.queue.work() == 0);
    BOOST_TEST(!core.driver.armed_for().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_wait_is_aborted_and_leaves_a_tombstone_for_the_next, world) {
    armed& a = start_at(1'095);
    BOOST_TEST(core.cancel(a.timer) == 1U);
    BOOST_TEST((a.timer.life() == timer_life::tombstone));
    BOOST_TEST(core.cancel(a.timer) == 0U);
    core.run_until(1'000);
    BOOST_TEST(a.aborted == 1);
    BOOST_TEST(!core.driver.armed_for().has_value()); // Nothing waits.

    armed& again = waits.emplace_back();
    core.queue.work_started();
    BOOST_TEST(core->start_unlocked(a.timer, again)); // It arms the driver again.
    BOOST_TEST(core.driver.armed_for().has_value());
    core.run_until(1'100);
    BOOST_TEST(again.delivered == 1);
}

BOOST_FIXTURE_TEST_CASE(a_postponed_wait_is_due_at_its_new_time, world) {
    armed& later = start_at(1'050);
    armed& earlier = start_at(1'090);
    BOOST_TEST(core->postpone(later.timer, 1'200) == 1U);
    BOOST_TEST(core->postpone(earlier.timer, 1'020) == 1U);
    core.run_until(1'020);
    BOOST_TEST(earlier.delivered == 1);
    core.run_until(1'199);
    BOOST_TEST(later.ended() == 0);
    core.run_until(1'200);
    BOOST_TEST(later.delivered == 1);
}

BOOST_FIXTURE_TEST_CASE(a_due_wait_can_be_cancelled_and_postponed_until_its_turn, world) {
    armed& first = start_at(1'050);
    armed& cancelled = start_at(1'050);
    armed& postponed = start_at(1'050);
    core.time = 1'050;
    BOOST_TEST(core.wake_up()); // Completes the first, queues the others.
    BOOST_TEST(first.delivered == 1);
    BOOST_TEST((cancelled.timer.life() == timer_life::due));
    BOOST_TEST(core.cancel(cancelled.timer) == 1U);
    BOOST_TEST(core->postpone(postponed.timer, 1'100) == 1U);
    core.run_until(1'090);
    BOOST_TEST(cancelled.aborted == 1);
    BOOST_TEST(postponed.ended() == 0);
    core.run_until(1'100);
    BOOST_TEST(postponed.delivered == 1);
    BOOST_TEST(core.queue.work() == 0);
}

BOOST_FIXTURE_TEST_CASE(without_memory_for_the_driver_turns_are_queued_until_there_is_some, world) {
    core.driver.has_memory = false;
    armed& a = start_at(1'095);
    BOOST_TEST(!core.driver.armed_for().has_value());
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(core.run_one());
    }
    BOOST_TEST(a.ended() == 0);
    core.driver.has_memory = true;
    BOOST_TEST(core.run_one());
    BOOST_TEST(core.driver.armed_for().has_value());
    BOOST_TEST(!core.run_one());
    core.run_until(1'100);
    BOOST_TEST(a.delivered == 1);
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_due_again_while_it_is_queued_comes_once) {
    for (const bool has_memory : {true, false}) { // For its proxy.
        world w;
        w.core.queue.has_memory = has_memory;
        w.start_at(1'050);
        armed& a = w.start_at(1'050);
        w.core.time = 1'050;
        w.core.wake_up(); // Completes the first, and queues the second.
        BOOST_TEST(w.core->postpone(a.timer, 1'060) == 1U);
        w.core.time = 1'060;
        w.core.wake_up();
        w.core.run_until(1'100);
        BOOST_TEST(a.delivered == 1);
        BOOST_TEST(w.core.queue.work() == 0);
    }
}

BOOST_FIXTURE_TEST_CASE(an_idle_core_arms_no_driver_and_has_no_work, world) {
    BOOST_TEST(!core.driver.armed_for().has_value());
    armed& a = start_at(1'095);
    BOOST_TEST(core.queue.work() == 1);
    core->remove(a.timer);
    BOOST_TEST((a.timer.life() == timer_life::inactive));
    core.run_until(1'000);
    BOOST_TEST(core.queue.work() == 0);
    BOOST_TEST(!core.driver.armed_for().has_value());
}

BOOST_AUTO_TEST_CASE(the_end_destroys_what_waits_and_what_is_queued) {
    std::deque<armed> waits;
    {
        manual_core core;
        for (int i = 0; i < 600; ++i) {
            armed& a = waits.emplace_back();
            a.timer.expiry.set(1'050 + i);
            core.start(a.timer, a);
        }
        core.time = 1'200;
        core.wake_up();
    }
    for (const armed& a : waits) {
        BOOST_TEST(a.ended() == 1);
        BOOST_TEST((a.timer.life() == timer_life::inactive));
    }
}

BOOST_FIXTURE_TEST_CASE(a_tombstone_takes_an_expiry_without_the_lock_if_it_is_filed_early_enough,
                        world) {
    armed& a = start_at(1'050);
    const auto takes = [&](asio_wheel::detail::time_count t) {
        return core->set_expiry_unlocked(a.timer, t) && a.timer.expiry.get() == t;
    };
    BOOST_TEST(!takes(1'200)); // It waits.
    BOOST_TEST(core.cancel(a.timer) == 1U);
    BOOST_TEST(takes(1'050));
    BOOST_TEST(takes(1'200)); // It is still filed for 1050.
    BOOST_TEST(takes(1'051));
    BOOST_TEST(takes(1'051));
    BOOST_TEST(!takes(1'039));
    BOOST_TEST(a.timer.expiry.get() == 1'051);
}

BOOST_AUTO_TEST_CASE(a_context_stops_when_its_last_wait_has_ended_on_another_executor) {
    for (const int how : {0, 1, 2}) {
        const bool dropped = how != 0;
        const bool cancelled = how != 1;
        manual_core core(manual_core::small(), {.driver_is_work = true});
        dispatched_wait a;
        a.timer.expiry.set(50'000); // The driver stays armed for it.
        core.start(a.timer, a);
        BOOST_TEST(core->postpone(a.timer, 900) == 1U);
        core.run_all(); // Now it is there.
        if (cancelled) {
            BOOST_TEST(core.cancel(a.timer) == 1U);
        }
        BOOST_TEST((dropped ? core.abandon_elsewhere() : core.run_elsewhere()));
        core.run_all();
        BOOST_TEST(a.ended() == 1);
        BOOST_TEST(core.queue.work() == 0);
        BOOST_TEST(!core.driver.armed_for().has_value()); // It would be work.
    }
}

// What is on its way to another executor has not ended, but is nothing that the driver is armed
// for. So the context stops when its own last handler has run.
BOOST_AUTO_TEST_CASE(a_context_does_not_run_on_for_a_wait_that_another_executor_has) {
    enum class last { due, withdraws, cancels };
    for (const last how : {last::due, last::withdraws, last::cancels}) {
        on_call act;
        dispatched_wait elsewhere;
        armed far; // The driver stays armed for its tombstone.
        armed other;
        manual_core core(manual_core::small(), {.driver_is_work = true});
        core.listener = &act;
        start(core, far, 50'000);
        start(core, elsewhere, 1'050);
        if (how != last::withdraws) {
            BOOST_TEST(core.cancel(far.timer) == 1U);
        }
        core.run_until(1'055);
        if (how != last::due) {
            start(core, other, 1'070);
            act.then = [&] {
                if (how == last::withdraws) {
                    core.queue.runs_here = true;
                    BOOST_TEST(core->withdraw(far.timer) == nullptr); // It comes by the queue.
                } else {
                    BOOST_TEST(core.cancel(elsewhere.timer) == 1U);
                }
            };
            core.run_until(1'070);
            BOOST_TEST(other.delivered == 1);
        }
        BOOST_TEST(far.aborted == 1);
        BOOST_TEST(core.queue.work() == 0);
        BOOST_TEST(!core.driver.armed_for().has_value()); // It would be work.
        BOOST_TEST(core.run_elsewhere());
        BOOST_TEST(elsewhere.ended() == 1);
        core->remove(far.timer);
    }
}

BOOST_AUTO_TEST_CASE(what_a_stall_holds_back_is_not_late_if_the_clock_is_set_back) {
    stalling_core core;
    armed a; // Guards I/O.
    start(core, a, 1'100);
    core.time = 2'000;
    BOOST_TEST(core.wake_up());
    BOOST_TEST(a.ended() == 0); // The wheel gives way.
    core.time = 1'500;
    BOOST_TEST(core.wake_up());
    core.run_all();
    BOOST_TEST(a.delivered == 1);
}

// Its connection is closed by what was read. The next wake-up comes in the same tick.
BOOST_AUTO_TEST_CASE(a_stall_ends_when_the_last_timer_that_it_holds_back_is_gone) {
    armed held; // Guards I/O, as all of these.
    armed far;
    armed later;
    manual_core core({.tick = std::chrono::milliseconds(10)}, {.begin = 1'000 * ms});
    start(core, held, 1'100 * ms);
    start(core, far, 5'000 * ms);
    start(core, later, 9'000 * ms);
    core.time = 1'400 * ms;
    BOOST_TEST(core.wake_up());
    BOOST_TEST(core->anchor().time.wants_touches());
    core->remove(held.timer);
    core.run_all();
    BOOST_TEST(held.aborted == 1);
    BOOST_TEST(!core->anchor().time.wants_touches());
    core.run_until(5'000 * ms);
    BOOST_TEST(far.delivered == 1);
    BOOST_TEST(core->stats().wake_ups == 2U);
    core.time = 11'000 * ms; // Another stall.
    BOOST_TEST(core.wake_up());
    BOOST_TEST(later.ended() == 0);
    BOOST_TEST(core->stats().stalls == 2U);
    core->remove(later.timer);
}

// They leave it to the driver. Its wake-up comes after other handlers, or before them.
BOOST_AUTO_TEST_CASE(waits_that_are_due_when_they_start_do_not_stop_time_during_a_stall) {
    for (const bool handlers_first : {false, true}) {
        armed held; // Guards I/O.
        armed far;  // It does, too: so a wake-up is pending.
        nap soon;
        std::deque<nap> due;
        manual_core core({.tick = std::chrono::milliseconds(1)}, {.begin = 1'000 * ms});
        const auto start_due = [&] { start(core, due.emplace_back(), 500 * ms); };
        start(core, held, 1'100 * ms);
        start(core, far, 1'000'000 * ms);
        start(core, soon, 4'002 * ms);
        core.time = 4'000 * ms;
        BOOST_TEST(core.wake_up());
        BOOST_TEST(held.ended() == 0);
        start_due();
        for (int pass = 0; pass < 4; ++pass) {
            core.time += ms;
            core->touched(held.timer); // So it may go on.
            if (handlers_first) {
                while (core.run_one()) {
                }
                start_due(); // As the handler of the one before does.
                BOOST_TEST(core.wake_up());
            } else {
                BOOST_TEST(core.wake_up());
                while (core.run_one()) {
                }
                start_due();
            }
        }
        BOOST_TEST(due.size() == 5U);
        BOOST_TEST(due[3].delivered == 1);
        BOOST_TEST(soon.delivered == 1);
        core.end();
    }
}

// And not in a tick of their own: nothing that is due is left for the next one.
BOOST_AUTO_TEST_CASE(a_wait_that_is_due_when_it_starts_during_a_stall_comes_with_the_next_wake_up) {
    armed held; // Guards I/O.
    nap due;
    nap due_next;
    manual_core core({.tick = std::chrono::seconds(1)}, {.begin = 1'000 * ms});
    start(core, held, 2'000 * ms);
    core.time = 5'000 * ms;
    BOOST_TEST(core.wake_up());
    BOOST_TEST(held.ended() == 0);
    for (nap* const wait : {&due, &due_next}) {
        core->touched(held.timer);
        start(core, *wait, 1'500 * ms);
        BOOST_TEST(core.wake_up());
        while (core.run_one()) {
        }
        BOOST_TEST(wait->delivered == 1);
    }
    BOOST_TEST(held.ended() == 0);
    BOOST_TEST(core->lateness().waits == 0U); // Their time had passed when they started.
    core->remove(held.timer);
}

// More than one turn looks at.
BOOST_AUTO_TEST_CASE(many_that_a_stall_holds_back_are_looked_at_once_in_a_tick) {
    std::deque<armed> held(20); // They guard I/O.
    manual_core core({.tick = std::chrono::seconds(1), .budget = 4}, {.begin = 1'000 * ms});
    for (armed& wait : held) {
        start(core, wait, 2'000 * ms);
    }
    core.time = 2'500 * ms; // Less than a tick, so others count as asleep, and a turn is short.
    BOOST_TEST(core.wake_up());
    BOOST_TEST(core.queue.has_turn());
    while (core.run_one()) {
    }
    core->touched(held.front().timer);
    BOOST_TEST(core.wake_up());
    BOOST_TEST(!core.queue.has_turn());
    for (const armed& wait : held) {
        BOOST_TEST(wait.ended() == 0);
    }
    core.end();
}

BOOST_AUTO_TEST_CASE(a_wake_up_that_slept_completes_its_first_wait_though_a_turn_came_before) {
    armed due[2];
    armed later;
    manual_core core({.tick = std::chrono::milliseconds(1)}, {.begin = 1'000 * ms});
    start(core, later, 1'480 * ms);
    for (armed& wait : due) {
        start(core, wait, 900 * ms);
    }
    core.run_all();
    BOOST_TEST(due[1].delivered == 1);
    core.time = 1'480 * ms;
    BOOST_TEST(core.wake_up());
    BOOST_TEST(later.delivered == 1);
    BOOST_TEST(core->stats().spurious_wake_ups == 0U);
}

// A handler has blocked before the turn. The wake-up was in the queue already, and ahead of what
// the turn has made ready.
BOOST_AUTO_TEST_CASE(a_wake_up_does_not_overtake_what_a_turn_before_it_has_made_ready) {
    armed first;
    armed second;
    armed later;
    manual_core core({.tick = std::chrono::milliseconds(1)}, {.begin = 1'000 * ms});
    start(core, later, 1'480 * ms);
    core.time = 1'050 * ms;
    for (armed* const wait : {&first, &second}) {
        start(core, *wait, 900 * ms);
    }
    core.time = 1'500 * ms;
    BOOST_TEST(core.run_one());
    BOOST_TEST(first.delivered == 1);
    BOOST_TEST(core.wake_up());
    BOOST_TEST(later.ended() == 0);
    core.run_all();
    BOOST_TEST(second.delivered == 1);
    BOOST_TEST(later.delivered == 1);
    BOOST_TEST(core->stats().spurious_wake_ups == 0U);
}

// A turn has waited so long that what became due meanwhile is left for a wake-up. But nothing did.
BOOST_AUTO_TEST_CASE(a_turn_that_leaves_nothing_out_makes_no_later_one_leave_something) {
    armed far;
    armed due;
    armed due_later;
    manual_core core({.tick = std::chrono::milliseconds(10)}, {.begin = 1'000 * ms});
    start(core, far, 3'600'000 * ms);
    start(core, due, 900 * ms);
    core.time = 1'150 * ms; // A handler has blocked.
    BOOST_TEST(core.run_one());
    BOOST_TEST(due.delivered == 1);
    core.time = 60'000 * ms;
    start(core, due_later, 59'500 * ms);
    BOOST_TEST(core.run_one());
    BOOST_TEST(due_later.delivered == 1);
    core.run_all();
    BOOST_TEST(core->stats().stalls == 0U);
    core->remove(far.timer);
}

// As drain() does if it has no memory for what it returns.
BOOST_AUTO_TEST_CASE(a_stop_that_is_undone_ends_a_stall) {
    stalling_core core;
    armed held;
    start(core, held, 1'100);
    core.time = 1'300;
    BOOST_TEST(core.wake_up());
    BOOST_TEST(core->anchor().time.wants_touches());
    static_cast<void>(core->stop());
    core->undo_stop();
    BOOST_TEST(!core->anchor().time.wants_touches());
    core.run_all();
    BOOST_TEST(held.delivered == 1);
}

// Without a driver, no wake-up judges a stall.
BOOST_AUTO_TEST_CASE(without_memory_for_the_driver_a_stall_holds_nothing_back_for_ever) {
    for (const bool gives_way : {false, true}) {
        stalling_core core;
        core.driver.has_memory = gives_way;
        armed a; // Guards I/O.
        start(core, a, 1'100);
        core.time = 1'200;
        if (gives_way) {
            BOOST_TEST(core.wake_up());
            BOOST_TEST(a.ended() == 0);
            core.driver.has_memory = false;
        }
        for (int i = 0; i < 10 && (core.run_one() || core.wake_up()); ++i) {
        }
        BOOST_TEST(a.delivered == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_wait_on_what_a_stall_has_held_back_is_not_late_if_the_clock_is_set_back) {
    stalling_core core;
    armed a;
    armed again;
    start(core, a, 1'100);
    core.time = 2'000;
    BOOST_TEST(core.wake_up());
    BOOST_TEST(core.cancel(a.timer) == 1U);
    core.run_all(); // Nothing waits.
    core.time = 1'050;
    core.start(a.timer, again);
    core.run_until(1'099);
    BOOST_TEST(again.ended() == 0);
    core.run_until(1'110);
    BOOST_TEST(again.delivered == 1);
}

// Nothing was pending when it passed, so no wake-up was missed.
BOOST_AUTO_TEST_CASE(time_that_passes_while_nothing_waits_is_no_stall) {
    armed late, later; // They guard I/O.
    stalling_core core;
    start(core, later, 3'000);
    BOOST_TEST(core.cancel(later.timer) == 1U);
    core.run_all();
    start(core, late, 990); // It is due: a turn is queued.
    core.run_until(1'200);  // Others have blocked that long.
    BOOST_TEST(late.delivered == 1);
    core.run_until(1'000'000);
    armed next;
    later.timer.expiry.set(1'001'000);
    core.start(later.timer, next); // On the tombstone.
    core.run_all();
    BOOST_TEST(core->stats().stalls == 0U);
    BOOST_TEST(core->stats().loop_lag.max().count() < 1'000);
    core.run_until(1'001'000);
    BOOST_TEST(next.delivered == 1);
    core->remove(later.timer);
    core->remove(late.timer);
}

BOOST_AUTO_TEST_CASE(
    what_is_due_when_it_starts_during_a_stall_is_not_late_if_the_clock_is_set_back) {
    stalling_core core;
    armed later;
    armed due;
    start(core, later, 1'500);
    core.time = 2'000; // The driver is overdue. It comes first, and judges the stall.
    start(core, due, 1'200);
    core.time = 1'300;
    core.run_all();
    BOOST_TEST(due.delivered == 1);
    BOOST_TEST(later.ended() == 0);
    core.run_until(1'500);
    BOOST_TEST(later.delivered == 1);
    BOOST_TEST(core.queue.work() == 0);
}

BOOST_AUTO_TEST_CASE(what_a_turn_has_left_over_comes_first_when_paused_time_is_advanced) {
    world w(wheel_options{.budget = 1});
    w.start_at(1'001);
    w.start_at(1'002);
    w.start_at(1'003);
    armed& second = w.start_at(1'004);
    armed& later = w.start_at(1'015);
    w.core.time = 1'020;
    BOOST_TEST(w.core.wake_up()); // One slice. The rest is queued.
    w.core->pause(1'020);
    BOOST_TEST(w.core->advance_to_next() == 4U);
    BOOST_TEST(w.core->now() == 1'020);
    while (second.delivered == 0 && w.core.run_one()) {
    }
    BOOST_TEST(second.delivered == 1);
    BOOST_TEST(later.delivered == 0);
    w.core.run_all();
    BOOST_TEST(later.delivered == 1);
}

BOOST_FIXTURE_TEST_CASE(
    what_was_made_ready_in_paused_time_is_not_overtaken_by_a_turn_that_was_queued_before, world) {
    core->pause(1'000);
    start_at(900); // A turn is queued.
    armed& first = start_at(1'200);
    BOOST_TEST(core->advance_to_next() == 1U);
    BOOST_TEST(core->advance_to_next() == 1U);
    core->resume();
    armed& later = start_at(1'210);
    core.time += 100;
    while (first.delivered == 0 && core.run_one()) {
        BOOST_TEST(later.delivered == 0);
    }
    core.run_all();
    BOOST_TEST(later.delivered == 1);
    BOOST_TEST(core.queue.work() == 0);
}

BOOST_FIXTURE_TEST_CASE(what_was_aborted_is_not_overtaken_by_a_turn_that_was_queued_before, world) {
    armed& first = start_at(900); // A turn is queued.
    BOOST_TEST(core.cancel(first.timer) == 1U);
    armed& later = start_at(900);
    run_in_order(first, later);
}

BOOST_FIXTURE_TEST_CASE(what_was_aborted_without_the_lock_is_not_overtaken_by_a_turn, world) {
    armed& first = start_at(5'000);
    armed& due = start_at(900); // A turn is queued.
    BOOST_TEST(core.cancel(first.timer) == 1U);
    run_in_order(first, due);
}

// The wake-up is behind what others do, who abort a wait meanwhile.
BOOST_FIXTURE_TEST_CASE(what_was_aborted_is_not_overtaken_by_a_wake_up_of_a_busy_context, world) {
    armed& due = start_at(1'010);
    armed& first = start_at(5'000'000);
    core.time = 3'000'000;
    BOOST_TEST(core.cancel(first.timer) == 1U);
    BOOST_TEST(core.wake_up());
    BOOST_TEST(due.delivered == 0);
    run_in_order(first, due);
}

BOOST_AUTO_TEST_CASE(what_was_held_back_is_looked_at_again_when_time_is_paused_once_more) {
    for (int slices = 0; slices < 6; ++slices) {
        world w(wheel_options{.budget = 1});
        w.core->pause(1'000);
        armed& held = w.start_at(1'048);
        BOOST_TEST(w.core->advance_to(1'045) == 0U);
        w.start_at(1'040);
        for (int i = 0; i < slices; ++i) { // Of a pass that does not end.
            w.core.run_one();
            w.start_at(1'040);
        }
        w.core->resume();
        w.core->pause(1'049);
        w.core.run_all();
        BOOST_TEST(held.delivered == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_delay_that_cannot_be_counted_is_as_long_as_can_be) {
    manual_core core(
        {.tick = std::chrono::nanoseconds(manual_core::tick), .measure_handlers = true},
        {.begin = -5'000});
    armed first;
    armed second;
    for (armed* a : {&first, &second}) {
        a->timer.expiry.set(-4'950);
        core.start(a->timer, *a);
    }
    core.time = -4'900;
    BOOST_TEST(core.wake_up());
    core->stop(); // From now on, what is due cannot wait again.
    static_cast<void>(core->postpone(second.timer, asio_wheel::detail::never));
    core.run_all();
    BOOST_TEST(second.delivered == 1);
    BOOST_TEST(core->stats().handler_delay.count() == 2U);
}

BOOST_FIXTURE_TEST_CASE(after_very_long_delays_the_driver_does_not_come_too_early_again_and_again,
                        world) {
    for (int i = 0; i < 3; ++i) { // A handler takes an hour, each time.
        start_at(core.time + 10);
        start_at(core.time + 10);
        core.time += 10;
        BOOST_TEST(core.wake_up());
        core.time += 3'600'000'000'000;
        core.run_all();
    }
    const armed& last = start_at(core.time + 1'000'000);
    int wake_ups = 0;
    for (; last.delivered == 0 && wake_ups < 1'000; ++wake_ups) {
        core.time = (std::max)(core.time, core.driver.armed_for().value_or(0));
        core.wake_up();
        while (core.run_one()) {
        }
    }
    BOOST_TEST(wake_ups < 50);
}

BOOST_AUTO_TEST_SUITE_END()
