// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// Fixed rates, of tasks and of intervals, on a clock that is set.

#include <asio_wheel/interval.hpp>
#include <asio_wheel/missed.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/wait_traits.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <utility>

namespace {

using wall_clock =
    asio_wheel::test::manual_clock<struct set_clock, std::chrono::nanoseconds, false>;

} // namespace

// The traits of all timers on this clock: see manual_clock.hpp.
template <>
struct boost::asio::wait_traits<wall_clock> : asio_wheel::test::impatient<wall_clock> {};

namespace {

using namespace asio_wheel::test;
using asio_wheel::missed;
using interval = asio_wheel::basic_interval<wall_clock>;
using scheduler = asio_wheel::basic_scheduler<wall_clock>;

constexpr auto day = 24h;

/// Something with a rate of a minute, and how often it came.
struct minutes : drained_context {
    minutes() { wall_clock::set(wall_clock::time_point(1000 * day)); }

    int count = 0;
    std::size_t periods = 0;

    // The clock goes on in steps of a second.
    void pass(std::chrono::seconds d) {
        for (; d > 0s; d -= 1s) {
            set(1s);
        }
    }
    // The clock jumps.
    void set(wall_clock::duration d) {
        wall_clock::advance(d);
        look(ctx);
    }
    [[nodiscard]] int taken() { return std::exchange(count, 0); }

    void take(interval& ticks) {
        ticks.async_tick([&](error_code ec, std::size_t n) {
            if (!ec) {
                ++count;
                periods = n;
                take(ticks);
            }
        });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(set_clock_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(each_time_of_a_rate_has_one_call_however_often_the_clock_shows_it,
                        minutes) {
    for (const missed rule : {missed::coalesce, missed::catch_up, missed::skip}) {
        scheduler tasks(ctx);
        const auto h = tasks.schedule_at_fixed_rate(1min, 1min, [&] { ++count; }, rule);
        pass(90s);
        BOOST_TEST(taken() == 1);
        const auto next = h.expiry();
        set(-day);
        BOOST_TEST((h.expiry() == next));
        BOOST_TEST((h.remaining() == day + 30s));
        set(day - 5min); // The clock goes on, but not to the next time.
        pass(5min);
        BOOST_TEST(taken() == 0);
        pass(30s);
        BOOST_TEST(taken() == 1);
        pass(5min);
        BOOST_TEST(taken() == 5);
        h.cancel();
    }
}

BOOST_FIXTURE_TEST_CASE(a_rate_goes_on_from_the_time_to_which_its_next_call_is_postponed, minutes) {
    scheduler tasks(ctx);
    const auto h = tasks.schedule_at_fixed_rate(1min, 1min, [&] { ++count; });
    pass(90s);
    set(-day);
    BOOST_TEST(taken() == 1);
    BOOST_TEST(h.postpone(1min));
    pass(5min);
    BOOST_TEST(taken() == 5);
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_is_set_forward_makes_calls_missed, minutes) {
    scheduler tasks(ctx);
    int none = 0;
    const auto one = tasks.schedule_at_fixed_rate(1min, 1min, [&] { ++count; });
    const auto skips = tasks.schedule_at_fixed_rate(1min, 1min, [&] { ++none; }, missed::skip);
    set(day + 30s);
    BOOST_TEST(taken() == 1);
    BOOST_TEST(none == 0);
    pass(30s);
    BOOST_TEST(taken() == 1);
    BOOST_TEST(none == 1);
    one.cancel();
    skips.cancel();
}

BOOST_FIXTURE_TEST_CASE(each_time_of_a_rate_has_one_tick_or_a_period_begins_anew, minutes) {
    interval ticks(ctx, 1min);
    take(ticks);
    pass(90s);
    BOOST_TEST(taken() == 1);
    set(-day);
    pass(5min);
    BOOST_TEST(taken() == 0);
    ticks.reset();
    pass(5min);
    BOOST_TEST(taken() == 5);
    BOOST_TEST(periods == 1U);
    set(day);
    BOOST_TEST(taken() == 1);
    BOOST_TEST(periods == 24U * 60U);
    ticks.cancel();
    look(ctx);
}

BOOST_AUTO_TEST_SUITE_END()
