// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "My connect fails at once, and the coroutine goes on after 30 seconds, with a timeout."
//
//   chriskohlhoff/asio 900     operator|| is an anti-pattern for timeouts
//   chriskohlhoff/asio 1594    it swallows the exception
//
// `co_await (operation || timer.async_wait(use_awaitable))` waits for the first success. If the
// operation throws, only the timer is left. Its wait succeeds, and the exception is lost. This
// happens with any timer. With the wheel's, virtual time shows when the coroutine continues.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <string>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout;

const error_code refused = asio::error::connection_refused;

std::string outcome_of(const std::exception_ptr& e) {
    try {
        std::rethrow_exception(e);
    } catch (const boost::system::system_error& failure) {
        return failure.code() == refused                        ? "refused"
               : failure.code() == asio_wheel::error::timed_out ? "timed out"
                                                                : failure.code().message();
    }
}

using connecting = manual_operation<error_code>;

template <class Timer>
asio::awaitable<std::string> connect_or_wait(connecting& connect, Timer& timer) {
    using namespace asio::experimental::awaitable_operators;
    const auto first =
        co_await (connect.start(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    co_return first.index() == 0 ? "connected" : "timed out";
}

asio::awaitable<std::string> connect_with_timeout(connecting& connect) {
    co_await connect.start(timeout(30s, asio::use_awaitable));
    co_return "connected";
}

asio::awaitable<std::string> connect(connecting& connect) {
    co_await connect.start(asio::use_awaitable);
    co_return "connected";
}

template <class World>
struct fixture : World {
    connecting op{this->ctx.get_executor()};
    std::string story;

    fixture() {
        op.on_cancel = [this] { op.complete(aborted); };
    }
    auto tell() {
        return [this](std::exception_ptr e, std::string result) {
            story = e ? outcome_of(e) : result;
        };
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_operator_or, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(asio_an_exception_waits_for_the_timer_and_is_lost) {
    using clock = manual_clock<struct of_operator_or>;
    fixture<drained_context> world;
    asio::basic_waitable_timer<clock, impatient<clock>> timer(world.ctx, 30s);
    asio::co_spawn(world.ctx, connect_or_wait(world.op, timer), world.tell());
    look(world.ctx);
    world.op.complete(refused);
    clock::advance(30s - 1ns);
    look(world.ctx);
    BOOST_TEST(world.story == "");
    clock::advance(1ns);
    look(world.ctx);
    BOOST_TEST(world.story == "timed out");
}

BOOST_AUTO_TEST_CASE(asio_a_timer_on_the_wheel_does_not_change_that) {
    fixture<virtual_world> world;
    timer t(world.ctx, 30s);
    asio::co_spawn(world.ctx, connect_or_wait(world.op, t), world.tell());
    world.poll();
    world.op.complete(refused);
    world.pass(30s - 1ns);
    BOOST_TEST(world.story == "");
    world.pass(1ns);
    BOOST_TEST(world.story == "timed out");
}

BOOST_AUTO_TEST_CASE(ours_an_exception_arrives_at_once) {
    fixture<virtual_world> world;
    asio::co_spawn(world.ctx, connect_with_timeout(world.op), world.tell());
    world.poll();
    world.op.complete(refused);
    world.poll();
    BOOST_TEST(world.story == "refused");
    BOOST_TEST(world.wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(ours_a_timeout_is_an_exception_too) {
    fixture<virtual_world> world;
    asio::co_spawn(world.ctx, connect_with_timeout(world.op), world.tell());
    world.poll();
    world.pass(30s - 1ns);
    BOOST_TEST(world.story == "");
    world.pass(1ns);
    BOOST_TEST(world.story == "timed out");
}

// The operation is a coroutine.
BOOST_AUTO_TEST_CASE(ours_a_coroutine_with_a_timeout_ends_when_it_throws) {
    fixture<virtual_world> world;
    asio::co_spawn(world.ctx, connect(world.op), asio_wheel::timeout(30s, world.tell()));
    world.poll();
    world.op.complete(refused);
    world.poll();
    BOOST_TEST(world.story == "refused");
    BOOST_TEST(world.wheel.pending() == 0U);
    asio::co_spawn(world.ctx, connect(world.op), asio_wheel::timeout(30s, world.tell()));
    world.poll();
    world.pass(30s);
    BOOST_TEST(world.story == "timed out");
}

BOOST_AUTO_TEST_SUITE_END()
