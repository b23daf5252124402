// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Waiting until a task, a group or a scheduler is idle, and stopping groups.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/counting_allocator.hpp"
#include "support/latch.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

/// A scheduler in virtual time, and a log of handlers: the name, and "!" if it was aborted.
struct waiting : logged_scheduler {
    auto done(std::string name) {
        return [this, name = std::move(name)](const error_code& ec) {
            log.text += name + (ec == aborted ? "!" : ec ? "?" : "");
        };
    }
    auto on_ctx(std::string name) { return asio::bind_executor(ctx, done(std::move(name))); }
};

/// A pool whose only thread is inside of a call.
struct in_a_call {
    asio::thread_pool pool{1};
    scheduler tasks{pool};
    latch inside{1}, go_on{1};
    std::atomic<bool> ended{false};

    // Sets the flag when the function is destroyed.
    struct sets_at_its_end {
        explicit sets_at_its_end(std::atomic<bool>& f) : flag(f) {}
        sets_at_its_end(const sets_at_its_end&) = delete;
        sets_at_its_end& operator=(const sets_at_its_end&) = delete;
        ~sets_at_its_end() { flag = true; }
        std::atomic<bool>& flag;
    };

    auto work() {
        return [this, end = std::make_shared<sets_at_its_end>(ended)] {
            inside.count_down();
            go_on.wait();
        };
    }
};

// Whether f() throws that the thread would wait for itself.
template <class Function>
bool deadlocks(Function f) {
    return refusal_of(f) == make_error_code(boost::system::errc::resource_deadlock_would_occur);
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_idle, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_scheduler_without_tasks_is_idle, waiting) {
    tasks.async_wait_idle(done("a"));
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_now() == "a");
    BOOST_TEST(tasks.wait_idle(0s));
    tasks.wait_idle();
}

BOOST_FIXTURE_TEST_CASE(a_scheduler_is_idle_when_its_last_task_is_over, waiting) {
    tasks.schedule_after(1s, note("x"));
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 1s, [] {});
    tasks.schedule_after(3s, note("y"));
    tasks.async_wait_idle(done("a"));
    tasks.async_wait_idle(done("b"));
    BOOST_TEST(log_after(1s) == "x");
    BOOST_TEST(log_after(2s) == "y");
    BOOST_TEST(!tasks.wait_idle(0s));
    often.cancel();
    BOOST_TEST(tasks.wait_idle(0s));
    BOOST_TEST(take_log() == ""); // As if by post().
    BOOST_TEST(log_now() == "ab");
}

BOOST_FIXTURE_TEST_CASE(after_stop_a_scheduler_is_idle_though_there_are_orphans, waiting) {
    tasks.schedule_after(1s, note("x"));
    tasks.async_wait_idle(done("a"));
    const auto orphans = tasks.stop();
    BOOST_TEST(orphans.size() == 1U);
    BOOST_TEST(log_now() == "a");
    scheduler other(ctx);
    other.adopt(orphans);
    other.async_wait_idle(done("b"));
    BOOST_TEST(tasks.wait_idle(0s));
    BOOST_TEST(log_now() == "");
    BOOST_TEST(log_after(1s) == "xb");
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_scheduler_makes_it_idle, waiting) {
    std::optional<scheduler> one(std::in_place, ctx);
    one->schedule_after(1h, note("x"));
    one->async_wait_idle(done("a"));
    poll();
    one.reset();
    BOOST_TEST(log_now() == "a");
}

BOOST_FIXTURE_TEST_CASE(a_wait_goes_on_when_its_scheduler_is_moved, waiting) {
    scheduler one(ctx);
    scheduler::group session(one);
    const task_handle h = session.schedule_after(1s, note("x"));
    one.async_wait_idle(done("a"));
    session.async_wait_idle(done("b"));
    scheduler other(std::move(one));
    BOOST_TEST(!other.wait_idle(0s));
    other.async_wait_idle(done("c"));
    BOOST_TEST(log_now() == "");
    BOOST_TEST(log_after(1s) == "xacb"); // The scheduler is told before its groups.
}

