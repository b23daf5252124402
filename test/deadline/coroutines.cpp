// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Coroutines that know how much time is left, and all that they call.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/deadline.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/asking_operation.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/coro.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::awaitable;
using asio::use_awaitable;
using asio_wheel::remaining_time;
using asio_wheel::timeout;
using asio_wheel::with_deadline;
using std::chrono::nanoseconds;
namespace experimental = asio::experimental;

constexpr nanoseconds none = nanoseconds::max();
const error_code late = asio_wheel::error::timed_out;

struct fixture : virtual_time {
    std::vector<nanoseconds> seen;

    awaitable<void> look() { seen.push_back(remaining_time(co_await asio::this_coro::executor)); }

    awaitable<void> sleep(nanoseconds d) {
        const auto ex = co_await asio::this_coro::executor;
        co_await asio_wheel::async_sleep_for(ex, d, use_awaitable);
    }

    /// Runs a coroutine with a deadline 5 s from now for as long as it takes.
    void run(awaitable<void> coroutine) { run(with_deadline(ctx, 5s), std::move(coroutine)); }
    void run(const asio::any_io_executor& ex, awaitable<void> coroutine) {
        bool ended = false;
        asio::co_spawn(ex, std::move(coroutine), [&](const std::exception_ptr& e) {
            BOOST_TEST((e == nullptr));
            ended = true;
        });
        poll();
        for (int i = 0; i < 100 && !ended; ++i) {
            pass(100ms);
        }
        BOOST_TEST_REQUIRE(ended);
    }

    void expect(std::vector<nanoseconds> expected) {
        BOOST_TEST((seen == expected));
        seen.clear();
    }
};

// One coroutine calls another, five deep.
awaitable<nanoseconds> down(int levels) {
    if (levels != 0) {
        co_return co_await down(levels - 1);
    }
    co_return remaining_time(co_await asio::this_coro::executor);
}

experimental::coro<void> ask_in_coro(asio::any_io_executor, nanoseconds& result) {
    result = remaining_time(co_await asio::this_coro::executor);
}

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_coroutines)

BOOST_FIXTURE_TEST_CASE(a_coroutine_knows_how_much_time_is_left, fixture) {
    const auto coroutine = [](fixture& f) -> awaitable<void> {
        co_await f.look();
        co_await f.sleep(2s);
        co_await f.look();
        f.seen.push_back(co_await down(5));
    };
    run(coroutine(*this));
    expect({5s, 3s, 3s});
    run(ctx.get_executor(), coroutine(*this));
    expect({none, none, none});
}

BOOST_FIXTURE_TEST_CASE(so_does_a_coroutine_that_it_spawns, fixture) {
    const auto coroutine = [](fixture& f) -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        co_await asio::co_spawn(ex, f.look(), use_awaitable);
        asio::co_spawn(ex, f.look(), asio::detached);
        const auto shorter = with_deadline(ex, 1s);
        co_await asio::co_spawn(shorter, f.look(), use_awaitable);
        const auto longer = with_deadline(ex, 10s);
        co_await asio::co_spawn(longer, f.look(), use_awaitable);
        co_await f.look();
    };
    run(coroutine(*this));
    expect({5s, 5s, 1s, 5s, 5s});
}

BOOST_FIXTURE_TEST_CASE(so_do_both_sides_of_the_operators, fixture) {
    const auto coroutine = [](fixture& f) -> awaitable<void> {
        using namespace experimental::awaitable_operators;
        co_await (f.look() && f.look());
        co_await (f.sleep(1s) || f.look());
        co_await (f.sleep(1s) && (f.look() || f.sleep(2s)));
        co_await f.look();
    };
    run(coroutine(*this));
    expect({5s, 5s, 5s, 5s, 4s});
}

BOOST_FIXTURE_TEST_CASE(so_do_coroutines_in_a_parallel_group, fixture) {
    const auto coroutine = [](fixture& f) -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        auto group =
            experimental::make_parallel_group(asio::co_spawn(ex, f.look(), asio::deferred),
                                              asio::co_spawn(ex, f.sleep(1s), asio::deferred));
        co_await group.async_wait(experimental::wait_for_all(), use_awaitable);
        co_await f.look();
    };
    run(coroutine(*this));
    expect({5s, 4s});
}

