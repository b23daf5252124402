// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// An Asio that is compiled separately, has no timerfd, and finds services by their ids instead of
// their types, as it does without RTTI.

#define BOOST_ASIO_SEPARATE_COMPILATION
#define BOOST_ASIO_DISABLE_TIMERFD
#define BOOST_ASIO_NO_TYPEID
#include <boost/asio/detail/config.hpp>
#undef BOOST_ASIO_HAS_TIMERFD // Only newer versions can be told.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/impl/src.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>

#if defined(BOOST_ASIO_HEADER_ONLY) || defined(BOOST_ASIO_HAS_TIMERFD)
#error "This is not the Asio that was asked for."
#endif

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;

} // namespace

BOOST_AUTO_TEST_SUITE(timer_separate_asio, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(waits_complete_and_are_aborted, World, worlds) {
    World world;
    journal seen;
    typename World::timer late(asio::make_strand(world.ctx), 1h);
    typename World::timer early(world.ctx, 3ms);
    late.async_wait(seen.note("late"));
    early.async_wait([&](const error_code& ec) {
        seen.add("early", ec);
        late.cancel();
    });
    world.elapse(4ms);
    world.run();
    BOOST_TEST(seen.take() == "early late!");
}

// Without timerfd, the context sleeps in whole milliseconds.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_sleeping_context_wakes_up_for_the_earliest_wait, World,
                              real_worlds) {
    World world;
    journal seen;
    using clock = typename World::timer::clock_type;
    typename World::timer late(world.ctx, 1h);
    late.async_wait(seen.note("late"));
    const std::size_t handlers = world.ctx.run_for(2ms); // real time
    if (counts_only_handlers) {
        BOOST_TEST(handlers == 0U);
    }
    BOOST_TEST(seen.take() == "");
    typename World::timer early(world.ctx, 2500us);
    early.async_wait([&](const error_code& ec) {
        BOOST_TEST((clock::now() >= early.expiry()));
        seen.add("early", ec);
        late.cancel();
    });
    world.run();
    BOOST_TEST(seen.take() == "early late!");
}

BOOST_AUTO_TEST_CASE(a_context_has_one_wheel_for_each_clock) {
    drained_context world;
    BOOST_TEST(!asio::has_service<asio_wheel::wheel_service<>>(world.ctx));
    const steady_timer t(world.ctx);
    BOOST_TEST(asio::has_service<asio_wheel::wheel_service<>>(world.ctx));
    BOOST_CHECK_THROW(asio_wheel::make_wheel(world.ctx), asio::service_already_exists);
    BOOST_TEST(!asio::has_service<asio_wheel::wheel_service<std::chrono::system_clock>>(world.ctx));
    asio_wheel::make_wheel<std::chrono::system_clock>(world.ctx, {.slots = 32});
    BOOST_TEST(use_wheel(world.ctx).options().slots == asio_wheel::wheel_options().slots);
}

BOOST_AUTO_TEST_CASE(a_context_ends_with_its_waits) {
    const auto alive = std::make_shared<int>();
    std::atomic<int> called = 0;
    {
        asio::thread_pool pool(1);
        steady_timer soon(pool, 1ms);
        soon.async_wait([&called, alive](const error_code&) { ++called; });
        pool.join();
        BOOST_TEST(called == 1);
        asio::io_context ctx;
        asio_wheel::system_timer distant(ctx, 1h);
        distant.async_wait([&called, alive](const error_code&) { ++called; });
    }
    BOOST_TEST(called == 1);
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
