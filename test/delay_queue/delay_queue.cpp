// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Delay queues: their promises, one by one.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ratio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::delay_queue;

struct popping : virtual_world {

    // Records the results of a pop.
    [[nodiscard]] auto note() {
        return [this](error_code ec, int value) {
            log.text += log.text.empty() ? "" : " ";
            log.text += !ec ? std::to_string(value) : ec == aborted ? "!" : "closed";
        };
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(values_can_be_taken_when_their_time_has_come_and_not_before, popping) {
    delay_queue<int> queue(ctx);
    queue.push(10s, 1);
    BOOST_TEST(queue.size() == 1U);
    pass(10s - 1ns);
    BOOST_TEST(!queue.try_pop());
    pass(1ns);
    BOOST_TEST(queue.try_pop().value() == 1);
    BOOST_TEST(queue.empty());
    BOOST_TEST(!queue.try_pop());
}

BOOST_FIXTURE_TEST_CASE(values_come_in_the_order_of_their_times, popping) {
    delay_queue<int> queue(ctx);
    queue.push(30s, 3);
    queue.push(10s, 1);
    queue.push(20s, 2);
    queue.push(30s, 4); // With equal times, elements are taken in the order of pushes.
    queue.push(9s + 999ms + 900us, 0);
    pass(15s);
    BOOST_TEST(queue.try_pop().value() == 0);
    queue.push(-10s, -1); // Due earlier than the one that is due already.
    BOOST_TEST(queue.try_pop().value() == -1);
    BOOST_TEST(queue.try_pop().value() == 1);
    pass(1h);
    for (const int expected : {2, 3, 4}) {
        BOOST_TEST(queue.try_pop().value() == expected);
    }
}

BOOST_FIXTURE_TEST_CASE(a_pop_waits_for_the_next_value, popping) {
    delay_queue<int> queue(ctx);
    queue.async_pop(note());
    BOOST_TEST(log_after(1h) == "");
    queue.push(20s, 2);
    queue.push(10s, 1); // Earlier than the element for which the pop waits.
    BOOST_TEST(log_after(10s) == "1");
    queue.async_pop(note());
    queue.async_pop(note());
    BOOST_TEST(log_after(10s) == "2");
    queue.push(0s, 3);
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_now() == "3");
}

BOOST_FIXTURE_TEST_CASE(who_asks_first_gets_first, popping) {
    delay_queue<int> queue(ctx);
    std::string order;
    for (const char who : {'a', 'b', 'c'}) {
        queue.async_pop(
            [&order, who](error_code, int value) { order += who + std::to_string(value); });
    }
    queue.push(2s, 2);
    queue.push(1s, 1);
    queue.push(2s, 3);
    pass(2s);
    BOOST_TEST(order == "a1b2c3");
}

BOOST_FIXTURE_TEST_CASE(elements_can_be_erased_and_moved, popping) {
    delay_queue<std::string> queue(ctx);
    const auto a = queue.push(10s, "a");
    const auto b = queue.push(20s, "b");
    const auto c = queue.push(30s, "c");
    BOOST_TEST(queue.erase(a).value() == "a");
    BOOST_TEST(!queue.erase(a));
    BOOST_TEST(!queue.postpone(a, 1s));
    BOOST_TEST(queue.postpone(c, 5s)); // To an earlier time,
    BOOST_TEST(queue.postpone(b, 1h)); // and to a later one.
    pass(5s);
    BOOST_TEST(queue.try_pop().value() == "c");
    pass(30s);
    BOOST_TEST(!queue.try_pop());
    pass(1h);
    BOOST_TEST(queue.erase(b).value() == "b"); // It is due but has not been taken.
    BOOST_TEST(!queue.try_pop());
}

BOOST_FIXTURE_TEST_CASE(what_is_due_can_be_moved_away, popping) {
    delay_queue<int> queue(ctx);
    const auto one = queue.push(1s, 1);
    queue.push(1s, 2);
    pass(1s);
    BOOST_TEST(queue.peek_expiry().has_value()); // It has been visited by then.
    BOOST_TEST(queue.postpone(one, 1s));
    BOOST_TEST(queue.try_pop().value() == 2);
    BOOST_TEST(!queue.try_pop());
    pass(1s);
    BOOST_TEST(queue.try_pop().value() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_stale_key_never_touches_another_element, popping) {
    delay_queue<int> queue(ctx);
    const auto stale = queue.push(1h, 0);
    static_cast<void>(queue.erase(stale));
    for (int i = 1; i <= 100'000; ++i) {
        const auto fresh = queue.push(1h, i);
        BOOST_TEST_REQUIRE(!queue.erase(stale));
        BOOST_TEST_REQUIRE(!queue.postpone(stale, 1s));
        BOOST_TEST_REQUIRE(queue.erase(fresh).value() == i);
    }
    const auto cleared = queue.push(1h, 1);
    queue.clear();
    BOOST_TEST(queue.size() == 0U);
    queue.push(1h, 2);
    BOOST_TEST(!queue.erase(cleared));
    BOOST_TEST(!queue.erase(stale));
    BOOST_TEST(queue.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(clear_lets_pops_wait_on, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1s, 1);
    queue.async_pop(note());
    queue.clear();
    BOOST_TEST(log_after(1h) == "");
    queue.push(1s, 2);
    BOOST_TEST(log_after(1s) == "2");
}

BOOST_FIXTURE_TEST_CASE(a_closed_queue_takes_no_more_and_can_be_emptied, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1s, 1);
    queue.push(2s, 2);
    queue.close();
    BOOST_TEST(queue.closed());
    BOOST_TEST((refusal_of([&] { queue.push(1s, 3); }) == asio_wheel::error::queue_closed));
    pass(1s);
    BOOST_TEST(queue.try_pop().value() == 1);
    queue.async_pop(note());
    queue.async_pop(note());
    BOOST_TEST(log_after(500ms) == "");
    BOOST_TEST(log_after(500ms) == "2 closed"); // The queue is empty and closed.
    queue.async_pop(note());
    BOOST_TEST(log_now() == "closed");
}

// close() affects a waiting pop in the same way as one that starts later.
BOOST_FIXTURE_TEST_CASE(pops_that_wait_when_the_queue_is_closed_get_what_is_left, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1s, 1);
    const auto two = queue.push(2s, 2);
    queue.push(1h, 3);
    for (int i = 0; i < 5; ++i) {
        queue.async_pop(note());
    }
    queue.close();
    BOOST_TEST(log_now() == "");
    BOOST_TEST(log_after(1s) == "1");
    BOOST_TEST(queue.postpone(two, 3s)); // Elements can still be moved,
    BOOST_TEST(log_after(2s) == "");
    BOOST_TEST(log_after(1s) == "2");
    pass(1h); // and when the queue is empty, the remaining pops end.
    BOOST_TEST(take_log() == "3 closed closed");
}

BOOST_FIXTURE_TEST_CASE(closing_an_empty_queue_ends_the_pops_that_wait, popping) {
    delay_queue<int> queue(ctx);
    queue.async_pop(note());
    queue.async_pop(note());
    queue.close();
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_now() == "closed closed");
    queue.close();
    BOOST_TEST(log_now() == "");
}

