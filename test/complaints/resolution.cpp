// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "On Windows a timer of 1 ms takes 15.6 ms."
//
//   chriskohlhoff/asio 1328
//
// Windows wakes up threads at the ticks of its own timer, every 15.625 ms, unless the program calls
// timeBeginPeriod(1). Asio's timer drives the wheel, so the wheel wakes up no more often. These
// cases show the effect on any system, with a clock that stands still between the ticks of Windows.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/wheel_options.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::microseconds;

using windows = manual_clock<struct windows_tag>;
using asios = asio::basic_waitable_timer<windows, impatient<windows>>;
using ours = asio_wheel::basic_waitable_timer<windows, impatient<windows>>;

constexpr auto step = 15'625us;

struct stepping : drained_context {
    stepping() { windows::set(windows::time_point(1h)); }

    asio_wheel::wheel_service<windows, impatient<windows>>& wheel(microseconds tick) {
        return asio_wheel::make_wheel<windows, impatient<windows>>(ctx, {.tick = tick});
    }

    void wake_up() {
        windows::advance(step);
        look(ctx);
    }
};

// The number of steps until a timer has been started again this many times.
template <class Timer>
int steps_of(int waits, stepping& world) {
    Timer timer(world.ctx);
    int over = 0;
    std::function<void()> wait = [&] {
        timer.expires_after(1ms);
        timer.async_wait([&](error_code) {
            if (++over != waits) {
                wait();
            }
        });
    };
    wait();
    look(world.ctx);
    int steps = 0;
    for (; !world.ctx.stopped(); ++steps) {
        world.wake_up();
    }
    BOOST_TEST(over == waits);
    return steps;
}

// For each wait of 0.1, 0.2 … 62.5 ms: the number of steps by which it is late.
template <class Timer>
std::vector<int> lateness_of_many(stepping& world) {
    std::deque<Timer> timers;
    std::vector<int> late(625, -1);
    const auto start = windows::now();
    for (std::size_t i = 0; i < late.size(); ++i) {
        Timer& t = timers.emplace_back(world.ctx, start + (i + 1) * 100us);
        t.async_wait([&late, &t, i](error_code) {
            BOOST_TEST_REQUIRE((windows::now() >= t.expiry())); // never early
            late[i] = static_cast<int>((windows::now() - t.expiry()) / step);
        });
    }
    look(world.ctx);
    for (int i = 0; i < 5; ++i) {
        world.wake_up();
    }
    return late;
}

std::size_t count(const std::vector<int>& late, int steps) {
    std::size_t n = 0;
    for (const int l : late) {
        n += l == steps ? 1U : 0U;
    }
    return n;
}

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_resolution)

BOOST_AUTO_TEST_CASE(asio_a_wait_of_a_millisecond_takes_a_step_of_the_system) {
    stepping world;
    BOOST_TEST(steps_of<asios>(10, world) == 10);
}

BOOST_AUTO_TEST_CASE(ours_a_wait_of_a_millisecond_takes_a_step_of_the_system_as_well) {
    stepping world;
    BOOST_TEST(steps_of<ours>(10, world) == 10);
}

BOOST_AUTO_TEST_CASE(asio_a_wait_is_less_than_a_step_late) {
    stepping world;
    BOOST_TEST(count(lateness_of_many<asios>(world), 0) == 625U);
}

// The wheel rounds deadlines up to its tick. If a step lies between the deadline and the tick, the
// wait completes a step later. With the default tick of 1 ms, this happens to one wait of sixteen.
// With a finer tick, it happens to fewer.
BOOST_AUTO_TEST_CASE(ours_a_wait_that_is_rounded_beyond_a_step_is_late_by_another_one) {
    stepping world;
    world.wheel(1ms);
    const auto late = lateness_of_many<ours>(world);
    BOOST_TEST(count(late, 0) + count(late, 1) == 625U);
    BOOST_TEST(count(late, 1) > 0U);
    BOOST_TEST(count(late, 1) <= 625U / 15);
}

BOOST_AUTO_TEST_CASE(ours_with_a_finer_tick_waits_are_as_late_as_asios) {
    stepping world;
    world.wheel(25us); // A divisor of the step: no deadline is rounded beyond one.
    BOOST_TEST(count(lateness_of_many<ours>(world), 0) == 625U);
}

BOOST_AUTO_TEST_SUITE_END()
