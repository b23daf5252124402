// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off
// labels: threads

// Idle timers and heartbeats on a clock that can be set.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

// A wall clock that a test sets, even while threads read it.
struct wall_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<wall_clock>;
    static constexpr bool is_steady = false;

    static inline std::atomic<rep> current{0};
    static time_point now() noexcept { return time_point(duration(current.load())); }
    static void step(duration d) { current += d.count(); }
};

} // namespace

// The traits of all timers on this clock: see manual_clock.hpp.
template <>
struct boost::asio::wait_traits<wall_clock> : asio_wheel::test::impatient<wall_clock> {};

namespace {

using namespace asio_wheel::test;
using asio_wheel::heartbeat_event;
using idle_timer = asio_wheel::basic_idle_timer<wall_clock>;
using heartbeat = asio_wheel::basic_heartbeat<wall_clock>;
using wall_timer = asio_wheel::basic_waitable_timer<wall_clock>;
using std::chrono::nanoseconds;

struct set_time : drained_context {
    set_time() { wall_clock::current = nanoseconds(1'000'000h).count(); }

    void pass(nanoseconds d) {
        wall_clock::step(d);
        // One turn for the driver to notice the time, and the turns that follow from it.
        for (int i = 0; i < 4; ++i) {
            poll();
        }
    }
    std::string log_after(nanoseconds d) {
        pass(d);
        return take_log();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(idle_timer_clocks, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_touch_after_the_clock_was_set_back_begins_a_period_there, set_time) {
    for (const bool waits : {true, false}) {
        BOOST_TEST_INFO_SCOPE((waits ? "it waits while" : "it begins to wait after")
                              << " the clock is set");
        idle_timer idle(ctx, 10s);
        if (waits) {
            idle.async_wait(log.note("idle"));
        }
        pass(5s);
        idle.touch();
        pass(-1h);
        idle.touch();
        BOOST_TEST((idle.idle_for() == 0s));
        if (!waits) {
            idle.async_wait(log.note("idle"));
        }
        pass(9s);
        BOOST_TEST((idle.idle_for() == 9s));
        BOOST_TEST(log.take() == "");
        idle.touch();
        BOOST_TEST(log_after(10s - 2ms) == "");
        BOOST_TEST(log_after(3ms) == "idle");
    }
}

BOOST_FIXTURE_TEST_CASE(without_a_touch_a_period_ends_when_the_clock_shows_its_end, set_time) {
    idle_timer idle(ctx, 10s);
    idle.async_wait(log.note("idle"));
    pass(5s);
    pass(-1h);
    BOOST_TEST((idle.idle_for() == 0s));
    BOOST_TEST(log_after(30s) == "");
    BOOST_TEST(log_after(1h - 26s) == "");
    BOOST_TEST(log_after(2s) == "idle");
}

BOOST_FIXTURE_TEST_CASE(a_clock_set_forward_ends_a_period, set_time) {
    idle_timer idle(ctx, 10s);
    idle.async_wait(log.note("idle"));
    pass(5s);
    idle.touch();
    BOOST_TEST(log_after(1h) == "idle");
}

BOOST_FIXTURE_TEST_CASE(shorter_periods_close_also_after_the_clock_was_set_back, set_time) {
    auto& wheel = asio_wheel::use_wheel<wall_clock>(ctx);
    idle_timer idle(ctx, 40s);
    idle.async_wait(log.note("idle"));
    pass(-1h);
    idle.touch();
    asio_wheel::scale_idle_timers(wheel, 0.25);
    pass(9s);
    idle.touch();
    BOOST_TEST(log_after(9s) == "");
    BOOST_TEST(log_after(2s) == "idle");
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_goes_on_after_the_clock_was_set_back, set_time) {
    std::string told;
    heartbeat pulse(ctx, {.send_every = 10s, .dead_after = 35s});
    const auto next = [&] {
        pulse.async_next([&](error_code ec, heartbeat_event event) {
            told += ec ? "!" : event == heartbeat_event::send ? "s" : "d";
        });
    };
    next();
    pass(5s);
    pulse.sent();
    pulse.received();
    pass(-1h);
    pulse.received(); // So the peer is dead in 35 s,
    pass(9s);
    pulse.sent(); // and expects a message in 10 s.
    pass(9s);
    BOOST_TEST(told == "");
    pass(2s);
    BOOST_TEST(told == "s");
    next();
    pass(10s);
    BOOST_TEST(told == "ss");
    next();
    pass(6s);
    BOOST_TEST(told == "ssd");
}

// Behaves as a timer that is re-armed by each touch, whatever the clock does.
BOOST_AUTO_TEST_CASE(it_completes_when_a_timer_would_that_is_postponed_with_each_touch) {
    std::mt19937_64 random(asio_wheel::test::seed());
    const auto up_to = [&random](nanoseconds most) {
        return nanoseconds(random() % static_cast<std::uint64_t>(most.count()));
    };
    for (int round = 0; round != (polls_are_slow ? 2 : 100); ++round) {
        BOOST_TEST_INFO_SCOPE("round " << round);
        set_time world;
        constexpr auto period = 10s;
        idle_timer idle(world.ctx, period);
        wall_timer model(world.ctx, period);
        bool is_idle = false, must_be = false;
        idle.async_wait([&](error_code ec) { is_idle = !ec; });
        model.async_wait([&](error_code ec) { must_be = !ec; });
        for (int step = 0; step != (polls_are_slow ? 50 : 200); ++step) {
            BOOST_TEST_INFO_SCOPE("step " << step);
            const nanoseconds size = random() % 8 == 0 ? up_to(5h) : up_to(4s);
            world.pass(random() % 8 == 0 ? -size : size);
            if (is_idle != must_be) {
                world.pass(1ms); // Either may be late by a tick.
            }
            BOOST_TEST_REQUIRE(is_idle == must_be);
            if (is_idle || random() % 2 == 0) {
                idle.touch();
                static_cast<void>(model.postpone(period));
            }
            if (is_idle) {
                is_idle = must_be = false;
                idle.async_wait([&](error_code ec) { is_idle = !ec; });
                model.async_wait([&](error_code ec) { must_be = !ec; });
            }
        }
        idle.cancel();
        model.cancel();
        world.poll();
    }
}

// The last touch counts, not the one with the latest time. A touch that read the clock before it
// was set does not replace one that read it afterwards.
BOOST_FIXTURE_TEST_CASE(threads_may_touch_while_the_clock_is_set, set_time) {
    idle_timer idle(ctx, 10s);
    idle.async_wait(log.note("idle"));
    std::atomic<bool> end{false};
    std::vector<std::thread> threads;
    for (int i = 0; i != 3; ++i) {
        threads.emplace_back([&] {
            while (!end) {
                idle.touch();
            }
            idle.touch();
        });
    }
    for (int i = 0; i != (polls_are_slow ? 200 : 2'000); ++i) {
        wall_clock::step(i % 3 == 2 ? -2s : 1s);
        poll();
    }
    wall_clock::step(-1h);
    end = true;
    for (std::thread& t : threads) {
        t.join();
    }
    BOOST_TEST((idle.idle_for() == 0s));
    BOOST_TEST(log.take() == "");
    BOOST_TEST(log_after(10s - 2ms) == "");
    BOOST_TEST(log_after(3ms) == "idle");
}

BOOST_FIXTURE_TEST_CASE(threads_may_touch_while_the_period_changes, set_time) {
    idle_timer idle(ctx, 10s);
    idle.async_wait(log.note("idle"));
    std::atomic<bool> end{false};
    std::thread touching([&] {
        while (!end) {
            idle.touch();
        }
    });
    for (int i = 0; i != 2'000; ++i) {
        idle.period(i % 2 == 0 ? 5s : 10s);
        poll();
    }
    end = true;
    touching.join();
    BOOST_TEST(log.take() == "");
    BOOST_TEST(log_after(10s - 2ms) == "");
    BOOST_TEST(log_after(3ms) == "idle");
}

BOOST_AUTO_TEST_SUITE_END()