BOOST_FIXTURE_TEST_CASE(a_full_queue_refuses_and_loses_nothing, virtual_world) {
    delay_queue<std::unique_ptr<int>> queue(ctx, {.max_pending = 2});
    const auto first = queue.push(1s, std::make_unique<int>(1));
    queue.push(2s, std::make_unique<int>(2));
    auto third = std::make_unique<int>(3);
    BOOST_TEST(
        (refusal_of([&] { queue.push(3s, std::move(third)); }) == asio_wheel::error::queue_full));
    BOOST_TEST(*third == 3);
    BOOST_TEST(queue.size() == 2U);
    static_cast<void>(queue.erase(first));
    queue.push(3s, std::move(third));
    BOOST_TEST(queue.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_max_pending_of_zero_is_no_limit, virtual_world) {
    for (const asio_wheel::delay_queue_options& options :
         {asio_wheel::delay_queue_options{}, asio_wheel::delay_queue_options{.max_pending = 0}}) {
        delay_queue<int> queue(ctx, options);
        BOOST_TEST(queue.max_pending() == 0U);
        for (int i = 0; i < 1000; ++i) {
            queue.push(1s, i);
        }
        BOOST_TEST(queue.size() == 1000U);
    }
}

BOOST_FIXTURE_TEST_CASE(a_pop_can_be_cancelled_in_each_way, popping) {
    asio::cancellation_signal signal;
    std::optional<delay_queue<int>> queue(std::in_place, ctx);
    queue->async_pop(note());
    queue->async_pop(note());
    BOOST_TEST(queue->cancel() == 2U);
    BOOST_TEST(log_now() == "! !");
    queue->push(1s, 1);
    queue->async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    queue->async_pop(note());
    signal.emit(asio::cancellation_type::partial);
    signal.emit(asio::cancellation_type::terminal); // No effect.
    BOOST_TEST(log_after(1s) == "! 1");
    queue->async_pop(note());
    queue.reset();
    BOOST_TEST(log_now() == "!");
}

// The fixture checks that the context has run out of work.
BOOST_FIXTURE_TEST_CASE(a_queue_without_pops_does_not_keep_the_context_running, popping) {
    asio::cancellation_signal signal;
    delay_queue<int> queue(ctx);
    queue.push(1h, 1);
    queue.async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST(log_now() == "!");
    BOOST_TEST(ctx.stopped());
}

BOOST_FIXTURE_TEST_CASE(one_allocation_lives_while_a_pop_waits, popping) {
    allocations counts;
    delay_queue<int> queue(ctx);
    queue.async_pop(
        asio::bind_allocator(counting_allocator<>(counts), [&](error_code ec, int value) {
            BOOST_TEST(counts.live == 0U);
            note()(ec, value);
        }));
    BOOST_TEST(counts.live == 1U);
    queue.push(1s, 1);
    BOOST_TEST(log_after(1s) == "1");
    BOOST_TEST(counts.live == 0U);
    BOOST_TEST(counts.total == 1U);
}

BOOST_FIXTURE_TEST_CASE(peek_expiry_tells_when_the_next_can_be_taken, popping) {
    delay_queue<int> queue(ctx);
    BOOST_TEST(!queue.peek_expiry());
    const auto start = now();
    const auto one = queue.push(1s, 1);
    queue.push(2s, 2);
    BOOST_TEST((queue.peek_expiry().value() == start + 1s));
    static_cast<void>(queue.erase(one));
    BOOST_TEST((queue.peek_expiry().value() == start + 2s));
}

BOOST_FIXTURE_TEST_CASE(peek_shows_what_can_be_taken_and_takes_nothing, popping) {
    delay_queue<std::string> queue(ctx);
    BOOST_TEST(queue.peek() == nullptr);
    queue.push(2s, "b");
    queue.push(1s, "a");
    BOOST_TEST(queue.peek() == nullptr);
    pass(2s);
    BOOST_TEST_REQUIRE(queue.peek() != nullptr);
    BOOST_TEST(*queue.peek() == "a");
    BOOST_TEST(queue.size() == 2U);
    BOOST_TEST(queue.try_pop().value() == "a");
    BOOST_TEST(*queue.peek() == "b");
}

BOOST_FIXTURE_TEST_CASE(for_each_shows_every_element_whatever_its_time, popping) {
    const auto start = now();
    delay_queue<int> queue(ctx, {.max_pending = 10});
    BOOST_TEST(queue.max_pending() == 10U);
    const auto gone = queue.push(1s, 0);
    queue.push(1s, 1);
    const auto two = queue.push(1h, 2);
    static_cast<void>(queue.erase(gone));
    pass(1s);
    BOOST_TEST(queue.peek_expiry().has_value()); // One of them was found due.
    std::map<int, std::chrono::steady_clock::time_point> seen;
    queue.for_each([&](const delay_queue<int>::key& k, const int& value, auto time) {
        BOOST_TEST((k == two) == (value == 2));
        seen[value] = time;
    });
    BOOST_TEST(seen.size() == 2U);
    BOOST_TEST((seen.at(1) == start + 1s));
    BOOST_TEST((seen.at(2) == start + 1h));
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_pops, virtual_world) {
    std::vector<int> taken;
    delay_queue<int> queue(ctx);
    const auto worker = [&]() -> asio::awaitable<void> {
        for (;;) {
            const auto [ec, value] = co_await queue.async_pop(asio::as_tuple(asio::use_awaitable));
            if (ec) {
                BOOST_TEST((ec == asio_wheel::error::queue_closed));
                co_return;
            }
            taken.push_back(value);
        }
    };
    asio::co_spawn(ctx, worker, asio::detached);
    for (const int i : {3, 1, 2}) {
        queue.push(i * 1s, i);
    }
    poll();
    pass(1s);
    pass(1s);
    pass(1s);
    queue.close();
    poll();
    BOOST_TEST((taken == std::vector{1, 2, 3}));
}

// T76, T79: each way for an element to become the next one.
BOOST_FIXTURE_TEST_CASE(a_waiting_pop_is_woken_by_an_element_that_is_moved_to_the_past, popping) {
    delay_queue<int> queue(ctx);
    const auto distant = queue.push(1h, 1);
    queue.async_pop(note());
    pass(1s);
    BOOST_TEST(queue.postpone(distant, -1h));
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_now() == "1");
}

