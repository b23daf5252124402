// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// Idle timers that are touched, scaled, changed and destroyed while another thread lets their
// periods end. None fires before it has been idle for its period, and none is lost.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace {

using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using boost::system::error_code;
using idle_timer = asio_wheel::basic_idle_timer<scripted_clock>;
using heartbeat = asio_wheel::basic_heartbeat<scripted_clock>;

constexpr auto period = 12s;

// An idle timer with a pending wait.
struct scene : world {
    std::optional<idle_timer> idle;
    fate first;

    explicit scene(std::size_t budget = 256)
        : world({.slots = 8, .levels = 8, .budget = budget}), idle(std::in_place, ctx, period) {
        idle->async_wait(first.watch());
    }

    void let_pass(scripted_clock::duration d) {
        forward(d);
        ctx.poll();
    }

    void fires_within(scripted_clock::duration d) {
        pass(d);
        first.check_counted(0);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_idle_timer)

BOOST_AUTO_TEST_CASE(what_is_touched_before_its_period_is_looked_at_does_not_fire) {
    explore_all("look_touch", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"fires", "waits on"}}, [] {
                    scene s;
                    const auto start = s.wheel.now();
                    observed late; // It was touched after the period had ended.
                    bool before = false;
                    together(
                        [&] {
                            s.forward(period);
                            before = bool(late);
                            s.ctx.poll();
                        },
                        [&] {
                            const bool over = s.wheel.now() >= start + period;
                            s.idle->touch();
                            if (over) {
                                late.set();
                            }
                        });
                    const bool fired = s.first.calls() != 0;
                    check(!before || !fired, "it is not early");
                    outcome(fired ? "fires" : "waits on");
                    s.fires_within(period);
                });
}

BOOST_AUTO_TEST_CASE(the_latest_of_several_touches_counts) {
    explore_all("touch_touch", {.preemptions = 2}, {.schedules = 50, .outcomes = {"waits on"}}, [] {
        scene s;
        const auto touch = [&] {
            s.forward(1s);
            s.idle->touch();
        };
        together(touch, touch, [&] { s.idle->touch(); });
        check(s.idle->idle_for() < 1s, "it is the latest of all");
        s.let_pass(period - 1s);
        outcome(s.first.calls() != 0 ? "fires" : "waits on");
        s.fires_within(1s);
    });
}

// The walk visits the list while the wait starts: one of them sees the other one.
BOOST_AUTO_TEST_CASE(a_wait_that_begins_while_periods_are_shortened_ends_by_the_shorter_one) {
    explore_all("begin_scale", {.preemptions = 3}, {.schedules = 100, .outcomes = {"fires"}}, [] {
        world w;
        idle_timer idle(w.ctx, period);
        fate f;
        together([&] { idle.async_wait(f.watch()); },
                 [&] { asio_wheel::scale_idle_timers(w.wheel, 0.5); });
        w.poll();
        check(f.calls() == 0, "it is not early");
        w.pass(period / 2);
        f.check_counted(0);
        outcome("fires");
    });
    explore_all("construct_scale", {.preemptions = 3}, {.schedules = 100, .outcomes = {"fires"}},
                [] {
                    world w;
                    std::optional<idle_timer> idle;
                    fate f;
                    together(
                        [&] {
                            idle.emplace(w.ctx, period);
                            idle->async_wait(f.watch());
                        },
                        [&] { asio_wheel::scale_idle_timers(w.wheel, 0.5); });
                    w.pass(period / 2);
                    f.check_counted(0);
                    outcome("fires");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_looked_at_while_periods_are_shortened_ends_by_the_shorter_one) {
    explore_all("look_scale", {.preemptions = 2}, {.schedules = 100, .outcomes = {"fires"}}, [] {
        scene s;
        s.pass(period / 2);
        s.idle->touch();
        together([&] { s.let_pass(period / 2); },
                 [&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); });
        s.fires_within(0s);
        outcome("fires");
    });
}

BOOST_AUTO_TEST_CASE(the_last_scale_counts) {
    explore_all("scale_scale", {.preemptions = 3},
                {.schedules = 50, .outcomes = {"a half", "a quarter"}}, [] {
                    scene s;
                    together([&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); },
                             [&] { asio_wheel::scale_idle_timers(s.wheel, 0.25); });
                    const bool quarter = asio_wheel::idle_timer_scale(s.wheel) == 0.25;
                    s.pass(period / 4);
                    check(s.first.calls() == (quarter ? 1 : 0), "it fires by the scale there is");
                    s.fires_within(period / 4);
                    outcome(quarter ? "a quarter" : "a half");
                });
    explore_all("scale_to_and_fro", {.preemptions = 3},
                {.schedules = 50, .outcomes = {"a half", "all"}}, [] {
                    scene s;
                    together([&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); },
                             [&] { asio_wheel::scale_idle_timers(s.wheel, 1); });
                    const bool half = asio_wheel::idle_timer_scale(s.wheel) == 0.5;
                    s.pass(period / 2);
                    check(s.first.calls() == (half ? 1 : 0), "it fires by the scale there is");
                    s.fires_within(period / 2);
                    outcome(half ? "a half" : "all");
                });
}

