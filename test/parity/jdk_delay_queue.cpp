// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// The features of the JDK's java.util.concurrent.DelayQueue.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::delay_queue;
using time_point = std::chrono::steady_clock::time_point;

using words = delay_queue<std::string>;

struct queueing : virtual_world {
    words queue{ctx};

    // Handles the element that a take() returns.
    [[nodiscard]] auto take() {
        return [this](error_code ec, const std::string& word) {
            log.text += log.text.empty() ? "" : " ";
            log.text += ec ? ec == std::errc::timed_out ? "null" : "interrupted" : word;
        };
    }

    // toArray(), sorted here, because its order is unspecified.
    [[nodiscard]] std::vector<std::string> all() const {
        std::vector<std::string> words_of_it;
        queue.for_each([&](const words::key&, const std::string& word, const time_point&) {
            words_of_it.push_back(word);
        });
        std::sort(words_of_it.begin(), words_of_it.end());
        return words_of_it;
    }

    // Returns the keys of all elements for which pred(word) is true.
    template <class Predicate>
    [[nodiscard]] std::vector<words::key> keys_if(Predicate pred) const {
        std::vector<words::key> keys;
        queue.for_each([&](const words::key& k, const std::string& word, const time_point&) {
            if (pred(word)) {
                keys.push_back(k);
            }
        });
        return keys;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_jdk_delay_queue, *boost::unit_test::timeout(60))

// take()

BOOST_FIXTURE_TEST_CASE(take_waits_for_the_first_element_whose_delay_is_over, queueing) {
    queue.async_pop(take());
    BOOST_TEST(log_after(1h) == "");
    queue.push(20s, "b");
    queue.push(10s, "a"); // Becomes the head in the meantime.
    BOOST_TEST(log_after(10s) == "a");
    queue.async_pop(take());
    BOOST_TEST(log_after(10s) == "b");
}

BOOST_FIXTURE_TEST_CASE(who_waits_can_be_interrupted_and_has_taken_nothing, queueing) {
    asio::cancellation_signal interrupt;
    queue.push(1s, "a");
    queue.async_pop(asio::bind_cancellation_slot(interrupt.slot(), take()));
    interrupt.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_after(1s) == "interrupted");
    BOOST_TEST(queue.try_pop().value() == "a");
}

// poll(timeout, unit)

BOOST_FIXTURE_TEST_CASE(poll_waits_no_longer_than_it_is_told_to, queueing) {
    queue.push(10s, "a");
    queue.async_pop(asio_wheel::timeout(5s, take()));
    queue.async_pop(asio_wheel::timeout(15s, take()));
    BOOST_TEST(log_after(5s) == "null");
    BOOST_TEST(log_after(5s) == "a");
    BOOST_TEST(log_after(1h) == "");
}

// peek(), element()

BOOST_FIXTURE_TEST_CASE(the_head_can_be_found_before_it_is_due, queueing) {
    queue.push(2s, "b");
    queue.push(1s, "a");
    queue.push(3s, "c");
    std::optional<std::pair<time_point, std::string>> head;
    queue.for_each([&](const words::key&, const std::string& word, const time_point& t) {
        if (!head || t < head->first) {
            head.emplace(t, word);
        }
    });
    BOOST_TEST(head.value().second == "a");
}

// remove(), of Java 21, throws if nothing is due
BOOST_FIXTURE_TEST_CASE(what_is_not_there_can_be_an_exception, queueing) {
    queue.push(1s, "a");
    BOOST_TEST(thrown_by<std::bad_optional_access>([&] { queue.try_pop().value(); }).has_value());
}

// remove(o), contains(o)

BOOST_FIXTURE_TEST_CASE(elements_are_removed_by_what_they_are, queueing) { // and removeIf(p)
    for (const char* const word : {"a", "b", "a", "c"}) {
        queue.push(1s, word);
    }
    const auto found = keys_if([](const std::string& word) { return word == "a"; });
    BOOST_TEST(found.size() == 2U); // contains("a")
    for (const auto& k : found) {
        static_cast<void>(queue.erase(k));
    }
    BOOST_TEST((all() == std::vector<std::string>{"b", "c"}));
}

// drainTo(c), drainTo(c, maxElements)

BOOST_FIXTURE_TEST_CASE(what_is_due_can_be_taken_all_at_once, queueing) {
    for (const char* const word : {"a", "b", "c"}) {
        queue.push(1s, word);
    }
    queue.push(2s, "d");
    pass(1s);
    std::vector<std::string> drained;
    const auto drain = [&](std::size_t most) {
        for (; most != 0; --most) {
            std::optional<std::string> word = queue.try_pop();
            if (!word) {
                break;
            }
            drained.push_back(std::move(*word));
        }
    };
    drain(2);
    BOOST_TEST((drained == std::vector<std::string>{"a", "b"}));
    drain(100);
    BOOST_TEST((drained == std::vector<std::string>{"a", "b", "c"}));
    BOOST_TEST(queue.size() == 1U);
}

// Theirs may be called by any thread; ours by one strand, to which other threads post

BOOST_AUTO_TEST_CASE(threads_share_a_queue_on_a_strand) { // real time
    constexpr int each = 100;
    asio::thread_pool pool(2);
    const auto strand = asio::make_strand(pool);
    delay_queue<int> queue(strand);
    const auto blocking_take = [&] {
        const auto wait = [&]() -> asio::awaitable<int> {
            co_return co_await queue.async_pop(asio::use_awaitable);
        };
        return asio::co_spawn(strand, wait, asio::use_future).get();
    };
    std::array<long, 2> sums{};
    {
        std::vector<std::jthread> threads;
        for (long& sum : sums) {
            threads.emplace_back([&] { // puts
                for (int i = 1; i <= each; ++i) {
                    asio::post(strand, [&queue, i] { queue.push((i % 3) * 1us, i); });
                }
            });
            threads.emplace_back([&] { // takes
                for (int i = 1; i <= each; ++i) {
                    sum += blocking_take();
                }
            });
        }
    }
    BOOST_TEST(sums[0] + sums[1] == each * (each + 1));
    pool.join();
    BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_SUITE_END()