// T77, T80
BOOST_FIXTURE_TEST_CASE(a_pop_of_a_closed_queue_is_told_when_nothing_is_left_to_come, popping) {
    const std::vector<void (*)(delay_queue<int>&, delay_queue<int>::key)> ways{
        [](auto& queue, auto k) { static_cast<void>(queue.erase(k)); },
        [](auto& queue, auto) { queue.clear(); },
        [](auto& queue, auto k) {
            static_cast<void>(queue.postpone(k, 0s));
            BOOST_TEST(queue.try_pop().value() == 1);
        }};
    for (const auto& empty : ways) {
        delay_queue<int> queue(ctx);
        const auto k = queue.push(1h, 1);
        queue.close();
        queue.async_pop(note());
        BOOST_TEST(log_now() == "");
        empty(queue, k);
        BOOST_TEST(log_now() == "closed");
    }
}

// T81
BOOST_FIXTURE_TEST_CASE(peek_expiry_takes_nothing_and_moves_nothing, popping) {
    delay_queue<int> queue(ctx);
    queue.async_pop(note());
    queue.push(1s, 1);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST((queue.peek_expiry().value() == now() + 1s));
        BOOST_TEST(queue.size() == 1U);
    }
    elapse(1s);
    BOOST_TEST((queue.peek_expiry().value() == now()));
    BOOST_TEST(log_now() == "1");
}

