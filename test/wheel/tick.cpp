// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/tick.hpp>

#include "support/sanitizers.hpp"
#include "support/seed.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using asio_wheel::last_tick;
using asio_wheel::no_tick;
using asio_wheel::tick_scale;
using asio_wheel::tick_t;
using wide = boost::multiprecision::int128_t; // In this type, none of the sums below overflows.

constexpr std::int64_t first_time = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t last_time = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t exa = 1'000'000'000'000'000'000;

// A scale and the values that it was constructed from.
struct scale_case {
    std::int64_t origin;
    std::int64_t length;

    [[nodiscard]] tick_scale scale() const { return {origin, length}; }
};

std::vector<scale_case> every_scale() {
    std::vector<scale_case> all;
    for (const std::int64_t origin :
         {first_time, first_time + 1, -exa, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, exa,
          last_time - 1, last_time}) {
        for (const std::int64_t length :
             {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{7},
              std::int64_t{1000}, std::int64_t{1'000'000}, std::int64_t{1} << 31,
              std::int64_t{1} << 62, last_time - 1, last_time}) {
            all.push_back({origin, length});
        }
    }
    return all;
}

std::int64_t saturated(const wide& time) {
    return time < first_time  ? first_time
           : time > last_time ? last_time
                              : time.convert_to<std::int64_t>();
}

// The ends of the clock, and the edges of the first, of a late and of the last tick that it can
// represent.
std::vector<std::int64_t> edges_of(const scale_case& c) {
    std::vector<std::int64_t> times{first_time, first_time + 1, -1, 0, 1, last_time - 1, last_time};
    const wide late = c.origin + (wide(last_time) - c.origin) / c.length * c.length;
    for (const wide& edge : {wide(c.origin), wide(c.origin) + c.length, late - c.length, late}) {
        for (const int off : {-2, -1, 0, 1, 2}) {
            times.push_back(saturated(edge + off));
        }
    }
    return times;
}

// The formulas in the comments of tick.hpp, with integers of unlimited width.
tick_t expected_up(const scale_case& c, std::int64_t time) {
    if (time <= c.origin) {
        return 0;
    }
    const wide tick = (wide(time) - c.origin + c.length - 1) / c.length;
    return tick > last_tick ? last_tick : tick.convert_to<tick_t>();
}

tick_t expected_down(const scale_case& c, std::int64_t time) {
    if (time <= c.origin) {
        return 0;
    }
    const wide tick = (wide(time) - c.origin) / c.length;
    return tick > last_tick ? last_tick : tick.convert_to<tick_t>();
}

std::int64_t expected_begin(const scale_case& c, tick_t tick) {
    return saturated(c.origin + wide(tick) * c.length);
}

// Only the very last unit of the longest possible range has no tick of its own.
bool beyond_last_tick(const scale_case& c, std::int64_t time) {
    return wide(time) - c.origin > wide(last_tick) * c.length;
}

// Checks all properties of a point of time.
void check_time(const scale_case& c, std::int64_t time) {
    const tick_scale scale = c.scale();
    const tick_t up = scale.round_up(time);
    const tick_t down = scale.round_down(time);
    BOOST_TEST(up == expected_up(c, time));
    BOOST_TEST(down == expected_down(c, time));
    BOOST_TEST(down <= up);
    BOOST_TEST(up - down <= 1U);
    if (time >= c.origin) {
        BOOST_TEST(scale.begin_of(down) <= time);
        if (!beyond_last_tick(c, time)) {
            BOOST_TEST(scale.begin_of(up) >= time);
            BOOST_TEST(wide(scale.begin_of(up)) - time < c.length);
        }
    }
}

// Checks all properties of a tick.
void check_tick(const scale_case& c, tick_t tick) {
    const tick_scale scale = c.scale();
    const std::int64_t begin = scale.begin_of(tick);
    BOOST_TEST(begin == expected_begin(c, tick));
    if (tick <= last_tick && c.origin + wide(tick) * c.length <= last_time) {
        BOOST_TEST(scale.round_up(begin) == tick);
        BOOST_TEST(scale.round_down(begin) == tick);
        if (tick > 0) {
            BOOST_TEST(scale.round_down(begin - 1) == tick - 1);
            BOOST_TEST(scale.round_up(begin - 1) == (c.length == 1 ? tick - 1 : tick));
        }
        if (begin < last_time && tick < last_tick) {
            BOOST_TEST(scale.round_up(begin + 1) == tick + 1);
            BOOST_TEST(scale.round_down(begin + 1) == (c.length == 1 ? tick + 1 : tick));
        }
    }
}

