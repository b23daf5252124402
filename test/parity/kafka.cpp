// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of Kafka: org.apache.kafka.server.util.timer (Timer, SystemTimer, TimerTask,
// SystemTimerReaper, MockTimer), and the purgatory of org.apache.kafka.server.purgatory, where
// operations wait for a condition or for their timeout.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

// new SystemTimer(name): a tick of a millisecond, and as many wheels of 20 slots as needed.
struct system_timer_of_kafka : logged_scheduler {
    system_timer_of_kafka() : logged_scheduler({.tick = 1ms, .slots = 20, .levels = 4}) {}
};

// DelayedOperationPurgatory, of operations that complete when something is ready.
struct broker : virtual_world {
    asio_wheel::delayed_operations<std::string, int> purgatory{ctx};
    std::string log_text;

    // tryCompleteElseWatch(operation, keys)
    void watch(std::initializer_list<std::string> keys, std::chrono::milliseconds delay,
               const bool& ready, const std::string& name) {
        purgatory.async_wait(
            std::vector<std::string>(keys), delay,
            [&ready] { return ready ? std::optional(1) : std::nullopt; }, // tryComplete()
            [this, name](error_code ec, int) {                            // onComplete()
                log_text += name + (!ec ? "! " : ec == aborted ? "- " : "? ");
            });
    }
    [[nodiscard]] std::string take_log() {
        poll();
        return std::exchange(log_text, {});
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_kafka, *boost::unit_test::timeout(60))

// Timer.add(TimerTask(delayMs)), size()

BOOST_FIXTURE_TEST_CASE(a_task_that_is_due_already_runs_at_once, system_timer_of_kafka) {
    tasks.schedule_after(0ms, note("a"));
    tasks.schedule_after(-1ms, note("b"));
    poll();
    BOOST_TEST(take_log().size() == 2U);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(tasks_run_when_the_clock_has_come_to_them, system_timer_of_kafka) {
    for (const int delay : {0, 1, 19, 20, 21, 399, 400, 401, 8000, 8001, 160'000, 10'000'000}) {
        const auto due = now() + delay * 1ms;
        tasks.schedule_after(delay * 1ms, [this, due] {
            BOOST_TEST((now() == due));
            log_text += ".";
        });
    }
    BOOST_TEST(tasks.pending() == 12U);
    poll();
    while (wheel.advance_to_next() != 0) {
        poll();
    }
    BOOST_TEST(take_log().size() == 12U);
    BOOST_TEST(tasks.pending() == 0U);
}

// The overflow wheels

BOOST_FIXTURE_TEST_CASE(a_task_moves_down_the_wheels_no_more_often_than_there_are_wheels,
                        system_timer_of_kafka) {
    const auto before = wheel.stats().cascaded;
    tasks.schedule_after(32'000'000ms, note("a"));
    while (wheel.advance_to_next() != 0) {
        poll();
    }
    BOOST_TEST(take_log() == "a");
    BOOST_TEST(wheel.stats().cascaded - before <= 3U);
}

// TimerTask.cancel()

BOOST_FIXTURE_TEST_CASE(a_cancelled_task_is_gone_at_once, system_timer_of_kafka) {
    const task_handle a = tasks.schedule_after(5s, note("a"));
    tasks.schedule_after(5s, note("b"));
    BOOST_TEST((a.cancel().result == cancel_result::cancelled));
    BOOST_TEST(tasks.pending() == 1U);
    pass(5s);
    BOOST_TEST(take_log() == "b");
}

// Adding the same TimerTask again replaces it: a heartbeat of a group's member

BOOST_FIXTURE_TEST_CASE(a_task_that_is_added_again_moves, system_timer_of_kafka) {
    for (int i = 0; i < 10; ++i) {
        tasks.schedule_after("member 1", 10s, note("expired"));
        BOOST_TEST(tasks.pending() == 1U);
        pass(9s);
    }
    BOOST_TEST(take_log() == "");
    pass(1s);
    BOOST_TEST(take_log() == "expired");
}

BOOST_FIXTURE_TEST_CASE(a_timer_is_moved_without_anything_being_added, system_timer_of_kafka) {
    journal log;
    timer session(ctx, 10s);
    session.async_wait(log.note("expired"));
    for (int i = 0; i < 10; ++i) {
        pass(9s);
        BOOST_TEST(session.postpone(10s) == 1U);
    }
    pass(10s);
    BOOST_TEST(log.take() == "expired");
    BOOST_TEST(wheel.stats().scheduled == 2U); // This one, and one of the fixture.
}

// Timer.advanceClock(timeoutMs): running the context does that; SystemTimerReaper is not needed

BOOST_AUTO_TEST_CASE(running_the_context_advances_the_clock_and_says_what_ran) { // real time
    asio::io_context ctx;
    scheduler tasks(ctx);
    tasks.schedule_after(1h, [] {});
    BOOST_TEST(ctx.run_one_for(1ms) <= (counts_only_handlers ? 0U : 1U));
    int calls = 0;
    tasks.schedule_after(0ms, [&] { ++calls; });
    while (calls == 0) {
        ctx.run_one_for(1s);
    }
    BOOST_TEST(calls == 1);
}

// MockTimer, MockTime: the test moves time, with the timer of production

BOOST_FIXTURE_TEST_CASE(tests_move_time_by_hand, system_timer_of_kafka) {
    tasks.schedule_after(30 * 24h, note("a"));
    BOOST_TEST(wheel.advance(29 * 24h) == 0U);
    BOOST_TEST(wheel.advance(24h) == 1U);
    poll();
    BOOST_TEST(take_log() == "a");
}

// Timer.close()

BOOST_FIXTURE_TEST_CASE(what_is_pending_at_the_close_does_not_run, system_timer_of_kafka) {
    tasks.schedule_after(1s, note("a"));
    BOOST_TEST(tasks.stop().size() == 1U);
    BOOST_TEST(tasks.pending() == 0U);
    pass(1h);
    BOOST_TEST(take_log() == "");
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
}

// The executor of its tasks, "executor-" + name

BOOST_FIXTURE_TEST_CASE(tasks_run_one_after_the_other_where_they_are_told_to,
                        system_timer_of_kafka) {
    const auto strand = asio::make_strand(ctx);
    scheduler serial(strand);
    for (int i = 0; i < 3; ++i) {
        serial.schedule_after(1s, [&] {
            BOOST_TEST(strand.running_in_this_thread());
            log_text += "x";
        });
    }
    pass(1s);
    BOOST_TEST(take_log() == "xxx");
}

// A known problem of Kafka's wheel: it rounds deadlines down to a tick

BOOST_AUTO_TEST_CASE(no_task_runs_early_whatever_the_tick) {
    for (const auto tick : {1ms, 10ms, 100ms}) {
        logged_scheduler world({.tick = tick, .slots = 20, .levels = 3});
        int called = 0;
        for (int ms = 150; ms != 550; ++ms) {
            const auto due = world.now() + ms * 1ms;
            world.tasks.schedule_after(ms * 1ms, [&world, &called, tick, due] {
                BOOST_TEST((world.now() >= due));
                BOOST_TEST((world.now() < due + tick));
                ++called;
            });
            world.pass(100us); // Between ticks, too.
        }
        world.pass_in(700, 1ms);
        BOOST_TEST(called == 400);
    }
}

// DelayedOperationPurgatory.tryCompleteElseWatch(op, keys), checkAndComplete(key)

BOOST_FIXTURE_TEST_CASE(what_can_complete_at_once_does_not_wait, broker) {
    const bool ready = true;
    watch({"k"}, 1s, ready, "a");
    BOOST_TEST(purgatory.pending() == 0U);
    BOOST_TEST(purgatory.watched() == 0U);
    BOOST_TEST(take_log() == "a! ");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_event_completes_what_waits_for_it_once_under_all_keys, broker) {
    bool a = false;
    bool b = false;
    watch({"k1", "k2"}, 10s, a, "a");
    watch({"k2"}, 10s, b, "b");
    BOOST_TEST(purgatory.pending() == 2U); // numDelayed()
    BOOST_TEST(purgatory.check("k1") == 0U);
    a = true;
    BOOST_TEST(purgatory.check("other") == 0U);
    BOOST_TEST(purgatory.check("k1") == 1U);
    BOOST_TEST(take_log() == "a! ");
    BOOST_TEST(purgatory.pending() == 1U);
    BOOST_TEST(purgatory.check("k2") == 0U);
    pass(10s);
    BOOST_TEST(take_log() == "b? ");
}

BOOST_FIXTURE_TEST_CASE(an_operation_expires_once_if_nothing_completes_it, broker) {
    bool ready = false;
    watch({"k"}, 10s, ready, "a");
    pass(10s - 1ns);
    BOOST_TEST(take_log() == "");
    pass(1ns);
    BOOST_TEST(take_log() == "a? ");
    ready = true;
    BOOST_TEST(purgatory.check("k") == 0U);
    BOOST_TEST(purgatory.force("k") == 0U);
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(the_last_moment_belongs_to_the_event, broker) {
    bool ready = false;
    watch({"k"}, 10s, ready, "a");
    elapse(10s); // Due, and its handler is on its way.
    ready = true;
    BOOST_TEST(purgatory.check("k") == 1U);
    ready = false;
    BOOST_TEST(take_log() == "a! ");
}

// DelayedFetch.onComplete() reads what there is, also when it has expired

BOOST_FIXTURE_TEST_CASE(an_operation_that_expires_gives_what_there_is, broker) {
    int bytes = 3;
    int fetched = 0;
    purgatory.async_wait(
        "k", 10s,
        [&](asio_wheel::attempt which) {
            const bool enough = bytes >= 10 || which == asio_wheel::attempt::last;
            return enough ? std::optional(bytes) : std::nullopt;
        },
        [&](error_code ec, int n) {
            BOOST_TEST(!ec);
            fetched = n;
        });
    bytes = 5;
    BOOST_TEST(purgatory.check("k") == 0U);
    pass(10s);
    BOOST_TEST(fetched == 5);
}

BOOST_FIXTURE_TEST_CASE(an_operation_can_be_completed_by_force, broker) { // forceComplete()
    const bool ready = false;
    watch({"k"}, 10s, ready, "a");
    BOOST_TEST(purgatory.force("k") == 1U);
    BOOST_TEST(purgatory.force("k") == 0U);
    pass(1h);
    BOOST_TEST(take_log() == "a? ");
}

// watched(), numDelayed(): theirs count what has completed until it is purged

BOOST_FIXTURE_TEST_CASE(what_has_completed_is_purged_from_all_keys_at_once, broker) {
    bool ready = false;
    const bool never = false;
    watch({"k1", "k2"}, 10s, ready, "a");
    watch({"k1", "k2"}, 20s, never, "b");
    watch({"k2"}, 30s, ready, "c");
    BOOST_TEST(purgatory.pending() == 3U);
    BOOST_TEST(purgatory.watched() == 5U);
    BOOST_TEST(purgatory.watched("k2") == 3U);
    ready = true;
    BOOST_TEST(purgatory.check("k1") == 1U);
    BOOST_TEST(purgatory.pending() == 2U);
    BOOST_TEST(purgatory.watched() == 3U);
    pass(20s); // They leave their keys at their deadlines, too.
    BOOST_TEST(take_log() == "a! b? ");
    BOOST_TEST(purgatory.watched() == 1U);
    BOOST_TEST(purgatory.keys() == 1U);
    BOOST_TEST(purgatory.check("k2") == 1U);
    BOOST_TEST(purgatory.keys() == 0U);
    BOOST_TEST(take_log() == "c! ");
}

// cancelForKey(key): theirs never complete, ours say that they were cancelled

BOOST_FIXTURE_TEST_CASE(what_waits_for_a_key_can_be_cancelled, broker) {
    const bool ready = false;
    watch({"k", "other"}, 10s, ready, "a");
    watch({"k"}, 10s, ready, "b");
    watch({"other"}, 10s, ready, "c");
    BOOST_TEST(purgatory.cancel("k") == 2U);
    BOOST_TEST(purgatory.watched() == 1U);
    BOOST_TEST(take_log() == "a- b- ");
    BOOST_TEST(wheel.pending() == 1U);
    pass(1h);
    BOOST_TEST(take_log() == "c? ");
}

BOOST_FIXTURE_TEST_CASE(to_cancel_what_waits_for_an_unknown_key_does_nothing, broker) {
    const bool ready = false;
    watch({"k"}, 10s, ready, "a");
    BOOST_TEST(purgatory.cancel("other") == 0U);
    BOOST_TEST(purgatory.pending() == 1U);
    pass(10s);
    BOOST_TEST(take_log() == "a? ");
}

// A check between the first attempt and the watch is not lost, nor is one during an attempt

BOOST_FIXTURE_TEST_CASE(a_check_during_an_attempt_is_not_lost, broker) {
    bool ready = false;
    purgatory.async_wait(
        "k", 10s,
        [&]() -> std::optional<int> {
            if (ready) {
                return 1;
            }
            ready = true; // An append, by a callback of what this has called.
            purgatory.check("k");
            return std::nullopt;
        },
        [&](error_code ec, int) { log_text += ec ? "?" : "!"; });
    BOOST_TEST(take_log() == "!");
}

BOOST_FIXTURE_TEST_CASE(what_waits_at_the_shutdown_is_cancelled, broker) { // shutdown()
    const bool ready = false;
    watch({"k1", "k2"}, 10s, ready, "a");
    watch({"k2"}, 20s, ready, "b");
    BOOST_TEST(purgatory.cancel() == 2U);
    BOOST_TEST(purgatory.watched() == 0U);
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(take_log() == "a- b- ");
    pass(1h);
    BOOST_TEST(take_log() == "");
}

// DelayedFuturePurgatory: waits for several operations, or for those that complete in time

BOOST_FIXTURE_TEST_CASE(several_operations_share_a_deadline, broker) {
    manual_operation<error_code> first(ctx.get_executor());
    manual_operation<error_code> second(ctx.get_executor());
    for (auto* const op : {&first, &second}) {
        op->on_cancel = [op] {
            if (op->pending()) { // A group sends it to completed ones, too.
                op->complete(asio::error::operation_aborted);
            }
        };
    }
    const auto all = [&] {
        auto group = asio::experimental::make_parallel_group(first.start(asio::deferred),
                                                             second.start(asio::deferred));
        auto done = [this](const std::array<std::size_t, 2>&, error_code a, error_code b) {
            log_text += a ? "?" : "!";
            log_text += b ? "?" : "!";
        };
        group.async_wait(asio::experimental::wait_for_all(),
                         asio_wheel::cancel_after(10s, asio::bind_executor(ctx, done)));
    };
    all();
    first.complete({});
    second.complete({});
    poll();
    BOOST_TEST(take_log() == "!!");
    BOOST_TEST(wheel.pending() == 0U);
    all();
    second.complete({});
    pass(10s);
    BOOST_TEST(take_log() == "?!");
}

BOOST_AUTO_TEST_SUITE_END()
