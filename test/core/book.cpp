// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The book by itself: which timers are filed, and for when; and walks. The numbers are explained in
// support/book_scene.hpp.

#include <asio_wheel/detail/core/book.hpp>

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/tick.hpp>

#include "support/book_scene.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <map>

namespace {

using namespace asio_wheel::detail;
using asio_wheel::no_tick;
using asio_wheel::test::found_timers;
using scene = asio_wheel::test::book_scene;
using one_at_a_time = asio_wheel::test::one_at_a_time;

} // namespace

BOOST_AUTO_TEST_SUITE(book_)

// ---- What is due

// So many that a sort that is not stable would change their order.
BOOST_AUTO_TEST_CASE(many_timers_are_ordered_by_expiry_and_then_as_they_were_found) {
    scene many(100);
    constexpr std::array<time_count, 3> expiries{1'049, 1'041, 1'045};
    std::map<time_count, found_timers> by_expiry;
    for (std::size_t i = 0; i < 90; ++i) {
        const time_count expiry = expiries[i % 3];
        by_expiry[expiry].push_back(&many.wait_until(expiry));
    }
    found_timers in_order;
    for (const auto& [expiry, timers] : by_expiry) {
        in_order.insert(in_order.end(), timers.begin(), timers.end());
    }
    BOOST_TEST((many.slice(1'050) == in_order));
}

BOOST_AUTO_TEST_CASE(an_expiry_is_due_when_it_has_come_but_for_the_end_of_the_range) {
    BOOST_TEST(book::is_due(4, 5));
    BOOST_TEST(book::is_due(5, 5));
    BOOST_TEST(!book::is_due(6, 5));
    BOOST_TEST(book::is_due(never - 1, never));
    BOOST_TEST(!book::is_due(never, never));
}

BOOST_FIXTURE_TEST_CASE(a_new_book_has_seen_nothing, scene) {
    BOOST_TEST(b.next() == no_tick);
    BOOST_TEST(b.tick_read() == 0U);
    BOOST_TEST(b.walk() == 0U);
    BOOST_TEST(b.cascaded() == 0U);
    BOOST_TEST(!b.was_due(1'000));
    BOOST_TEST(slice(1'000).empty());
}

BOOST_FIXTURE_TEST_CASE(a_timer_is_due_when_its_tick_has_begun_and_never_before, scene) {
    const timer_state& s = wait_until(1'045);
    BOOST_TEST(s.deadline() == 5U);
    BOOST_TEST(b.next() == 5U);
    BOOST_TEST(slice(1'049).empty());
    BOOST_TEST(s.filed());
    BOOST_TEST(b.tick_read() == 4U);
    BOOST_TEST(b.pass_time() == 1'049);
    BOOST_TEST(b.was_due(1'049));
    BOOST_TEST(!b.was_due(1'050));
    BOOST_TEST((slice(1'050) == found_timers{&s}));
    BOOST_TEST(b.tick_read() == 5U);
    BOOST_TEST(b.next() == no_tick);
    b.note_reading(1'069);
    BOOST_TEST(b.tick_read() == 6U);
    BOOST_TEST(b.pass_time() == 1'050);
}

BOOST_FIXTURE_TEST_CASE(one_slice_is_in_the_order_of_expiry, scene) {
    const timer_state& c = wait_until(1'049);
    const timer_state& a = wait_until(1'041);
    const timer_state& b1 = wait_until(1'045);
    const timer_state& b2 = wait_until(1'045);
    BOOST_TEST((slice(1'050) == found_timers{&a, &b1, &b2, &c}));
    BOOST_TEST(!last.more);
    BOOST_TEST(last.looked_at == 4U);
}

BOOST_FIXTURE_TEST_CASE(a_pass_takes_as_many_slices_as_the_budget_demands, scene) {
    for (int i = 0; i < 10; ++i) {
        wait_until(1'050);
    }
    BOOST_TEST(slice(1'050).size() == 4U);
    BOOST_TEST(last.more);
    BOOST_TEST(slice(1'050).size() == 4U);
    BOOST_TEST(last.more);
    BOOST_TEST(slice(1'050).size() == 2U);
    BOOST_TEST(!last.more);
    BOOST_TEST(last.looked_at == 2U);
    BOOST_TEST(slice(1'050).empty());
    BOOST_TEST(last.looked_at == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_slice_that_only_files_again_has_looked_at_something, one_at_a_time) {
    timer_state& a = wait_until(1'090); // Both are in the slot of ticks 8 to 15,
    timer_state& c = wait_until(1'120); // whose time seems to come with the first.
    b.remove(a);
    BOOST_TEST(slice(1'120).empty());
    BOOST_TEST(last.more);
    BOOST_TEST(last.looked_at == 1U);
    BOOST_TEST((slice(1'120) == found_timers{&c}));
}

BOOST_FIXTURE_TEST_CASE(a_tombstone_is_dropped_when_its_tick_comes, scene) {
    const timer_state& dropped = tombstone(1'050);
    const timer_state& kept = tombstone(1'060);
    BOOST_TEST(slice(1'050).empty());
    BOOST_TEST((dropped.life() == timer_life::inactive));
    BOOST_TEST(!dropped.filed());
    BOOST_TEST((kept.life() == timer_life::tombstone));
    BOOST_TEST(kept.filed());
}

BOOST_FIXTURE_TEST_CASE(a_tombstone_is_dropped_when_its_slot_is_filed_again, scene) {
    const timer_state& a = wait_until(1'090); // Both are in the slot of ticks 8 to 15.
    const timer_state& dropped = tombstone(1'120);
    BOOST_TEST((slice(1'090) == found_timers{&a}));
    BOOST_TEST((dropped.life() == timer_life::inactive));
    BOOST_TEST(b.next() == no_tick);
    BOOST_TEST(b.cascaded() == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_range_never_comes, scene) {
    const timer_state& s = wait_until(never);
    BOOST_TEST(slice(never).empty());
    BOOST_TEST(s.filed());
}

// ---- What was postponed

BOOST_FIXTURE_TEST_CASE(a_postponed_timer_is_filed_again_when_its_old_tick_comes, scene) {
    timer_state& s = wait_until(1'050);
    s.expiry.set(1'085); // As its owner does, without the lock.
    BOOST_TEST(slice(1'050).empty());
    BOOST_TEST((s.life() == timer_life::waiting));
    BOOST_TEST(s.deadline() == 9U);
    BOOST_TEST(b.cascaded() == 1U);
    BOOST_TEST(slice(1'089).empty());
    BOOST_TEST((slice(1'090) == found_timers{&s}));
}

BOOST_FIXTURE_TEST_CASE(a_postponed_timer_is_filed_again_with_its_slot, scene) {
    const timer_state& a = wait_until(1'080); // All are in the slot of ticks 8 to 15.
    timer_state& postponed = wait_until(1'120);
    const timer_state& unchanged = wait_until(1'111);
    postponed.expiry.set(1'500);
    BOOST_TEST((slice(1'080) == found_timers{&a}));
    BOOST_TEST(postponed.deadline() == 50U);
    BOOST_TEST(unchanged.deadline() == 12U);
    BOOST_TEST(b.cascaded() == 2U);
    BOOST_TEST((slice(1'120) == found_timers{&unchanged}));
    BOOST_TEST(b.next() == 50U);
    BOOST_TEST(b.cascaded() == 2U);
}

BOOST_FIXTURE_TEST_CASE(what_is_due_already_does_not_wait_for_its_tick_when_its_slot_is_filed_again,
                        scene) {
    const timer_state& a = wait_until(1'080); // Both are in the slot of ticks 8 to 15.
    timer_state& due = wait_until(1'093);
    b.file_at(due, 9);
    BOOST_TEST(due.deadline() == 9U);
    BOOST_TEST((slice(1'093) == found_timers{&a, &due}));
}

// ---- Filing

BOOST_FIXTURE_TEST_CASE(a_timer_can_be_moved_and_removed, scene) {
    timer_state& s = wait_until(1'050);
    s.expiry.set(1'030);
    b.file(s);
    BOOST_TEST(s.deadline() == 3U);
    s.expiry.set(1'070);
    b.file(s);
    BOOST_TEST(s.deadline() == 7U);
    BOOST_TEST(slice(1'060).empty());
    b.remove(s);
    BOOST_TEST(!s.filed());
    b.remove(s); // It is not filed.
    BOOST_TEST(b.next() == no_tick);
}

BOOST_FIXTURE_TEST_CASE(a_timer_takes_the_place_of_another, scene) {
    timer_state& from = wait_until(1'050);
    from.seen_by_walk = 7;
    timer_state to;
    b.replace(from, to);
    BOOST_TEST(to.expiry.get() == 1'050);
    BOOST_TEST(to.deadline() == 5U);
    BOOST_TEST(to.seen_by_walk == 7U);
    BOOST_TEST(to.filed());
    BOOST_TEST(!from.filed());
    b.remove(to);

    from.spare_word(99); // One that is not filed has a spare word.
    b.replace(from, to);
    BOOST_TEST(to.spare_word() == 99U);
    BOOST_TEST(!to.filed());
}

BOOST_FIXTURE_TEST_CASE(an_idle_timer_is_moved_only_for_an_earlier_time, scene) {
    timer_state& s = tombstone(1'080);
    b.set_idle_expiry(s, 1'085, no_tick);
    BOOST_TEST(s.expiry.get() == 1'085);
    BOOST_TEST(s.deadline() == 8U);
    b.set_idle_expiry(s, 1'085, no_tick);
    BOOST_TEST(s.deadline() == 8U);
    b.set_idle_expiry(s, 1'061, 6);
    BOOST_TEST(s.expiry.get() == 1'061);
    BOOST_TEST(s.deadline() == 7U);
    b.set_idle_expiry(s, 1'055, 6); // For the tick that the driver is armed for.
    BOOST_TEST(s.expiry.get() == 1'055);
    BOOST_TEST(!s.filed());
    b.set_idle_expiry(s, 1'045, 4);
    BOOST_TEST(s.expiry.get() == 1'045);
    BOOST_TEST(!s.filed());
}

// ---- Walks

BOOST_FIXTURE_TEST_CASE(a_walk_has_missed_what_moves_before_it_was_seen, scene) {
    timer_state& unseen = wait_until(1'050);
    timer_state& seen = wait_until(1'050);
    b.begin_walk(3);
    BOOST_TEST(b.walk() == 3U);
    BOOST_TEST(!b.take_walk_missed());
    seen.seen_by_walk = 3;
    b.file(seen);
    BOOST_TEST(!b.take_walk_missed());
    b.file(unseen);
    b.file(seen);
    BOOST_TEST(b.take_walk_missed());
    BOOST_TEST(!b.take_walk_missed()); // It is told once.
    b.file(unseen);
    b.begin_walk(4);
    BOOST_TEST(!b.take_walk_missed()); // Of another walk.
}

BOOST_FIXTURE_TEST_CASE(a_timer_that_is_filed_during_a_walk_need_not_be_seen, scene) {
    b.begin_walk(3);
    timer_state& s = wait_until(1'050);
    BOOST_TEST(s.seen_by_walk == 3U);
    b.file(s);
    BOOST_TEST(!b.take_walk_missed());
    b.begin_walk(0);
    b.remove(s);
    b.file(s);
    BOOST_TEST(s.seen_by_walk == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_walk_has_missed_what_is_filed_again_with_its_slot, scene) {
    wait_until(1'080);
    wait_until(1'120); // In the same slot.
    b.begin_walk(3);
    BOOST_TEST(slice(1'080).size() == 1U);
    BOOST_TEST(b.take_walk_missed());
}

BOOST_FIXTURE_TEST_CASE(a_walk_has_missed_what_was_postponed, scene) {
    timer_state& s = wait_until(1'050);
    s.expiry.set(1'080);
    b.begin_walk(3);
    BOOST_TEST(slice(1'050).empty());
    BOOST_TEST(b.take_walk_missed());
}

BOOST_AUTO_TEST_SUITE_END()
