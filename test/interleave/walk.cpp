// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// A walk over all waits, in slices of one timer, while the owner of a timer uses it without the
// lock; and while time moves timers, or the wheel is drained.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/tag.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using asio_wheel::tag;
using timer = asio_wheel::basic_waitable_timer<scripted_clock>;

// How often a walk has visited the waits of a scene.
struct visits {
    int first = 0;
    int second = 0;
    int far = 0;

    void walk(asio_wheel::wheel_service<scripted_clock>& wheel) {
        wheel.for_each_pending([this](const asio_wheel::pending_wait& w) {
            ++(w.tag == "first" ? first : w.tag == "second" ? second : far);
        });
    }
};

// A timer whose owner uses it, and one that is left alone.
struct scene : world {
    std::optional<timer> t;
    timer far;
    fate first;
    fate second;
    fate last;

    explicit scene(bool waits = true)
        : world({.slots = 8, .levels = 8, .budget = 1}), t(std::in_place, ctx, 2s), far(ctx, 5s) {
        t->async_wait(tag("first", first.watch()));
        far.async_wait(tag("far", last.watch()));
        if (!waits) {
            check(t->cancel() == 1, "it waits");
            poll();
        }
    }

    void begin_second() { t->async_wait(tag("second", second.watch())); }

    // One thread walks, and another one uses timers.
    template <class Use>
    [[nodiscard]] visits walk_and(Use use) {
        visits v;
        together([&] { v.walk(wheel); }, use);
        check(v.far == 1, "a wait that is left alone is visited once");
        check(v.first + v.second <= 1, "each other one at most once");
        return v;
    }

    // All pending waits end. Then another walk finds nothing.
    void finish() {
        pass(10s);
        visits v;
        v.walk(wheel);
        check(v.first + v.second + v.far == 0, "nothing waits any more");
        last.check_counted(0);
    }
};

std::string told(const visits& v) {
    return v.first != 0 ? "first" : v.second != 0 ? "second" : "none";
}

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_walk)

BOOST_AUTO_TEST_CASE(a_wait_is_cancelled_during_a_walk) {
    explore_all("walk_cancel", {.preemptions = 3},
                {.schedules = 300, .outcomes = {"first", "none"}}, [] {
                    scene s;
                    const visits v = s.walk_and([&] { check(s.t->cancel() == 1, "it waits"); });
                    s.finish();
                    s.first.check_counted(1);
                    outcome(told(v));
                });
    explore_all("walk_cancel_and_begin", {.preemptions = 3},
                {.schedules = 500, .outcomes = {"first", "none", "second"}}, [] {
                    scene s;
                    const visits v = s.walk_and([&] {
                        check(s.t->cancel() == 1, "it waits");
                        s.begin_second();
                    });
                    s.finish();
                    s.first.check_counted(1);
                    s.second.check_counted(0);
                    outcome(told(v));
                });
}

BOOST_AUTO_TEST_CASE(a_wait_starts_on_a_filed_timer_during_a_walk) {
    const auto begin = [](auto set_expiry) {
        return [set_expiry] {
            scene s(false);
            const visits v = s.walk_and([&] {
                set_expiry(*s.t);
                s.begin_second();
            });
            s.finish();
            s.second.check_counted(0);
            outcome(told(v));
        };
    };
    explore_all("walk_begin", {.preemptions = 3},
                {.schedules = 300, .outcomes = {"none", "second"}}, begin([](timer&) {}));
    explore_all("walk_begin_later", {.preemptions = 3},
                {.schedules = 300, .outcomes = {"none", "second"}},
                begin([](timer& t) { t.expires_at(t.expiry() + 1s); }));
    explore_all("walk_begin_earlier", {.preemptions = 3},
                {.schedules = 300, .outcomes = {"none", "second"}},
                begin([](timer& t) { t.expires_at(t.expiry() - 1s); }));
}

