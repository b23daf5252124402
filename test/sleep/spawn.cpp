// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// requires: context

// Sleeps and deadlines in stackful coroutines.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>

namespace {

using namespace asio_wheel::test;
using asio_wheel::async_sleep_for;

} // namespace

BOOST_AUTO_TEST_SUITE(sleep_spawn, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_stackful_coroutine_sleeps_and_has_deadlines, virtual_world) {
    asio::spawn(
        ctx,
        [&](asio::yield_context yield) {
            async_sleep_for(ctx, 1s, yield);
            log.add("slept");
            error_code ec;
            async_sleep_for(ctx, 1h, asio_wheel::cancel_after(1s, yield[ec]));
            log.add("cancelled", ec);
            async_sleep_for(ctx, 1h, asio_wheel::timeout(1s, yield[ec]));
            BOOST_TEST((ec == asio_wheel::error::timed_out));
            log.add("timed out");
            async_sleep_for(ctx, 1s, asio_wheel::timeout(1h, yield));
            log.add("in time");
        },
        asio::detached);
    poll();
    for (const char* expected : {"slept", "cancelled!", "timed out", "in time"}) {
        BOOST_TEST(log.take() == "");
        BOOST_TEST(log_after(1s) == expected);
    }
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_stackful_coroutine_reads_with_deadlines, virtual_world) {
    using local = asio::local::stream_protocol;
    local::socket peer(ctx);
    asio::spawn(
        ctx,
        [&](asio::yield_context yield) {
            asio_wheel::timeout_stream<local::socket> stream(ctx);
            asio::local::connect_pair(stream.socket(), peer);
            char c = 'x';
            stream.expires_after(1s);
            BOOST_TEST(stream.async_write_some(asio::buffer(&c, 1), yield) == 1U);
            log.add("written");
            error_code ec;
            stream.async_read_some(asio::buffer(&c, 1), yield[ec]);
            BOOST_TEST((ec == asio_wheel::error::timed_out));
            log.add("timed out");
        },
        asio::detached);
    BOOST_TEST(log_now() == "written");
    BOOST_TEST(log_after(1s) == "timed out");
}

BOOST_AUTO_TEST_CASE(a_suspended_coroutine_ends_with_its_context) {
    const auto alive = std::make_shared<int>();
    {
        asio::io_context ctx;
        asio::spawn(
            ctx,
            [&ctx, alive](asio::yield_context yield) {
                async_sleep_for(ctx, 1h, asio_wheel::timeout(2h, yield));
                BOOST_ERROR("resumed");
            },
            asio::detached);
        ctx.poll();
        BOOST_TEST(alive.use_count() > 1);
    }
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