BOOST_FIXTURE_TEST_CASE(a_handle_waits_for_its_task, waiting) {
    const task_handle once = tasks.schedule_after(1s, note("x"));
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 1s, [] {});
    once.async_wait_idle(on_ctx("a"));
    often.async_wait_idle(on_ctx("b"));
    BOOST_TEST(log_now() == "");
    BOOST_TEST(!once.wait_idle(0s));
    BOOST_TEST(log_after(1s) == "xa");
    BOOST_TEST(once.wait_idle(0s));
    BOOST_TEST(!often.wait_idle(0s));
    often.cancel();
    often.wait_idle();
    BOOST_TEST(log_now() == "b");
    once.async_wait_idle(on_ctx("c"));          // It is over,
    task_handle().async_wait_idle(on_ctx("d")); // and this is no task.
    task_handle().wait_idle();
    BOOST_TEST(task_handle().wait_idle(0s));
    BOOST_TEST(take_log() == "");
    BOOST_TEST(log_now() == "cd");
}

BOOST_FIXTURE_TEST_CASE(an_orphan_is_idle_until_it_is_adopted, waiting) {
    const task_handle h = tasks.schedule_after(1s, note("x"));
    h.async_wait_idle(on_ctx("a"));
    const auto orphans = tasks.stop();
    BOOST_TEST(log_now() == "a");
    BOOST_TEST(h.wait_idle(0s));
    scheduler other(ctx);
    other.adopt(orphans);
    BOOST_TEST(!h.wait_idle(0s));
    h.async_wait_idle(on_ctx("b"));
    BOOST_TEST(log_after(1s) == "xb");
}

BOOST_FIXTURE_TEST_CASE(a_group_waits_for_its_own_tasks_wherever_they_are, waiting) {
    scheduler::group session(tasks);
    session.async_wait_idle(done("none"));
    BOOST_TEST(log_now() == "none");
    tasks.schedule_after(1h, note("other"));
    session.schedule_after(1s, note("x"));
    session.schedule_after(2s, note("y"));
    session.async_wait_idle(done("a"));
    BOOST_TEST(log_after(1s) == "x");
    const auto orphans = tasks.stop();
    BOOST_TEST(log_now() == "a"); // An orphan is not scheduled.
    scheduler second(ctx);
    second.adopt(orphans);
    BOOST_TEST(!session.wait_idle(0s));
    session.async_wait_idle(done("b"));
    BOOST_TEST(log_after(1s) == "yb");
}

