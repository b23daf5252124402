// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The next turn of a wheel by itself: each row of its table, and what counts as work.

#include <asio_wheel/detail/core/next_turn.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using asio_wheel::detail::next_turn;
using state = next_turn::state;

struct scene {
    next_turn turn;

    [[nodiscard]] bool is(state s) const { return turn.now() == s; }
};

} // namespace

BOOST_AUTO_TEST_SUITE(next_turn_)

BOOST_FIXTURE_TEST_CASE(after_a_wake_up_with_nothing_left_no_turn_follows, scene) {
    BOOST_TEST(turn.is_nothing());
    BOOST_TEST(!turn.begin());
    BOOST_TEST(is(state::running));
    BOOST_TEST(turn.is_under_way());
    BOOST_TEST(!turn.end());
    BOOST_TEST(turn.is_nothing());
}

BOOST_FIXTURE_TEST_CASE(a_turn_that_is_queued_begins_once, scene) {
    BOOST_TEST(turn.want());
    BOOST_TEST(turn.is_nothing()); // Until the caller has queued it.
    turn.queue();
    BOOST_TEST(turn.is_queued());
    BOOST_TEST(!turn.want()); // It comes.
    BOOST_TEST(turn.is_queued());
    BOOST_TEST(!turn.is_under_way());
    BOOST_TEST(!turn.begin());
    BOOST_TEST(is(state::running));
    BOOST_TEST(!turn.end());
    BOOST_TEST(turn.is_nothing());
}

BOOST_FIXTURE_TEST_CASE(a_turn_that_is_wanted_meanwhile_follows_the_one_under_way, scene) {
    turn.begin();
    BOOST_TEST(!turn.want());
    BOOST_TEST(is(state::wanted));
    BOOST_TEST(turn.is_under_way());
    BOOST_TEST(!turn.want()); // One follows, not two.
    BOOST_TEST(is(state::wanted));
    BOOST_TEST(turn.end());
    BOOST_TEST(turn.is_nothing());
    turn.queue();
    BOOST_TEST(!turn.begin());
    BOOST_TEST(!turn.end());
}

BOOST_FIXTURE_TEST_CASE(a_turn_counts_as_work_once_and_until_it_begins, scene) {
    turn.queue();
    BOOST_TEST(turn.count());
    BOOST_TEST(!turn.count());
    BOOST_TEST(turn.begin());
    BOOST_TEST(!turn.end());
    turn.queue();
    BOOST_TEST(!turn.begin());
    BOOST_TEST(!turn.end());
}

BOOST_FIXTURE_TEST_CASE(what_counts_while_a_turn_is_under_way_is_the_next_one, scene) {
    turn.queue();
    turn.begin();
    BOOST_TEST(turn.count());
    BOOST_TEST(turn.end()); // Though nobody wants it: its work must end.
    turn.queue();
    BOOST_TEST(!turn.count());
    BOOST_TEST(turn.begin());
    BOOST_TEST(!turn.end());
}

BOOST_AUTO_TEST_SUITE_END()