// T83: the queue's wheel has slots of 64 ticks of one millisecond.
BOOST_FIXTURE_TEST_CASE(elements_at_the_edges_of_slots_can_be_erased, popping) {
    delay_queue<int> queue(ctx);
    const auto start = now();
    for (const auto edge : {64ms, 128ms, 4096ms, 262'144ms}) {
        for (const auto t : {edge - 1ms, edge, edge + 1ms}) {
            const auto gone = queue.push_at(start + t, 0);
            queue.push_at(start + t, 1);
            BOOST_TEST(queue.erase(gone).value() == 0);
            queue.push_at(start + t, 2);
            pass(start + t - 1ns - now());
            BOOST_TEST(!queue.try_pop());
            pass(1ns);
            BOOST_TEST(queue.try_pop().value() == 1);
            BOOST_TEST(queue.erase(queue.push_at(start + t, 3)).value() == 3);
            BOOST_TEST(queue.try_pop().value() == 2);
            BOOST_TEST(!queue.try_pop());
        }
    }
}

BOOST_FIXTURE_TEST_CASE(the_longest_delays_never_end_and_the_most_negative_have, popping) {
    using clock = std::chrono::steady_clock;
    delay_queue<int> queue(ctx);
    const auto never = queue.push(clock::duration::max(), 1);
    queue.push_at(clock::time_point::max(), 2);
    queue.push(std::chrono::hours::max(), 3);
    queue.async_pop(note());
    BOOST_TEST(log_after(24h * 365 * 100) == "");
    queue.push(clock::duration::min(), 4);
    queue.push_at(clock::time_point::min(), 5);
    BOOST_TEST(log_now() == "5");
    BOOST_TEST(queue.try_pop().value() == 4);
    BOOST_TEST(!queue.try_pop());
    BOOST_TEST(queue.erase(never).value() == 1);
    BOOST_TEST(queue.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_delay_that_is_not_a_number_is_refused, virtual_world) {
    using seconds = std::chrono::duration<double>;
    constexpr seconds nan(std::numeric_limits<double>::quiet_NaN());
    const std::string text = "asio_wheel: the delay of an element is not a number (NaN)";
    delay_queue<std::unique_ptr<int>> queue(ctx);
    auto value = std::make_unique<int>(1);
    BOOST_TEST(message_of([&] { queue.push(nan, std::move(value)); }) == text);
    BOOST_TEST(*value == 1);
    BOOST_TEST(queue.empty());
    const auto start = now();
    const auto one = queue.push(1s, std::move(value));
    BOOST_TEST(message_of([&] { static_cast<void>(queue.postpone(one, nan)); }) == text);
    BOOST_TEST((queue.peek_expiry().value() == start + 1s)); // It keeps its time.
    // Infinity is a number: such a time never comes, or is long past.
    queue.push(seconds(std::numeric_limits<double>::infinity()), std::make_unique<int>(2));
    static_cast<void>(queue.postpone(one, seconds(-std::numeric_limits<double>::infinity())));
    BOOST_TEST(*queue.try_pop().value() == 1);
    pass(24h * 365);
    BOOST_TEST(!queue.try_pop());
}

BOOST_FIXTURE_TEST_CASE(a_key_that_was_not_given_out_leads_nowhere, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1h, 1);
    BOOST_TEST(!queue.erase({}));
    BOOST_TEST(!queue.postpone({}, 1s));
    queue.clear();
    queue.push(1h, 2);
    BOOST_TEST(!queue.erase({}));
}

// Destructors of values may call anything.
BOOST_FIXTURE_TEST_CASE(a_value_may_use_the_queue_when_it_is_cleared, virtual_world) {
    struct again {
        explicit again(delay_queue<std::shared_ptr<again>>& q) : queue(q) {}
        ~again() { queue.push(1s, nullptr); }
        delay_queue<std::shared_ptr<again>>& queue;
    };
    delay_queue<std::shared_ptr<again>> queue(ctx);
    for (int i = 0; i < 100; ++i) {
        queue.push(i * 1s, std::make_shared<again>(queue));
    }
    pass(50s);
    static_cast<void>(queue.try_pop()); // Half of them are due.
    queue.clear();
    BOOST_TEST(queue.size() == 99U); // The destroyed value pushed one, which was then cleared.
    pass(1s);
    for (int i = 0; i < 99; ++i) {
        BOOST_TEST(queue.try_pop().has_value());
    }
    BOOST_TEST(queue.empty());
}

BOOST_FIXTURE_TEST_CASE(a_value_that_cannot_be_moved_stays, virtual_world) {
    struct stubborn {
        explicit stubborn(bool& m) : may_move(&m) {}
        stubborn(stubborn&& other) : may_move(other.may_move) {
            if (!*may_move) {
                throw std::runtime_error("no");
            }
        }
        bool* may_move;
    };
    bool may_move = true;
    delay_queue<stubborn> queue(ctx);
    const auto due = queue.push(1s, stubborn(may_move));
    pass(1s);
    may_move = false;
    stubborn other(may_move);
    BOOST_CHECK_THROW(queue.push(0s, std::move(other)), std::runtime_error);
    BOOST_CHECK_THROW(static_cast<void>(queue.try_pop()), std::runtime_error);
    BOOST_CHECK_THROW(queue.erase(due), std::runtime_error);
    BOOST_TEST(queue.size() == 1U);
    may_move = true;
    BOOST_TEST(queue.try_pop().has_value());
    BOOST_TEST(queue.empty());
}

// The owner of a slot may use it for another operation by the time the pop completes.
BOOST_FIXTURE_TEST_CASE(a_slot_that_is_given_away_is_left_alone, popping) {
    asio::cancellation_signal signal;
    delay_queue<int> queue(ctx), other(ctx);
    queue.async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    other.async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    queue.push(0s, 1);
    BOOST_TEST(log_now() == "1");
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_now() == "!");
    signal.emit(asio::cancellation_type::terminal);
}

