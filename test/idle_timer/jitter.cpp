// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The options of idle timers and heartbeats: jitter, and the shortest period under a scale.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <list>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::heartbeat;
using asio_wheel::heartbeat_event;
using asio_wheel::idle_timer;
using asio_wheel::idle_timer_options;
using std::chrono::nanoseconds;

struct many_at_once : virtual_world {
    static constexpr std::size_t connections = 200;

    std::list<idle_timer> idle_timers(nanoseconds period) {
        std::list<idle_timer> made;
        while (made.size() < connections) {
            made.emplace_back(ctx, period, idle_timer_options{.jitter = 0.5});
        }
        return made;
    }

    // Starts a wait on each, and returns when they have completed, in order.
    template <class Timer, class Start>
    std::vector<nanoseconds> times_of(std::list<Timer>& timers, Start start) {
        std::vector<nanoseconds> times;
        const auto begin = now();
        for (Timer& t : timers) {
            start(t, [&](error_code ec) {
                BOOST_TEST(!ec);
                times.push_back(now() - begin);
            });
        }
        while (times.size() < timers.size() && wheel.advance_to_next() != 0) {
            poll();
        }
        BOOST_TEST_REQUIRE(times.size() == timers.size());
        return times;
    }

    std::vector<nanoseconds> times_of(std::list<idle_timer>& timers) {
        return times_of(timers, [](idle_timer& t, auto done) { t.async_wait(done); });
    }
};

// Of 200 evenly distributed times, one of 10^9 runs has none in the first or the last tenth.
void require_spread(const std::vector<nanoseconds>& times, nanoseconds from, nanoseconds to) {
    const nanoseconds tenth = (to - from) / 10;
    BOOST_TEST((times.front() >= from));
    BOOST_TEST((times.front() < from + tenth));
    BOOST_TEST((times.back() > to - tenth));
    BOOST_TEST((times.back() <= to));
}

} // namespace

