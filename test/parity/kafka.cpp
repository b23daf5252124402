// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of Kafka: org.apache.kafka.server.util.timer (Timer, SystemTimer, TimerTask,
// SystemTimerReaper, MockTimer), and the purgatory of org.apache.kafka.server.purgatory, where
// operations wait for a condition or for their timeout.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

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
#include <functional>
#include <map>
#include <memory>
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

/// DelayedOperation: completes once, by an event or by its deadline, whichever comes first.
class delayed_operation : public std::enable_shared_from_this<delayed_operation> {
public:
    using condition = std::function<bool()>;
    using completion = std::function<void(bool expired)>;

    delayed_operation(asio::io_context& ctx, std::chrono::milliseconds delay, condition ready,
                      completion on_complete)
        : deadline_(ctx, delay), ready_(std::move(ready)), on_complete_(std::move(on_complete)) {}

    void watch() {
        deadline_.async_wait([self = shared_from_this()](error_code ec) {
            if (!ec) {
                self->complete(true);
            }
        });
    }

    bool try_complete() { return !completed_ && ready_() && force_complete(); }

    // cancel() of a timer reaches a wait until its handler is called, so nothing completes twice.
    bool force_complete() {
        if (completed_) {
            return false;
        }
        deadline_.cancel();
        complete(false);
        return true;
    }

    void cancel() { deadline_.cancel(); }
    [[nodiscard]] bool completed() const { return completed_; }

private:
    void complete(bool expired) {
        completed_ = true;
        on_complete_(expired);
    }

    timer deadline_;
    condition ready_;
    completion on_complete_;
    bool completed_ = false;
};

/// DelayedOperationPurgatory: waiting operations, by the keys of their conditions.
class purgatory {
public:
    using operation = std::shared_ptr<delayed_operation>;

    bool try_complete_else_watch(const operation& op, const std::vector<std::string>& keys) {
        if (op->try_complete()) {
            return true;
        }
        for (const std::string& key : keys) {
            watched_.emplace(key, op);
        }
        op->watch();
        return false;
    }

    std::size_t check_and_complete(const std::string& key) {
        std::size_t completed = 0;
        const auto [first, last] = watched_.equal_range(key);
        for (auto it = first; it != last; ++it) {
            completed += it->second->try_complete() ? 1 : 0;
        }
        std::erase_if(watched_, [](const auto& entry) { return entry.second->completed(); });
        return completed;
    }

    std::vector<operation> cancel_for_key(const std::string& key) {
        std::vector<operation> cancelled;
        const auto [first, last] = watched_.equal_range(key);
        for (auto it = first; it != last; ++it) {
            it->second->cancel();
            cancelled.push_back(it->second);
        }
        watched_.erase(first, last);
        return cancelled;
    }

    void shutdown() {
        while (!watched_.empty()) {
            cancel_for_key(watched_.begin()->first);
        }
    }

    [[nodiscard]] std::size_t watched() const { return watched_.size(); }

private:
    std::multimap<std::string, operation> watched_;
};

struct broker : virtual_world {
    purgatory waiting;
    std::string log_text;

    [[nodiscard]] auto operation(std::chrono::milliseconds delay, const bool& ready,
                                 const std::string& name) {
        return std::make_shared<delayed_operation>(
            ctx, delay, [&ready] { return ready; },
            [this, name](bool expired) { log_text += name + (expired ? "? " : "! "); });
    }
    [[nodiscard]] std::string take_log() { return std::exchange(log_text, {}); }
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
    BOOST_TEST(ctx.run_one_for(1ms) == 0U);
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
    BOOST_TEST(waiting.try_complete_else_watch(operation(1s, ready, "a"), {"k"}));
    BOOST_TEST(take_log() == "a! ");
    BOOST_TEST(waiting.watched() == 0U);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_event_completes_what_waits_for_it_once_under_all_keys, broker) {
    bool a = false;
    bool b = false;
    BOOST_TEST(!waiting.try_complete_else_watch(operation(10s, a, "a"), {"k1", "k2"}));
    BOOST_TEST(!waiting.try_complete_else_watch(operation(10s, b, "b"), {"k2"}));
    BOOST_TEST(wheel.pending() == 2U); // numDelayed()
    BOOST_TEST(waiting.check_and_complete("k1") == 0U);
    a = true;
    BOOST_TEST(waiting.check_and_complete("other") == 0U);
    BOOST_TEST(waiting.check_and_complete("k1") == 1U);
    BOOST_TEST(take_log() == "a! ");
    BOOST_TEST(wheel.pending() == 1U);
    BOOST_TEST(waiting.check_and_complete("k2") == 0U);
    BOOST_TEST(waiting.watched() == 1U);
    pass(10s);
    BOOST_TEST(take_log() == "b? ");
}

BOOST_FIXTURE_TEST_CASE(an_operation_expires_once_if_nothing_completes_it, broker) {
    bool ready = false;
    const auto op = operation(10s, ready, "a");
    BOOST_TEST(!waiting.try_complete_else_watch(op, {"k"}));
    pass(10s - 1ns);
    BOOST_TEST(take_log() == "");
    pass(1ns);
    BOOST_TEST(take_log() == "a? ");
    ready = true;
    BOOST_TEST(waiting.check_and_complete("k") == 0U);
    BOOST_TEST(!op->force_complete());
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(the_last_moment_belongs_to_the_event, broker) {
    bool ready = false;
    BOOST_TEST(!waiting.try_complete_else_watch(operation(10s, ready, "a"), {"k"}));
    elapse(10s); // Due, with its handler queued.
    ready = true;
    BOOST_TEST(waiting.check_and_complete("k") == 1U);
    poll();
    BOOST_TEST(take_log() == "a! ");
}

BOOST_FIXTURE_TEST_CASE(an_operation_can_be_completed_by_force, broker) { // forceComplete()
    const bool ready = false;
    const auto op = operation(10s, ready, "a");
    BOOST_TEST(!waiting.try_complete_else_watch(op, {"k"}));
    BOOST_TEST(op->force_complete());
    BOOST_TEST(op->completed());
    BOOST_TEST(!op->force_complete());
    pass(1h);
    BOOST_TEST(take_log() == "a! ");
}

BOOST_FIXTURE_TEST_CASE(what_waits_for_a_key_can_be_cancelled_and_never_completes, broker) {
    const bool ready = false;
    BOOST_TEST(!waiting.try_complete_else_watch(operation(10s, ready, "a"), {"k"}));
    BOOST_TEST(waiting.cancel_for_key("k").size() == 1U);
    BOOST_TEST(waiting.watched() == 0U);
    pass(1h);
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(what_waits_at_the_shutdown_never_completes, broker) { // shutdown()
    const bool ready = false;
    const auto op = operation(10s, ready, "a");
    BOOST_TEST(!waiting.try_complete_else_watch(op, {"k1", "k2"}));
    BOOST_TEST(!waiting.try_complete_else_watch(operation(20s, ready, "b"), {"k2"}));
    waiting.shutdown();
    BOOST_TEST(waiting.watched() == 0U);
    BOOST_TEST(wheel.pending() == 0U);
    pass(1h);
    BOOST_TEST(take_log() == "");
    BOOST_TEST(op.use_count() == 1); // This is the only reference.
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