// Returns whether a wait for `deadline` is due when the clock shows `now`.
bool due(const tick_scale& scale, std::int64_t deadline, std::int64_t now) {
    return scale.round_down(now) >= scale.round_up(deadline);
}

void check_never_early_nor_late(const scale_case& c, std::int64_t deadline, std::int64_t now) {
    const tick_scale scale = c.scale();
    if (now >= c.origin && !beyond_last_tick(c, deadline) && due(scale, deadline, now)) {
        BOOST_TEST(now >= deadline);
    }
    if (now >= c.origin && wide(now) - deadline >= c.length) {
        BOOST_TEST(due(scale, deadline, now));
    }
}

// Returns a number of any magnitude.
std::int64_t any_time(std::mt19937_64& random) {
    const auto magnitude = static_cast<std::int64_t>((random() >> 1) >> (random() % 63));
    return random() % 2 == 0 ? magnitude : -1 - magnitude;
}

scale_case any_scale(std::mt19937_64& random) {
    const auto length = static_cast<std::int64_t>((random() >> 1) >> (random() % 63));
    return {any_time(random), std::max<std::int64_t>(length, 1)};
}

// Usable in constant expressions.
static_assert(tick_scale(0, 10).round_up(11) == 2);
static_assert(tick_scale(0, 10).round_down(19) == 1);
static_assert(tick_scale(-5, 10).begin_of(1) == 5);

} // namespace

BOOST_AUTO_TEST_SUITE(tick)

BOOST_AUTO_TEST_CASE(no_tick_is_beyond_the_last_one) {
    BOOST_TEST(no_tick == std::numeric_limits<std::uint64_t>::max());
    BOOST_TEST(last_tick == no_tick - 1);
}

BOOST_AUTO_TEST_CASE(deadlines_are_rounded_up_and_the_clock_down) {
    const tick_scale scale(100, 10);
    BOOST_TEST(scale.round_up(100) == 0U);
    BOOST_TEST(scale.round_up(101) == 1U);
    BOOST_TEST(scale.round_up(110) == 1U);
    BOOST_TEST(scale.round_up(111) == 2U);
    BOOST_TEST(scale.round_down(100) == 0U);
    BOOST_TEST(scale.round_down(109) == 0U);
    BOOST_TEST(scale.round_down(110) == 1U);
    BOOST_TEST(scale.begin_of(0) == 100);
    BOOST_TEST(scale.begin_of(2) == 120);
}

BOOST_AUTO_TEST_CASE(what_lies_before_the_origin_is_tick_0) {
    const tick_scale scale(100, 10);
    for (const std::int64_t time :
         {first_time, std::int64_t{-1}, std::int64_t{0}, std::int64_t{99}}) {
        BOOST_TEST(scale.round_up(time) == 0U);
        BOOST_TEST(scale.round_down(time) == 0U);
    }
}

BOOST_AUTO_TEST_CASE(what_lies_beyond_the_last_tick_is_the_last_tick) {
    const tick_scale finest(first_time,
                            1); // With it, the clock has one unit more than there are ticks.
    BOOST_TEST(finest.round_up(last_time) == last_tick);
    BOOST_TEST(finest.round_down(last_time) == last_tick);
    BOOST_TEST(finest.round_up(last_time - 1) == last_tick);
    BOOST_TEST(finest.round_up(last_time - 2) == last_tick - 1);
    BOOST_TEST(finest.begin_of(last_tick) == last_time - 1);
    BOOST_TEST(finest.begin_of(no_tick) == last_time);
}