BOOST_AUTO_TEST_SUITE(idle_jitter, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(jitter_ends_periods_late_by_less_than_its_share, many_at_once) {
    auto idles = idle_timers(10s);
    require_spread(times_of(idles), 10s, 15s);
}

BOOST_FIXTURE_TEST_CASE(a_period_that_begins_with_a_touch_has_jitter_too, many_at_once) {
    auto idles = idle_timers(10s);
    const auto start_and_touch = [](idle_timer& t, auto done) {
        t.async_wait(done);
        t.touch();
    };
    pass(8s);
    require_spread(times_of(idles, start_and_touch), 10s, 15s);
}

BOOST_FIXTURE_TEST_CASE(what_was_idle_is_told_again_at_once_with_jitter_too, many_at_once) {
    auto idles = idle_timers(10s);
    for (idle_timer& t : idles) {
        const auto begin = now();
        nanoseconds first{};
        t.touch();
        t.async_wait([&](error_code) {
            first = now() - begin;
            t.async_wait(log.note("again"));
        });
        while (first == 0s) {
            BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
            poll();
        }
        BOOST_TEST(log_now() == "again");
    }
}

BOOST_FIXTURE_TEST_CASE(each_reported_period_has_jitter_that_does_not_add_up, virtual_world) {
    idle_timer idle(ctx, 10s, {.jitter = 0.5});
    const auto begin = now();
    std::vector<nanoseconds> late;
    for (std::size_t n = 1; n <= 50; ++n) {
        idle.async_next_idle([&](error_code ec, std::size_t periods) {
            BOOST_TEST(!ec);
            BOOST_TEST(periods == n);
            late.push_back(now() - begin - static_cast<int>(n) * 10s);
        });
        BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
        poll();
        BOOST_TEST_REQUIRE(late.size() == n);
    }
    std::sort(late.begin(), late.end());
    BOOST_TEST((late.front() >= 0s));
    BOOST_TEST((late.back() < 5s));
    BOOST_TEST((std::adjacent_find(late.begin(), late.end()) == late.end())); // Drawn anew.
}

BOOST_FIXTURE_TEST_CASE(a_changed_period_has_the_same_share_of_jitter, many_at_once) {
    auto idles = idle_timers(10s);
    const auto start_and_change = [](idle_timer& t, auto done) {
        t.async_wait(done);
        t.period(100s);
    };
    require_spread(times_of(idles, start_and_change), 100s, 150s);
}

BOOST_FIXTURE_TEST_CASE(a_scaled_period_has_a_scaled_jitter, many_at_once) {
    auto idles = idle_timers(100s);
    asio_wheel::scale_idle_timers(wheel, 0.1);
    require_spread(times_of(idles), 10s, 15s);
}

BOOST_FIXTURE_TEST_CASE(a_scale_makes_no_period_shorter_than_its_min_period, virtual_world) {
    idle_timer with(ctx, 60s, {.min_period = 20s});
    idle_timer without(ctx, 60s);
    with.async_wait(log.note("with"));
    without.async_wait(log.note("without"));
    asio_wheel::scale_idle_timers(wheel, 0.1); // Also those that wait already.
    pass(6s);
    BOOST_TEST(log.take() == "without");
    pass(14s - 1ns);
    BOOST_TEST(log.take() == "");
    pass(1ns);
    BOOST_TEST(log.take() == "with");
    BOOST_TEST((with.period() == 60s));
}

BOOST_FIXTURE_TEST_CASE(a_period_below_its_min_period_stays_as_it_is, virtual_world) {
    idle_timer idle(ctx, 10s, {.min_period = 20s});
    asio_wheel::scale_idle_timers(wheel, 0.1);
    idle.async_wait(log.note("idle"));
    pass(10s - 1ns);
    BOOST_TEST(log.take() == "");
    pass(1ns);
    BOOST_TEST(log.take() == "idle");
}

BOOST_FIXTURE_TEST_CASE(the_longest_period_with_jitter_never_ends, virtual_world) {
    idle_timer idle(ctx, nanoseconds::max(), {.jitter = 1});
    heartbeat pulse(ctx, {.jitter = 1});
    idle.async_wait(log.note("idle"));
    pulse.async_next([&](error_code ec, heartbeat_event) { log.add("pulse", ec); });
    BOOST_TEST(wheel.advance_to_next() == 0U);
    poll();
    BOOST_TEST(log.take() == "");
    BOOST_TEST(idle.cancel() + pulse.cancel() == 2U);
    poll();
}

BOOST_FIXTURE_TEST_CASE(jitter_makes_signs_of_life_earlier_never_later, many_at_once) {
    std::list<heartbeat> pulses;
    for (std::size_t i = 0; i < connections; ++i) {
        pulses.emplace_back(
            ctx, asio_wheel::heartbeat_options{.send_every = 10s, .dead_after = 1h, .jitter = 0.5});
    }
    const auto start = [](heartbeat& pulse, auto done) {
        pulse.async_next([done](error_code ec, heartbeat_event event) {
            BOOST_TEST((event == heartbeat_event::send));
            done(ec);
        });
    };
    require_spread(times_of(pulses, start), 5s, 10s);
}

BOOST_FIXTURE_TEST_CASE(what_is_received_does_not_change_the_jitter_of_a_sending, many_at_once) {
    std::list<heartbeat> pulses;
    for (std::size_t i = 0; i < connections; ++i) {
        pulses.emplace_back(
            ctx, asio_wheel::heartbeat_options{.send_every = 60s, .dead_after = 3s, .jitter = 0.5});
    }
    std::vector<nanoseconds> times;
    const auto begin = now();
    for (heartbeat& pulse : pulses) {
        pulse.async_next([&](error_code, heartbeat_event event) {
            BOOST_TEST((event == heartbeat_event::send));
            times.push_back(now() - begin);
        });
    }
    while (now() - begin < 60s) { // Each of them looks again and again whether its peer is dead.
        pass(1s);
        for (heartbeat& pulse : pulses) {
            pulse.received();
        }
    }
    BOOST_TEST_REQUIRE(times.size() == connections);
    require_spread(times, 30s, 60s);
}

BOOST_FIXTURE_TEST_CASE(the_jitter_of_a_heartbeat_is_drawn_anew_for_each_sending, virtual_world) {
    heartbeat pulse(ctx, {.send_every = 10s, .jitter = 0.5});
    std::vector<nanoseconds> pauses;
    for (auto last = now(); pauses.size() < 50;) {
        pulse.async_next([&](error_code, heartbeat_event) {
            pauses.push_back(now() - last);
            last = now();
        });
        BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
        poll();
    }
    std::sort(pauses.begin(), pauses.end());
    BOOST_TEST((pauses.front() > 5s));
    BOOST_TEST((pauses.back() <= 10s));
    BOOST_TEST((std::adjacent_find(pauses.begin(), pauses.end()) == pauses.end()));
}

BOOST_FIXTURE_TEST_CASE(unusable_options_of_idle_timers_and_heartbeats_are_named, virtual_world) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    BOOST_TEST(message_of([&] { idle_timer(ctx, 1s, {.jitter = 1.5}); }) ==
               "asio_wheel: idle_timer_options::jitter is 1.500000, but must be 0 to 1");
    BOOST_TEST(message_of([&] { idle_timer(ctx, 1s, {.min_period = -1ns}); }) ==
               "asio_wheel: idle_timer_options::min_period is -1 ns, but must be 0 ns or more");
    BOOST_TEST(message_of([&] { heartbeat(ctx, {.send_every = 1s, .jitter = nan}); }) ==
               "asio_wheel: heartbeat_options::jitter is nan, but must be 0 to 1");
}

BOOST_AUTO_TEST_SUITE_END()
