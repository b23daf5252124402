// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A wheel on a context that is busy with handlers of others: how late its waits are, beside Asio's
// timers in the same situation. Each handler of others moves a manual clock by the time that it
// takes. So the results are the same on each machine. bench/busy_loop_bench.cpp has real time.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <type_traits>

namespace {

using namespace asio_wheel::test;

using busy_clock = manual_clock<struct busy_loop>;
using traits = impatient<busy_clock>;
using wheel_timer = asio_wheel::basic_waitable_timer<busy_clock, traits>;
using asio_timer = asio::basic_waitable_timer<busy_clock, traits>;

/// A context with handlers of others: each takes some time and posts itself.
template <class Timer>
struct busy_context {
    busy_context(std::size_t handlers, busy_clock::duration each) {
        busy_clock::set(busy_clock::time_point(1h));
        if constexpr (std::is_same_v<Timer, wheel_timer>) {
            asio_wheel::make_wheel<busy_clock, traits>(ctx, {.stall = 0ns});
        }
        work = [this, each] {
            busy_clock::advance(each);
            asio::post(ctx, [this] { work(); });
        };
        for (std::size_t i = 0; i < handlers; ++i) {
            asio::post(ctx, [this] { work(); });
        }
    }

    void wait(Timer& t, busy_clock::duration d) {
        t.expires_after(d);
        t.async_wait([this, &t, d](const error_code& ec) {
            if (ec) {
                return;
            }
            ++expired;
            worst = std::max(worst, busy_clock::now() - t.expiry());
            if (again) {
                wait(t, d);
            }
        });
    }

    /// Runs until `d` has passed, or until so many waits have expired.
    void run(busy_clock::duration d, std::size_t most) {
        const auto end = busy_clock::now() + d;
        while (busy_clock::now() < end && expired < most) {
            ctx.run_one();
        }
        ctx.stop();
    }