BOOST_FIXTURE_TEST_CASE(a_group_that_is_stopped_takes_no_more_tasks, waiting) {
    scheduler::group session(tasks);
    const task_handle h = session.schedule_after("key", 1h, note("x"));
    session.schedule_at_fixed_rate(1s, 1s, note("y"));
    tasks.schedule_after("other", 1s, note("z"));
    session.async_stop(done("stopped"));
    BOOST_TEST(h.is_cancelled());
    BOOST_TEST(tasks.pending() == 1U);
    BOOST_TEST((refusal_of([&] { session.schedule_after(1s, note("no")); }) ==
                asio_wheel::error::scheduler_stopped));
    BOOST_TEST((refusal_of([&] { session.schedule_after("other", 1s, note("no")); }) ==
                asio_wheel::error::scheduler_stopped));
    BOOST_TEST(tasks.is_pending("other"));
    BOOST_TEST(take_log() == "");
    BOOST_TEST(log_now() == "stopped");
    session.async_stop(done("again"));
    BOOST_TEST(log_after(1s) == "againz");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(orphans_of_a_stopped_group_are_not_adopted, waiting) {
    scheduler::group session(tasks);
    const auto held = std::make_shared<int>();
    session.schedule_after(1s, [held] {});
    const auto orphans = tasks.stop();
    session.async_stop(done("stopped"));
    BOOST_TEST(held.use_count() == 1);
    scheduler other(ctx);
    other.adopt(orphans);
    BOOST_TEST(other.pending() == 0U);
    BOOST_TEST(log_now() == "stopped");
}

BOOST_FIXTURE_TEST_CASE(a_group_may_end_while_something_waits_for_it, waiting) {
    std::optional<scheduler::group> session(std::in_place, tasks);
    session->schedule_after(1h, note("x"));
    session->async_wait_idle(done("a"));
    session.reset();
    BOOST_TEST(log_now() == "a");
}

BOOST_FIXTURE_TEST_CASE(a_task_is_not_idle_before_its_function_is_destroyed, waiting) {
    // Logs which of task, group and scheduler it would have to wait for.
    struct asks_at_its_end {
        const task_handle* h;
        scheduler::group* session;
        waiting* w;
        asks_at_its_end(const task_handle& t, scheduler::group& g, waiting& x)
            : h(&t), session(&g), w(&x) {}
        asks_at_its_end(const asks_at_its_end&) = delete;
        asks_at_its_end& operator=(const asks_at_its_end&) = delete;
        ~asks_at_its_end() {
            w->log.text += deadlocks([this] { h->wait_idle(); }) ? "t" : "-";
            w->log.text += deadlocks([this] { session->wait_idle(); }) ? "g" : "-";
            w->log.text += deadlocks([this] { w->tasks.wait_idle(); }) ? "s" : "-";
        }
    };
    scheduler::group session(tasks);
    const auto log_of = [&](auto end) {
        task_handle h;
        h = session.schedule_after(1s,
                                   [e = std::make_shared<asks_at_its_end>(h, session, *this)] {});
        end(h);
        BOOST_TEST(h.wait_idle(0s));
        BOOST_TEST(session.wait_idle(0s));
        BOOST_TEST(tasks.wait_idle(0s));
        return take_log();
    };
    BOOST_TEST(log_of([this](const task_handle&) { pass(1s); }) == "tgs");
    BOOST_TEST(log_of([](const task_handle& h) { h.cancel(); }) == "tgs");
    BOOST_TEST(log_of([this](const task_handle&) { tasks.stop().front().cancel(); }) == "tg-");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_would_wait_for_itself_is_told, waiting) {
    scheduler other(ctx);
    scheduler::group session(tasks), another(tasks);
    int checked = 0;
    const auto check = [&](const task_handle& self) {
        BOOST_TEST(deadlocks([&] { self.wait_idle(); }));
        BOOST_TEST(deadlocks([&] { static_cast<void>(self.wait_idle(1h)); }));
        BOOST_TEST(deadlocks([&] { tasks.wait_idle(); }));
        BOOST_TEST(deadlocks([&] { session.wait_idle(); }));
        BOOST_TEST(!deadlocks([&] { another.wait_idle(); }));
        ++checked;
    };
    session.schedule_after(1s, check);
    session.schedule_after(1s, asio_wheel::on_cancel([] {}, check)).cancel();
    BOOST_TEST(checked == 1);
    pass(1s);
    BOOST_TEST(checked == 2);
    // Also through another task, which is called inside of it.
    session.schedule_after(1s, [&](const task_handle& self) {
        BOOST_TEST(!deadlocks([&] { other.wait_idle(); }));
        other.schedule_after(0s, [&] {
            check(self);
            BOOST_TEST(deadlocks([&] { other.wait_idle(); }));
        });
        ctx.poll();
    });
    pass(1s);
    BOOST_TEST(checked == 3);
}

BOOST_FIXTURE_TEST_CASE(a_task_may_start_to_wait_for_itself, waiting) {
    tasks.schedule_after(1s, [this](const task_handle& self) {
        self.async_wait_idle(on_ctx("a"));
        tasks.async_wait_idle(done("b"));
        log.text += "x";
    });
    pass(1s);
    BOOST_TEST((log.text == "xab" || log.text == "xba"));
    log.text.clear();
}

// ---- The operation

BOOST_FIXTURE_TEST_CASE(a_wait_can_be_aborted_until_it_ends, waiting) {
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        asio::cancellation_signal cancel;
        const task_handle h = tasks.schedule_after(1h, [] {});
        scheduler::group session(tasks);
        session.schedule_after(1h, [] {});
        tasks.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), done("a")));
        tasks.async_wait_idle(done("b"));
        cancel.emit(asio::cancellation_type::none);
        BOOST_TEST(log_now() == "");
        cancel.emit(type);
        BOOST_TEST(take_log() == "");
        BOOST_TEST(log_now() == "a!");
        h.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), on_ctx("h")));
        cancel.emit(type);
        cancel.emit(type); // It has ended.
        session.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), done("g")));
        cancel.emit(type);
        BOOST_TEST(log_now() == "h!g!");
        h.cancel();
        session.cancel();
        cancel.emit(type);
        BOOST_TEST(log_now() == "b");
    }
}

