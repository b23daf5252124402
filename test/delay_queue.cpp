// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Delay queues, against a std::multimap and by themselves.

#include <asio_wheel/delay_queue.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/refusals.hpp"
#include "support/seed.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using asio_wheel::delay_queue;
using boost::system::error_code;

struct popping : virtual_world {
    std::string story;

    // Writes down what it was given.
    [[nodiscard]] auto note() {
        return [this](error_code ec, int value) {
            story += story.empty() ? "" : " ";
            story += !ec ? std::to_string(value) : ec == aborted ? "!" : "closed";
        };
    }
    [[nodiscard]] std::string told() { return std::exchange(story, {}); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(values_can_be_taken_when_their_time_has_come_and_not_before, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1, 10s);
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
    queue.push(3, 30s);
    queue.push(1, 10s);
    queue.push(2, 20s);
    queue.push(4, 30s); // Equal times: first pushed, first taken.
    queue.push(0, 9s + 999ms + 900us);
    pass(15s);
    BOOST_TEST(queue.try_pop().value() == 0);
    queue.push(-1, -10s); // Due longer than what is due already.
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
    pass(1h);
    BOOST_TEST(told() == "");
    queue.push(2, 20s);
    queue.push(1, 10s); // Earlier than what it waits for.
    pass(10s);
    BOOST_TEST(told() == "1");
    queue.async_pop(note());
    queue.async_pop(note());
    pass(10s);
    BOOST_TEST(told() == "2");
    queue.push(3, 0s);
    BOOST_TEST(told() == ""); // not from inside
    poll();
    BOOST_TEST(told() == "3");
}

BOOST_FIXTURE_TEST_CASE(who_asks_first_gets_first, popping) {
    delay_queue<int> queue(ctx);
    std::string order;
    for (const char who : {'a', 'b', 'c'}) {
        queue.async_pop(
            [&order, who](error_code, int value) { order += who + std::to_string(value); });
    }
    queue.push(2, 2s);
    queue.push(1, 1s);
    queue.push(3, 2s);
    pass(2s);
    BOOST_TEST(order == "a1b2c3");
}

BOOST_FIXTURE_TEST_CASE(elements_can_be_erased_and_moved, popping) {
    delay_queue<std::string> queue(ctx);
    const auto a = queue.push("a", 10s);
    const auto b = queue.push("b", 20s);
    const auto c = queue.push("c", 30s);
    BOOST_TEST(queue.erase(a).value() == "a");
    BOOST_TEST(!queue.erase(a));
    BOOST_TEST(!queue.reset(a, 1s));
    BOOST_TEST(queue.reset(c, 5s)); // earlier,
    BOOST_TEST(queue.reset(b, 1h)); // and later
    pass(5s);
    BOOST_TEST(queue.try_pop().value() == "c");
    pass(30s);
    BOOST_TEST(!queue.try_pop());
    pass(1h);
    BOOST_TEST(queue.erase(b).value() == "b"); // Due, and not taken yet.
    BOOST_TEST(!queue.try_pop());
}

BOOST_FIXTURE_TEST_CASE(what_is_due_can_be_moved_away, popping) {
    delay_queue<int> queue(ctx);
    const auto one = queue.push(1, 1s);
    queue.push(2, 1s);
    pass(1s);
    BOOST_TEST(queue.peek_expiry().has_value()); // Looked at, by then.
    BOOST_TEST(queue.reset(one, 1s));
    BOOST_TEST(queue.try_pop().value() == 2);
    BOOST_TEST(!queue.try_pop());
    pass(1s);
    BOOST_TEST(queue.try_pop().value() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_stale_key_never_touches_another_element, popping) {
    delay_queue<int> queue(ctx);
    const auto stale = queue.push(0, 1h);
    static_cast<void>(queue.erase(stale));
    for (int i = 1; i <= 100'000; ++i) {
        const auto fresh = queue.push(i, 1h);
        BOOST_TEST_REQUIRE(!queue.erase(stale));
        BOOST_TEST_REQUIRE(!queue.reset(stale, 1s));
        BOOST_TEST_REQUIRE(queue.erase(fresh).value() == i);
    }
    const auto cleared = queue.push(1, 1h);
    queue.clear();
    BOOST_TEST(queue.size() == 0U);
    queue.push(2, 1h);
    BOOST_TEST(!queue.erase(cleared));
    BOOST_TEST(!queue.erase(stale));
    BOOST_TEST(queue.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(clear_lets_pops_wait_on, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1, 1s);
    queue.async_pop(note());
    queue.clear();
    pass(1h);
    BOOST_TEST(told() == "");
    queue.push(2, 1s);
    pass(1s);
    BOOST_TEST(told() == "2");
}

BOOST_FIXTURE_TEST_CASE(a_closed_queue_ends_pops_and_can_be_emptied, popping) {
    delay_queue<int> queue(ctx);
    queue.push(1, 1s);
    queue.push(2, 2s);
    queue.async_pop(note());
    queue.close();
    BOOST_TEST(queue.closed());
    poll();
    BOOST_TEST(told() == "closed");
    BOOST_TEST((refusal_of([&] { queue.push(3, 1s); }) == asio_wheel::error::queue_closed));
    pass(1s);
    BOOST_TEST(queue.try_pop().value() == 1);
    queue.async_pop(note());
    queue.async_pop(note());
    pass(500ms);
    BOOST_TEST(told() == "");
    pass(500ms);
    BOOST_TEST(told() == "2 closed"); // Nothing is left, and nothing will come.
    queue.async_pop(note());
    poll();
    BOOST_TEST(told() == "closed");
}

BOOST_FIXTURE_TEST_CASE(a_full_queue_refuses_and_loses_nothing, virtual_world) {
    delay_queue<std::unique_ptr<int>> queue(ctx, 2);
    const auto first = queue.push(std::make_unique<int>(1), 1s);
    queue.push(std::make_unique<int>(2), 2s);
    auto third = std::make_unique<int>(3);
    BOOST_TEST(
        (refusal_of([&] { queue.push(std::move(third), 3s); }) == asio_wheel::error::queue_full));
    BOOST_TEST(*third == 3);
    BOOST_TEST(queue.size() == 2U);
    static_cast<void>(queue.erase(first));
    queue.push(std::move(third), 3s);
    BOOST_TEST(queue.size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_pop_can_be_cancelled_in_each_way, popping) {
    asio::cancellation_signal signal;
    std::optional<delay_queue<int>> queue(std::in_place, ctx);
    queue->async_pop(note());
    queue->async_pop(note());
    BOOST_TEST(queue->cancel() == 2U);
    poll();
    BOOST_TEST(told() == "! !");
    queue->push(1, 1s);
    queue->async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    queue->async_pop(note());
    signal.emit(asio::cancellation_type::partial);
    signal.emit(asio::cancellation_type::terminal); // comes to nothing
    pass(1s);
    BOOST_TEST(told() == "! 1");
    queue->async_pop(note());
    queue.reset();
    poll();
    BOOST_TEST(told() == "!");
}

// The fixture checks that the context has run out of work.
BOOST_FIXTURE_TEST_CASE(a_queue_without_pops_does_not_keep_the_context_running, popping) {
    asio::cancellation_signal signal;
    delay_queue<int> queue(ctx);
    queue.push(1, 1h);
    queue.async_pop(asio::bind_cancellation_slot(signal.slot(), note()));
    signal.emit(asio::cancellation_type::total);
    poll();
    BOOST_TEST(told() == "!");
    BOOST_TEST(ctx.stopped());
}

BOOST_FIXTURE_TEST_CASE(one_allocation_lives_while_a_pop_waits, popping) {
    allocations counts;
    delay_queue<int> queue(ctx);
    queue.async_pop(asio::bind_allocator(counting_allocator<>(counts), note()));
    BOOST_TEST(counts.live == 1U);
    queue.push(1, 1s);
    pass(1s);
    BOOST_TEST(told() == "1");
    BOOST_TEST(counts.live == 0U);
    BOOST_TEST(counts.total == 1U);
}

BOOST_FIXTURE_TEST_CASE(peek_expiry_tells_when_the_next_can_be_taken, popping) {
    delay_queue<int> queue(ctx);
    BOOST_TEST(!queue.peek_expiry());
    const auto start = now();
    const auto one = queue.push(1, 1s);
    queue.push(2, 2s);
    BOOST_TEST((queue.peek_expiry().value() == start + 1s));
    static_cast<void>(queue.erase(one));
    BOOST_TEST((queue.peek_expiry().value() == start + 2s));
}

BOOST_FIXTURE_TEST_CASE(peek_shows_what_can_be_taken_and_takes_nothing, popping) {
    delay_queue<std::string> queue(ctx);
    BOOST_TEST(queue.peek() == nullptr);
    queue.push("b", 2s);
    queue.push("a", 1s);
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
    delay_queue<int> queue(ctx, 10);
    BOOST_TEST(queue.capacity() == 10U);
    const auto gone = queue.push(0, 1s);
    queue.push(1, 1s);
    const auto two = queue.push(2, 1h);
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
        queue.push(i, i * 1s);
    }
    poll();
    pass(1s);
    pass(1s);
    pass(1s);
    queue.close();
    poll();
    BOOST_TEST((taken == std::vector{1, 2, 3}));
}

BOOST_FIXTURE_TEST_CASE(it_does_what_a_multimap_does, virtual_world) {
    const std::uint64_t seed = asio_wheel::test::seed();
    std::mt19937_64 random(seed);
    BOOST_TEST_CONTEXT(asio_wheel::test::seed_note(seed)) {
        delay_queue<int> queue(ctx);
        struct held {
            asio_wheel::delay_queue<int>::key key;
            std::multimap<std::chrono::steady_clock::time_point, int>::iterator place;
        };
        std::multimap<std::chrono::steady_clock::time_point, int> model;
        std::map<int, held> all;
        for (int i = 0; i < 20'000; ++i) {
            const auto delay = std::chrono::milliseconds(random() % (1U << (random() % 24)));
            const auto some = [&] {
                return std::next(all.begin(), static_cast<std::ptrdiff_t>(
                                                  random() % std::min<std::size_t>(all.size(), 8)));
            };
            switch (random() % 6) {
            case 0:
            case 1:
                all[i] = {queue.push(i, delay), model.emplace(now() + delay, i)};
                break;
            case 2:
                if (!all.empty()) {
                    const auto it = some();
                    BOOST_TEST_REQUIRE(queue.erase(it->second.key).value() == it->first);
                    BOOST_TEST_REQUIRE(!queue.erase(it->second.key));
                    model.erase(it->second.place);
                    all.erase(it);
                }
                break;
            case 3:
                if (!all.empty()) {
                    const auto it = some();
                    BOOST_TEST_REQUIRE(queue.reset(it->second.key, delay));
                    model.erase(it->second.place);
                    it->second.place = model.emplace(now() + delay, it->first);
                }
                break;
            case 4:
                pass(delay);
                break;
            default:
                // The model's clock has whole milliseconds, too: time begins with a tick.
                if (const auto taken = queue.try_pop()) {
                    BOOST_TEST_REQUIRE(!model.empty());
                    BOOST_TEST_REQUIRE(model.begin()->second == *taken);
                    BOOST_TEST_REQUIRE((model.begin()->first <= now()));
                    model.erase(model.begin());
                    all.erase(*taken);
                } else {
                    BOOST_TEST_REQUIRE((model.empty() || model.begin()->first > now()));
                }
            }
            BOOST_TEST_REQUIRE(queue.size() == model.size());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
