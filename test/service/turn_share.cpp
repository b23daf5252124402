// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How long a turn of the wheel may be: turn_share.hpp, with plain numbers.

#include <asio_wheel/detail/core/turn_share.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t budget = 256;

constexpr asio_wheel::detail::time_count count(std::chrono::nanoseconds d) {
    return d.count();
}

/// A share, the time, and two waits: one that the turn completes itself, and one that it queues.
struct busy_loop {
    asio_wheel::detail::clock_port unit{.now = nullptr, .tick = 1, .is_steady = true};
    asio_wheel::detail::turn_share share{budget, unit};
    asio_wheel::detail::time_count now = count(1h);
    int own = 0, first = 0;

    void make_ready() {
        share.make_ready(&own);
        share.make_ready(&first);
    }

    /// A turn that takes `slices`. Then others are busy, and then its handlers, until its rest
    /// comes. Returns what begin_rest() says.
    std::chrono::nanoseconds turn(std::size_t looked_at, std::chrono::nanoseconds slices,
                                  std::chrono::nanoseconds others,
                                  std::chrono::nanoseconds handlers) {
        share.begin_turn(now);
        make_ready();
        now += count(slices);
        share.end_turn(now, looked_at);
        now += count(others);
        BOOST_TEST(share.awaits(&first));
        share.come(now);
        now += count(handlers);
        return share.begin_rest(now);
    }
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_turn_of_an_idle_context_is_one_slice, busy_loop) {
    BOOST_TEST(share.entries(0ns) == budget);
    BOOST_TEST(share.entries(1ms) == budget);
    BOOST_TEST(share.entries(-1h) == budget);
}

BOOST_FIXTURE_TEST_CASE(a_turn_takes_a_quarter_of_the_time_of_others, busy_loop) {
    BOOST_TEST(share.entries(40ms) == 10'000U); // Of 1 µs each, as long as nothing else is known.
    BOOST_TEST(share.entries(400ms) == 100'000U);
    BOOST_TEST(share.entries(1s) == 250'000U);
    BOOST_TEST(share.entries(1000000h) == 250'000U);
}

BOOST_FIXTURE_TEST_CASE(the_cost_of_an_entry_and_its_handler_is_learned, busy_loop) {
    for (int i = 0; i < 30; ++i) {
        turn(1'000, 1ms, 40ms, 9ms);
    }
    BOOST_TEST(share.entries(40ms) == 1'000U); // Of 10 µs each.
    for (int i = 0; i < 30; ++i) {
        turn(1'000, 50us, 40ms, 50us);
    }
    BOOST_TEST(share.entries(40ms) == 100'000U); // Of 100 ns each.
}

// Otherwise its own handlers would make the next turn longer, and that the one after it.
BOOST_FIXTURE_TEST_CASE(the_handlers_of_a_turn_are_not_the_time_of_others, busy_loop) {
    BOOST_TEST((turn(1'000, 1ms, 3ms, 1h) == 3ms));
    BOOST_TEST((turn(1'000, 1ms, 0ms, 1h) == 0ms));
}

BOOST_FIXTURE_TEST_CASE(without_handlers_all_time_since_the_turn_was_of_others, busy_loop) {
    share.begin_turn(now);
    share.end_turn(now, budget);
    BOOST_TEST((share.begin_rest(now + count(7ms)) == 7ms));
}

BOOST_FIXTURE_TEST_CASE(if_its_first_handler_never_came_nothing_is_known, busy_loop) {
    share.begin_turn(now);
    make_ready();
    share.end_turn(now, budget);
    BOOST_TEST((share.begin_rest(now + count(7ms)) == 0ms));
}

BOOST_FIXTURE_TEST_CASE(a_first_handler_that_comes_during_the_turn_has_waited_for_nobody,
                        busy_loop) {
    share.begin_turn(now);
    make_ready();
    share.come(now + count(1ms));
    share.end_turn(now + count(2ms), budget);
    BOOST_TEST((share.begin_rest(now + count(7ms)) == 0ms));
}

BOOST_FIXTURE_TEST_CASE(a_wake_up_waits_for_others_since_it_was_due_or_the_last_turn_ended,
                        busy_loop) {
    share.begin_turn(now);
    share.end_turn(now, budget);
    BOOST_TEST((share.until_wake_up(now - count(1h), now + count(7ms)) == 7ms));
    BOOST_TEST((share.until_wake_up(now + count(2ms), now + count(7ms)) == 5ms));
}

BOOST_FIXTURE_TEST_CASE(the_delay_of_a_busy_context_is_known_after_two_turns, busy_loop) {
    turn(budget, 0ms, 50ms, 1ms);
    BOOST_TEST((share.delay() == 0ms)); // It may have been a stall.
    turn(budget, 0ms, 40ms, 1ms);
    BOOST_TEST((share.delay() == 40ms));
    turn(budget, 0ms, 10s, 1ms);
    BOOST_TEST((share.delay() == 40ms));
    turn(budget, 0ms, 9ms, 1ms);
    BOOST_TEST((share.delay() == 0ms)); // Not worth to wake up for.
}

BOOST_FIXTURE_TEST_CASE(a_wake_up_that_comes_early_makes_the_delay_shorter, busy_loop) {
    turn(budget, 0ms, 50ms, 1ms);
    turn(budget, 0ms, 50ms, 1ms);
    share.come_early(-20ms);
    BOOST_TEST((share.delay() == 30ms));
    share.come_early(-30ms);
    BOOST_TEST((share.delay() == 0ms));
}
