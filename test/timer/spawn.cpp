// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// requires: context

// Waits in stackful coroutines.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <memory>

namespace {

using namespace asio_wheel::test;
using boost::system::system_error;

// AddressSanitizer does not know the stack of a coroutine: it reports an exception as an overflow.
constexpr bool may_throw = !has_address_sanitizer;

} // namespace

BOOST_AUTO_TEST_SUITE(timer_spawn, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_suspends_the_coroutine, World, real_worlds) {
    using timer = typename World::timer;
    World world;
    journal seen;
    timer distant(world.ctx, 1h);
    asio::spawn(
        world.ctx,
        [&](asio::yield_context yield) {
            timer t(world.ctx, 1ms);
            const auto expiry = t.expiry();
            t.async_wait(yield);
            BOOST_TEST((timer::clock_type::now() >= expiry));
            seen.add("expired");
            asio::post(world.ctx, [&] { distant.cancel(); });
            error_code ec;
            distant.async_wait(yield[ec]);
            seen.add("cancelled", ec);
        },
        asio::detached);
    world.run();
    BOOST_TEST(seen.take() == "expired cancelled!");
}

BOOST_AUTO_TEST_SUITE(with_exceptions, *only_if(may_throw))

BOOST_AUTO_TEST_CASE_TEMPLATE(an_aborted_wait_throws_in_the_coroutine, World, real_worlds) {
    World world;
    typename World::timer t(world.ctx, 1h);
    std::exception_ptr failure;
    asio::spawn(
        asio::make_strand(world.ctx), [&](asio::yield_context yield) { t.async_wait(yield); },
        [&](std::exception_ptr e) { failure = e; });
    asio::post(world.ctx, [&] { t.cancel(); });
    world.run();
    BOOST_TEST_REQUIRE(bool(failure));
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(failure), system_error,
                          [](const system_error& e) { return e.code() == aborted; });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_suspended_coroutine_ends_with_its_context, World, real_worlds) {
    const auto alive = std::make_shared<int>();
    {
        asio::io_context ctx;
        asio::spawn(
            ctx,
            [alive, &ctx](asio::yield_context yield) {
                typename World::timer t(ctx, 1h);
                t.async_wait(yield);
            },
            asio::detached);
        ctx.poll();
        BOOST_TEST(alive.use_count() > 1);
    }
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
