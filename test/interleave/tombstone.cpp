// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// Timers whose wait was cancelled and that are still filed: a wait starts on them without the lock,
// or they are destroyed, while their tick comes, the wheel falls asleep, or is drained.

#include <asio_wheel/basic_waitable_timer.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using timer = asio_wheel::basic_waitable_timer<scripted_clock>;

// A timer of one second whose wait was cancelled, and one of five seconds that keeps the wheel
// awake.
struct scene : world {
    std::optional<timer> t;
    timer far;
    fate first;
    fate last;

    explicit scene(bool awake = true) : t(std::in_place, ctx, 1s), far(ctx, 5s) {
        far.async_wait(last.watch());
        t->async_wait(first.watch());
        check(t->cancel() == 1, "it waits");
        if (!awake) {
            check(far.cancel() == 1, "it waits");
        }
        poll();
        first.check_counted(1);
    }

    void expire() {
        forward(1s);
        ctx.poll();
    }

    // All pending waits end.
    void finish(bool awake = true) {
        pass(10s);
        last.check_counted(awake ? 0 : 1);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_tombstone)

BOOST_AUTO_TEST_CASE(a_wait_starts_while_the_tick_of_the_one_before_comes) {
    const auto begin = [](bool awake, auto prepare) {
        return [awake, prepare] {
            scene s(awake);
            fate second;
            bool waits = false;
            together([&] { s.expire(); },
                     [&] {
                         prepare(*s.t);
                         s.t->async_wait(second.watch());
                         waits = s.t->expiry() > s.wheel.now();
                     });
            s.poll();
            waits = waits && s.t->expiry() > s.wheel.now();
            check(second.calls() == (waits ? 0 : 1), "what is due, and nothing else, is called");
            check(!waits || !s.ctx.stopped(), "a wait is work");
            s.finish(awake);
            second.check_counted(0);
            outcome(waits ? "waits" : "due");
        };
    };
    const auto as_it_was = [](timer&) {};
    const auto later = [](timer& t) { t.expires_at(t.expiry() + 1s); };
    const auto earlier = [](timer& t) { t.expires_at(t.expiry() - 500ms); };
    explore_all("begin_again", {.preemptions = 3}, {.schedules = 100, .outcomes = {"due"}},
                begin(true, as_it_was));
    explore_all("begin_again_asleep", {.preemptions = 3}, {.schedules = 20, .outcomes = {"due"}},
                begin(false, as_it_was));
    explore_all("begin_later", {.preemptions = 3}, {.schedules = 100, .outcomes = {"waits"}},
                begin(true, later));
    explore_all("begin_later_asleep", {.preemptions = 3}, {.schedules = 20, .outcomes = {"waits"}},
                begin(false, later));
    explore_all("begin_earlier", {.preemptions = 3}, {.schedules = 100, .outcomes = {"due"}},
                begin(true, earlier));
}

BOOST_AUTO_TEST_CASE(a_timer_ends_while_its_tick_comes) {
    explore_all("tombstone_destroy", {.preemptions = 3}, {.schedules = 20, .outcomes = {"ended"}},
                [] {
                    scene s;
                    together([&] { s.expire(); }, [&] { s.t.reset(); });
                    s.finish();
                    outcome("ended");
                });
    explore_all("tombstone_move", {.preemptions = 3}, {.schedules = 20, .outcomes = {"moved"}}, [] {
        scene s;
        fate second;
        std::optional<timer> other;
        together([&] { s.expire(); },
                 [&] {
                     other.emplace(std::move(*s.t));
                     s.t.reset();
                     other->async_wait(second.watch());
                 });
        s.poll();
        second.check_counted(0);
        s.finish();
        outcome("moved");
    });
    explore_all("begin_and_destroy", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"aborted", "expired"}}, [] {
                    scene s;
                    fate second;
                    together([&] { s.expire(); },
                             [&] {
                                 s.t->async_wait(second.watch());
                                 s.t.reset();
                             });
                    s.finish();
                    second.check_once();
                    outcome(second.aborted ? "aborted" : "expired");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_is_cancelled_and_started_again_while_its_tick_comes) {
    explore_all("again_and_again", {.preemptions = 2}, {.schedules = 100, .outcomes = {"1", "2"}},
                [] {
                    scene s;
                    fate second, third;
                    std::size_t cancelled = 0;
                    std::size_t more = 0;
                    together([&] { s.expire(); },
                             [&] {
                                 s.t->async_wait(second.watch());
                                 cancelled = s.t->cancel();
                                 s.t->async_wait(third.watch());
                                 more = s.t->expires_at(s.t->expiry() + 1s);
                             });
                    s.finish();
                    second.check_counted(cancelled);
                    third.check_counted(more);
                    outcome(cancelled + more == 2 ? "2" : "1");
                });
    explore_all("begin_and_postpone", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"postponed", "expired"}}, [] {
                    scene s;
                    fate second;
                    std::size_t moved = 0;
                    together([&] { s.expire(); },
                             [&] {
                                 s.t->async_wait(second.watch());
                                 moved = s.t->postpone_until(s.t->expiry() + 1s);
                             });
                    s.poll();
                    check(second.calls() == 1 - static_cast<int>(moved),
                          "what is postponed waits on");
                    s.finish();
                    second.check_counted(0);
                    outcome(moved != 0 ? "postponed" : "expired");
                });
}

