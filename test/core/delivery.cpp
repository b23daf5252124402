// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The way of a wait from its timer to its handler, by itself: with a book, and with a queue that
// records what comes.

#include <asio_wheel/detail/core/delivery.hpp>

#include <asio_wheel/detail/core/book.hpp>
#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/core/wheel_clock.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/wheel_options.hpp>

#include "support/recorded_queue.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace asio_wheel::detail;
using asio_wheel::test::recorded_queue;
using kind = recorded_queue::kind;
using elements = recorded_queue::elements;
using location = wait_node::location;
using result = wait_node::result_state;

struct plain_wait : wait_node {
    plain_wait() : wait_node(form()) {}
};
struct slotted_wait : slotted_node {
    slotted_wait() : slotted_node(form()) {}

    cancel_link slot;

    void bind() {
        slot.wait = this;
        cancel = &slot;
    }
    [[nodiscard]] bool is_bound() const { return slot.wait != nullptr || cancel != nullptr; }
};

struct scene {
    recorded_queue queue;
    wheel_time time;
    wheel_clock clock{time, {.now = [] { return time_count(0); }, .tick = 1, .is_steady = true}};
    book entries{asio_wheel::wheel_options(), clock};
    delivery d{queue, entries};

    timer_state timer;
    timer_state other;
    plain_wait wait;
    plain_wait second;

    ~scene() {
        for (timer_state* const s : {&timer, &other}) {
            s->waits.clear();
            entries.remove(*s);
            d.settle(*s);
        }
    }

    void file(timer_state& s, wait_node& w) {
        entries.file(s);
        d.attach(s, w);
    }
    // As a slice does with a timer that is due.
    void become_due(timer_state& s) {
        entries.remove(s);
        s.set_life(timer_life::due);
        s.waits.for_each([this](wait_node& w) { BOOST_TEST(d.make_ready(w, result::due)); });
    }
    /// The wait of the timer is due, and is postponed before its turn.
    void wait_again() {
        file(timer, wait);
        become_due(timer);
        d.take_back(wait);
    }
    /// The wait is due, and leaves for another executor.
    void send_away(timer_state& s, wait_node& w) {
        file(s, w);
        become_due(s);
        BOOST_TEST((posted() == elements{{kind::wait, &w}}));
        BOOST_TEST(d.leave(w));
    }

    /// What is in the batch; then it is empty.
    [[nodiscard]] elements posted() {
        d.out().post(nullptr);
        return queue.posted;
    }
};

[[nodiscard]] bool is(const wait_node& wait, location where, result how, unsigned refs) {
    return wait.where() == where && wait.result == how && wait.queue_refs == refs;
}

} // namespace

BOOST_AUTO_TEST_SUITE(delivery_)

// ---- A wait and its timer