BOOST_AUTO_TEST_CASE(what_lies_beyond_the_clock_is_its_last_point_of_time) {
    BOOST_TEST(tick_scale(0, 1).begin_of(static_cast<tick_t>(last_time)) == last_time);
    BOOST_TEST(tick_scale(0, 1).begin_of(static_cast<tick_t>(last_time) + 1) == last_time);
    BOOST_TEST(tick_scale(0, 2).begin_of(static_cast<tick_t>(last_time / 2)) == last_time - 1);
    BOOST_TEST(tick_scale(0, 2).begin_of(static_cast<tick_t>(last_time / 2) + 1) == last_time);
    BOOST_TEST(tick_scale(last_time, 1).begin_of(0) == last_time);
    BOOST_TEST(tick_scale(last_time, last_time).begin_of(last_tick) == last_time);
    BOOST_TEST(tick_scale(first_time, last_time).begin_of(2) == last_time - 1);
    BOOST_TEST(tick_scale(first_time, last_time).begin_of(3) == last_time);
}

BOOST_AUTO_TEST_CASE(every_edge_of_the_clock_and_of_the_ticks_is_exact) {
    for (const scale_case& c : every_scale()) {
        BOOST_TEST_CONTEXT("origin " << c.origin << ", length " << c.length) {
            for (const std::int64_t time : edges_of(c)) {
                BOOST_TEST_CONTEXT("time " << time) {
                    check_time(c, time);
                    check_tick(c, c.scale().round_down(time));
                    check_tick(c, c.scale().round_up(time));
                }
            }
            for (const tick_t tick :
                 {tick_t{0}, tick_t{1}, tick_t{2}, last_tick - 1, last_tick, no_tick}) {
                BOOST_TEST_CONTEXT("tick " << tick) {
                    check_tick(c, tick);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_wait_is_never_early_and_less_than_a_tick_late_at_every_edge) {
    for (const scale_case& c : every_scale()) {
        BOOST_TEST_CONTEXT("origin " << c.origin << ", length " << c.length) {
            for (const std::int64_t deadline : edges_of(c)) {
                for (const std::int64_t now : edges_of(c)) {
                    check_never_early_nor_late(c, deadline, now);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_same_holds_for_random_scales_and_times) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int i = 0; i < asio_wheel::test::unless_emulated(20'000); ++i) {
        const scale_case c = any_scale(random);
        const std::int64_t time = any_time(random);
        const std::int64_t now = random() % 2 == 0
                                     ? any_time(random)
                                     : saturated(wide(time) + any_time(random) % c.length);
        BOOST_TEST_CONTEXT("origin " << c.origin << ", length " << c.length << ", time " << time
                                     << ", now " << now) {
            check_time(c, time);
            check_tick(c, random() >> (random() % 64));
            check_tick(c, c.scale().round_down(time));
            check_never_early_nor_late(c, time, now);
            // Neither rounding ever decreases.
            BOOST_TEST((time <= now) <= (c.scale().round_up(time) <= c.scale().round_up(now)));
            BOOST_TEST((time <= now) <= (c.scale().round_down(time) <= c.scale().round_down(now)));
        }
    }
}

BOOST_AUTO_TEST_CASE(moving_the_origin_back_makes_the_same_time_a_later_tick) {
    tick_scale scale(1000, 10);
    BOOST_TEST(scale.round_down(1234) == 23U);
    scale.shift_origin(500);
    BOOST_TEST(scale.round_down(1234) == 73U);
    BOOST_TEST(scale.round_down(734) ==
               23U); // The clock was set back by 500, and the ticks continue unchanged.
    BOOST_TEST(scale.begin_of(0) == 500);
    scale.shift_origin(0);
    BOOST_TEST(scale.begin_of(0) == 500);
    scale.shift_origin(-500);
    BOOST_TEST(scale.begin_of(0) == 1000);
    BOOST_TEST(scale.round_down(1234) == 23U);
}

BOOST_AUTO_TEST_CASE(a_moved_scale_is_the_same_as_one_made_there) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int i = 0; i < 2'000; ++i) {
        const scale_case c = any_scale(random);
        const std::int64_t target = any_time(random);
        const wide back = wide(c.origin) - target;
        if (back > last_time || back < first_time) {
            continue; // Too far for a single step.
        }
        tick_scale moved = c.scale();
        moved.shift_origin(back.convert_to<std::int64_t>());
        const tick_scale made(target, c.length);
        for (int times = 0; times < 10; ++times) {
            const std::int64_t time = any_time(random);
            BOOST_TEST(moved.round_up(time) == made.round_up(time));
            BOOST_TEST(moved.round_down(time) == made.round_down(time));
            const tick_t tick = random() >> (random() % 64);
            BOOST_TEST(moved.begin_of(tick) == made.begin_of(tick));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
