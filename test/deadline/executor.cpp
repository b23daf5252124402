// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// An executor that carries a deadline: what it tells, and that it otherwise is the executor inside.

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::any_io_executor;
using asio_wheel::deadline_executor;
using asio_wheel::remaining_time;
using asio_wheel::with_deadline;
using std::chrono::nanoseconds;
namespace execution = asio::execution;

constexpr nanoseconds none = nanoseconds::max();
const error_code late = asio_wheel::error::timed_out;

static_assert(execution::is_executor<deadline_executor>::value);
static_assert(std::is_nothrow_copy_constructible_v<deadline_executor>);
static_assert(std::is_nothrow_move_constructible_v<deadline_executor>);
static_assert(std::is_convertible_v<deadline_executor, any_io_executor>);

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_executors, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(an_executor_tells_how_much_time_is_left, virtual_time) {
    const deadline_executor ex = with_deadline(ctx.get_executor(), 5s);
    const any_io_executor any = ex;
    const any_io_executor of_context = with_deadline(ctx, 5s);
    for (const nanoseconds left : {5s, 4s, 3s, 2s, 1s, 0s, 0s}) {
        BOOST_TEST((remaining_time(ex) == left));
        BOOST_TEST((remaining_time(any) == left));
        BOOST_TEST((remaining_time(of_context) == left));
        elapse(1s);
    }
    static_assert(noexcept(remaining_time(ex)));
}

BOOST_FIXTURE_TEST_CASE(of_two_deadlines_the_earlier_one_is_told, virtual_time) {
    const auto two = with_deadline(ctx, 2s);
    const any_io_executor any = two;
    BOOST_TEST((remaining_time(with_deadline(two, 10s)) == 2s));
    BOOST_TEST((remaining_time(with_deadline(two, 1s)) == 1s));
    BOOST_TEST((remaining_time(with_deadline(any, 10s)) == 2s));
    BOOST_TEST((remaining_time(with_deadline(any, 1s)) == 1s));
    // It is not wrapped twice.
    BOOST_TEST((with_deadline(with_deadline(any, 10s), 1s) == with_deadline(ctx, 1s)));
    BOOST_TEST((with_deadline(any, nanoseconds::max()) == two));
    // A handler's and its executor's.
    nanoseconds left{};
    const auto ask = [&](auto token) {
        asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto handler) {
                left = remaining_time(handler);
                asio::post(ctx, [h = std::move(handler)]() mutable { std::move(h)(error_code()); });
            },
            token);
    };
    ask(asio_wheel::timeout(10s, asio::bind_executor(two, ignore)));
    BOOST_TEST((left == 2s));
    ask(asio_wheel::timeout(1s, asio::bind_executor(two, ignore)));
    BOOST_TEST((left == 1s));
    ask(asio::bind_executor(any, ignore));
    BOOST_TEST((left == 2s));
    poll();
}

BOOST_FIXTURE_TEST_CASE(a_strand_has_the_deadline_of_its_executor, virtual_time) {
    const auto ex = with_deadline(ctx, 5s);
    const asio::strand<deadline_executor> strand(ex);
    const asio::strand<any_io_executor> of_any{any_io_executor(ex)};
    BOOST_TEST((remaining_time(strand) == 5s));
    BOOST_TEST((remaining_time(of_any) == 5s));
    BOOST_TEST((remaining_time(any_io_executor(strand)) == 5s));
    BOOST_TEST((remaining_time(any_io_executor(of_any)) == 5s));
    BOOST_TEST((remaining_time(asio::make_strand(ctx)) == none));
    const auto round_a_strand = with_deadline(asio::make_strand(ctx), 3s);
    BOOST_TEST((remaining_time(round_a_strand) == 3s));
    BOOST_TEST((remaining_time(any_io_executor(asio::make_strand(round_a_strand))) == 3s));
    // Of both.
    BOOST_TEST((remaining_time(with_deadline(of_any, 1s)) == 1s));
    BOOST_TEST((remaining_time(with_deadline(of_any, 10s)) == 5s));
}

