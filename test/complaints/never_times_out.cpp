// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "async_exec() never ends, and I run out of file descriptors."
//
//   boostorg/redis 284
//
// A library gives its connections timeouts, but not its requests. A request that is never answered
// keeps the coroutine that waits for it, with everything that the coroutine owns. Asio's answer is
// cancel_after(30s), which needs Boost 1.86. Ours is timeout(30s). It works with any supported
// version of Boost, and its error is timed_out.

#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <memory>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout;

const error_code late = asio_wheel::error::timed_out;

using file = std::shared_ptr<int>;

// A connection to a database that does not answer, and a file that is open during the request.
struct fixture : virtual_world {
    manual_operation<error_code> exec{ctx.get_executor()};
    std::weak_ptr<int> open;
    error_code result;

    fixture() {
        exec.on_cancel = [this] { exec.complete(aborted); };
    }
    file open_file() {
        auto f = std::make_shared<int>();
        open = f;
        return f;
    }
    [[nodiscard]] bool is_open() const { return !open.expired(); }
};

asio::awaitable<void> save(fixture& world, file) {
    co_await world.exec.start(asio::use_awaitable);
}

asio::awaitable<void> save_in_time(fixture& world, file) {
    try {
        co_await world.exec.start(timeout(30s, asio::use_awaitable));
    } catch (const boost::system::system_error& e) {
        world.result = e.code();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_never_times_out)

BOOST_AUTO_TEST_CASE(asio_a_request_that_is_not_answered_keeps_what_its_coroutine_owns) {
    fixture world;
    asio::co_spawn(world.ctx, save(world, world.open_file()), asio::detached);
    world.poll();
    world.pass(30 * 24h);
    BOOST_TEST(world.is_open());
    world.exec.drop();
    world.poll();
    BOOST_TEST(!world.is_open());
}

BOOST_AUTO_TEST_CASE(ours_a_request_with_a_timeout_lets_its_coroutine_end) {
    fixture world;
    asio::co_spawn(world.ctx, save_in_time(world, world.open_file()), asio::detached);
    world.poll();
    world.pass(30s - 1ns);
    BOOST_TEST(world.is_open());
    world.pass(1ns);
    BOOST_TEST(!world.is_open());
    BOOST_TEST(world.result == late);
}

// The same from outside, for a coroutine that cannot be changed.
BOOST_AUTO_TEST_CASE(ours_a_coroutine_with_a_timeout_ends_with_all_it_owns) {
    fixture world;
    asio::co_spawn(world.ctx, save(world, world.open_file()),
                   timeout(30s, [&](std::exception_ptr e) {
                       try {
                           std::rethrow_exception(e);
                       } catch (const boost::system::system_error& failure) {
                           world.result = failure.code();
                       }
                   }));
    world.pass(30s);
    BOOST_TEST(!world.is_open());
    BOOST_TEST(world.result == late);
}

// No timeout can end an operation that ignores cancellation.
BOOST_AUTO_TEST_CASE(ours_an_operation_that_cannot_be_cancelled_is_waited_for) {
    fixture world;
    world.exec.on_cancel = {};
    asio::co_spawn(world.ctx, save_in_time(world, world.open_file()), asio::detached);
    world.poll();
    world.pass(1h);
    BOOST_TEST(world.exec.take_cancellations() == "terminal");
    BOOST_TEST(world.is_open());
    world.exec.complete(success);
    world.poll();
    BOOST_TEST(!world.is_open());
    BOOST_TEST(world.result == success);
}

BOOST_AUTO_TEST_SUITE_END()