// It waits all the time, so the walk must visit it.
BOOST_AUTO_TEST_CASE(a_wait_is_postponed_during_a_walk) {
    const auto postpone = [](auto... steps) {
        return [steps...] {
            scene s;
            const visits v = s.walk_and(
                [&] { (check(s.t->postpone_until(s.t->expiry() + steps) == 1, "it waits"), ...); });
            check(v.first == 1, "a wait that goes on waiting is visited once");
            s.finish();
            s.first.check_counted(0);
            outcome(told(v));
        };
    };
    explore_all("walk_postpone_later", {.preemptions = 3},
                {.schedules = 500, .outcomes = {"first"}}, postpone(4s));
    explore_all("walk_postpone_earlier", {.preemptions = 3},
                {.schedules = 500, .outcomes = {"first"}}, postpone(-1900ms));
    explore_all("walk_postpone_both", {.preemptions = 3}, {.schedules = 500, .outcomes = {"first"}},
                postpone(-1900ms, 6s));
}

BOOST_AUTO_TEST_CASE(a_timer_moves_or_ends_during_a_walk) {
    explore_all("walk_move", {.preemptions = 3}, {.schedules = 300}, [] {
        scene s;
        std::optional<timer> other;
        const visits v = s.walk_and([&] {
            other.emplace(std::move(*s.t));
            s.t.reset();
        });
        check(v.first == 1, "a wait that goes on waiting is visited once");
        s.finish();
        s.first.check_counted(0);
    });
    explore_all("walk_destroy", {.preemptions = 3},
                {.schedules = 300, .outcomes = {"first", "none"}}, [] {
                    scene s;
                    const visits v = s.walk_and([&] { s.t.reset(); });
                    s.finish();
                    s.first.check_counted(1);
                    outcome(told(v));
                });
    explore_all("walk_destroy_tombstone", {.preemptions = 3}, {.schedules = 300}, [] {
        scene s(false);
        check(told(s.walk_and([&] { s.t.reset(); })) == "none", "nothing waits there");
        s.finish();
    });
}

// The bookmark is filed as any timer is, so time moves it, too.
BOOST_AUTO_TEST_CASE(time_passes_during_a_walk) {
    explore_all("walk_cascade", {.preemptions = 2}, {.schedules = 500}, [] {
        scene s;
        timer near(s.ctx, 1900ms);
        fate soon;
        near.async_wait(tag("second", soon.watch()));
        const auto pass = [&] {
            s.forward(1900ms); // The others go to other levels.
            s.ctx.poll();
        };
        visits v;
        together([&] { v.walk(s.wheel); }, pass);
        check(v.first == 1, "a wait that goes on waiting is visited once");
        check(v.far == 1, "a wait that is left alone is visited once");
        check(v.second <= 1, "each other one at most once");
        soon.check_counted(0);
        s.finish();
        s.first.check_counted(0);
    });
    explore_all("walk_expire", {.preemptions = 3},
                {.schedules = 300, .outcomes = {"first", "none"}}, [] {
                    scene s;
                    const visits v = s.walk_and([&] {
                        s.forward(2s);
                        s.ctx.poll();
                    });
                    s.finish();
                    s.first.check_counted(0);
                    outcome(told(v));
                });
}

BOOST_AUTO_TEST_CASE(a_wheel_is_drained_during_a_walk) {
    explore_all("walk_drain", {.preemptions = 3}, {.schedules = 300}, [] {
        scene s;
        visits v;
        together([&] { v.walk(s.wheel); },
                 [&] { check(s.wheel.drain().size() == 2, "both wait"); });
        check(v.first <= 1 && v.far <= 1, "each one at most once");
        s.poll();
        s.first.check_counted(1);
        s.last.check_counted(1);
    });
}

BOOST_AUTO_TEST_CASE(two_threads_walk) {
    explore_all("walk_twice", {.preemptions = 3}, {.schedules = 300}, [] {
        scene s;
        visits a;
        visits b;
        together([&] { a.walk(s.wheel); }, [&] { b.walk(s.wheel); });
        check(a.first == 1 && a.far == 1 && b.first == 1 && b.far == 1, "both visit all waits");
        s.finish();
        s.first.check_counted(0);
    });
}

BOOST_AUTO_TEST_SUITE_END()