BOOST_FIXTURE_TEST_CASE(with_each_property_the_deadline_stays, virtual_time) {
    const auto ex = with_deadline(ctx, 5s);
    const auto check = [](const auto& changed) {
        BOOST_TEST((remaining_time(changed) == 5s));
        BOOST_TEST((remaining_time(any_io_executor(changed)) == 5s));
    };
    const any_io_executor any = ex;
    check(asio::require(ex, execution::blocking.never));
    check(asio::require(any, execution::blocking.never));
    check(asio::prefer(ex, execution::blocking.possibly));
    check(asio::prefer(any, execution::blocking.possibly));
    check(asio::prefer(ex, execution::outstanding_work.tracked));
    check(asio::prefer(any, execution::outstanding_work.tracked));
    check(asio::prefer(any, execution::outstanding_work.untracked));
    check(asio::prefer(ex, execution::relationship.fork));
    check(asio::prefer(any, execution::relationship.continuation));
    check(asio::prefer(asio::require(any, execution::blocking.never),
                       execution::relationship.continuation, execution::outstanding_work.tracked));
    BOOST_TEST((asio::query(asio::require(ex, execution::blocking.never), execution::blocking) ==
                execution::blocking.never));
    BOOST_TEST((asio::query(ex, execution::blocking) == execution::blocking.possibly));
    BOOST_TEST(&asio::query(ex, execution::context) == &ctx);
}

BOOST_FIXTURE_TEST_CASE(functions_run_on_the_executor_inside, virtual_time) {
    const auto record = std::make_shared<tracker>();
    const auto ex = with_deadline(track(record, ctx), 5s);
    int on_it = 0;
    const auto check = [&] { on_it += record->running_here() ? 1 : 100; };
    asio::post(ex, check);
    asio::dispatch(ex, check);
    asio::defer(any_io_executor(ex), check);
    ex.execute(check);
    BOOST_TEST(on_it == 0); // This thread does not run the context.
    poll();
    BOOST_TEST(on_it == 4);
    BOOST_TEST(record->executed() == 4U);
}

BOOST_FIXTURE_TEST_CASE(dispatch_runs_at_once_where_the_executor_inside_does, virtual_time) {
    const auto ex = with_deadline(ctx, 5s);
    asio::post(ex, [&] {
        bool dispatched = false;
        asio::dispatch(ex, [&] { dispatched = true; });
        BOOST_TEST(dispatched);
        bool posted = false;
        asio::post(ex, [&posted] { posted = true; });
        BOOST_TEST(!posted);
        ctx.poll();
        BOOST_TEST(posted);
    });
    poll();
}

BOOST_FIXTURE_TEST_CASE(it_counts_as_work_only_if_it_is_asked_to, virtual_time) {
    const auto record = std::make_shared<tracker>();
    std::optional<deadline_executor> ex = with_deadline(track(record, ctx), 5s);
    BOOST_TEST(record->work() == 0U);
    {
        const auto tracked = asio::prefer(*ex, execution::outstanding_work.tracked);
        const auto copy = tracked; // NOLINT(performance-unnecessary-copy-initialization)
        BOOST_TEST(record->work() == 1U);
        poll();
        BOOST_TEST(!ctx.stopped());
        const auto guard = asio::make_work_guard(any_io_executor(*ex));
        ex.reset();
        BOOST_TEST(record->work() == 2U);
        BOOST_TEST(
            (remaining_time(asio::prefer(copy, execution::outstanding_work.untracked)) == 5s));
    }
    BOOST_TEST(record->work() == 0U);
    poll();
    BOOST_TEST(ctx.stopped());
}

BOOST_FIXTURE_TEST_CASE(executors_are_equal_if_their_deadlines_are, virtual_time) {
    drained_context other;
    const auto ex = with_deadline(ctx, 5s);
    BOOST_TEST((ex == with_deadline(ctx, 5s)));
    BOOST_TEST((ex == deadline_executor(ex)));
    BOOST_TEST((ex != with_deadline(ctx, 6s)));
    BOOST_TEST((ex != with_deadline(other.ctx, 5s)));
    BOOST_TEST((any_io_executor(ex) == any_io_executor(with_deadline(ctx, 5s))));
    BOOST_TEST((any_io_executor(ex) != any_io_executor(ctx.get_executor())));
    elapse(1s);
    BOOST_TEST((ex == with_deadline(ctx, 4s)));
}

BOOST_FIXTURE_TEST_CASE(timers_and_sleeps_complete_on_it, virtual_time) {
    const auto record = std::make_shared<tracker>();
    const auto ex = with_deadline(track(record, ctx), 5s);
    timer t(ex, 1s);
    BOOST_TEST((remaining_time(t.get_executor()) == 5s));
    const auto check = [&](int n) {
        return [&, n](error_code ec) {
            BOOST_TEST(record->running_here());
            log.note(n)(ec);
        };
    };
    t.async_wait(check(1));
    asio_wheel::async_sleep_for(ex, 2s, check(2));
    timer plain(ctx, 3s);
    plain.async_wait(asio::bind_executor(ex, check(3)));
    t.async_wait(asio_wheel::timeout(500ms, check(4)));
    BOOST_TEST(log_after(500ms) == "4(" + late.message() + ")");
    BOOST_TEST(log_after(500ms) == "1");
    BOOST_TEST(log_after(2s) == "2 3");
}

