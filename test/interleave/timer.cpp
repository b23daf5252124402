// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// Waits on timers, through the public interface: waits that expire on one thread are cancelled,
// postponed, moved, destroyed or started on another. core.cpp explores the core itself, with timers
// in each condition. So this is about what is around it: timers, Asio's queue, slots and strands,
// the driver and the clock.

#include <asio_wheel/basic_waitable_timer.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using timer = asio_wheel::basic_waitable_timer<scripted_clock>;

// A timer of one second with a pending wait, which one thread lets expire.
struct scene : world {
    std::optional<timer> t;
    fate first;

    scene() : t(std::in_place, ctx, 1s) { t->async_wait(first.watch()); }

    void expire() {
        forward(1s);
        ctx.poll();
    }

    // The waits that were not delivered yet.
    void finish() { pass(10s); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_timer)

BOOST_AUTO_TEST_CASE(a_wait_expires_or_is_cancelled) {
    explore_all("expire_cancel", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"cancelled", "expired"}}, [] {
                    scene s;
                    std::size_t cancelled = 0;
                    together([&] { s.expire(); }, [&] { cancelled = s.t->cancel(); });
                    s.finish();
                    s.first.check_counted(cancelled);
                    outcome(cancelled != 0 ? "cancelled" : "expired");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_expires_or_is_postponed) {
    explore_all(
        "expire_postpone", {.preemptions = 3},
        {.schedules = 100, .outcomes = {"postponed", "expired"}}, [] {
            scene s;
            std::size_t moved = 0;
            together([&] { s.expire(); }, [&] { moved = s.t->postpone_until(s.t->expiry() + 1s); });
            s.poll();
            check(s.first.calls() == 1 - static_cast<int>(moved), "what is postponed waits on");
            s.finish();
            s.first.check_counted(0);
            outcome(moved != 0 ? "postponed" : "expired");
        });
}

// A wait is postponed to an earlier time, which has come. It is called now if it was moved, and at
// the old expiry if it was not.
BOOST_AUTO_TEST_CASE(a_wait_that_is_moved_to_an_earlier_time_is_counted) {
    const auto move = [](auto... steps) {
        return [steps...] {
            scene s;
            const auto filed_for = s.t->expiry();
            check(s.t->postpone_until(filed_for + 5s) == 1, "it waits");
            bool moved = false;
            together([&] { s.forward(3s), s.ctx.poll(); },
                     [&] { ((moved = s.t->postpone_until(filed_for + steps) == 1), ...); });
            s.poll();
            check(s.first.calls() == (moved ? 1 : 0), "what is counted is called");
            outcome(moved ? "moved" : "not moved");
            s.finish();
            s.first.check_counted(0);
        };
    };
    explore_all("postpone_earlier", {.preemptions = 3}, {.schedules = 100, .outcomes = {"moved"}},
                move(1s));
    explore_all("postpone_later_and_earlier", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"moved"}}, move(6s, 1s));
}

BOOST_AUTO_TEST_CASE(a_wait_expires_or_its_timer_ends) {
    explore_all("expire_destroy", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"aborted", "expired"}}, [] {
                    scene s;
                    together([&] { s.expire(); }, [&] { s.t.reset(); });
                    s.finish();
                    s.first.check_once();
                    outcome(s.first.aborted ? "aborted" : "expired");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_expires_while_its_timer_is_moved) {
    explore_all("expire_move", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"cancelled", "expired"}}, [] {
                    scene s;
                    std::size_t cancelled = 0;
                    together([&] { s.expire(); },
                             [&] {
                                 timer other(std::move(*s.t));
                                 check(s.t->cancel() == 0, "nothing is left where it was");
                                 cancelled = other.cancel();
                             });
                    s.finish();
                    s.first.check_counted(cancelled);
                    outcome(cancelled != 0 ? "cancelled" : "expired");
                });
}