BOOST_FIXTURE_TEST_CASE(a_signal_may_end_before_the_pop_and_the_queue_before_the_signal, popping) {
    std::optional<delay_queue<int>> queue(std::in_place, ctx);
    {
        asio::cancellation_signal signal;
        queue->async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    }
    queue->push(0s, 1);
    BOOST_TEST(log_now() == "1");
    asio::cancellation_signal signal;
    queue->async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    queue.reset();
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_now() == "!");
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_do_anything_to_the_queue, popping) {
    std::optional<delay_queue<int>> queue(std::in_place, ctx);
    asio::cancellation_signal signal;
    queue->push(0s, 1);
    queue->push(0s, 2);
    queue->async_pop(asio::bind_cancellation_slot(signal.slot(), [&](error_code, int value) {
        BOOST_TEST(value == 1);
        signal.emit(asio::cancellation_type::terminal); // No effect.
        queue->clear();
        queue->async_pop([&](error_code ec, int) {
            BOOST_TEST(ec == aborted);
            queue.reset();
        });
        queue->cancel();
    }));
    poll();
    BOOST_TEST(!queue.has_value());
}

BOOST_AUTO_TEST_CASE(pops_end_with_the_context_without_a_call) {
    const auto alive = std::make_shared<int>();
    bool called = false;
    asio::cancellation_signal signal;
    {
        std::optional<asio::io_context> ctx(std::in_place);
        delay_queue<int> queue(*ctx);
        queue.push(1h, 1);
        for (int i = 0; i < 3; ++i) {
            queue.async_pop(asio::bind_cancellation_slot(
                signal.slot(), [&called, alive](error_code, int) { called = true; }));
        }
        BOOST_TEST(alive.use_count() == 4);
        ctx.reset();
        BOOST_TEST(alive.use_count() == 1);
        signal.emit(asio::cancellation_type::terminal);
        BOOST_TEST(queue.size() == 1U); // The queue outlives its context.
    }
    BOOST_TEST(!called);
}