BOOST_FIXTURE_TEST_CASE(after_a_message_each_coroutine_has_its_own, fixture) {
    using channel = experimental::channel<void(error_code, nanoseconds)>;
    const auto sender = [](fixture& f, channel& c) -> awaitable<void> {
        co_await f.sleep(1s);
        // Who wants to tell the other side sends the remaining time.
        const auto left = remaining_time(co_await asio::this_coro::executor);
        co_await c.async_send(error_code(), left, use_awaitable);
    };
    const auto receiver = [](fixture& f, channel& c) -> awaitable<void> {
        f.seen.push_back(co_await c.async_receive(use_awaitable));
        co_await f.look();
    };
    channel c(ctx);
    asio::co_spawn(with_deadline(ctx, 2s), sender(*this, c), asio::detached);
    run(receiver(*this, c));
    expect({1s, 4s});
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_a_coroutine_awaits_is_told, fixture) {
    const auto coroutine = [](fixture& f) -> awaitable<void> {
        asked plain;
        asked shorter;
        asked longer;
        co_await async_ask(f.ctx.get_executor(), plain, use_awaitable);
        co_await async_ask(f.ctx.get_executor(), shorter, timeout(1s, use_awaitable));
        const auto token = asio::as_tuple(use_awaitable);
        co_await async_ask(f.ctx.get_executor(), longer, timeout(10s, token));
        f.seen = {plain.handler, shorter.handler, longer.handler};
    };
    run(coroutine(*this));
    expect({5s, 1s, 5s});
}

BOOST_FIXTURE_TEST_CASE(on_a_strand_it_has_both, fixture) {
    const auto on_strand = [](fixture& f, const auto& strand) -> awaitable<void> {
        co_await f.sleep(1s);
        BOOST_TEST(strand.running_in_this_thread());
        co_await f.look();
    };
    const auto strand = asio::make_strand(ctx);
    run(with_deadline(strand, 5s), on_strand(*this, strand));
    const asio::strand<asio::any_io_executor> above{asio::any_io_executor(with_deadline(ctx, 3s))};
    run(above, on_strand(*this, above));
    expect({4s, 2s});
}

// As in the guide.
BOOST_FIXTURE_TEST_CASE(the_executor_tells_and_the_timeout_cancels, fixture) {
    const auto coroutine = [](fixture& f) -> awaitable<void> {
        co_await f.look();
        co_await f.sleep(1h);
    };
    error_code result;
    const auto limited = with_deadline(ctx, 5s);
    asio::co_spawn(limited, coroutine(*this),
                   timeout(remaining_time(limited), [&](const std::exception_ptr& e) {
                       try {
                           std::rethrow_exception(e);
                       } catch (const boost::system::system_error& failure) {
                           result = failure.code();
                       }
                   }));
    poll();
    pass(5s - 1ns);
    BOOST_TEST(!result);
    pass(1ns);
    BOOST_TEST(result == late);
    expect({5s});
}

BOOST_FIXTURE_TEST_CASE(a_timeout_alone_tells_a_coroutine_nothing, fixture) {
    asio::co_spawn(ctx, look(), timeout(5s, [](const std::exception_ptr&) {}));
    poll();
    expect({none});
}

// The inner timeout is longer, so the outer one cancels; and each sees what is its own.
BOOST_FIXTURE_TEST_CASE(a_longer_timeout_inside_ends_with_the_outer_one, fixture) {
    error_code inner;
    error_code outer;
    const auto coroutine = [](fixture& f, error_code& result) -> awaitable<void> {
        asked answer;
        timer t(co_await asio::this_coro::executor, 1h);
        const auto token = asio::as_tuple(use_awaitable);
        co_await async_ask(t.get_executor(), answer, timeout(10s, token));
        f.seen.push_back(answer.handler);
        std::tie(result) = co_await t.async_wait(timeout(10s, token));
        throw boost::system::system_error(result);
    };
    const auto limited = with_deadline(ctx, 2s);
    asio::co_spawn(limited, coroutine(*this, inner), timeout(2s, [&](const std::exception_ptr& e) {
                       try {
                           std::rethrow_exception(e);
                       } catch (const boost::system::system_error& failure) {
                           outer = failure.code();
                       }
                   }));
    poll();
    pass(2s - 1ns);
    BOOST_TEST(!inner);
    pass(1ns);
    BOOST_TEST(inner == aborted);
    BOOST_TEST(outer == late);
    expect({2s});
}

BOOST_FIXTURE_TEST_CASE(an_experimental_coro_has_the_deadline_of_its_executor, fixture) {
    nanoseconds left{};
    auto coroutine = ask_in_coro(with_deadline(ctx, 5s), left);
    coroutine.async_resume([](const std::exception_ptr& e) { BOOST_TEST((e == nullptr)); });
    poll();
    BOOST_TEST((left == 5s));
}

BOOST_AUTO_TEST_SUITE_END()