BOOST_AUTO_TEST_CASE(a_wait_that_begins_while_time_goes_on_is_not_overlooked) {
    const auto begin = [](std::chrono::seconds d) {
        return [d] {
            world w;
            timer t(w.ctx);
            fate f;
            together([&] { w.forward(1s), w.ctx.poll(); },
                     [&] {
                         t.expires_after(d);
                         t.async_wait(f.watch());
                     });
            w.poll();
            const bool due = t.expiry() <= w.wheel.now();
            check(f.calls() == (due ? 1 : 0), "what is due, and nothing else, is called");
            w.pass(2s);
            f.check_counted(0);
            outcome(due ? "due" : "waits");
        };
    };
    explore_all("begin_in_the_past", {.preemptions = 3}, {.schedules = 20, .outcomes = {"due"}},
                begin(-1s));
    explore_all("begin_between", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"due", "waits"}}, begin(1s));
    explore_all("begin_in_the_future", {.preemptions = 3}, {.schedules = 10, .outcomes = {"waits"}},
                begin(2s));
}

// The last wait ends on one thread while another one starts or ends on another.
BOOST_AUTO_TEST_CASE(the_context_works_as_long_as_anything_waits) {
    explore_all("last_ends_next_begins", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"waits"}}, [] {
                    scene s;
                    timer other(s.ctx, 5s);
                    fate second;
                    together([&] { s.expire(); }, [&] { other.async_wait(second.watch()); });
                    s.poll();
                    check(second.calls() == 0 && !s.ctx.stopped(), "a wait is work");
                    other.cancel();
                    s.poll();
                    check(s.ctx.stopped(), "no wait, no work");
                    second.check_counted(1);
                    outcome("waits");
                });
    explore_all("both_end", {.preemptions = 2}, {.schedules = 100, .outcomes = {"ended"}}, [] {
        scene s;
        timer other(s.ctx, 5s);
        fate second;
        other.async_wait(second.watch());
        together([&] { s.expire(); }, [&] { other.cancel(); });
        s.poll();
        check(s.ctx.stopped(), "no wait, no work");
        s.first.check_counted(0);
        second.check_counted(1);
        outcome("ended");
    });
}

BOOST_AUTO_TEST_CASE(a_signal_comes_before_the_expiry_or_does_nothing) {
    const auto emit = [](bool destroys) {
        return [destroys] {
            world w;
            std::optional<timer> t(std::in_place, w.ctx, 1s);
            fate f;
            asio::cancellation_signal signal;
            t->async_wait(asio::bind_cancellation_slot(signal.slot(), f.watch()));
            together([&] { w.forward(1s), w.ctx.poll(); },
                     [&] {
                         signal.emit(asio::cancellation_type::terminal);
                         if (destroys) {
                             t.reset();
                         }
                     });
            w.poll();
            f.check_once();
            outcome(f.aborted ? "aborted" : "expired");
        };
    };
    explore_all("expire_emit", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"aborted", "expired"}}, emit(false));
    explore_all("expire_emit_destroy", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"aborted", "expired"}}, emit(true));
}

BOOST_AUTO_TEST_CASE(two_threads_run_the_context) {
    explore_all("expire_expire", {.preemptions = 2}, {.schedules = 100, .outcomes = {"expired"}},
                [] {
                    world w({.slots = 8, .levels = 8, .budget = 1});
                    timer t1(w.ctx, 1s);
                    timer t2(w.ctx, 1s);
                    fate f1, f2;
                    t1.async_wait(f1.watch());
                    t2.async_wait(f2.watch());
                    w.forward(1s);
                    together([&] { w.ctx.poll(); }, [&] { w.ctx.poll(); });
                    w.poll();
                    f1.check_counted(0);
                    f2.check_counted(0);
                    outcome("expired");
                });
    explore_all("expire_expire_cancel", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"cancelled", "expired"}}, [] {
                    scene s;
                    std::size_t cancelled = 0;
                    s.forward(1s);
                    together([&] { s.ctx.poll(); }, [&] { s.ctx.poll(); },
                             [&] { cancelled = s.t->cancel(); });
                    s.poll();
                    s.first.check_counted(cancelled);
                    outcome(cancelled != 0 ? "cancelled" : "expired");
                });
}

