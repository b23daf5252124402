// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the times of clocks become numbers, and back.

#include <asio_wheel/detail/service/clock_counts.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/manual_clock.hpp"
#include "support/seed.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <ratio>
#include <tuple>

namespace {

using namespace std::chrono_literals;
using asio_wheel::detail::clock_counts;
using asio_wheel::detail::never;

template <class Rep, std::intmax_t Num, std::intmax_t Den>
using clock_of =
    asio_wheel::test::manual_clock<struct counted, std::chrono::duration<Rep, std::ratio<Num, Den>>,
                                   false>;

using seconds_clock = clock_of<double, 1, 1>; // Counts in fractions of a second,
using short_clock = clock_of<float, 1, 1000>; // or of a millisecond.
using fractions = std::tuple<seconds_clock, short_clock>;

using thirds = clock_of<std::int64_t, 1, 3>;
using samples = clock_of<std::int64_t, 1, 48'000>;
using sevenths = clock_of<std::int32_t, 1, 7>;
using filetime = clock_of<std::int64_t, 1, 10'000'000>;
using minutes = clock_of<std::int64_t, 60, 1>;
using coarse = std::tuple<thirds, samples, sevenths, filetime, minutes>;

} // namespace

BOOST_AUTO_TEST_SUITE(clock_counts_)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_due_by_the_number_is_due_by_the_clock_and_nothing_else, Clock,
                              fractions) {
    using counts = clock_counts<Clock>;
    using time_point = typename Clock::time_point;
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int i = 0; i < 20'000; ++i) {
        const double magnitude = std::pow(10.0, static_cast<double>(random() % 10));
        const double part = std::uniform_real_distribution<>(-1, 1)(random);
        const auto n = static_cast<typename Clock::rep>(part * magnitude);
        const time_point t{typename Clock::duration(n)};
        BOOST_TEST_REQUIRE((counts::up(t) >= counts::down(t)));
        BOOST_TEST_REQUIRE((counts::up(t) - counts::down(t) <= 1));
        const time_point due = counts::at(counts::up(t));
        BOOST_TEST_REQUIRE((due >= t));
        BOOST_TEST_REQUIRE((counts::up(due) <= counts::up(t)));
        const time_point before = counts::at(counts::up(t) - 1);
        BOOST_TEST_REQUIRE((before < t));
    }
    BOOST_TEST((counts::up((time_point::max)()) == never));
    BOOST_TEST((counts::at(never) == (time_point::max)()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(units_and_nanoseconds_convert_exactly, Clock, coarse) {
    using std::chrono::nanoseconds;
    using units = std::chrono::duration<std::int64_t, typename Clock::period>;
    const asio_wheel::detail::clock_port unit = clock_counts<Clock>::port(1ms);
    for (std::int64_t n = -5'000; n < 200'000; n += 7) {
        const nanoseconds up = std::chrono::ceil<nanoseconds>(units(n));
        BOOST_TEST_REQUIRE((unit.nanoseconds_of(n) == up));
        BOOST_TEST_REQUIRE((unit.units_of(up) == n)); // Down again, to what it was.
        BOOST_TEST_REQUIRE(
            (unit.seconds_of(n) == std::chrono::floor<std::chrono::seconds>(units(n)).count()));
    }
    BOOST_TEST(
        (unit.nanoseconds_of(std::numeric_limits<std::int64_t>::max()) <= (nanoseconds::max)()));
}

// 1601 to 2026.
BOOST_AUTO_TEST_CASE(seconds_go_on_after_nanoseconds_have_ended) {
    const auto unit = clock_counts<filetime>::port(1ms);
    constexpr std::int64_t now = 134'000'000'000'000'000;
    BOOST_TEST((unit.nanoseconds_of(now) == (std::chrono::nanoseconds::max)()));
    BOOST_TEST(unit.seconds_of(now) == 13'400'000'000);
    BOOST_TEST(unit.seconds_of(now + 9'999'999) == 13'400'000'000);
    BOOST_TEST(unit.seconds_of(now + 10'000'000) == 13'400'000'001);
}

BOOST_AUTO_TEST_CASE(paused_time_in_fractions_is_never_before_what_is_due) {
    using clock = seconds_clock;
    for (int i = 0; i < 200; ++i) {
        clock::current = 1.7e9 + i * 0.7313;
        boost::asio::io_context ctx;
        asio_wheel::virtual_time time(ctx);
        auto& wheel = asio_wheel::use_wheel<clock>(ctx);
        asio_wheel::basic_waitable_timer<clock> t(ctx, clock::duration(0.1234567 + i * 1e-3));
        asio_wheel::basic_idle_timer<clock> idle(ctx, clock::duration(0.2345678 + i * 1e-3));
        int called = 0;
        t.async_wait([&](const boost::system::error_code&) {
            BOOST_TEST((wheel.now() >= t.expiry()));
            ++called;
        });
        idle.async_wait([&](const boost::system::error_code&) { ++called; });
        time.run(); // Throws if it does not move on.
        BOOST_TEST(called == 2);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(time_is_advanced_exactly_whatever_the_unit, Clock, coarse) {
    for (std::int64_t n = 1; n < 300; n += 2) {
        const typename Clock::duration d(static_cast<typename Clock::rep>(n));
        boost::asio::io_context ctx;
        asio_wheel::virtual_time time(ctx);
        asio_wheel::basic_waitable_timer<Clock> t(ctx, d);
        bool called = false;
        t.async_wait([&](const boost::system::error_code&) { called = true; });
        time.advance(std::chrono::ceil<std::chrono::nanoseconds>(d));
        BOOST_TEST_REQUIRE(called);
        BOOST_TEST_REQUIRE((asio_wheel::use_wheel<Clock>(ctx).now() == t.expiry()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
