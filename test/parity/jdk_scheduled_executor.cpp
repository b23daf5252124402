// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// The features of the JDK's java.util.concurrent.ScheduledThreadPoolExecutor, with ScheduledFuture
// and its part of ExecutorService.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>

#include "support/context.hpp"
#include "support/latch.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

template <class T>
bool is_done(const std::future<T>& f) {
    return f.wait_for(0s) == std::future_status::ready;
}

// A Callable that takes a while: a coroutine.
asio::awaitable<int> answer(asio::io_context& ctx, std::chrono::seconds after, int value) {
    co_await asio_wheel::async_sleep_for(ctx, after, asio::use_awaitable);
    if (value < 0) {
        throw std::runtime_error("no answer");
    }
    co_return value;
}

// invokeAll() and invokeAny(): report the results when the condition is met or the time is up, and
// cancel the others.
struct invoking : virtual_world {
    auto start(std::chrono::seconds after, int value) {
        return asio::co_spawn(ctx, answer(ctx, after, value), asio::deferred);
    }

    std::vector<int> results; // 0 for those without a result.
    bool told = false;

    template <class Condition>
    void invoke(const std::vector<std::pair<std::chrono::seconds, int>>& calls, Condition until,
                std::chrono::seconds limit) {
        std::vector<decltype(start(0s, 0))> operations;
        for (const auto& [after, value] : calls) {
            operations.push_back(start(after, value));
        }
        auto done = [this](const std::vector<std::size_t>&,
                           const std::vector<std::exception_ptr>& failures,
                           const std::vector<int>& values) {
            told = true;
            for (std::size_t i = 0; i != values.size(); ++i) {
                results.push_back(failures[i] ? 0 : values[i]);
            }
        };
        asio::experimental::make_parallel_group(std::move(operations))
            .async_wait(until, asio_wheel::cancel_after(limit, asio::bind_executor(ctx, done)));
        poll();
    }
};

// One-shot and repeated tasks of a scheduler, in different groups.
struct shutting_down : logged_scheduler {
    scheduler::group delayed{tasks};
    scheduler::group periodic{tasks};

    shutting_down() {
        delayed.schedule_after(5s, note("d"));
        periodic.schedule_at_fixed_rate(1s, 10s, note("p"));
        BOOST_TEST(log_after(1s) == "p");
    }

