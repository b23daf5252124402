// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Tasks whose functions are coroutines.

#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>

#include "support/logged_scheduler.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::missed;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

/// A scheduler, and a log of the seconds at which coroutines began and ended.
struct coroutines : logged_scheduler {
    std::chrono::steady_clock::time_point start = now();

    void note_time(const char* what) {
        log.text += log.text.empty() ? "" : " ";
        log.text += what + std::to_string((now() - start) / 1s);
    }

    // Runs for `d` seconds.
    [[nodiscard]] auto lasting(std::chrono::seconds d) {
        return [this, d]() -> asio::awaitable<void> {
            note_time("(");
            co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, d,
                                                 asio::use_awaitable);
            note_time(")");
        };
    }

    // Handlers run in each second.
    void in_time(int seconds) { pass_in(seconds, 1s); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_coroutines, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_coroutine_runs_on_the_executor_of_its_scheduler, coroutines) {
    const auto strand = asio::make_strand(ctx);
    scheduler others(strand);
    bool inside = false;
    const task_handle h = others.schedule_after(1s, [&inside, &strand]() -> asio::awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        co_await asio_wheel::async_sleep_for(ex, 1s, asio::use_awaitable);
        inside = strand.running_in_this_thread();
    });
    in_time(1);
    BOOST_TEST(h.is_expired()); // It is being called for the last time.
    BOOST_TEST(others.pending() == 1U);
    in_time(1);
    BOOST_TEST(inside);
    BOOST_TEST(others.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(calls_of_a_coroutine_never_overlap_and_what_is_missed_is_coalesced,
                        coroutines) {
    const task_handle h = tasks.schedule_at_fixed_rate(2s, 2s, lasting(5s));
    in_time(14);
    BOOST_TEST(take_log() == "(2 )7 (7 )12 (12");
    h.cancel();
    in_time(10);
    BOOST_TEST(take_log() == ")17"); // A call under way goes on.
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_a_coroutine_misses_may_be_skipped_or_made_up_for, coroutines) {
    const task_handle skips = tasks.schedule_at_fixed_rate(2s, 2s, lasting(5s), missed::skip);
    in_time(10);
    BOOST_TEST(take_log() == "(2 )7 (8");
    skips.cancel();
    in_time(4);
    static_cast<void>(take_log());
    start = now();
    int calls = 0;
    const task_handle all = tasks.schedule_at_fixed_rate(
        2s, 2s,
        [&]() -> asio::awaitable<void> {
            note_time("(");
            const auto d = calls++ == 0 ? 5s : 0s;
            co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, d,
                                                 asio::use_awaitable);
        },
        missed::catch_up);
    in_time(10);
    BOOST_TEST(take_log() == "(2 (7 (7 (8 (10");
    all.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_fixed_delay_begins_when_the_coroutine_has_ended, coroutines) {
    const task_handle h = tasks.schedule_with_fixed_delay(1s, 2s, lasting(3s));
    in_time(10);
    BOOST_TEST(take_log() == "(1 )4 (6 )9");
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_function_that_says_when_next_is_told_when_the_coroutine_ended,
                        coroutines) {
    const auto next = [this, calls = 0](auto previous, auto current) mutable {
        if (calls == 1) {
            BOOST_TEST((previous == start + 1s));
            BOOST_TEST((current == start + 4s));
        }
        return ++calls < 3 ? std::optional(current + 1s) : std::nullopt;
    };
    tasks.schedule(next, lasting(3s));
    in_time(10);
    BOOST_TEST(take_log() == "(1 )4 (5 )8");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_a_coroutine_throws_is_reported_and_a_repeated_task_goes_on,
                        coroutines) {
    int calls = 0;
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, [&]() -> asio::awaitable<void> {
        if (++calls == 1) {
            throw std::runtime_error("at once");
        }
        co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 100ms,
                                             asio::use_awaitable);
        if (calls == 2) {
            throw std::runtime_error(", later");
        }
    });
    pass_in(40, 100ms);
    BOOST_TEST(errors == "at once, later");
    BOOST_TEST(calls == 4);
    h.cancel();
    in_time(1);
}

BOOST_FIXTURE_TEST_CASE(waits_until_idle_know_of_coroutines, coroutines) {
    scheduler::group some(tasks);
    const task_handle h = some.schedule_after(1s, lasting(2s));
    const auto note_idle = [this](const char* what) {
        return [this, what](error_code ec) {
            BOOST_TEST(!ec);
            note_time(what);
        };
    };
    in_time(1);
    tasks.async_wait_idle(note_idle("scheduler "));
    some.async_stop(note_idle("group "));
    h.async_wait_idle(asio::bind_executor(ctx, note_idle("task ")));
    BOOST_TEST(!tasks.wait_idle(0s));
    BOOST_TEST(!some.wait_idle(0s));
    BOOST_TEST(!h.wait_idle(0s));
    in_time(1);
    BOOST_TEST(take_log() == "(1");
    in_time(1);
    const std::string told = take_log();
    BOOST_TEST(told.find(")3") == 0U);
    for (const char* what : {"scheduler 3", "group 3", "task 3"}) {
        BOOST_TEST(told.find(what) != std::string::npos);
    }
}

