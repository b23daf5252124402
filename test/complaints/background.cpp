// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "My metrics timer keeps run() from returning."
//
//   luvit 224
//
// Each pending wait is work of the context, with Asio's timers and with ours. What counts as the
// program's work knows when it has ended, and ends what is in the background.

#include <asio_wheel/interval.hpp>
#include <asio_wheel/steady_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>

namespace {

using namespace asio_wheel::test;

struct in_background : virtual_world {
    asio_wheel::interval metrics{ctx, 10s};
    int reports = 0;
    error_code ended;

    void report() {
        metrics.async_tick([this](error_code ec, std::size_t) {
            ended = ec;
            if (!ec) {
                ++reports;
                report();
            }
        });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_background, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(asio_a_wait_in_the_background_keeps_run_going) {
    asio::io_context ctx;
    asio::steady_timer metrics(ctx, 1h);
    metrics.async_wait([](error_code) {});
    bool work_is_done = false;
    asio::post(ctx, [&] { work_is_done = true; });
    BOOST_TEST(run_one_handler(ctx, [&] { return work_is_done; }) == 1U);
    BOOST_TEST(work_is_done);
    BOOST_TEST((ctx.poll() == 0U || !counts_only_handlers));
    BOOST_TEST(!ctx.stopped()); // run() would go on for an hour.
}

BOOST_FIXTURE_TEST_CASE(ours_the_work_cancels_an_interval_in_the_background, in_background) {
    report();
    pass(10s);
    BOOST_TEST(reports == 1);
    asio::post(ctx, [this] { metrics.cancel(); });
    ctx.restart();
    ctx.run(); // Time stands still, and yet it returns.
    BOOST_TEST(ended == aborted);
}

BOOST_FIXTURE_TEST_CASE(ours_the_work_drains_all_that_waits_in_the_background, in_background) {
    report();
    asio_wheel::steady_timer other(ctx, 1h);
    other.async_wait(log.note("other"));
    asio::post(ctx, [this] { BOOST_TEST(wheel.drain().size() == 2U); });
    ctx.restart();
    ctx.run();
    BOOST_TEST(ended == aborted);
    BOOST_TEST(log.take() == "other!");
}

BOOST_AUTO_TEST_SUITE_END()