BOOST_FIXTURE_TEST_CASE(only_a_single_wait_without_a_slot_can_be_cancelled_without_the_lock,
                        scene) {
    file(timer, wait);
    BOOST_TEST((timer.life() == timer_life::waiting));
    BOOST_TEST(wait.owner == &timer);
    d.attach(timer, second);
    BOOST_TEST((timer.life() == timer_life::guarded));
    BOOST_TEST(timer.waits.size() == 2U);
    BOOST_TEST(&timer.waits.front() == &wait);

    slotted_wait bound;
    bound.bind();
    file(other, bound);
    BOOST_TEST((other.life() == timer_life::guarded));
    d.detach_and_remove(bound);

    slotted_wait unbound; // Its handler could have a slot, and has none.
    file(other, unbound);
    BOOST_TEST((other.life() == timer_life::waiting));
    d.detach_and_remove(unbound);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_joins_others_that_are_due_leaves_their_timer_due, scene) {
    file(timer, wait);
    become_due(timer);
    d.attach(timer, second);
    BOOST_TEST((timer.life() == timer_life::due));
    BOOST_TEST(second.owner == &timer);
    BOOST_TEST(timer.waits.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_detached_wait_knows_neither_its_timer_nor_its_slot, scene) {
    slotted_wait bound;
    bound.bind();
    file(timer, bound);
    d.attach(timer, wait);
    d.detach(bound);
    BOOST_TEST(bound.owner == nullptr);
    BOOST_TEST(!bound.is_bound());
    BOOST_TEST(timer.waits.size() == 1U);
    BOOST_TEST(timer.filed());
    d.detach(wait);
    BOOST_TEST(wait.owner == nullptr);
    BOOST_TEST(timer.waits.empty());
    BOOST_TEST(timer.filed()); // The caller settles that.
    BOOST_TEST((timer.life() == timer_life::guarded));
    BOOST_TEST(d.due_elsewhere() == 0U);
    d.settle(timer);
}

BOOST_FIXTURE_TEST_CASE(a_timer_leaves_the_wheel_with_the_last_wait_that_is_removed, scene) {
    file(timer, wait);
    d.attach(timer, second);
    d.detach_and_remove(wait);
    BOOST_TEST(wait.owner == nullptr);
    BOOST_TEST(timer.filed());
    BOOST_TEST((timer.life() == timer_life::guarded));
    d.detach_and_remove(second);
    BOOST_TEST(!timer.filed());
    BOOST_TEST((timer.life() == timer_life::inactive));
}

BOOST_FIXTURE_TEST_CASE(a_timer_without_waits_is_a_tombstone_as_long_as_it_is_filed, scene) {
    file(timer, wait);
    d.settle(timer); // It has a wait.
    BOOST_TEST((timer.life() == timer_life::waiting));
    d.detach(wait);
    d.settle(timer);
    BOOST_TEST((timer.life() == timer_life::tombstone));
    entries.remove(timer);
    d.settle(timer);
    BOOST_TEST((timer.life() == timer_life::inactive));
}

BOOST_FIXTURE_TEST_CASE(a_slot_that_is_disconnected_does_not_reach_the_wait, scene) {
    slotted_wait bound;
    bound.bind();
    delivery::disconnect_slot(bound);
    BOOST_TEST(!bound.is_bound());
    delivery::disconnect_slot(bound); // There is none any more,
    delivery::disconnect_slot(wait);  // or never was.
    BOOST_TEST(!bound.is_bound());
}

// ---- Into the queue

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_due_is_queued_and_can_be_found_there, scene) {
    file(timer, wait);
    BOOST_TEST(d.make_ready(wait, result::due));
    BOOST_TEST(is(wait, location::queue, result::due, 1));
    BOOST_TEST(wait.owner == &timer);
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    BOOST_TEST(queue.work == 0); // It counts already.
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_aborted_at_its_timer_is_queued_for_good, scene) {
    file(timer, wait);
    d.detach(wait);
    BOOST_TEST(d.make_ready(wait, result::aborted));
    BOOST_TEST(is(wait, location::queue_final, result::aborted, 1));
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    BOOST_TEST(queue.work == 0);
    d.settle(timer);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_refused_is_queued_for_good, scene) {
    d.finish(wait, result::too_many);
    BOOST_TEST(is(wait, location::queue_final, result::too_many, 1));
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    BOOST_TEST(queue.work == 0);
}

BOOST_FIXTURE_TEST_CASE(a_due_wait_that_is_aborted_stays_where_it_is_queued, scene) {
    file(timer, wait);
    become_due(timer);
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    d.detach(wait);
    BOOST_TEST(d.make_ready(wait, result::aborted));
    BOOST_TEST(is(wait, location::queue, result::aborted, 1));
    BOOST_TEST(posted().empty());
    BOOST_TEST(queue.work == 0);
    d.settle(timer);
}