// When the last wait ends, the driver is disarmed, although timers are filed. A wait that starts on
// one of them at that moment must not be missed.
BOOST_AUTO_TEST_CASE(a_wait_starts_while_the_wheel_falls_asleep) {
    const auto ends = [](bool cancels) {
        return [cancels] {
            scene s;
            fate second;
            together(
                [&] {
                    if (cancels) {
                        s.far.cancel();
                    } else {
                        s.forward(5s);
                    }
                    s.ctx.poll();
                },
                [&] {
                    s.t->expires_after(20s);
                    s.t->async_wait(second.watch());
                });
            s.poll();
            check(second.calls() == 0 && !s.ctx.stopped(), "a wait is work");
            s.pass(20s);
            second.check_counted(0);
            s.last.check_counted(cancels ? 1 : 0);
            outcome("waits");
        };
    };
    explore_all("asleep_by_expiry", {.preemptions = 3}, {.schedules = 100, .outcomes = {"waits"}},
                ends(false));
    explore_all("asleep_by_cancel", {.preemptions = 3}, {.schedules = 100, .outcomes = {"waits"}},
                ends(true));
    explore_all("both_wake_it_up", {.preemptions = 3}, {.schedules = 50, .outcomes = {"wait"}}, [] {
        scene s(false);
        fate second, third;
        together([&] { s.t->async_wait(second.watch()); },
                 [&] { s.far.async_wait(third.watch()); });
        s.pass(1s);
        second.check_counted(0);
        check(third.calls() == 0, "it is not early");
        s.pass(5s);
        third.check_counted(0);
        outcome("wait");
    });
}

BOOST_AUTO_TEST_CASE(a_wait_starts_while_the_wheel_is_drained) {
    explore_all("drain_begin_again", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"drained", "refused"}}, [] {
                    scene s;
                    fate second;
                    std::size_t drained = 0;
                    together([&] { drained = s.wheel.drain().size(); },
                             [&] { s.t->async_wait(second.watch()); });
                    s.poll();
                    s.last.check_counted(1);
                    second.check_counted(drained - 1);
                    check(second.expired.count() == 0, "nothing expires");
                    outcome(second.aborted ? "drained" : "refused");
                });
    explore_all("drain_cancel", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"cancelled", "drained"}}, [] {
                    scene s;
                    std::size_t drained = 0;
                    std::size_t cancelled = 0;
                    together([&] { drained = s.wheel.drain().size(); },
                             [&] { cancelled = s.far.cancel(); });
                    s.poll();
                    s.last.check_counted(1);
                    check(drained + cancelled == 1, "it is aborted by one of them");
                    outcome(cancelled != 0 ? "cancelled" : "drained");
                });
}

BOOST_AUTO_TEST_SUITE_END()