BOOST_AUTO_TEST_CASE(a_period_that_changes_while_all_are_shortened_is_shortened) {
    explore_all("period_scale", {.preemptions = 3}, {.schedules = 100, .outcomes = {"fires"}}, [] {
        scene s;
        together([&] { s.idle->period(4s); }, [&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); });
        s.poll();
        check(s.first.calls() == 0, "it is not early");
        s.fires_within(2s);
        outcome("fires");
    });
}

BOOST_AUTO_TEST_CASE(an_idle_timer_may_end_while_all_are_shortened) {
    explore_all(
        "destroy_scale", {.preemptions = 3}, {.schedules = 100, .outcomes = {"aborted"}}, [] {
            scene s;
            together([&] { s.idle.reset(); }, [&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); });
            s.poll();
            s.first.check_counted(1);
            outcome("aborted");
        });
}

// The record of touches moves with the object: the walk reads it at its old or at its new place.
BOOST_AUTO_TEST_CASE(an_idle_timer_may_be_moved_while_all_are_shortened) {
    explore_all("move_scale", {.preemptions = 3}, {.schedules = 100, .outcomes = {"fires"}}, [] {
        scene s;
        s.let_pass(period / 3);
        s.idle->touch();
        std::optional<idle_timer> elsewhere;
        together(
            [&] {
                elsewhere.emplace(std::move(*s.idle));
                s.idle.reset();
            },
            [&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); });
        s.poll();
        s.fires_within(period / 2);
        outcome("fires");
    });
}

// In slices of one: the rest continues by way of the context's queue, on a third thread.
BOOST_AUTO_TEST_CASE(an_idle_timer_may_end_between_the_slices_of_the_walk) {
    explore_all("destroy_slices", {.preemptions = 2}, {.schedules = 100, .outcomes = {"fires"}},
                [] {
                    scene s(1);
                    fate second, third;
                    std::optional<idle_timer> two(std::in_place, s.ctx, period);
                    idle_timer three(s.ctx, period);
                    two->async_wait(second.watch());
                    three.async_wait(third.watch());
                    together([&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); },
                             [&] { two.reset(); }, [&] { s.ctx.poll(); });
                    s.poll();
                    second.check_counted(1);
                    s.fires_within(period / 2);
                    third.check_counted(0);
                    outcome("fires");
                });
    explore_all("scale_slices", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"a half", "a quarter"}}, [] {
                    scene s(1);
                    fate second;
                    idle_timer two(s.ctx, period);
                    two.async_wait(second.watch());
                    together([&] { asio_wheel::scale_idle_timers(s.wheel, 0.5); },
                             [&] { asio_wheel::scale_idle_timers(s.wheel, 0.25); },
                             [&] { s.ctx.poll(); });
                    s.poll();
                    const double scale = asio_wheel::idle_timer_scale(s.wheel);
                    s.pass(std::chrono::duration_cast<scripted_clock::duration>(period * scale));
                    s.first.check_counted(0);
                    second.check_counted(0);
                    outcome(scale == 0.5 ? "a half" : "a quarter");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_period_can_be_cancelled_until_it_fires) {
    explore_all("look_cancel", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"fires", "cancelled"}}, [] {
                    scene s;
                    std::size_t cancelled = 0;
                    together([&] { s.let_pass(period); }, [&] { cancelled = s.idle->cancel(); });
                    s.poll();
                    s.first.check_counted(cancelled);
                    outcome(cancelled != 0 ? "cancelled" : "fires");
                });
}

BOOST_AUTO_TEST_CASE(a_heartbeat_hears_what_was_received_before_it_looks) {
    explore_all("beat_received", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"dead", "alive"}}, [] {
                    world w;
                    heartbeat pulse(w.ctx, {.send_every = 1h, .dead_after = period});
                    observed dead;
                    pulse.async_next([&](const error_code& ec, asio_wheel::heartbeat_event) {
                        if (!ec) {
                            dead.set();
                        }
                    });
                    together([&] { w.forward(period), w.ctx.poll(); }, [&] { pulse.received(); });
                    w.poll();
                    outcome(dead ? "dead" : "alive");
                    check(pulse.cancel() == (dead ? 0U : 1U), "it is either");
                });
}

BOOST_AUTO_TEST_SUITE_END()
