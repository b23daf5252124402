// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Idle timers that are told of each period without a touch.

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::idle_timer;

/// A loop around an idle timer with a period of 10 s, and what it was told: "1@10 2@20".
struct told_again_and_again : virtual_world {
    idle_timer idle{ctx, 10s};
    std::function<void(error_code, std::size_t)> next = [this](error_code ec, std::size_t periods) {
        note(ec, periods);
        if (!ec) {
            idle.async_next_idle(next);
        }
    };
    const std::chrono::steady_clock::time_point start = now();

    told_again_and_again() { idle.async_next_idle(next); }
    ~told_again_and_again() { idle.cancel(); }

    void note(error_code ec, std::size_t periods) {
        log.text += log.text.empty() ? "" : " ";
        log.text += ec ? "!" : std::to_string(periods);
        log.text += '@' + std::to_string((now() - start) / 1s);
    }

    void seconds(int n) {
        for (int i = 0; i < n; ++i) {
            pass(1s);
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(next_idle, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(each_period_without_a_touch_is_told_once, told_again_and_again) {
    seconds(35);
    BOOST_TEST(take_log() == "1@10 2@20 3@30");
}

BOOST_FIXTURE_TEST_CASE(a_touch_begins_again_with_one, told_again_and_again) {
    seconds(25);
    BOOST_TEST(take_log() == "1@10 2@20");
    idle.touch();
    seconds(25);
    BOOST_TEST(take_log() == "1@35 2@45");
    idle.touch();
    seconds(5);
    idle.touch();
    seconds(9);
    BOOST_TEST(take_log() == "");
    seconds(1);
    BOOST_TEST(take_log() == "1@65");
}

BOOST_FIXTURE_TEST_CASE(periods_that_nothing_waited_for_are_counted, told_again_and_again) {
    idle.cancel();
    BOOST_TEST(log_now() == "!@0");
    seconds(35);
    idle.async_next_idle(next); // It has been idle for three periods.
    BOOST_TEST(log_now() == "3@35");
    seconds(5);
    BOOST_TEST(take_log() == "4@40");
    pass(25s); // A late handler.
    BOOST_TEST(take_log() == "6@65");
    seconds(5);
    BOOST_TEST(take_log() == "7@70");
}

BOOST_FIXTURE_TEST_CASE(async_wait_does_not_count, told_again_and_again) {
    seconds(10);
    idle.cancel();
    BOOST_TEST(log_now() == "1@10 !@10");
    bool over = false;
    idle.async_wait([&](error_code ec) { over = !ec; });
    poll();
    BOOST_TEST(over); // As it is idle.
    idle.async_next_idle(next);
    seconds(10);
    BOOST_TEST(take_log() == "2@20");
}

BOOST_FIXTURE_TEST_CASE(shorter_periods_are_told_more_often, told_again_and_again) {
    asio_wheel::scale_idle_timers(ctx, 0.5);
    seconds(12);
    BOOST_TEST(take_log() == "1@5 2@10");
    idle.touch();
    idle.period(4s); // 2 s
    seconds(5);
    BOOST_TEST(take_log() == "1@14 2@16");
}

BOOST_FIXTURE_TEST_CASE(longer_periods_are_told_when_they_end, told_again_and_again) {
    seconds(31);
    BOOST_TEST(take_log() == "1@10 2@20 3@30");
    idle.period(40s);
    seconds(60);
    BOOST_TEST(take_log() == "1@40 2@80");
    asio_wheel::scale_idle_timers(ctx, 0.125); // 5 s
    BOOST_TEST(log_now() == "18@91");
    seconds(5);
    BOOST_TEST(take_log() == "19@95");
    asio_wheel::scale_idle_timers(ctx, 1);
    seconds(65);
    BOOST_TEST(take_log() == "3@120 4@160");
}

BOOST_FIXTURE_TEST_CASE(shorter_periods_that_have_ended_are_told_at_once, told_again_and_again) {
    seconds(14);
    BOOST_TEST(take_log() == "1@10");
    idle.period(3s);
    BOOST_TEST(log_now() == "4@14");
    seconds(4);
    BOOST_TEST(take_log() == "5@15 6@18");
    idle.period(10s);
    BOOST_TEST(log_now() == "");
    seconds(12);
    BOOST_TEST(take_log() == "2@20 3@30");
}

BOOST_FIXTURE_TEST_CASE(the_longest_period_never_comes, virtual_world) {
    idle_timer idle(ctx, std::chrono::steady_clock::duration::max());
    bool called = false;
    idle.async_next_idle([&](error_code ec, std::size_t n) { called = !ec || n != 0; });
    pass(24h * 365);
    idle.cancel();
    poll();
    BOOST_TEST(!called);
}

// However sums and quotients are rounded.
BOOST_AUTO_TEST_CASE(each_period_is_told_on_a_clock_that_counts_in_fractions) {
    using clock = manual_clock<struct fractions, std::chrono::duration<double>>;
    for (const double begin : {0.1, 1.0, 12'345.678, 1e9 / 3}) {
        for (const double period : {0.3, 0.1, 0.7, 1.0 / 3, 1e-3, 0.123456789}) {
            clock::set(clock::time_point(clock::duration(begin)));
            asio::io_context ctx;
            asio_wheel::virtual_time time({.spin_limit = 100}, ctx);
            asio_wheel::basic_idle_timer<clock> idle(ctx, clock::duration(period));
            std::size_t told = 0;
            std::function<void(error_code, std::size_t)> next = [&](error_code ec, std::size_t n) {
                told += !ec && n == told + 1 ? 1 : 0;
                if (!ec && n < 100) {
                    idle.async_next_idle(next);
                }
            };
            idle.async_next_idle(next);
            BOOST_CHECK_NO_THROW(time.run());
            BOOST_TEST(told == 100U);
        }
    }
}

BOOST_AUTO_TEST_CASE(more_periods_than_can_be_counted_are_told_once) {
    using clock = manual_clock<struct tiny, std::chrono::duration<double>>;
    asio::io_context ctx;
    asio_wheel::virtual_time time({.spin_limit = 100}, ctx);
    asio_wheel::basic_idle_timer<clock> idle(ctx, clock::duration(1e-12));
    time.advance(20'000'000s);
    std::size_t told = 0;
    idle.async_next_idle([&](error_code ec, std::size_t n) { told += !ec && n > 1 ? 1 : 0; });
    BOOST_CHECK_NO_THROW(time.advance(0s));
    BOOST_TEST(told == 1U);
}

BOOST_FIXTURE_TEST_CASE(it_may_be_moved_while_it_is_waited_for, virtual_world) {
    auto first = std::make_unique<idle_timer>(ctx, 10s);
    std::string told;
    first->async_next_idle([&](error_code, std::size_t n) { told += std::to_string(n); });
    idle_timer second(std::move(*first));
    first.reset();
    pass(9s);
    second.touch();
    pass(9s);
    BOOST_TEST(told == "");
    pass(1s);
    BOOST_TEST(told == "1");
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_closes_after_the_third_period, virtual_world) {
    idle_timer idle(ctx, 10s);
    std::size_t pings = 0;
    bool closed = false;
    asio::co_spawn(
        ctx,
        [&]() -> asio::awaitable<void> {
            while (co_await idle.async_next_idle(asio::use_awaitable) < 3) {
                ++pings;
            }
            closed = true;
        },
        asio::detached);
    poll();
    for (int i = 0; i < 30; ++i) {
        BOOST_TEST(!closed);
        pass(1s);
    }
    BOOST_TEST(closed);
    BOOST_TEST(pings == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