BOOST_FIXTURE_TEST_CASE(a_due_wait_that_waits_again_counts_as_work_twice, scene) {
    wait_again();
    BOOST_TEST(is(wait, location::queue, result::waiting, 1));
    BOOST_TEST(queue.work == 1);
    BOOST_TEST(d.due_elsewhere() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_aborted_when_it_waits_again_keeps_its_place, scene) {
    wait_again();
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    d.detach(wait);
    BOOST_TEST(d.make_ready(wait, result::aborted));
    BOOST_TEST(is(wait, location::queue, result::aborted, 1));
    BOOST_TEST(posted().empty());
    BOOST_TEST(queue.work == 0); // One place, which counts.
    d.settle(timer);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_due_again_gets_another_place_in_the_queue, scene) {
    wait_again();
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    BOOST_TEST(d.make_ready(wait, result::due));
    BOOST_TEST(is(wait, location::queue, result::due, 2));
    BOOST_TEST((posted() == elements{{kind::proxy, &wait}}));
    BOOST_TEST(queue.work == 1); // Two places.
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(d.first_listed() == nullptr);
}

BOOST_FIXTURE_TEST_CASE(without_memory_a_wait_that_is_due_again_keeps_its_earlier_place, scene) {
    wait_again();
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    queue.has_memory = false;
    BOOST_TEST(d.make_ready(wait, result::due));
    BOOST_TEST(is(wait, location::queue, result::due, 1));
    BOOST_TEST(posted().empty());
    BOOST_TEST(queue.work == 0);
}

BOOST_FIXTURE_TEST_CASE(a_wait_has_no_more_places_in_the_queue_than_can_be_counted, scene) {
    file(timer, wait);
    become_due(timer);
    for (unsigned places = 2; places <= 255; ++places) {
        d.take_back(wait);
        BOOST_TEST(d.make_ready(wait, result::due));
        BOOST_TEST(is(wait, location::queue, result::due, places));
    }
    BOOST_TEST(posted().size() == 255U);
    d.take_back(wait);
    BOOST_TEST(d.make_ready(wait, result::due));
    BOOST_TEST(is(wait, location::queue, result::due, 255));
    BOOST_TEST(posted().empty());
    BOOST_TEST(queue.work == 254); // And what it counted as when it was started.
    for (unsigned places = 254; places >= 1; --places) {
        BOOST_TEST(!delivery::is_turn(wait));
    }
    BOOST_TEST(delivery::is_turn(wait));
}

// ---- Its turn in the queue

BOOST_FIXTURE_TEST_CASE(the_last_of_its_places_in_the_queue_is_the_turn_of_a_wait, scene) {
    wait_again();
    BOOST_TEST(d.make_ready(wait, result::due));
    BOOST_TEST(!delivery::is_turn(wait));
    BOOST_TEST(is(wait, location::queue, result::due, 1));
    BOOST_TEST(delivery::is_turn(wait));
    BOOST_TEST(is(wait, location::queue, result::due, 0));
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_waits_again_at_its_turn_goes_back_to_its_timer, scene) {
    wait_again();
    BOOST_TEST(d.make_ready(wait, result::due));
    d.take_back(wait);
    BOOST_TEST(!delivery::is_turn(wait)); // There is another place.
    BOOST_TEST(is(wait, location::queue, result::waiting, 1));
    BOOST_TEST(!delivery::is_turn(wait));
    BOOST_TEST(is(wait, location::timer, result::waiting, 0));
}

// ---- To other executors and back

BOOST_FIXTURE_TEST_CASE(a_due_wait_that_leaves_is_counted_and_its_timer_is_listed, scene) {
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(d.first_listed() == nullptr);
    send_away(timer, wait);
    BOOST_TEST(is(wait, location::executor, result::due, 0));
    BOOST_TEST(d.due_elsewhere() == 1U);
    BOOST_TEST(d.first_listed() == &timer);
    d.detach(wait);
    BOOST_TEST(d.due_elsewhere() == 0U);
    d.settle(timer);
    BOOST_TEST(d.first_listed() == nullptr);
    BOOST_TEST((timer.life() == timer_life::inactive));
}

BOOST_FIXTURE_TEST_CASE(a_wait_leaves_only_at_its_turn, scene) {
    wait_again();
    BOOST_TEST(d.make_ready(wait, result::due));
    BOOST_TEST(!d.leave(wait)); // There is another place.
    BOOST_TEST(is(wait, location::queue, result::due, 1));
    BOOST_TEST(d.due_elsewhere() == 0U);
    d.take_back(wait);
    BOOST_TEST(!d.leave(wait)); // It was postponed.
    BOOST_TEST(is(wait, location::timer, result::waiting, 0));
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(d.first_listed() == nullptr);
}

BOOST_FIXTURE_TEST_CASE(an_aborted_wait_that_leaves_is_not_counted, scene) {
    file(timer, wait);
    become_due(timer);
    d.detach_and_remove(wait);
    BOOST_TEST(d.make_ready(wait, result::aborted));
    BOOST_TEST(d.leave(wait)); // It was aborted in the queue,
    BOOST_TEST(is(wait, location::executor, result::aborted, 0));
    d.finish(second, result::aborted);
    BOOST_TEST(d.leave(second)); // or before.
    BOOST_TEST((second.where() == location::executor));
    BOOST_TEST((second.result == result::aborted));
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(d.first_listed() == nullptr);
}

BOOST_FIXTURE_TEST_CASE(a_wait_on_its_way_elsewhere_can_wait_again_and_be_due_again, scene) {
    send_away(timer, wait);
    send_away(other, second);
    BOOST_TEST(d.due_elsewhere() == 2U);
    d.take_back(wait);
    BOOST_TEST(is(wait, location::executor, result::waiting, 0));
    BOOST_TEST(d.due_elsewhere() == 1U);
    BOOST_TEST(queue.work == 1);
    d.unlist(timer);                              // As it is filed again.
    BOOST_TEST(!d.make_ready(wait, result::due)); // The caller ends that work.
    BOOST_TEST(is(wait, location::executor, result::due, 0));
    BOOST_TEST(d.due_elsewhere() == 2U);
    d.unlist(other);
    BOOST_TEST(d.first_listed() == &timer);
    BOOST_TEST(queue.work == 1);
    BOOST_TEST(posted().empty());
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_aborted_on_its_way_elsewhere_goes_on, scene) {
    send_away(timer, wait);
    d.detach_and_remove(wait);
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(d.make_ready(wait, result::aborted)); // It was no work.
    BOOST_TEST(is(wait, location::executor, result::aborted, 0));
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(d.first_listed() == nullptr);

    send_away(other, second);
    d.take_back(second);
    d.detach(second);
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(!d.make_ready(second, result::aborted)); // It waited, which was work.
    BOOST_TEST(is(second, location::executor, result::aborted, 0));
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(posted().empty());
}

BOOST_FIXTURE_TEST_CASE(a_due_wait_that_found_no_memory_elsewhere_is_queued_again, scene) {
    send_away(timer, wait);
    d.come_back(wait);
    BOOST_TEST(is(wait, location::queue, result::due, 1));
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(queue.work == 1);
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
    BOOST_TEST(d.leave(wait)); // Now there is some.
    BOOST_TEST(d.due_elsewhere() == 1U);
    BOOST_TEST(d.first_listed() == &timer);
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_was_postponed_and_found_no_memory_goes_back_to_its_timer,
                        scene) {
    send_away(timer, wait);
    d.take_back(wait);
    d.come_back(wait);
    BOOST_TEST(is(wait, location::timer, result::waiting, 0));
    BOOST_TEST(queue.work == 1); // It waits.
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST(posted().empty());
}

BOOST_FIXTURE_TEST_CASE(an_aborted_wait_that_found_no_memory_is_queued_for_good, scene) {
    send_away(timer, wait);
    d.detach_and_remove(wait);
    BOOST_TEST(d.make_ready(wait, result::aborted));
    d.come_back(wait);
    BOOST_TEST(is(wait, location::queue_final, result::aborted, 1));
    BOOST_TEST(queue.work == 1);
    BOOST_TEST(d.due_elsewhere() == 0U);
    BOOST_TEST((posted() == elements{{kind::wait, &wait}}));
}

BOOST_FIXTURE_TEST_CASE(a_timer_is_listed_once_until_it_is_not_any_more, scene) {
    d.list(timer);
    d.list(timer);
    d.list(other);
    BOOST_TEST(d.first_listed() == &timer);
    d.unlist(timer);
    BOOST_TEST(d.first_listed() == &other);
    d.unlist(timer);
    BOOST_TEST(d.first_listed() == &other);
    d.unlist(other);
    BOOST_TEST(d.first_listed() == nullptr);
    d.list(timer);
    BOOST_TEST(d.first_listed() == &timer);
    d.settle(timer);
    BOOST_TEST(d.first_listed() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
