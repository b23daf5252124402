// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The passes of the book by itself: what is held back, paused time, clocks that are set back, and
// the end. The numbers are explained in support/book_scene.hpp.

#include <asio_wheel/detail/core/book.hpp>

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/wait_kind.hpp>

#include "support/book_scene.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <set>

namespace {

using namespace asio_wheel::detail;
using asio_wheel::wait_kind;
using asio_wheel::test::found_timers;
using scene = asio_wheel::test::book_scene;
using clock_that_is_set = asio_wheel::test::clock_that_is_set;
using one_at_a_time = asio_wheel::test::one_at_a_time;

} // namespace

BOOST_AUTO_TEST_SUITE(passes)

// ---- What is held back

BOOST_FIXTURE_TEST_CASE(only_timers_whose_waits_guard_io_are_held_back, scene) {
    const timer_state& guard = wait_until(1'050, wait_kind::timeout);
    const timer_state& sleep = wait_until(1'050, wait_kind::sleep);
    BOOST_TEST((slice(1'050, true) == found_timers{&sleep}));
    BOOST_TEST((guard.life() == timer_life::waiting));
    BOOST_TEST(guard.filed());
    BOOST_TEST(b.next() == 5U);
    BOOST_TEST((slice(1'050) == found_timers{&guard})); // The next pass.
}

BOOST_FIXTURE_TEST_CASE(what_is_held_back_is_looked_at_once_in_a_pass, scene) {
    for (int i = 0; i < 6; ++i) {
        wait_until(1'050, wait_kind::timeout);
    }
    BOOST_TEST(slice(1'100, true).empty());
    BOOST_TEST(last.more);
    BOOST_TEST(b.next() == 10U); // Not at once, although something is overdue.
    BOOST_TEST(slice(1'100, true).empty());
    BOOST_TEST(!last.more);
    BOOST_TEST(last.looked_at == 2U);
    BOOST_TEST(slice(1'100).size() == 4U);
    BOOST_TEST(slice(1'100).size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(what_is_overdue_is_next_at_once, scene) {
    for (int i = 0; i < 6; ++i) {
        wait_until(1'050);
    }
    BOOST_TEST(slice(1'100).size() == 4U);
    BOOST_TEST(b.next() == 5U);
}

BOOST_FIXTURE_TEST_CASE(what_is_released_during_a_pass_is_visited_again, scene) {
    for (int i = 0; i < 6; ++i) {
        wait_until(1'050, wait_kind::timeout);
    }
    BOOST_TEST(slice(1'050, true).empty());
    BOOST_TEST(last.more);
    b.release_held();
    BOOST_TEST(slice(1'050).size() == 4U);
    BOOST_TEST(slice(1'050).size() == 2U);
    BOOST_TEST(slice(1'050).empty());
}

BOOST_FIXTURE_TEST_CASE(what_is_held_back_and_filed_anew_is_visited_in_the_same_pass, scene) {
    for (int i = 0; i < 6; ++i) {
        wait_until(1'050, wait_kind::timeout);
    }
    BOOST_TEST(slice(1'050, true).empty());
    BOOST_TEST(last.more);
    timer_state& moved = all.front().timer;
    moved.expiry.set(1'045); // In the same tick.
    b.file(moved);
    const found_timers due = slice(1'050);
    BOOST_TEST(due.size() == 3U); // And the two that were left.
    BOOST_TEST((due.front() == &moved));
}

// ---- Paused time

BOOST_FIXTURE_TEST_CASE(the_tick_of_paused_time_is_visited_and_compared_exactly, scene) {
    BOOST_TEST(b.tick_at(1'052) == 5U);
    clock.pause(1'052);
    BOOST_TEST(b.tick_at(1'052) == 6U);
    BOOST_TEST(b.tick_at(1'050) == 5U);
    const timer_state& due = wait_until(1'052);
    const timer_state& later = wait_until(1'053);
    BOOST_TEST((slice(1'052) == found_timers{&due}));
    BOOST_TEST(later.filed());
    BOOST_TEST(b.cascaded() == 0U); // It is held back, and not filed again.
    BOOST_TEST((slice(1'053) == found_timers{&later}));
}

BOOST_FIXTURE_TEST_CASE(the_first_expiry_of_a_tick_is_found_whatever_the_order, scene) {
    wait_until(1'055);
    wait_until(1'053);
    wait_until(1'058);
    wait_until(1'065);
    BOOST_TEST((find_first(6) == 1'053));
    BOOST_TEST((find_first(6) == 1'053)); // It takes nothing out.
    BOOST_TEST(b.entries().size() == 4U);
}

BOOST_FIXTURE_TEST_CASE(the_first_expiry_is_found_in_several_slices, scene) {
    for (int i = 0; i < 10; ++i) {
        wait_until(1'060 - i);
    }
    BOOST_TEST((find_first(6) == 1'051));
    BOOST_TEST(b.entries().size() == 10U);
    BOOST_TEST((find_first(6) == 1'051));
}

BOOST_FIXTURE_TEST_CASE(what_was_postponed_or_cancelled_is_not_the_first, scene) {
    timer_state& postponed = wait_until(1'052);
    postponed.expiry.set(1'072);
    const timer_state& cancelled = tombstone(1'053);
    BOOST_TEST(!find_first(6).has_value());
    BOOST_TEST(postponed.deadline() == 8U);
    BOOST_TEST((cancelled.life() == timer_life::inactive));
    BOOST_TEST(b.entries().size() == 1U);
    BOOST_TEST(b.cascaded() == 1U);
}

// ---- Clocks that are set back

BOOST_FIXTURE_TEST_CASE(ticks_follow_a_clock_that_is_set_back, clock_that_is_set) {
    const timer_state& s = wait_until(1'150);
    BOOST_TEST(slice(1'100).empty());
    BOOST_TEST(!b.follow_set_back(1'100)); // It was not.
    BOOST_TEST(b.follow_set_back(900));
    BOOST_TEST(b.tick_at(900) == 10U);
    BOOST_TEST(!b.follow_set_back(900));
    BOOST_TEST(slice(1'149).empty());
    BOOST_TEST(s.filed());
    BOOST_TEST((slice(1'150) == found_timers{&s}));
}

BOOST_FIXTURE_TEST_CASE(paused_time_is_not_set_back, clock_that_is_set) {
    BOOST_TEST(slice(1'100).empty());
    clock.pause(1'100);
    BOOST_TEST(!b.follow_set_back(900));
    BOOST_TEST(b.tick_at(1'100) == 10U);
}

// ---- The end

BOOST_FIXTURE_TEST_CASE(the_end_takes_all_timers_with_waits, scene) {
    found_timers waiting;
    for (int i = 0; i < 10; ++i) {
        waiting.push_back(&wait_until(1'050 + 10 * i));
    }
    const timer_state& dropped = tombstone(1'060);
    found_timers taken = take_all();
    BOOST_TEST((std::set(taken.begin(), taken.end()) == std::set(waiting.begin(), waiting.end())));
    BOOST_TEST(taken.size() == 10U);
    for (const timer_state* const s : taken) {
        BOOST_TEST((s->life() == timer_life::guarded)); // Its owner needs the lock.
        BOOST_TEST(!s->filed());
    }
    BOOST_TEST((dropped.life() == timer_life::inactive));
    BOOST_TEST(b.entries().empty());
}

BOOST_FIXTURE_TEST_CASE(the_end_goes_on_after_slices_that_only_file_again, one_at_a_time) {
    timer_state& a = wait_until(1'090); // Both are in the slot of ticks 8 to 15.
    timer_state& c = wait_until(1'120);
    b.remove(a);
    BOOST_TEST((take_all() == found_timers{&c}));
}

BOOST_FIXTURE_TEST_CASE(a_timer_that_keeps_waits_at_the_end_comes_again, scene) {
    const timer_state& s = wait_until(1'050);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(b.take_all([&](timer_state& t) {
            BOOST_TEST(&t == &s);
            return false;
        }));
        BOOST_TEST(s.filed());
        BOOST_TEST((s.life() == timer_life::guarded));
    }
    BOOST_TEST((take_all() == found_timers{&s}));
}

BOOST_FIXTURE_TEST_CASE(the_end_takes_what_a_turn_has_held_back, scene) {
    for (int i = 0; i < 10; ++i) {
        wait_until(1'050, wait_kind::timeout);
    }
    BOOST_TEST(slice(1'050, true).empty());
    BOOST_TEST(last.more);
    std::size_t taken = 0;
    const auto take = [&](timer_state&) {
        ++taken;
        return true;
    };
    BOOST_TEST(b.take_all(take));
    BOOST_TEST(taken == 4U);
    BOOST_TEST(slice(1'050, true).empty()); // Between two slices of the end.
    while (b.take_all(take)) {
    }
    BOOST_TEST(taken == 10U);
    BOOST_TEST(b.entries().empty());
}

BOOST_AUTO_TEST_SUITE_END()
