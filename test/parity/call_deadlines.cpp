// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Deadlines that travel with a call: Go's context, gRPC's calls, Dubbo's TimeoutCountDown.

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/asking_operation.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio::awaitable;
using asio::use_awaitable;
using asio_wheel::remaining_time;
using asio_wheel::timeout;
using asio_wheel::timeout_at;
using asio_wheel::with_deadline;
using std::chrono::nanoseconds;

const error_code late = asio_wheel::error::timed_out;

struct fixture : virtual_time {
    error_code result;

    [[nodiscard]] auto note() {
        return [this](const std::exception_ptr& e) {
            try {
                if (e) {
                    std::rethrow_exception(e);
                }
            } catch (const boost::system::system_error& failure) {
                result = failure.code();
            }
        };
    }
};

// What the function at the end of a chain sees.
awaitable<void> leaf(nanoseconds& left) {
    left = remaining_time(co_await asio::this_coro::executor);
    co_return;
}

awaitable<void> work() {
    const auto ex = co_await asio::this_coro::executor;
    co_await asio_wheel::async_sleep_for(ex, 1h, use_awaitable);
}

} // namespace

BOOST_AUTO_TEST_SUITE(parity_call_deadlines, *boost::unit_test::timeout(60))

// ctx, cancel := context.WithTimeout(parent, 5*time.Second); deadline, ok := ctx.Deadline()

BOOST_FIXTURE_TEST_CASE(go_with_timeout_and_deadline, fixture) {
    nanoseconds left{};
    asio::co_spawn(with_deadline(ctx, 5s), leaf(left), asio::detached);
    poll();
    BOOST_TEST((left == 5s));
    asio::co_spawn(ctx, leaf(left), asio::detached);
    poll();
    BOOST_TEST((left == nanoseconds::max())); // ok == false
}

// A child's deadline is not later than its parent's.

BOOST_FIXTURE_TEST_CASE(go_a_child_has_the_earlier_deadline, fixture) {
    const asio::any_io_executor parent = with_deadline(ctx, 2s);
    BOOST_TEST((remaining_time(with_deadline(parent, 10s)) == 2s));
    BOOST_TEST((remaining_time(with_deadline(parent, 1s)) == 1s));
}

// errors.Is(ctx.Err(), context.DeadlineExceeded), context.Canceled; cancel()

BOOST_FIXTURE_TEST_CASE(go_deadline_exceeded_or_canceled, fixture) {
    asio::cancellation_signal cancel;
    const auto limited = with_deadline(ctx, 5s);
    const auto start = [&] {
        asio::co_spawn(
            limited, work(),
            timeout(remaining_time(limited), asio::bind_cancellation_slot(cancel.slot(), note())));
        poll();
    };
    start();
    cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(result == aborted);
    start();
    pass(5s);
    BOOST_TEST(result == late);
}

// context.WithoutCancel(ctx): what goes on after the request.

BOOST_FIXTURE_TEST_CASE(go_without_cancel, fixture) {
    const asio::any_io_executor parent = with_deadline(ctx, 2s);
    nanoseconds left{};
    asio::co_spawn(ctx, leaf(left), asio::detached);
    poll();
    BOOST_TEST((left == nanoseconds::max()));
    BOOST_TEST((remaining_time(parent) == 2s));
}

// gRPC: context.set_deadline(t); server_context.deadline();
// ClientContext::FromServerContext(server_context)

BOOST_FIXTURE_TEST_CASE(grpc_a_server_passes_its_deadline_on_to_the_next, fixture) {
    asked answer;
    const auto server = [](asio::any_io_executor next, asked& a) -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        co_await asio_wheel::async_sleep_for(ex, 1s, use_awaitable);
        const auto left = remaining_time(ex);
        co_await async_ask(next, a, timeout(left, use_awaitable)); // It tells the next server.
    };
    const nanoseconds from_client = 5s; // The header grpc-timeout.
    asio::co_spawn(with_deadline(ctx, from_client), server(ctx.get_executor(), answer),
                   asio::detached);
    poll();
    pass(1s);
    BOOST_TEST((answer.handler == 4s));
    async_ask(ctx.get_executor(), answer, timeout_at(now() + 3s, ignore));
    BOOST_TEST((answer.handler == 3s));
    poll();
}

// Dubbo: TimeoutCountDown.newCountDown(timeout, unit), timeRemaining(unit), isExpired()

BOOST_FIXTURE_TEST_CASE(dubbo_a_count_down_that_has_expired_begins_no_call, fixture) {
    const auto count_down = with_deadline(ctx, 5s);
    elapse(2s);
    BOOST_TEST((remaining_time(count_down) == 3s));
    elapse(3s);
    BOOST_TEST((remaining_time(count_down) == 0s));
}

BOOST_AUTO_TEST_SUITE_END()