BOOST_AUTO_TEST_CASE(a_queue_may_be_used_after_the_end_of_its_context) {
    std::optional<asio::io_context> ctx(std::in_place);
    delay_queue<int> queue(*ctx);
    queue.push(0s, 1);
    const auto late = queue.push(1h, 2);
    ctx.reset();
    BOOST_TEST(queue.try_pop().value_or(0) == 1);
    BOOST_TEST(!queue.try_pop().has_value());
    queue.push(0s, 3);
    BOOST_TEST_REQUIRE(queue.peek() != nullptr);
    BOOST_TEST(*queue.peek() == 3);
    BOOST_TEST(queue.try_pop().value_or(0) == 3);
    BOOST_TEST(queue.postpone(late, 0s));
    BOOST_TEST(queue.try_pop().value_or(0) == 2);
    queue.close();
    BOOST_CHECK_THROW(queue.push(0s, 4), boost::system::system_error);
}

// A session that ends emits a signal, as its destructor does; here, after it has ended its queue.
BOOST_AUTO_TEST_CASE(when_the_context_ends_the_end_of_one_handler_may_cancel_another_pop) {
    struct session {
        ~session() {
            queue.reset();
            stop.emit(asio::cancellation_type::terminal);
        }
        std::unique_ptr<delay_queue<int>> queue;
        asio::cancellation_signal stop;
    };
    const auto alive = std::make_shared<int>();
    {
        asio::io_context ctx;
        auto owner = std::make_unique<session>();
        session& s = *owner;
        s.queue = std::make_unique<delay_queue<int>>(ctx);
        s.queue->async_pop([owner = std::move(owner)](error_code, int) {});
        s.queue->async_pop(asio::bind_cancellation_slot(
            s.stop.slot(), [alive](error_code, int) { BOOST_ERROR("called"); }));
        BOOST_TEST(alive.use_count() == 2);
    }
    BOOST_TEST(alive.use_count() == 1);
}

