// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// Handlers that own their timers, as a coroutine does that has a timer in its frame. A handler may
// run, and destroy its timer, before the async_wait() that has started its wait returns on another
// thread.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "interleave/support/explorer.hpp"
#include "interleave/support/world.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio_wheel::test::interleave;
using boost::system::error_code;
using timer = asio_wheel::basic_waitable_timer<scripted_clock>;

// A timer of one second, and one of five seconds that may keep the wheel awake.
struct scene : world {
    std::unique_ptr<timer> t;
    timer far;
    fate mine;
    fate last;

    // `filed`: a wait on the timer was cancelled, so the next one starts without the lock.
    explicit scene(bool filed = true, bool awake = true)
        : t(std::make_unique<timer>(ctx, 1s)), far(ctx, 5s) {
        if (awake) {
            far.async_wait(last.watch());
        }
        if (filed) {
            fate before;
            t->async_wait(before.watch());
            check(t->cancel() == 1, "it waits");
            poll();
            before.check_counted(1);
        }
    }

    // A handler that destroys the timer.
    auto own() {
        return [this, h = mine.watch()](const error_code& ec) mutable {
            t.reset();
            h(ec);
        };
    }

    void expire() {
        forward(1s);
        ctx.poll();
    }

    void finish() {
        poll();
        mine.check_once();
        check(t == nullptr, "the handler has destroyed its timer");
        pass(10s);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_own_timer)

BOOST_AUTO_TEST_CASE(a_handler_destroys_its_timer_while_async_wait_has_not_returned) {
    const auto begin = [](bool filed, bool awake) {
        return [filed, awake] {
            scene s(filed, awake);
            together([&] { s.expire(); }, [&] { s.t->async_wait(s.own()); });
            s.finish();
            s.mine.check_counted(0);
            outcome("due");
        };
    };
    explore_all("own_due", {.preemptions = 3}, {.schedules = 100, .outcomes = {"due"}},
                begin(true, true));
    explore_all("own_due_asleep", {.preemptions = 3}, {.schedules = 20, .outcomes = {"due"}},
                begin(true, false));
    explore_all("own_due_not_filed", {.preemptions = 3}, {.schedules = 20, .outcomes = {"due"}},
                begin(false, true));
    explore_all("own_due_two_threads", {.preemptions = 2}, {.schedules = 100, .outcomes = {"due"}},
                [] {
                    scene s;
                    s.forward(1s);
                    together([&] { s.ctx.poll(); }, [&] { s.ctx.poll(); },
                             [&] { s.t->async_wait(s.own()); });
                    s.finish();
                    s.mine.check_counted(0);
                    outcome("due");
                });
}

BOOST_AUTO_TEST_CASE(a_handler_on_a_strand_destroys_its_timer) {
    explore_all("own_strand", {.preemptions = 2}, {.schedules = 100, .outcomes = {"due"}}, [] {
        scene s;
        const auto strand = asio::make_strand(s.ctx);
        together([&] { s.expire(); },
                 [&] { s.t->async_wait(asio::bind_executor(strand, s.own())); });
        s.finish();
        s.mine.check_counted(0);
        outcome("due");
    });
}

BOOST_AUTO_TEST_CASE(a_handler_with_a_slot_destroys_its_timer) {
    explore_all(
        "own_slot", {.preemptions = 2}, {.schedules = 100, .outcomes = {"aborted", "due"}}, [] {
            asio::cancellation_signal signal;
            scene s;
            s.t->async_wait(asio::bind_cancellation_slot(signal.slot(), s.own()));
            together([&] { s.expire(); }, [&] { signal.emit(asio::cancellation_type::terminal); });
            s.finish();
            outcome(s.mine.aborted ? "aborted" : "due");
        });
}

BOOST_AUTO_TEST_CASE(a_wheel_is_drained_while_async_wait_has_not_returned) {
    const auto drain = [](bool filed) {
        return [filed] {
            scene s(filed);
            std::size_t drained = 0;
            together(
                [&] {
                    drained = s.wheel.drain().size();
                    s.ctx.poll();
                },
                [&] { s.t->async_wait(s.own()); });
            s.finish();
            s.last.check_counted(1);
            s.mine.check_counted(drained - 1);
            outcome(s.mine.aborted ? "drained" : "refused");
        };
    };
    explore_all("own_drain", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"drained", "refused"}}, drain(true));
    explore_all("own_drain_not_filed", {.preemptions = 3},
                {.schedules = 100, .outcomes = {"drained", "refused"}}, drain(false));
    explore_all("own_drain_due", {.preemptions = 2},
                {.schedules = 100, .outcomes = {"drained", "due", "refused"}}, [] {
                    scene s;
                    std::size_t drained = 0;
                    together([&] { drained = s.wheel.drain().size(); }, [&] { s.expire(); },
                             [&] { s.t->async_wait(s.own()); });
                    s.finish();
                    s.mine.check_counted(drained - 1);
                    outcome(s.mine.aborted ? "drained" : s.mine.expired ? "due" : "refused");
                });
}

// A wait that was cancelled is not touched any more, and neither is its timer.
BOOST_AUTO_TEST_CASE(a_handler_destroys_its_timer_while_cancel_has_not_returned) {
    const auto cancel = [](auto how) {
        return [how] {
            scene s;
            s.t->async_wait(s.own());
            timer& t = *s.t;
            together([&] { s.ctx.poll(); }, [&] { check(how(t) == 1, "it waits"); });
            s.finish();
            s.mine.check_counted(1);
            outcome("aborted");
        };
    };
    explore_all("own_cancel", {.preemptions = 3}, {.schedules = 5, .outcomes = {"aborted"}},
                cancel([](timer& t) { return t.cancel(); }));
    explore_all("own_cancel_one", {.preemptions = 3}, {.schedules = 5, .outcomes = {"aborted"}},
                cancel([](timer& t) { return t.cancel_one(); }));
    explore_all("own_expires_later", {.preemptions = 3}, {.schedules = 5, .outcomes = {"aborted"}},
                cancel([](timer& t) { return t.expires_at(t.expiry() + 1s); }));
    explore_all("own_expires_earlier", {.preemptions = 3},
                {.schedules = 5, .outcomes = {"aborted"}},
                cancel([](timer& t) { return t.expires_at(t.expiry() - 1s); }));
}

// A wait on its way to another context belongs to that context alone when its own one ends.
BOOST_AUTO_TEST_CASE(a_context_ends_while_a_wait_is_on_its_way_to_another_one) {
    for (const bool owned : {false, true}) {
        explore_all(
            owned ? "own_end_of_context" : "end_of_context", {.preemptions = 3},
            {.schedules = 20, .outcomes = {"called"}}, [owned] {
                scripted_clock::reset();
                asio::io_context other;
                auto ctx = std::make_unique<asio::io_context>();
                const auto& wheel = asio_wheel::make_wheel<scripted_clock>(
                    *ctx, without_stalls({.slots = 8, .levels = 8}));
                auto t = std::make_unique<timer>(*ctx, 1s);
                fate f;
                t->async_wait(asio::bind_executor(
                    other.get_executor(), [&t, owned, h = f.watch()](const error_code& ec) mutable {
                        if (owned) {
                            t.reset();
                        }
                        h(ec);
                    }));
                scripted_clock::forward(1s + wheel.options().tick);
                ctx->poll();
                together([&] { ctx.reset(); }, [&] { other.poll(); });
                f.check_counted(0);
                outcome("called");
            });
    }
}

BOOST_AUTO_TEST_SUITE_END()
