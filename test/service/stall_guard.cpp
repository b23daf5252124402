// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Each row of the table in stall_guard.hpp: when a late wheel gives way to the context, and for how
// long.

#include <asio_wheel/detail/service/stall_guard.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace std::chrono_literals;
using asio_wheel::detail::stall_guard;

namespace {

/// A guard with a limit of 100 ms, and the current time.
struct stalled_loop {
    stall_guard guard{100ms};
    stall_guard::clock::time_point now{1h};

    /// A turn of the wheel, this much later than the previous turn. Returns whether it gives way.
    bool gives_way(std::chrono::nanoseconds later, std::chrono::nanoseconds late = 0ns) {
        now += later;
        if (guard.giving_way()) {
            return guard.go_on(now);
        }
        if (guard.is_stall(late)) {
            guard.begin(late, now);
        }
        return guard.giving_way();
    }
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_turn_that_is_not_too_late_ticks, stalled_loop) {
    BOOST_TEST(!gives_way(1s, 0ns));
    BOOST_TEST(!gives_way(1s, 100ms));
    BOOST_TEST(guard.stalls() == 0U);
    BOOST_TEST((guard.stalled() == 0ns));
}

BOOST_FIXTURE_TEST_CASE(a_stall_gives_way_until_nothing_else_has_run_for_a_while, stalled_loop) {
    BOOST_TEST(gives_way(1s, 100ms + 1ns));
    for (int turn = 0; turn < 20; ++turn) {
        BOOST_TEST(gives_way(500us)); // Handlers have run.
    }
    for (auto quiet = 50us; quiet < stall_guard::quiet; quiet += 50us) {
        BOOST_TEST(gives_way(50us)); // Nothing else has run.
    }
    BOOST_TEST(gives_way(stall_guard::quick + 1us)); // Now something has run.
    for (auto quiet = 20us; quiet < stall_guard::quiet; quiet += 20us) {
        BOOST_TEST(gives_way(20us));
    }
    BOOST_TEST(!gives_way(20us));
    BOOST_TEST(!gives_way(500us)); // The stall is over.
    BOOST_TEST(guard.stalls() == 1U);
    BOOST_TEST((guard.stalled() == 100ms + 1ns));
}

BOOST_FIXTURE_TEST_CASE(a_busy_context_delays_by_no_more_than_the_stall, stalled_loop) {
    BOOST_TEST(gives_way(1s, 300ms));
    for (auto busy = 50ms; busy < 300ms; busy += 50ms) {
        BOOST_TEST(gives_way(50ms));
    }
    BOOST_TEST(!gives_way(50ms));
    BOOST_TEST(gives_way(1s, 10h)); // And by no more than `longest`.
    BOOST_TEST(gives_way(stall_guard::longest - 1ns));
    BOOST_TEST(!gives_way(1ns));
    BOOST_TEST(guard.stalls() == 2U);
    BOOST_TEST((guard.stalled() == 10h + 300ms));
}

BOOST_FIXTURE_TEST_CASE(zero_turns_it_off, stalled_loop) {
    guard = stall_guard(0ns);
    BOOST_TEST(!gives_way(1s, 10h));
}

BOOST_FIXTURE_TEST_CASE(paused_time_ends_a_stall, stalled_loop) {
    BOOST_TEST(gives_way(1s, 1s));
    guard.end();
    BOOST_TEST(!gives_way(1us));
}
