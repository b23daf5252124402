// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// Clocks that do not say whether they are steady, or say it in a way of their own. Asio's timers
// never ask.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>

namespace {

struct says_no {
    static constexpr bool is_steady = false;
};
struct says_nothing {};
struct says_it_by_a_function {
    static bool is_steady() noexcept { return false; }
};
struct says_it_by_a_variable {
    static inline bool is_steady = true;
};
struct says_it_by_a_number {
    static constexpr int is_steady = 1;
};
class says_it_in_private {
    static constexpr bool is_steady = true;
};

// A clock that the test sets.
template <class Says>
struct clock_that : Says {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock_that>;

    static inline time_point current{};
    static time_point now() noexcept { return current; }
};

using clocks = std::tuple<clock_that<says_no>, clock_that<says_nothing>,
                          clock_that<says_it_by_a_function>, clock_that<says_it_by_a_variable>,
                          clock_that<says_it_by_a_number>, clock_that<says_it_in_private>>;

} // namespace

// The traits of all timers on these clocks: see manual_clock.hpp.
template <class Says>
struct boost::asio::wait_traits<clock_that<Says>> : asio_wheel::test::impatient<clock_that<Says>> {
};

namespace {

using namespace asio_wheel::test;

template <class Clock>
struct set_time : drained_context {
    set_time() { Clock::current = typename Clock::time_point(1'000'000h); }

    void pass(typename Clock::duration d) {
        Clock::current += d;
        for (int i = 0; i < 4; ++i) {
            poll();
        }
    }
    std::string log_after(typename Clock::duration d, journal& j) {
        pass(d);
        return j.take();
    }
};

template <class Timer>
void expect_that_waits_after_a_set_back_are_on_time() {
    set_time<typename Timer::clock_type> world;
    journal log;
    Timer distant(world.ctx, 1h), t(world.ctx);
    distant.async_wait(log.note("far"));
    world.pass(10s);
    world.pass(-5s);
    t.expires_after(5ms);
    t.async_wait(log.note("near"));
    BOOST_TEST(world.log_after(4ms, log) == "");
    BOOST_TEST(world.log_after(2ms, log) == "near");
    distant.cancel();
    world.poll();
}

} // namespace

BOOST_AUTO_TEST_SUITE(utilities_clocks)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_clock_is_steady_only_if_a_constant_of_type_bool_says_so, Clock,
                              clocks) {
    expect_that_waits_after_a_set_back_are_on_time<asio::basic_waitable_timer<Clock>>();
    expect_that_waits_after_a_set_back_are_on_time<asio_wheel::basic_waitable_timer<Clock>>();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(utilities_follow_such_a_clock_when_it_is_set_back, Clock, clocks) {
    set_time<Clock> world;
    journal log;
    asio_wheel::basic_idle_timer<Clock> idle(world.ctx, 10s);
    asio_wheel::basic_heartbeat<Clock> beat(world.ctx, {.send_every = 10s, .dead_after = 1min});
    asio_wheel::basic_delay_queue<int, Clock> queue(world.ctx);
    idle.async_wait(log.note("idle"));
    beat.async_next([&](error_code ec, asio_wheel::heartbeat_event) { log.add("beat", ec); });
    world.pass(5s);
    world.pass(-1h);
    idle.touch();
    beat.sent();
    static_cast<void>(queue.push(10s, 1));
    queue.async_pop([&](error_code ec, int) { log.add("pop", ec); });
    BOOST_TEST((idle.idle_for() == 0s));
    BOOST_TEST(world.log_after(9s, log) == "");
    world.pass(1s + 2ms);
    BOOST_TEST(log.size() == 3U);
    log.take();
}

// What a connection's owner may do while it is closed.
BOOST_AUTO_TEST_CASE_TEMPLATE(utilities_may_be_touched_after_the_contexts_end, Clock, clocks) {
    auto ctx = std::make_unique<asio::io_context>();
    asio_wheel::basic_idle_timer<Clock> idle(*ctx, 10s);
    asio_wheel::basic_heartbeat<Clock> beat(*ctx, {.send_every = 10s, .dead_after = 1min});
    asio_wheel::basic_interval<Clock> ticks(*ctx, 10s);
    idle.async_wait([](error_code) {});
    beat.async_next([](error_code, asio_wheel::heartbeat_event) {});
    ticks.async_tick([](error_code, std::size_t) {});
    ctx.reset();
    Clock::current -= 1h; // Then a touch moves a wait that is pending.
    idle.touch();
    beat.sent();
    beat.received();
    Clock::current += 1s;
    BOOST_TEST((idle.idle_for() == 1s));
    idle.period(20s);
    BOOST_TEST(idle.cancel() == 0U);
    ticks.reset();
    BOOST_TEST((ticks.expiry() == Clock::now() + 10s));
    ticks.reset_at(Clock::now());
    ticks.period(1s);
    BOOST_TEST(ticks.cancel() == 0U);
    BOOST_TEST(beat.cancel() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