BOOST_FIXTURE_TEST_CASE(it_cancels_nothing, virtual_time) {
    timer t(with_deadline(ctx, 1s), 1h);
    t.async_wait(log.note(1));
    BOOST_TEST(log_after(1h - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "1");
}

BOOST_FIXTURE_TEST_CASE(a_deadline_is_carried_to_another_context, virtual_time) {
    drained_context other;
    asio_wheel::use_wheel(other.ctx).pause();
    const auto ex = with_deadline(ctx, 5s);
    elapse(2s);
    const auto there = with_deadline(other.ctx, remaining_time(ex));
    BOOST_TEST((remaining_time(there) == 3s));
    asio_wheel::use_wheel(other.ctx).advance(1s); // Each by its own wheel.
    BOOST_TEST((remaining_time(there) == 2s));
    BOOST_TEST((remaining_time(ex) == 3s));
}

BOOST_FIXTURE_TEST_CASE(each_duration_has_a_meaning, virtual_time) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    using seconds = std::chrono::duration<double>;
    BOOST_CHECK_THROW(static_cast<void>(with_deadline(ctx, seconds(nan))), std::invalid_argument);
    BOOST_TEST((remaining_time(with_deadline(ctx, seconds(infinite))) == none));
    BOOST_TEST((remaining_time(with_deadline(ctx, nanoseconds::max())) == none));
    BOOST_TEST((remaining_time(with_deadline(ctx, std::chrono::hours::max())) == none));
    BOOST_TEST((remaining_time(with_deadline(ctx, seconds(.5))) == 500ms));
    BOOST_TEST((remaining_time(with_deadline(ctx, 0s)) == 0s));
    BOOST_TEST((remaining_time(with_deadline(ctx, -1s)) == 0s));
    BOOST_TEST((remaining_time(with_deadline(ctx, nanoseconds::min())) == 0s));
}

BOOST_AUTO_TEST_CASE(it_may_be_asked_after_the_end_of_its_context) {
    std::optional<deadline_executor> ex;
    {
        asio::io_context ctx;
        ex = with_deadline(ctx, 1h);
    }
    BOOST_TEST((remaining_time(*ex) > 30min));
    BOOST_TEST((remaining_time(*ex) <= 1h));
}

// A deadline inside another one is no earlier than that, however much time passes meanwhile.
BOOST_AUTO_TEST_CASE(a_deadline_that_is_not_earlier_is_the_outer_one) {
    asio::io_context ctx;
    const auto outer = with_deadline(ctx, 1h);
    auto inner = outer;
    for (int i = 0; i < 1000; ++i) {
        inner = with_deadline(inner, 2h);
    }
    BOOST_TEST((inner == outer));
}

// The wheel of a new context uses what that of an earlier one has left behind.
BOOST_AUTO_TEST_CASE(after_the_end_of_its_context_it_does_not_follow_the_time_of_another_one) {
    auto ctx = std::make_unique<asio::io_context>();
    auto other = std::make_unique<asio::io_context>(); // At another address.
    const auto ex = with_deadline(*ctx, 1h);
    ctx.reset();
    auto& wheel = asio_wheel::use_wheel(*other);
    wheel.pause();
    wheel.advance(24h);
    BOOST_TEST((remaining_time(ex) > 30min));
}

// Real time, on several threads: strands keep their promise, and nothing is lost.
BOOST_AUTO_TEST_CASE(on_a_pool_of_threads) {
    asio::thread_pool pool(4);
    const auto ex = with_deadline(pool, 1h);
    const asio::strand<any_io_executor> strand{any_io_executor(ex)};
    int calls = 0; // On the strand.
    std::atomic<int> all{0};
    for (int i = 0; i < 1000; ++i) {
        asio::post(ex, [&] {
            const any_io_executor narrower = with_deadline(ex, 1min);
            all += remaining_time(narrower) <= 1min ? 1 : 100;
            asio::dispatch(strand, [&] { ++calls; });
        });
    }
    pool.join();
    BOOST_TEST(calls == 1000);
    BOOST_TEST(all == 1000);
}

BOOST_AUTO_TEST_SUITE_END()