// As a coroutine does that has the timer in its frame. The wait starts without the lock, because
// another one was cancelled before.
BOOST_AUTO_TEST_CASE(a_handler_destroys_its_timer_while_async_wait_has_not_returned) {
    const auto begin = [](auto bind) {
        return [bind] {
            scene s;
            timer awake(s.ctx, 5s); // The wheel.
            fate second, last;
            awake.async_wait(last.watch());
            check(s.t->cancel() == 1, "it waits");
            s.poll();
            const auto strand = asio::make_strand(s.ctx);
            together([&] { s.expire(); },
                     [&] {
                         s.t->async_wait(bind(strand, [&, h = second.watch()](auto ec) mutable {
                             s.t.reset();
                             h(ec);
                         }));
                     });
            s.poll();
            second.check_counted(0);
            check(!s.t, "the handler has destroyed its timer");
            s.finish();
            outcome("due");
        };
    };
    explore_all("own", {.preemptions = 3}, {.schedules = 100, .outcomes = {"due"}},
                begin([](const auto&, auto handler) { return handler; }));
    explore_all("own_strand", {.preemptions = 2}, {.schedules = 100, .outcomes = {"due"}},
                begin([](const auto& strand, auto handler) {
                    return asio::bind_executor(strand, std::move(handler));
                }));
}

BOOST_AUTO_TEST_CASE(a_wait_on_a_strand_can_be_cancelled_until_its_handler_runs) {
    explore_all("strand_expire_cancel", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"cancelled", "expired"}}, [] {
                    world w;
                    auto strand = asio::make_strand(w.ctx);
                    timer t(w.ctx, 1s);
                    fate f;
                    t.async_wait(asio::bind_executor(strand, f.watch()));
                    std::size_t cancelled = 0;
                    together([&] { w.forward(1s), w.ctx.poll(); }, [&] { cancelled = t.cancel(); });
                    w.poll();
                    f.check_counted(cancelled);
                    outcome(cancelled != 0 ? "cancelled" : "expired");
                });
    explore_all("strand_expire_postpone", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"postponed", "expired"}}, [] {
                    world w;
                    auto strand = asio::make_strand(w.ctx);
                    timer t(w.ctx, 1s);
                    fate f;
                    t.async_wait(asio::bind_executor(strand, f.watch()));
                    std::size_t moved = 0;
                    together([&] { w.forward(1s), w.ctx.poll(); },
                             [&] { moved = t.postpone_until(t.expiry() + 1s); });
                    w.poll();
                    check(f.calls() == 1 - static_cast<int>(moved), "what is postponed waits on");
                    w.pass(1s);
                    f.check_counted(0);
                    outcome(moved != 0 ? "postponed" : "expired");
                });
}

BOOST_AUTO_TEST_CASE(time_stands_still_and_goes_on_while_waits_begin_and_end) {
    explore_all("pause_begin", {.preemptions = 2}, {.schedules = 100, .outcomes = {"waits"}}, [] {
        scene s;
        timer other(s.ctx, 5s);
        fate second;
        together([&] { s.wheel.pause(), s.forward(1h), s.wheel.resume(); },
                 [&] {
                     other.async_wait(second.watch());
                     s.t->cancel();
                 });
        s.poll();
        s.first.check_counted(1);
        check(second.calls() == 0 && !s.ctx.stopped(), "a wait is work");
        s.pass(5s);
        second.check_counted(0);
        outcome("waits");
    });
}

// The turn holds back what is not due yet, since the drain has moved the wheel to the last tick.
BOOST_AUTO_TEST_CASE(a_turn_between_two_slices_of_a_drain_leaves_nothing_behind) {
    explore_all("drain_and_turn", {.preemptions = 2}, {.schedules = 50}, [] {
        world w({.slots = 8, .levels = 8, .budget = 1});
        timer first(w.ctx, 1s), second(w.ctx, 1s), third(w.ctx, 1h), last(w.ctx, 1h);
        fate of_first, of_second, of_third, of_last;
        first.async_wait(of_first.watch());
        second.async_wait(of_second.watch());
        third.async_wait(of_third.watch());
        last.async_wait(of_last.watch());
        w.forward(1s);
        std::size_t drained = 0;
        together([&] { drained = w.wheel.drain().size(); }, [&] { w.ctx.poll(); });
        w.poll();
        const fate* const all[] = {&of_first, &of_second, &of_third, &of_last};
        for (const fate* const f : all) {
            f->check_once();
        }
        check(of_third.aborted.count() == 1 && of_last.aborted.count() == 1,
              "what is not due is aborted");
        check(drained >= 2, "drain() returns what it has aborted");
    });
}

BOOST_AUTO_TEST_SUITE_END()
