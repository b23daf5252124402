// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// Entries of delay queues: keys and expiries of elements, before and after they are taken. operator
// new is counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/delay_queue.hpp>

#include "support/context.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::delay_queue;
using time_point = std::chrono::steady_clock::time_point;

/// A value without a default constructor.
struct job {
    explicit job(int n) : number(n) {}
    job(job&&) = default;
    job& operator=(job&&) = default;
    int number;
};

using job_queue = delay_queue<job>;
using entry = job_queue::entry;

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_entries, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(an_entry_has_the_key_the_expiry_and_the_value, virtual_world) {
    job_queue queue(ctx);
    const auto start = now();
    const auto late = queue.push(20s, job(2));
    const auto early = queue.push(10s, job(1));
    BOOST_TEST(!queue.try_pop_entry());
    pass(15s);
    const std::optional<entry> first = queue.try_pop_entry();
    BOOST_TEST_REQUIRE(first.has_value());
    BOOST_TEST((first->key == early));
    BOOST_TEST((first->expiry == start + 10s)); // Not the time of the pop.
    BOOST_TEST(first->value.number == 1);
    BOOST_TEST(!queue.contains(early));
    BOOST_TEST(queue.contains(late));
}

BOOST_FIXTURE_TEST_CASE(a_pop_waits_for_an_entry, virtual_world) {
    job_queue queue(ctx);
    const auto start = now();
    std::optional<entry> got;
    const auto take = [&](error_code ec, std::optional<entry> e) {
        BOOST_TEST(!ec == e.has_value());
        got = std::move(e);
    };
    queue.async_pop_entry(take);
    const auto key = queue.push(10s, job(7));
    pass(10s);
    BOOST_TEST_REQUIRE(got.has_value());
    BOOST_TEST((got->key == key));
    BOOST_TEST((got->expiry == start + 10s));
    BOOST_TEST(got->value.number == 7);
    queue.async_pop_entry(take);
    queue.cancel();
    poll();
    BOOST_TEST(!got.has_value());
}

BOOST_FIXTURE_TEST_CASE(entries_in_a_coroutine_on_a_strand, virtual_world) {
    asio_wheel::basic_delay_queue<job, std::chrono::steady_clock,
                                  asio::strand<asio::io_context::executor_type>>
        queue(asio::make_strand(ctx));
    int sum = 0;
    asio::co_spawn(
        queue.get_executor(),
        [&]() -> asio::awaitable<void> {
            for (int i = 0; i < 3; ++i) {
                const auto e = co_await queue.async_pop_entry(asio::use_awaitable);
                sum += e->value.number;
            }
        },
        asio::detached);
    for (int i = 1; i <= 3; ++i) {
        queue.push(i * 1s, job(i));
    }
    pass(1s);
    pass(2s);
    BOOST_TEST(sum == 6);
}

BOOST_FIXTURE_TEST_CASE(pops_of_values_and_of_entries_are_served_in_one_order, virtual_world) {
    delay_queue<int> queue(ctx);
    std::string told;
    queue.async_pop([&](error_code, int v) { told += "value " + std::to_string(v) + ' '; });
    queue.async_pop_entry([&](error_code, std::optional<delay_queue<int>::entry> e) {
        told += "entry " + std::to_string(e->value) + ' ';
    });
    queue.push(1s, 1);
    queue.push(1s, 2);
    pass(1s);
    BOOST_TEST(told == "value 1 entry 2 ");
}

BOOST_FIXTURE_TEST_CASE(an_element_is_found_by_its_key_while_it_is_there, virtual_world) {
    job_queue queue(ctx);
    const auto key = queue.push(10s, job(1));
    BOOST_TEST_REQUIRE(queue.find(key) != nullptr);
    queue.find(key)->number = 5; // The value, not its time.
    BOOST_TEST(std::as_const(queue).find(key)->number == 5);
    BOOST_TEST((*queue.expiry(key) == now() + 10s));
    BOOST_TEST(queue.postpone(key, 1h));
    BOOST_TEST((*queue.expiry(key) == now() + 1h));
    BOOST_TEST(queue.erase(key)->number == 5);
    BOOST_TEST(queue.find(key) == nullptr);
    BOOST_TEST(!queue.contains(key));
    BOOST_TEST(!queue.expiry(key).has_value());
    const auto again = queue.push(10s, job(2)); // In the same place.
    BOOST_TEST(!queue.contains(key));
    BOOST_TEST(queue.contains(again));
    BOOST_TEST(!queue.contains({}));
}