BOOST_FIXTURE_TEST_CASE(a_stopped_scheduler_lets_coroutines_end, coroutines) {
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 1s, lasting(3s));
    const task_handle once = tasks.schedule_after(1s, lasting(3s));
    in_time(1);
    BOOST_TEST(tasks.stop().empty()); // They were called.
    BOOST_TEST(tasks.pending() == 2U);
    BOOST_TEST(often.is_cancelled());
    in_time(5);
    BOOST_TEST(take_log() == "(1 (1 )4 )4");
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(once.is_expired());
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_may_outlive_its_scheduler, coroutines) {
    auto held = std::make_shared<int>(1);
    std::optional<scheduler> other(ctx);
    other->schedule_at_fixed_rate(1s, 1s, [this, held]() -> asio::awaitable<void> {
        co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 1s,
                                             asio::use_awaitable);
        log.text += std::to_string(*held); // The function exists until it has ended.
    });
    in_time(1);
    other.reset();
    BOOST_TEST(held.use_count() == 2);
    in_time(1);
    BOOST_TEST(take_log() == "1");
    BOOST_TEST(held.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_is_told_when_the_coroutine_has_ended, coroutines) {
    const task_handle h = tasks.schedule_at_fixed_rate(
        1s, 1s, asio_wheel::on_cancel(lasting(3s), [this] { note_time("told "); }));
    in_time(2);
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    BOOST_TEST((h.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST(take_log() == "(1");
    in_time(2);
    BOOST_TEST(take_log() == ")4 told 4");
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_may_cancel_itself_by_the_handle_that_it_is_given, coroutines) {
    int calls = 0;
    const task_handle h =
        tasks.schedule_at_fixed_rate(1s, 1s, [&](const task_handle& self) -> asio::awaitable<void> {
            co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 100ms,
                                                 asio::use_awaitable);
            if (++calls == 2) {
                self.cancel(); // The reference is valid until the end.
            }
        });
    in_time(5);
    BOOST_TEST(calls == 2);
    BOOST_TEST(h.is_cancelled());
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_may_schedule_itself_again_under_its_key, coroutines) {
    scheduler one(ctx, {.max_pending = 1});
    int calls = 0;
    std::function<asio::awaitable<void>()> again = [&]() -> asio::awaitable<void> {
        co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 1s,
                                             asio::use_awaitable);
        if (++calls < 3) {
            one.schedule_after(1, 1s, again);
        }
    };
    one.schedule_after(1, 1s, again);
    in_time(10);
    BOOST_TEST(calls == 3);
    BOOST_TEST(one.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(a_coroutine_is_destroyed_with_its_context_and_its_task_is_over) {
    const auto held = std::make_shared<int>();
    int told = 0;
    bool handle_was_valid = false;
    std::optional<asio::io_context> ctx(std::in_place);
    scheduler tasks(*ctx);
    struct at_the_end {
        const task_handle& self;
        bool& result;
        at_the_end(const task_handle& h, bool& r) : self(h), result(r) {}
        at_the_end(const at_the_end&) = delete;
        at_the_end& operator=(const at_the_end&) = delete;
        ~at_the_end() { result = self.is_repeated(); }
    };
    const auto body = [held, &handle_was_valid](const task_handle& self) -> asio::awaitable<void> {
        const at_the_end check(self, handle_was_valid);
        co_await asio_wheel::async_sleep_for(co_await asio::this_coro::executor, 1h,
                                             asio::use_awaitable);
    };
    const task_handle suspended =
        tasks.schedule_at_fixed_rate(0s, 1s, asio_wheel::on_cancel(body, [&] { ++told; }));
    const task_handle revoked = tasks.schedule_at_fixed_rate(0s, 1s, body);
    while (held.use_count() < 4 || tasks.pending() != 2) {
        ctx->run_one();
    }
    for (int i = 0; i != 4; ++i) {
        ctx->poll();
    }
    revoked.cancel();
    ctx.reset();
    BOOST_TEST(suspended.is_cancelled());
    BOOST_TEST(revoked.is_cancelled());
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(suspended.wait_idle(0s));
    BOOST_TEST(told == 0);
    BOOST_TEST(handle_was_valid);
    BOOST_TEST(held.use_count() == 2); // `body`, and `held` itself.
}

BOOST_AUTO_TEST_CASE(coroutines_of_one_task_never_overlap_on_several_threads) {
    std::atomic<int> running{0};
    std::atomic<int> calls{0};
    std::atomic<bool> overlapped{false};
    asio::thread_pool pool(3);
    scheduler tasks(pool);
    const task_handle h = tasks.schedule_at_fixed_rate(0s, 100us, [&]() -> asio::awaitable<void> {
        overlapped = overlapped || running.fetch_add(1) != 0;
        const auto ex = co_await asio::this_coro::executor;
        co_await asio_wheel::async_sleep_for(ex, 0s, asio::use_awaitable);
        running.fetch_sub(1);
        ++calls;
    });
    while (calls < 100) {
        std::this_thread::yield();
    }
    h.cancel();
    h.wait_idle();
    BOOST_TEST(running == 0);
    BOOST_TEST(!overlapped);
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