// The pop's handler holds the last reference to its objects.
BOOST_AUTO_TEST_CASE(a_pop_that_owns_its_queue_ends_with_the_context) {
    struct session : std::enable_shared_from_this<session> {
        explicit session(asio::io_context& ctx) : queue(ctx) {}
        void start() {
            queue.async_pop([self = shared_from_this()](error_code, int) {});
            queue.async_pop([self = shared_from_this()](error_code, int) {});
        }
        delay_queue<int> queue;
    };
    std::weak_ptr<session> callback, cancelled;
    bool ended = false;
    {
        asio::io_context ctx;
        const auto first = std::make_shared<session>(ctx);
        callback = first;
        first->start();
        const auto second = std::make_shared<session>(ctx);
        cancelled = second;
        second->start();
        second->queue.cancel(); // Queued when the context is destroyed.
        second->start();
        asio::co_spawn(
            ctx,
            [&ended]() -> asio::awaitable<void> {
                const std::shared_ptr<bool> guard(&ended, [](bool* b) { *b = true; });
                delay_queue<int> queue(co_await asio::this_coro::executor);
                co_await queue.async_pop(asio::use_awaitable);
            },
            asio::detached);
        ctx.poll();
    }
    BOOST_TEST(callback.expired());
    BOOST_TEST(cancelled.expired());
    BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(what_the_wheel_refuses_is_told) {
    drained_context world;
    auto& wheel = asio_wheel::make_wheel(world.ctx, {.max_pending = 1});
    asio_wheel::steady_timer other(world.ctx, 1h);
    other.async_wait(ignore);
    delay_queue<int> queue(world.ctx);
    std::vector<error_code> seen;
    const auto note = [&](error_code ec, int) { seen.push_back(ec); };
    queue.push(1h, 1);
    queue.async_pop(note);
    queue.async_pop(note);
    world.poll();
    const error_code too_many = asio_wheel::error::too_many_pending;
    BOOST_TEST((seen == std::vector{too_many, too_many}));
    other.cancel();
    seen.clear();
    queue.async_pop(note);
    world.poll();
    BOOST_TEST(seen.empty());
    static_cast<void>(wheel.drain());
    world.poll();
    queue.async_pop(note);
    world.poll();
    const error_code stopped = asio_wheel::error::wheel_stopped;
    BOOST_TEST((seen == std::vector{stopped, stopped}));
    BOOST_TEST(queue.size() == 1U); // Nothing is lost,
    queue.push(-1s, 2);
    BOOST_TEST(queue.try_pop().value() == 2); // and due elements do not need the wheel.
}

BOOST_FIXTURE_TEST_CASE(a_handler_runs_through_its_executor_which_works_meanwhile, virtual_world) {
    asio::io_context other;
    delay_queue<std::unique_ptr<int>> queue(ctx);
    int taken = 0;
    queue.async_pop(asio::bind_executor(
        other, [&taken, only = std::make_unique<int>()](error_code ec, std::unique_ptr<int> v) {
            BOOST_TEST(!ec);
            taken = *v;
        }));
    queue.push(1s, std::make_unique<int>(1));
    BOOST_TEST(other.poll() == 0U);
    BOOST_TEST(!other.stopped()); // It has work.
    pass(1s);
    BOOST_TEST(taken == 0);
    other.poll();
    BOOST_TEST(taken == 1);
    BOOST_TEST(other.stopped());
}

BOOST_FIXTURE_TEST_CASE(other_tokens_and_default_tokens, virtual_world) {
    using io_executor = asio::io_context::executor_type;
    using awaitable_queue = asio::use_awaitable_t<io_executor>::as_default_on_t<delay_queue<int>>;
    static_assert(std::is_same_v<awaitable_queue::value_type, int>);
    delay_queue<int> queue(ctx.get_executor());
    std::future<int> future = queue.async_pop(asio::use_future);
    queue.push(1s, 1);
    pass(1s);
    BOOST_TEST(future.get() == 1);
    auto later = queue.async_pop(asio::deferred);
    queue.push(0s, 2);
    BOOST_TEST(queue.size() == 1U); // Not taken yet.
    int taken = 0;
    std::move(later)([&](error_code, int value) { taken = value; });
    poll();
    BOOST_TEST(taken == 2);
    error_code late;
    queue.async_pop(asio_wheel::timeout(1s, [&](error_code ec, int) { late = ec; }));
    pass(1s);
    BOOST_TEST((late == asio_wheel::error::timed_out));
}

// Real time. Handlers run on the pool, the queue on its strand.
BOOST_AUTO_TEST_CASE(a_pool_uses_a_queue_on_a_strand) {
    constexpr int values = 2'000;
    asio::thread_pool pool(3);
    const auto strand = asio::make_strand(pool);
    delay_queue<int> queue(strand);
    std::atomic<int> taken{0}, cancelled{0};
    std::function<void()> work = [&] {
        queue.async_pop(asio::bind_executor(pool, [&](error_code ec, int) {
            if (ec == asio_wheel::error::queue_closed) {
                return;
            }
            ++(ec ? cancelled : taken);
            asio::post(strand, work);
        }));
    };
    for (int i = 0; i < 4; ++i) {
        asio::post(strand, work);
    }
    for (int i = 0; i < values; ++i) {
        asio::post(strand, [&, i] { queue.push(std::chrono::microseconds(i % 10 * 300), i); });
        if (i % 10 == 0) {
            asio::post(strand, [&] { queue.cancel(); });
        }
    }
    const std::function<void()> close_when_empty = [&] {
        if (queue.empty()) {
            queue.close();
        } else {
            asio::post(strand, close_when_empty);
        }
    };
    asio::post(strand, close_when_empty);
    pool.join();
    BOOST_TEST(taken == values);
    BOOST_TEST(cancelled > 0);
}

BOOST_AUTO_TEST_SUITE_END()