    std::function<void()> work;
    bool again = false;
    std::size_t expired = 0;
    busy_clock::duration worst{0};
    asio::io_context ctx;
    std::deque<Timer> timers;
};

/// 10,000 waits that are due at once. Returns how late the last one is.
template <class Timer>
busy_clock::duration all_at_once(std::size_t handlers, busy_clock::duration each) {
    busy_context<Timer> loop(handlers, each);
    for (int i = 0; i < 10'000; ++i) {
        loop.wait(loop.timers.emplace_back(loop.ctx), 300ms);
    }
    loop.run(1h, 10'000);
    BOOST_TEST(loop.expired == 10'000U);
    return loop.worst;
}

struct expiries {
    std::size_t number;
    busy_clock::duration worst; // Without the first two seconds.
};

/// 4,000 timers that are armed again for a second when they expire, for a minute.
template <class Timer>
expiries again_and_again(std::size_t handlers, busy_clock::duration each,
                         busy_clock::duration apart) {
    busy_context<Timer> loop(handlers, each);
    loop.again = true;
    for (int i = 0; i < 4'000; ++i) {
        loop.timers.emplace_back(loop.ctx);
        loop.wait(loop.timers.back(), 1s);
        busy_clock::advance(apart);
    }
    const auto end = busy_clock::now() + 1min;
    bool learned = false;
    while (busy_clock::now() < end) {
        loop.ctx.run_one();
        if (!learned && busy_clock::now() > end - 50s) {
            learned = true;
            loop.worst = 0ns;
        }
    }
    return {loop.expired, loop.worst};
}

constexpr auto only_where_polls_are_fast = !polls_are_slow;

} // namespace

BOOST_AUTO_TEST_SUITE(busy_loop, *only_if(only_where_polls_are_fast))

// A wake-up and what it makes ready wait in the queue one after the other. The wheel knows that
// from its second busy turn on.
BOOST_AUTO_TEST_CASE(what_is_due_at_once_is_delivered_one_turn_of_the_loop_after_asios_timers) {
    for (const std::size_t handlers : {5U, 15U, 100U}) {
        BOOST_TEST_CONTEXT(handlers << " handlers of 10 ms") {
            const auto asio = all_at_once<asio_timer>(handlers, 10ms);
            const auto ours = all_at_once<wheel_timer>(handlers, 10ms);
            BOOST_TEST((ours <= asio + handlers * 10ms + 10ms));
        }
    }
}

// 10 ms in between have room for 2,500 waits of 1 µs: a quarter.
BOOST_AUTO_TEST_CASE(a_short_turn_of_the_loop_makes_short_turns_of_the_wheel) {
    const auto asio = all_at_once<asio_timer>(1, 10ms);
    const auto ours = all_at_once<wheel_timer>(1, 10ms);
    BOOST_TEST((ours <= asio + 60ms));
    BOOST_TEST((ours >= asio + 20ms));
}

BOOST_AUTO_TEST_CASE(waits_that_are_due_together_are_hardly_later_than_asios) {
    const auto asio = again_and_again<asio_timer>(128, 900us, 0ns);
    const auto ours = again_and_again<wheel_timer>(128, 900us, 0ns);
    BOOST_TEST(static_cast<double>(ours.number) >= 0.95 * static_cast<double>(asio.number));
    BOOST_TEST((ours.worst <= asio.worst * 3 / 2));
}

BOOST_AUTO_TEST_CASE(waits_that_are_spread_over_a_second_are_hardly_later_than_asios) {
    for (const std::size_t handlers : {50U, 128U, 256U}) {
        BOOST_TEST_CONTEXT(handlers << " handlers of 900 us") {
            const auto asio = again_and_again<asio_timer>(handlers, 900us, 250us);
            const auto ours = again_and_again<wheel_timer>(handlers, 900us, 250us);
            BOOST_TEST(static_cast<double>(ours.number) >= 0.95 * static_cast<double>(asio.number));
            BOOST_TEST((ours.worst <= asio.worst * 3 / 2));
        }
    }
}

// When the load ends, the driver comes too early once, and then at the right time.
BOOST_AUTO_TEST_CASE(after_the_load_the_wheel_wakes_up_as_before) {
    busy_context<wheel_timer> loop(20, 10ms);
    loop.again = true;
    for (int i = 0; i < 10; ++i) {
        loop.wait(loop.timers.emplace_back(loop.ctx), 1s);
    }
    loop.run(10s, 1'000);
    BOOST_TEST(loop.expired >= 50U);
    loop.work = [] {};
    loop.ctx.restart();
    look(loop.ctx);
    auto& wheel = asio_wheel::use_wheel<busy_clock, traits>(loop.ctx);
    const auto before = wheel.stats();
    loop.worst = 0ns;
    for (int second = 0; second < 5; ++second) {
        for (int i = 0; i < 1000; ++i) {
            busy_clock::advance(1ms);
            look(loop.ctx);
        }
    }
    BOOST_TEST((loop.worst <= 2ms));
    BOOST_TEST(wheel.stats().spurious_wake_ups - before.spurious_wake_ups <= 2U);
}

// The rest of a turn that others have delayed goes no further than the last reading of the clock,
// which the clock has left.
BOOST_AUTO_TEST_CASE(a_clock_that_is_set_back_during_a_long_turn_makes_nothing_early) {
    using clock = manual_clock<struct set_back_in_a_turn, std::chrono::nanoseconds, false>;
    using patience = impatient<clock>;
    using timer = asio_wheel::basic_waitable_timer<clock, patience>;
    clock::set(clock::time_point(100h));
    asio::io_context ctx;
    std::deque<timer> timers;
    timer late(ctx);
    int calls = 0;
    bool called = false;
    for (int i = 0; i < 900; ++i) {
        timers.emplace_back(ctx, 50ms).async_wait([&](const error_code&) {
            clock::advance(++calls == 1 ? 501ms : 1ms);
            if (calls == 600) {
                clock::set(clock::now() - 5s);
                late.expires_after(1s);
                late.async_wait([&](const error_code&) {
                    called = true;
                    BOOST_TEST((clock::now() >= late.expiry()));
                });
            }
        });
    }
    clock::advance(51ms);
    for (int i = 0; i < 10'000 && !called; ++i) {
        look(ctx);
        clock::advance(calls < 600 ? 0ms : 1ms);
    }
    BOOST_TEST(called);
}

// Nothing was expected at that time.
BOOST_AUTO_TEST_CASE(a_wait_that_is_taken_back_from_an_executor_is_no_stall) {
    busy_clock::set(busy_clock::time_point(1h));
    asio::io_context ctx, elsewhere;
    wheel_timer late(ctx, 10ms);
    bool called = false;
    late.async_wait(asio::bind_executor(elsewhere.get_executor(),
                                        [&](const error_code& ec) { called = ec == aborted; }));
    busy_clock::advance(11ms);
    look(ctx); // It is on its way to the other context, which does not run.
    BOOST_TEST(late.postpone(1h) == 1U);
    busy_clock::advance(1500ms);
    BOOST_TEST(late.cancel() == 1U);
    look(ctx);
    BOOST_TEST((asio_wheel::use_wheel<busy_clock, traits>(ctx).stats().stalls == 0U));
    elsewhere.run();
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_SUITE_END()
