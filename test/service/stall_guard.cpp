// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Each row of the table in stall_guard.hpp: when a late wheel gives way to the context, and for how
// long.

#include <asio_wheel/detail/core/stall_guard.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace std::chrono_literals;
using asio_wheel::detail::stall_guard;

namespace {

/// A guard with a limit of 100 ms, and the current time.
struct stalled_loop {
    stall_guard guard{100ms};
    stall_guard::clock::time_point now{1h};

    /// A wake-up, this much later than the previous one. Returns whether the wheel gives way.
    bool gives_way(std::chrono::nanoseconds later, std::chrono::nanoseconds late = 0ns) {
        now += later;
        return guard.wake_up(late, now);
    }

    /// The same, after a due wait was moved.
    bool gives_way_after_saving(std::chrono::nanoseconds later) {
        guard.saved();
        return gives_way(later);
    }
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_wake_up_that_is_not_too_late_delivers, stalled_loop) {
    BOOST_TEST(!gives_way(1s, 0ns));
    BOOST_TEST(!gives_way(1s, 100ms));
    BOOST_TEST(guard.stalls() == 0U);
    BOOST_TEST((guard.stalled() == 0ns));
}

BOOST_FIXTURE_TEST_CASE(a_stall_gives_way_until_nothing_else_has_run_for_a_while, stalled_loop) {
    BOOST_TEST(gives_way(1s, 100ms + 1ns));
    for (int i = 0; i < 20; ++i) {
        BOOST_TEST(gives_way_after_saving(500us)); // Handlers have run.
    }
    for (auto quiet = 50us; quiet < stall_guard::quiet; quiet += 50us) {
        BOOST_TEST(gives_way(50us)); // Nothing else has run.
    }
    BOOST_TEST(gives_way(stall_guard::quick + 1us)); // Now something has run.
    for (auto quiet = 20us; quiet < stall_guard::quiet; quiet += 20us) {
        BOOST_TEST(gives_way(20us));
    }
    BOOST_TEST(!gives_way(20us));
    BOOST_TEST(!gives_way(500us));    // The stall is over,
    BOOST_TEST(gives_way(1s, 101ms)); // and the loop is not loaded.
    BOOST_TEST(guard.stalls() == 2U);
    BOOST_TEST((guard.stalled() == 201ms + 1ns));
}

BOOST_FIXTURE_TEST_CASE(a_stall_gives_way_only_while_that_saves_somebody, stalled_loop) {
    BOOST_TEST(gives_way(1s, 10s));
    for (auto since = 1ms; since < stall_guard::grace; since += 1ms) {
        BOOST_TEST(gives_way(1ms)); // Data may need some handlers.
    }
    BOOST_TEST(gives_way_after_saving(1ms));
    for (auto since = 1ms; since < stall_guard::grace; since += 1ms) {
        BOOST_TEST(gives_way(1ms));
    }
    BOOST_TEST(!gives_way(1ms));
    BOOST_TEST(guard.stalls() == 1U);
}

BOOST_FIXTURE_TEST_CASE(two_passes_of_a_slow_loop_that_save_nobody_are_enough, stalled_loop) {
    BOOST_TEST(gives_way(1s, 10s));
    BOOST_TEST(gives_way(115ms)); // What was found together with this wake-up comes after it,
    BOOST_TEST(gives_way_after_saving(115ms));
    BOOST_TEST(gives_way(115ms)); // or posts what comes after it.
    BOOST_TEST(!gives_way(115ms));
}

BOOST_FIXTURE_TEST_CASE(giving_way_takes_no_longer_than_the_stall, stalled_loop) {
    BOOST_TEST(gives_way(1s, 300ms));
    for (auto busy = 50ms; busy < 300ms; busy += 50ms) {
        BOOST_TEST(gives_way_after_saving(50ms));
    }
    BOOST_TEST(!gives_way_after_saving(50ms));
    BOOST_TEST(gives_way(1s, 10h)); // And no longer than `longest`.
    BOOST_TEST(gives_way_after_saving(stall_guard::longest - 1ns));
    BOOST_TEST(!gives_way_after_saving(1ns));
    BOOST_TEST(guard.stalls() == 2U);
    BOOST_TEST((guard.stalled() == 10h + 300ms));
}

BOOST_FIXTURE_TEST_CASE(a_loop_that_is_late_at_every_wake_up_is_loaded_and_not_stalled,
                        stalled_loop) {
    BOOST_TEST(gives_way(1s, 150ms));
    BOOST_TEST(!gives_way(150ms)); // Nobody was saved.
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(!gives_way(150ms, 150ms));
    }
    BOOST_TEST(guard.stalls() == 1U);
}

// A program that calls poll() in frames is late each time, and nothing else runs meanwhile.
BOOST_FIXTURE_TEST_CASE(a_program_that_polls_in_frames_is_loaded_and_not_stalled, stalled_loop) {
    for (const auto frame : {101ms, 399ms, 1000ms, 4000ms}) {
        guard = stall_guard(100ms);
        for (int i = 0; i < 20; ++i) {
            for (bool gives = gives_way(frame, frame); gives; gives = gives_way(20us)) {
            }
        }
        BOOST_TEST(guard.stalls() <= 6U);
        BOOST_TEST(!gives_way(frame, frame));
    }
}

BOOST_FIXTURE_TEST_CASE(a_loaded_loop_may_stall, stalled_loop) {
    BOOST_TEST(gives_way(1s, 150ms));
    BOOST_TEST(!gives_way(150ms));
    BOOST_TEST(!gives_way(600ms, 600ms));
    BOOST_TEST(gives_way(3s, 3s)); // More than `often` times what it is on average.
    BOOST_TEST(guard.stalls() == 2U);
}

BOOST_FIXTURE_TEST_CASE(punctual_wake_ups_end_the_load, stalled_loop) {
    BOOST_TEST(gives_way(1s, 150ms));
    BOOST_TEST(!gives_way(150ms));
    BOOST_TEST(!gives_way(1ms, 0ns));
    BOOST_TEST(!gives_way(101ms, 101ms)); // One does not.
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(!gives_way(1ms, 0ns));
    }
    BOOST_TEST(gives_way(101ms, 101ms));
}

BOOST_FIXTURE_TEST_CASE(a_stall_in_which_nothing_is_held_back_ends_at_once, stalled_loop) {
    BOOST_TEST(gives_way(1s, 1h));
    guard.give_up();
    BOOST_TEST(!guard.giving_way());
    BOOST_TEST(!gives_way(101ms, 101ms)); // It may be a loaded loop,
    BOOST_TEST(gives_way(1s, 750ms));     // which may stall.
}

BOOST_FIXTURE_TEST_CASE(zero_turns_it_off, stalled_loop) {
    guard = stall_guard(0ns);
    BOOST_TEST(!gives_way(1s, 10h));
}

// In sums and products, too.
BOOST_FIXTURE_TEST_CASE(a_limit_may_be_as_long_as_can_be, stalled_loop) {
    guard = stall_guard((std::chrono::nanoseconds::max)());
    BOOST_TEST(!gives_way(1s, 10h));
    constexpr auto years = std::chrono::hours(24 * 365 * 200);
    BOOST_TEST(gives_way(1s, years)); // The clock was set forward.
    BOOST_TEST(!gives_way(stall_guard::longest));
    BOOST_TEST(!gives_way(1s, 1h));
}

BOOST_FIXTURE_TEST_CASE(paused_time_ends_a_stall, stalled_loop) {
    BOOST_TEST(gives_way(1s, 1s));
    guard.end();
    BOOST_TEST(!gives_way(1us));
}
