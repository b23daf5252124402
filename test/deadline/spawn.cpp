// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// requires: context

// Stackful coroutines that know how much time is left.

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/asking_operation.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace asio_wheel::test;
using asio_wheel::remaining_time;
using asio_wheel::timeout;
using asio_wheel::with_deadline;

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_spawn)

BOOST_FIXTURE_TEST_CASE(a_stackful_coroutine_has_the_deadline_of_its_executor, virtual_time) {
    int ended = 0;
    const asio::any_io_executor limited = with_deadline(ctx, 5s);
    const auto coroutine = [&](asio::yield_context yield) {
        BOOST_TEST((remaining_time(yield.get_executor()) == 5s));
        BOOST_TEST((remaining_time(yield) == 5s));
        asio_wheel::async_sleep_for(ctx, 2s, yield);
        BOOST_TEST((remaining_time(yield.get_executor()) == 3s));
        asked plain;
        asked shorter;
        async_ask(ctx.get_executor(), plain, yield);
        async_ask(ctx.get_executor(), shorter, timeout(1s, yield));
        BOOST_TEST((plain.handler == 3s));
        BOOST_TEST((shorter.handler == 1s));
        asio::spawn(
            yield,
            [&](asio::yield_context inner) {
                BOOST_TEST((remaining_time(inner.get_executor()) == 3s));
                ++ended;
            },
            asio::detached);
        ++ended;
    };
    asio::spawn(limited, coroutine, asio::detached);
    poll();
    pass(2s);
    BOOST_TEST(ended == 2);
}

BOOST_AUTO_TEST_SUITE_END()