BOOST_FIXTURE_TEST_CASE(the_next_key_is_the_earliest_due_or_not, virtual_world) {
    job_queue queue(ctx);
    BOOST_TEST(!queue.next_key().has_value());
    const auto b = queue.push(20s, job(2));
    const auto a = queue.push(10s, job(1));
    const auto c = queue.push(20s, job(3));
    BOOST_TEST((*queue.next_key() == a));
    BOOST_TEST(queue.erase(a).has_value());
    BOOST_TEST((*queue.next_key() == b));  // Of equal times, the one that was pushed first.
    const auto d = queue.push(1s, job(4)); // Before the times that it has looked at.
    BOOST_TEST((*queue.next_key() == d));
    pass(1s);
    BOOST_TEST((queue.try_pop_entry()->key == d));
    BOOST_TEST(!queue.try_pop().has_value()); // The others are not due.
    pass(19s);
    BOOST_TEST((queue.try_pop_entry()->key == b));
    BOOST_TEST((queue.try_pop_entry()->key == c));
}

BOOST_AUTO_TEST_CASE(keys_hash_and_compare) {
    asio::io_context ctx;
    delay_queue<int> queue(ctx);
    std::set<delay_queue<int>::key> ordered;
    std::unordered_map<delay_queue<int>::key, int> hashed;
    for (int i = 0; i < 1000; ++i) {
        const auto key = queue.push(1h, i);
        ordered.insert(key);
        hashed[key] = i;
        if (i % 3 == 0) {
            queue.erase(key);
        }
    }
    BOOST_TEST(ordered.size() == 1000U);
    BOOST_TEST(hashed.size() == 1000U);
    std::size_t there = 0;
    for (const auto& [key, i] : hashed) {
        there += queue.contains(key) && *queue.find(key) == i ? 1 : 0;
    }
    BOOST_TEST(there == queue.size());
}

BOOST_AUTO_TEST_CASE(what_was_reserved_is_pushed_without_allocating) {
    asio::io_context ctx;
    delay_queue<int> queue(ctx);
    queue.reserve(10'000);
    const std::size_t allocations = allocations_of([&] {
        for (int i = 0; i < 10'000; ++i) {
            queue.push(i * 1ms, i);
        }
    });
    BOOST_TEST(allocations == 0U);
    {
        const out_of_memory none;
        BOOST_CHECK_THROW(queue.reserve(1'000'000), std::bad_alloc);
    }
    const std::size_t most = std::numeric_limits<std::size_t>::max();
    BOOST_CHECK_THROW(queue.reserve(most), std::length_error);
    BOOST_CHECK_THROW(queue.reserve(most - 1), std::length_error);
    BOOST_TEST(queue.size() == 10'000U);
}

BOOST_FIXTURE_TEST_CASE(memory_that_no_element_needs_can_be_freed, virtual_world) {
    delay_queue<std::string> queue(ctx);
    std::vector<delay_queue<std::string>::key> keys;
    const std::size_t before = heap.live;
    const std::string text(100, 'x');
    for (int i = 0; i < 10'000; ++i) {
        keys.push_back(queue.push(1h + i * 1ms, text));
    }
    const std::size_t full = heap.live;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i != 0 && i != 17) {
            queue.erase(keys[i]);
        }
    }
    {
        const out_of_memory none;
        BOOST_CHECK_THROW(queue.shrink_to_fit(), std::bad_alloc);
    }
    queue.shrink_to_fit();
    BOOST_TEST(heap.live - before < (full - before) / 50);
    BOOST_TEST(*queue.find(keys[17]) == text);
    // Old keys stay old, and free places are used again.
    for (int i = 0; i < 1000; ++i) {
        queue.push(1min, "new");
    }
    for (std::size_t i = 1; i < keys.size(); ++i) {
        BOOST_TEST_REQUIRE(queue.contains(keys[i]) == (i == 17));
    }
    pass(1min);
    std::size_t popped = 0;
    for (; const auto e = queue.try_pop_entry(); ++popped) {
        BOOST_TEST_REQUIRE(e->value == "new");
    }
    BOOST_TEST(popped == 1000U);
    BOOST_TEST((*queue.next_key() == keys[0]));
}

BOOST_AUTO_TEST_SUITE_END()