BOOST_FIXTURE_TEST_CASE(a_signal_that_comes_too_late_has_no_effect, waiting) {
    asio::cancellation_signal cancel;
    {
        scheduler one(ctx);
        const task_handle h = one.schedule_after(1h, [] {});
        one.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), done("a")));
        h.cancel();
        cancel.emit(asio::cancellation_type::terminal); // It is on its way to the handler.
        BOOST_TEST(log_now() == "a");
    }
    cancel.emit(asio::cancellation_type::terminal); // The scheduler is gone.
    tasks.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), done("b")));
    BOOST_TEST(log_now() == "b");
}

BOOST_FIXTURE_TEST_CASE(a_group_is_stopped_also_if_the_wait_is_aborted, waiting) {
    asio::cancellation_signal cancel;
    scheduler::group session(tasks);
    const task_handle h = session.schedule_at_fixed_rate(0s, 1s, [&](const task_handle& self) {
        session.async_stop(asio::bind_cancellation_slot(cancel.slot(), done("a")));
        BOOST_TEST(self.is_cancelled());
        cancel.emit(asio::cancellation_type::terminal);
    });
    BOOST_TEST(log_now() == "a!");
    BOOST_TEST(h.is_cancelled());
    BOOST_TEST((refusal_of([&] { session.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
}

BOOST_FIXTURE_TEST_CASE(what_is_told_that_its_group_is_stopped_may_abort_the_wait, waiting) {
    asio::cancellation_signal cancel;
    asio::steady_timer end(ctx, asio::steady_timer::time_point::max());
    scheduler::group session(tasks);
    session.schedule_after(
        0s, [&]() -> asio::awaitable<void> { co_await end.async_wait(asio::use_awaitable); });
    poll();
    const auto tell = [&] { cancel.emit(asio::cancellation_type::terminal); };
    session.schedule_after(1s, asio_wheel::on_cancel(note("x"), tell));
    session.schedule_after(1s, asio_wheel::on_cancel(note("y"), [&] { log.text += "told "; }));
    session.async_stop(asio::bind_cancellation_slot(cancel.slot(), done("a")));
    BOOST_TEST(take_log() == "told "); // Both are cancelled.
    BOOST_TEST(log_now() == "a!");
    BOOST_TEST((refusal_of([&] { session.schedule_after(1s, [] {}); }) ==
                asio_wheel::error::scheduler_stopped));
    end.expires_after(0s);
    end.async_wait([](const error_code&) {});
    poll();
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_wait_may_have_a_limit, waiting) {
    tasks.schedule_after(10s, [] {});
    tasks.async_wait_idle(asio_wheel::cancel_after(3s, done("a")));
    BOOST_TEST(log_after(3s) == "a!");
    tasks.async_wait_idle(asio_wheel::cancel_after(30s, done("b")));
    BOOST_TEST(log_after(7s) == "b");
    poll();
}

BOOST_FIXTURE_TEST_CASE(tokens_of_all_kinds_wait, waiting) {
    const task_handle h = tasks.schedule_after(1s, [] {});
    scheduler::group session(tasks);
    session.schedule_after(1h, [] {});
    std::future<void> f = tasks.async_wait_idle(asio::use_future);
    asio::co_spawn(
        ctx,
        [&]() -> asio::awaitable<void> {
            co_await h.async_wait_idle(asio::use_awaitable);
            log.text += "h";
            co_await session.async_stop(asio::use_awaitable);
            log.text += "g";
            co_await tasks.async_wait_idle(asio::use_awaitable);
            log.text += "s";
        },
        asio::detached);
    auto later = tasks.async_wait_idle(asio::deferred);
    poll();
    BOOST_TEST(log.text == "");
    BOOST_TEST(log_after(1s) == "hgs");
    BOOST_TEST((f.wait_for(20s) == std::future_status::ready)); // On the system executor.
    std::move(later)(done("d"));
    BOOST_TEST(log_now() == "d");
    auto stop = session.async_stop(asio::deferred); // Nothing has happened yet.
    std::move(stop)(done("e"));
    BOOST_TEST(log_now() == "e");
}

BOOST_FIXTURE_TEST_CASE(a_handler_is_called_on_its_executor, waiting) {
    asio::io_context other;
    const auto strand = asio::make_strand(ctx);
    const asio::any_io_executor hidden = asio::make_strand(other);
    const task_handle h = tasks.schedule_after(1s, [] {});
    tasks.async_wait_idle(asio::bind_executor(strand, [&](const error_code& ec) {
        BOOST_TEST(strand.running_in_this_thread());
        done("strand ")(ec);
    }));
    tasks.async_wait_idle(asio::bind_executor(other, done("other ")));
    h.async_wait_idle(asio::bind_executor(hidden, done("hidden ")));
    tasks.async_wait_idle(asio::any_completion_handler<void(error_code)>(done("any ")));
    other.poll();
    BOOST_TEST(!other.stopped()); // It has work.
    pass(1s);
    const std::string here = take_log();
    BOOST_TEST((here == "strand any " || here == "any strand "));
    other.run();
    const std::string there = take_log();
    BOOST_TEST((there == "hidden other " || there == "other hidden "));
}

BOOST_FIXTURE_TEST_CASE(a_handler_of_a_strand_is_called_there_by_default, waiting) {
    const auto strand = asio::make_strand(ctx);
    scheduler one(strand);
    scheduler::group session(one);
    session.schedule_after(1s, [] {});
    int there = 0;
    const auto on_strand = [&](const error_code&) { there += strand.running_in_this_thread(); };
    one.async_wait_idle(on_strand);
    session.async_wait_idle(on_strand);
    pass(1s);
    BOOST_TEST(there == 2);
}

BOOST_FIXTURE_TEST_CASE(a_wait_takes_one_block_of_the_handlers_allocator, waiting) {
    allocations counts;
    tasks.schedule_after(1s, [] {});
    bool freed = false;
    tasks.async_wait_idle(asio::bind_allocator(
        counting_allocator<void>(counts), [&](const error_code&) { freed = counts.live == 0; }));
    BOOST_TEST(counts.live == 1);
    pass(1s);
    BOOST_TEST(freed); // Before the handler is called.
    BOOST_TEST(counts.total == 1);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_context_destroys_the_handlers) {
    const auto alive = std::make_shared<int>();
    std::optional<asio::io_context> ctx(std::in_place);
    scheduler tasks(*ctx);
    scheduler::group session(tasks);
    bool called = false;
    const task_handle h = session.schedule_after(1h, [] {});
    tasks.async_wait_idle([&called, alive](const error_code&) { called = true; });
    session.async_stop([&called, alive](const error_code&) { called = true; });
    const task_handle other = tasks.schedule_after(1h, [] {});
    other.async_wait_idle(
        asio::bind_executor(*ctx, [&called, alive](const error_code&) { called = true; }));
    ctx.reset();
    BOOST_TEST(!called);
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(tasks.wait_idle(0s));
}

BOOST_AUTO_TEST_CASE(a_handler_on_another_context_is_called_when_the_context_of_the_tasks_ends) {
    asio::io_context other;
    std::optional<asio::io_context> ctx(std::in_place);
    scheduler tasks(*ctx);
    tasks.schedule_after(1h, [] {});
    error_code result = aborted;
    tasks.async_wait_idle(asio::bind_executor(other, [&](const error_code& ec) { result = ec; }));
    ctx.reset();
    other.run();
    BOOST_TEST((result == success));
}

BOOST_FIXTURE_TEST_CASE(a_bad_limit_is_refused, waiting) {
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_CHECK_THROW(static_cast<void>(tasks.wait_idle(nan)), std::invalid_argument);
    BOOST_TEST(tasks.wait_idle(-1h));
    BOOST_TEST(tasks.wait_idle((std::chrono::hours::max)()));
    tasks.schedule_after(1h, [] {});
    BOOST_TEST(!tasks.wait_idle(-1h));
}

// ---- Threads, in real time

BOOST_FIXTURE_TEST_CASE(a_scheduler_is_not_idle_while_a_call_is_under_way, in_a_call) {
    const task_handle h = tasks.schedule_after(0s, work());
    inside.wait();
    BOOST_TEST((h.cancel().result == cancel_result::already_fired));
    BOOST_TEST(tasks.stop().empty());
    BOOST_TEST(!tasks.wait_idle(1ms)); // awaitTermination() is too short,
    BOOST_TEST(!h.wait_idle(1ms));
    BOOST_TEST(!ended);
    go_on.count_down();
    tasks.wait_idle(); // and long enough.
    BOOST_TEST(ended);
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(h.wait_idle((std::chrono::hours::max)()));
}

BOOST_FIXTURE_TEST_CASE(a_group_is_stopped_when_its_calls_have_returned, in_a_call) {
    scheduler::group session(tasks);
    session.schedule_at_fixed_rate(0s, 1h, work());
    inside.wait();
    asio::io_context ctx;
    bool stopped = false;
    session.async_stop(asio::bind_executor(ctx, [&](const error_code& ec) {
        stopped = !ec;
        BOOST_TEST(ended);
    }));
    ctx.poll();
    BOOST_TEST(!stopped);
    go_on.count_down();
    ctx.restart();
    ctx.run(); // There is work until the handler is called.
    BOOST_TEST(stopped);
    pool.join(); // Its thread has posted to the other context.
}

// So a session may be destroyed that its functions use.
BOOST_AUTO_TEST_CASE(a_session_on_a_pool_ends_when_nothing_of_it_runs) {
    asio::thread_pool pool(2);
    scheduler tasks(pool);
    std::atomic<int> calls{0};
    for (int i = 0; i < 200; ++i) {
        auto used = std::make_unique<int>(0);
        scheduler::group session(tasks);
        for (int t = 0; t < 3; ++t) {
            session.schedule_at_fixed_rate(0s, 50us * (t + 1), [&calls, used = used.get()] {
                ++calls;
                static_cast<void>(*used + 1);
            });
        }
        if (i % 2 == 0) {
            session.async_stop(asio::use_future).get();
        } else {
            session.cancel();
            session.wait_idle();
        }
        BOOST_TEST_REQUIRE(session.wait_idle(0s));
        used.reset();
    }
    BOOST_TEST(tasks.wait_idle(20s));
    pool.join();
    BOOST_TEST_MESSAGE(calls << " calls");
}

BOOST_AUTO_TEST_CASE(threads_wait_until_idle_while_others_schedule_cancel_and_run) {
    asio::thread_pool pool(2);
    std::atomic<int> live{0}, waited{0}, aborted_waits{0}, started{0};
    std::atomic<bool> wrong{false};
    struct counted {
        std::atomic<int>* live;
        explicit counted(std::atomic<int>& n) : live(&n) { ++*live; }
        counted(const counted& other) : live(other.live) { ++*live; }
        counted& operator=(const counted&) = delete;
        ~counted() { --*live; }
        void operator()() const {}
    };
    {
        scheduler tasks(pool);
        std::vector<std::jthread> threads;
        threads.reserve(3);
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&, t] {
                scheduler::group session(tasks);
                for (int i = 0; i < 1'000; ++i) {
                    const counted f(live);
                    const task_handle h =
                        session.schedule_after(i % 3, std::chrono::microseconds(i % 5 * 100), f);
                    if (i % 7 == t) {
                        h.cancel();
                    }
                    if (i % 50 == 0) {
                        session.cancel();
                        session.wait_idle();
                        wrong = wrong || !session.wait_idle(0s);
                    }
                    if (i % 20 == 0) {
                        h.wait_idle();
                    }
                }
                session.async_stop(asio::use_future).get();
            });
        }
        threads.emplace_back([&] {
            for (int i = 0; i < 300; ++i) {
                asio::cancellation_signal cancel;
                ++started;
                const auto done = [&](const error_code& ec) { ++(ec ? aborted_waits : waited); };
                tasks.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), done));
                if (i % 2 == 0) {
                    static_cast<void>(tasks.wait_idle(50us));
                }
                cancel.emit(asio::cancellation_type::terminal);
            }
        });
        threads.clear();
        tasks.wait_idle();
        BOOST_TEST(live == 0); // All functions are destroyed.
        pool.join();
    }
    BOOST_TEST(!wrong);
    BOOST_TEST(waited + aborted_waits == started);
}

BOOST_AUTO_TEST_SUITE_END()
