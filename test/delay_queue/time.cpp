// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The times of elements in a delay queue are compared exactly, at any position within a tick, and
// whatever the clock does.

#include <asio_wheel/delay_queue.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <ratio>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::basic_delay_queue;
using asio_wheel::delay_queue;
using std::chrono::nanoseconds;

// Positions within a tick of one millisecond, and distances of elements.
constexpr std::array offsets{0ns, 1ns, 400'000ns, 999'999ns};
constexpr std::array<nanoseconds, 11> delays{
    1ns, 2ns, 999'999ns, 1ms, 1ms + 1ns, 255ms, 256ms + 1ns, 10s - 1ns, 10s, 65'537ms, 24h * 30};

// A clock that tests set.
struct wall_clock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = nanoseconds;
    using time_point = std::chrono::time_point<wall_clock>;
    static constexpr bool is_steady = false;
    static inline std::atomic<std::int64_t> shown{1'000'000'000'000'000'000};
    static time_point now() { return time_point(duration(shown.load())); }
    static void move(duration d) { shown += d.count(); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_time, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(an_element_can_be_taken_from_its_time_on_and_not_a_nanosecond_before,
                        virtual_time) {
    delay_queue<int> queue(ctx);
    for (const nanoseconds offset : offsets) {
        elapse(offset);
        for (const nanoseconds delay : delays) {
            BOOST_TEST_CONTEXT("offset " << offset.count() << ", delay " << delay.count()) {
                const auto time = now() + delay;
                queue.push(delay, 1);
                elapse(delay - 1ns);
                BOOST_TEST(queue.peek() == nullptr);
                BOOST_TEST(!queue.try_pop());
                BOOST_TEST((queue.peek_expiry().value() == time));
                elapse(1ns);
                BOOST_TEST_REQUIRE(queue.peek() != nullptr);
                BOOST_TEST((queue.peek_expiry().value() == time));
                BOOST_TEST(queue.try_pop().value() == 1);
            }
        }
    }
}

BOOST_FIXTURE_TEST_CASE(elements_of_one_tick_come_in_the_order_of_their_exact_times, virtual_time) {
    delay_queue<int> queue(ctx);
    elapse(123'456ns);
    for (const int i : {5, 3, 8, 1, 9, 2, 7, 4, 6}) {
        queue.push(i * 100ns, i);
    }
    for (int i = 1; i <= 9; ++i) {
        elapse(99ns);
        BOOST_TEST(!queue.try_pop());
        elapse(1ns);
        BOOST_TEST(queue.try_pop().value() == i);
    }
}

BOOST_FIXTURE_TEST_CASE(peek_expiry_is_exact_after_the_next_one_was_erased_or_moved, virtual_time) {
    delay_queue<int> queue(ctx);
    elapse(123'456ns);
    const auto start = now();
    const auto a = queue.push(1ns, 1);
    const auto b = queue.push(10s + 1ns, 2);
    const auto c = queue.push(10s + 2ns, 3);
    queue.push(10s + 7ns, 4);
    queue.push(24h, 5);
    static_cast<void>(queue.erase(a));
    BOOST_TEST((queue.peek_expiry().value() == start + 10s + 1ns));
    static_cast<void>(queue.postpone(b, 24h + 1ns));
    BOOST_TEST((queue.peek_expiry().value() == start + 10s + 2ns));
    elapse(10s); // In the tick of both, but before their times.
    BOOST_TEST(!queue.try_pop());
    static_cast<void>(queue.erase(c));
    BOOST_TEST((queue.peek_expiry().value() == start + 10s + 7ns));
    elapse(7ns);
    BOOST_TEST(queue.try_pop().value() == 4);
    BOOST_TEST((queue.peek_expiry().value() == start + 24h));
}

// The wait for the next element is for its exact time.
BOOST_FIXTURE_TEST_CASE(a_pop_that_waits_gets_its_value_when_try_pop_would, virtual_time) {
    // Paused time advances tick by tick.
    constexpr nanoseconds slack = 1ms;
    delay_queue<int> queue(ctx);
    std::optional<int> taken;
    for (const nanoseconds offset : offsets) {
        elapse(offset);
        for (const nanoseconds delay : delays) {
            BOOST_TEST_CONTEXT("offset " << offset.count() << ", delay " << delay.count()) {
                queue.push(delay, 1);
                queue.push(delay + 10s, 2);
                queue.async_pop([&](error_code, int value) { taken = value; });
                pass(delay - 1ns);
                BOOST_TEST(!taken);
                pass(1ns);
                if (!taken) {
                    pass(slack);
                }
                BOOST_TEST((std::exchange(taken, std::nullopt) == 1));
                // The time of the next one is found when the first one has been handed out.
                queue.async_pop([&](error_code, int value) { taken = value; });
                queue.async_pop([&](error_code, int value) { taken = value; });
                pass(queue.peek_expiry().value() - now() - 1ns);
                BOOST_TEST(!taken);
                pass(1ns);
                if (!taken) {
                    pass(slack);
                }
                BOOST_TEST((std::exchange(taken, std::nullopt) == 2));
                BOOST_TEST(queue.cancel() == 1U);
                poll();
                taken.reset();
            }
        }
    }
}

// It does not wait for the next tick.
BOOST_FIXTURE_TEST_CASE(what_is_pushed_when_its_time_has_come_goes_to_a_waiting_pop_at_once,
                        virtual_time) {
    delay_queue<int> queue(ctx);
    std::vector<int> taken;
    const auto take = [&](error_code, int value) { taken.push_back(value); };
    elapse(123'456ns);
    for (int i = 0; i < 4; ++i) {
        queue.async_pop(take);
    }
    queue.push(0s, 1);
    BOOST_TEST(taken.empty()); // Not inside the call.
    poll();
    BOOST_TEST((taken == std::vector{1}));
    queue.push(-1s, 3); // Handed out after this handler has returned,
    queue.push(-2s, 2); // in the order of their times.
    poll();
    BOOST_TEST((taken == std::vector{1, 2, 3}));
    const auto distant = queue.push(1h, 4);
    poll();
    BOOST_TEST(queue.postpone(distant, 0s));
    poll();
    BOOST_TEST((taken == std::vector{1, 2, 3, 4}));
}

// T89
BOOST_FIXTURE_TEST_CASE(a_clock_may_be_set_back_and_forward, drained_context) {
    basic_delay_queue<int, wall_clock> queue(ctx);
    wall_clock::move(1min);
    BOOST_TEST(!queue.try_pop());
    queue.push(10min, 1);
    wall_clock::move(5min);
    BOOST_TEST(!queue.try_pop());
    wall_clock::move(-1h);
    queue.push(1min, 2); // Within an hour that has passed.
    BOOST_TEST((queue.peek_expiry().value() == wall_clock::now() + 1min));
    wall_clock::move(1min - 1ns);
    BOOST_TEST(!queue.try_pop());
    wall_clock::move(1ns);
    BOOST_TEST(queue.try_pop().value() == 2);
    wall_clock::move(1h + 4min - 1ns);
    BOOST_TEST(!queue.try_pop());
    wall_clock::move(1ns);
    BOOST_TEST(queue.try_pop().value() == 1);
}

BOOST_FIXTURE_TEST_CASE(what_was_due_is_not_any_more_when_the_clock_was_set_back, drained_context) {
    basic_delay_queue<int, wall_clock> queue(ctx);
    for (int i = 0; i < 200; ++i) {
        queue.push(i * 1s, i);
    }
    wall_clock::move(100s);
    BOOST_TEST(queue.try_pop().value() == 0); // Some others were visited with it.
    wall_clock::move(-50s);
    queue.push(500ms, 1000);
    for (int i = 1; i <= 50; ++i) {
        BOOST_TEST(queue.try_pop().value() == i);
    }
    BOOST_TEST(!queue.try_pop());
    BOOST_TEST(queue.peek() == nullptr);
    BOOST_TEST((queue.peek_expiry().value() == wall_clock::now() + 500ms));
    wall_clock::move(500ms);
    BOOST_TEST(queue.try_pop().value() == 1000);
    wall_clock::move(1h);
    for (int i = 51; i < 200; ++i) {
        BOOST_TEST(queue.try_pop().value() == i);
    }
    BOOST_TEST(queue.empty());
}

// Set by years: nothing overflows, and times are still compared exactly.
BOOST_FIXTURE_TEST_CASE(a_clock_that_jumps_agrees_with_a_multimap, drained_context) {
    std::mt19937_64 random(asio_wheel::test::seed());
    basic_delay_queue<int, wall_clock> queue(ctx);
    using place = std::pair<wall_clock::time_point, int>; // Later ones have larger numbers.
    std::map<place, decltype(queue)::key> model;
    const auto some_time = [&] {
        const auto span = std::uint64_t{1} << (random() % 56);
        return nanoseconds(random() % span) * (random() % 2 == 0 ? 1 : -1);
    };
    const auto some = [&] {
        return std::next(model.begin(), static_cast<std::ptrdiff_t>(
                                            random() % std::min<std::size_t>(model.size(), 8)));
    };
    for (int i = 0; i < 20'000; ++i) {
        switch (random() % 8) {
        case 0:
        case 1:
        case 2: {
            const auto t = wall_clock::now() + some_time();
            model.emplace(place(t, i), queue.push_at(t, i));
            break;
        }
        case 3:
            if (!model.empty()) {
                const auto it = some();
                BOOST_TEST_REQUIRE(queue.erase(it->second).value() == it->first.second);
                model.erase(it);
            }
            break;
        case 4:
            wall_clock::move(some_time());
            break;
        default:
            const auto value = queue.try_pop();
            if (model.empty() || model.begin()->first.first > wall_clock::now()) {
                BOOST_TEST_REQUIRE(!value);
            } else {
                BOOST_TEST_REQUIRE((value == model.begin()->first.second));
                model.erase(model.begin());
            }
        }
        BOOST_TEST_REQUIRE(queue.size() == model.size());
        if (!model.empty()) {
            BOOST_TEST_REQUIRE((queue.peek_expiry().value() == model.begin()->first.first));
        }
    }
    wall_clock::shown = 1'000'000'000'000'000'000;
}

BOOST_AUTO_TEST_SUITE_END()