    // Returns the log after the shutdown.
    [[nodiscard]] std::string rest() {
        pass_in(10, 1s);
        periodic.cancel();
        return take_log();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_jdk_scheduled_executor, *boost::unit_test::timeout(60))

// schedule(callable, delay, unit): Future.get(), get(timeout), isDone(), resultNow()

BOOST_FIXTURE_TEST_CASE(a_callable_has_a_future, logged_scheduler) {
    std::packaged_task<int()> callable([] { return 42; });
    std::future<int> f = callable.get_future();
    tasks.schedule_after(10s, std::move(callable));
    pass(9s);
    BOOST_TEST(!is_done(f));
    pass(1s);
    BOOST_TEST_REQUIRE(is_done(f));
    BOOST_TEST(f.get() == 42);
}

BOOST_FIXTURE_TEST_CASE(what_a_callable_throws_is_thrown_by_get,
                        logged_scheduler) { // ExecutionException
    std::packaged_task<int()> callable([]() -> int { throw std::runtime_error("oh."); });
    std::future<int> f = callable.get_future();
    tasks.schedule_after(1s, std::move(callable));
    pass(1s);
    BOOST_TEST(thrown_by<std::runtime_error>([&] { f.get(); }).has_value());
    BOOST_TEST(errors == ""); // No other error is reported.
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_future_says_so, virtual_world) { // CancellationException
    asio::cancellation_signal cancel;
    std::future<int> f = asio::co_spawn(
        ctx, answer(ctx, 10s, 42), asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    poll();
    BOOST_TEST(!is_done(f));
    cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST_REQUIRE(is_done(f));
    BOOST_TEST((refusal_of([&] { f.get(); }) == asio::error::operation_aborted));
}

BOOST_FIXTURE_TEST_CASE(a_callable_that_was_cancelled_breaks_its_promise, logged_scheduler) {
    std::packaged_task<int()> callable([] { return 42; });
    std::future<int> f = callable.get_future();
    tasks.schedule_after(10s, std::move(callable)).cancel(); // The last handle is destroyed here.
    poll();
    BOOST_TEST_REQUIRE(is_done(f));
    const auto broken = thrown_by<std::future_error>([&] { f.get(); });
    BOOST_TEST_REQUIRE(broken.has_value());
    BOOST_TEST((broken->code() == std::future_errc::broken_promise));
}

// "If any execution of the task encounters an exception, subsequent executions are suppressed."

BOOST_FIXTURE_TEST_CASE(a_repeated_task_that_throws_goes_on_or_ends_as_you_say, virtual_world) {
    int calls = 0;
    const auto failing = [&] {
        ++calls;
        throw std::runtime_error("oh.");
    };
    int reported = 0;
    scheduler goes_on(
        ctx, {.on_error = [&](const task_handle&, const std::exception_ptr&) { ++reported; }});
    scheduler as_theirs(ctx, {.on_error = [&](const task_handle& h, const std::exception_ptr&) {
                            ++reported;
                            h.cancel();
                        }});
    const task_handle h = goes_on.schedule_at_fixed_rate(1s, 1s, failing);
    for (int i = 0; i != 3; ++i) {
        pass(1s);
    }
    BOOST_TEST(calls == 3);
    h.cancel();
    as_theirs.schedule_at_fixed_rate(1s, 1s, failing);
    for (int i = 0; i != 3; ++i) {
        pass(1s);
    }
    BOOST_TEST(calls == 4);
    BOOST_TEST(reported == 4); // Theirs reports it only to callers of get().
}

// getExecuteExistingDelayedTasksAfterShutdownPolicy(),
// getContinueExistingPeriodicTasksAfterShutdownPolicy(): in each combination

BOOST_FIXTURE_TEST_CASE(after_a_shutdown_delayed_tasks_may_run_alone, shutting_down) {
    tasks.close(); // The default of theirs.
    periodic.cancel();
    BOOST_TEST(rest() == "d");
}

BOOST_FIXTURE_TEST_CASE(after_a_shutdown_periodic_tasks_may_run_alone, shutting_down) {
    tasks.close();
    delayed.cancel();
    BOOST_TEST(rest() == "p");
}

BOOST_FIXTURE_TEST_CASE(after_a_shutdown_all_may_go_on, shutting_down) {
    tasks.close();
    BOOST_TEST(rest() == "dp");
}

BOOST_FIXTURE_TEST_CASE(after_a_shutdown_nothing_may_run, shutting_down) {
    static_cast<void>(tasks.stop());
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(rest() == "");
}

// shutdownNow()

BOOST_FIXTURE_TEST_CASE(what_never_commenced_is_handed_back_and_can_be_done_elsewhere,
                        logged_scheduler) {
    const task_handle a = tasks.schedule_after(5s, note("a"));
    tasks.schedule_after(1s, note("b"));
    pass(1s);
    const auto never_commenced = tasks.stop();
    BOOST_TEST((never_commenced == std::vector{a}));
    BOOST_TEST(log_after(1h) == "b");
    scheduler other(ctx);
    other.adopt(never_commenced);
    BOOST_TEST(log_now() == "a");
}

// awaitTermination(), close()

BOOST_AUTO_TEST_CASE(running_the_context_awaits_termination) { // real time
    asio::io_context ctx;
    scheduler tasks(ctx);
    bool called = false;
    tasks.schedule_after(1ms, [&] { called = true; });
    const task_handle never = tasks.schedule_after(1h, [] {});
    tasks.close();
    ctx.run_for(5ms);
    BOOST_TEST(tasks.pending() != 0U); // It has timed out,
    never.cancel();
    ctx.restart();
    ctx.run();
    BOOST_TEST(tasks.pending() == 0U); // or is terminated.
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(joining_a_pool_awaits_termination) { // real time
    asio::thread_pool pool(1);
    std::atomic<bool> called{false};
    scheduler tasks(pool);
    tasks.schedule_after(1ms, [&] { called = true; });
    tasks.close();
    pool.join();
    BOOST_TEST(called);
    BOOST_TEST(tasks.pending() == 0U);
}

// terminated(): at that time, no call is running on any thread.
BOOST_AUTO_TEST_CASE(when_run_has_returned_on_one_thread_no_call_is_under_way) { // real time
    asio::io_context ctx;
    scheduler tasks(ctx);
    std::atomic<int> inside{0};
    std::atomic<int> found{0};
    for (int i = 0; i != 200; ++i) {
        const task_handle h = tasks.schedule_at_fixed_rate(0s, 1us, [&](const task_handle& self) {
            ++inside;
            std::this_thread::yield();
            self.cancel();
            std::this_thread::yield();
            --inside;
        });
        std::vector<std::thread> threads;
        for (int t = 0; t != 2; ++t) {
            threads.emplace_back([&] {
                ctx.run();
                found += inside;
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
        ctx.restart();
        BOOST_TEST_REQUIRE(tasks.pending() == 0U);
    }
    BOOST_TEST(found == 0);
}

// new ScheduledThreadPoolExecutor(corePoolSize)

BOOST_AUTO_TEST_CASE(tasks_run_on_as_many_threads_as_there_are) { // real time
    asio::thread_pool pool(2);
    scheduler tasks(pool);
    latch both(2);
    for (int i = 0; i != 2; ++i) {
        tasks.schedule_after(0s, [&] { both.arrive_and_wait(); }); // Each waits for the other.
    }
    pool.join();
    BOOST_TEST(both.try_wait());
}

// RejectedExecutionHandler

BOOST_FIXTURE_TEST_CASE(a_refused_task_can_be_run_by_the_caller_or_dropped, virtual_world) {
    scheduler one(ctx, {.max_pending = 1});
    one.schedule_after(1h, [] {});
    int calls = 0;
    const auto f = [&] { ++calls; };
    const auto or_run = [&] {
        try {
            one.schedule_after(1s, f);
        } catch (const boost::system::system_error& e) {
            BOOST_TEST((e.code() == asio_wheel::error::scheduler_full));
            f(); // CallerRunsPolicy
        }
    };
    or_run();
    BOOST_TEST(calls == 1);
    BOOST_TEST(one.pending() == 1U);
}

// beforeExecute(), afterExecute()

BOOST_FIXTURE_TEST_CASE(what_surrounds_each_call_is_a_function_round_it, logged_scheduler) {
    const auto traced = [this](auto f) {
        return [this, f] {
            log.text += "(";
            f();
            log.text += ")";
        };
    };
    tasks.schedule_after(1s, traced(note("a")));
    BOOST_TEST(log_after(1s) == "(a)");
}

// "Tasks scheduled for exactly the same execution time are enabled in FIFO order of submission": a
// delay queue guarantees that.

BOOST_FIXTURE_TEST_CASE(equal_times_keep_their_order_in_a_queue, logged_scheduler) {
    asio_wheel::delay_queue<std::function<void()>> commands(ctx);
    std::function<void()> work = [&] {
        commands.async_pop([&](error_code ec, const std::function<void()>& command) {
            if (!ec) {
                command();
                work();
            }
        });
    };
    work();
    const auto t = now() + 1s;
    for (const char* const name : {"a", "b", "c", "d", "e"}) {
        commands.push_at(t, note(name));
    }
    BOOST_TEST(log_after(1s) == "abcde");
}

// invokeAll(tasks), invokeAll(tasks, timeout)

BOOST_FIXTURE_TEST_CASE(invoke_all_waits_for_all, invoking) {
    invoke({{3s, 3}, {1s, 1}, {2s, -1}}, asio::experimental::wait_for_all(), 1h);
    pass(1s);
    pass(1s);
    BOOST_TEST(!told);
    pass(1s);
    BOOST_TEST((results == std::vector{3, 1, 0})); // The third has thrown.
}

BOOST_FIXTURE_TEST_CASE(invoke_all_cancels_what_is_not_done_in_time, invoking) {
    invoke({{3s, 3}, {1s, 1}, {4s, 4}}, asio::experimental::wait_for_all(), 2s);
    pass(1s);
    BOOST_TEST(!told);
    pass(1s);
    BOOST_TEST((results == std::vector{0, 1, 0}));
    BOOST_TEST(wheel.pending() == 0U);
}

// invokeAny(tasks), invokeAny(tasks, timeout)

BOOST_FIXTURE_TEST_CASE(invoke_any_takes_the_first_that_succeeds_and_cancels_the_others, invoking) {
    invoke({{3s, 3}, {1s, -1}, {2s, 2}}, asio::experimental::wait_for_one_success(), 1h);
    pass(1s);
    BOOST_TEST(!told); // The first one to end has thrown.
    pass(1s);
    BOOST_TEST((results == std::vector{0, 0, 2}));
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(invoke_any_gives_up_in_time, invoking) {
    invoke({{3s, 3}, {4s, 4}}, asio::experimental::wait_for_one_success(), 2s);
    pass(2s);
    BOOST_TEST((results == std::vector{0, 0}));
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
