// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of Kafka: org.apache.kafka.server.util.timer (Timer, SystemTimer, TimerTask,
// SystemTimerReaper, MockTimer), and the purgatory of org.apache.kafka.server.purgatory, where
// operations wait for a condition or for their timeout.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
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
using asio_wheel::scheduler;

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

// DelayedOperationPurgatory.tryCompleteElseWatch(op, keys), checkAndComplete(key)

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

// A check between the first attempt and the watch is not lost, nor is one during an attempt

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
