// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The outbox by itself: what goes into a queue that records it.

#include <asio_wheel/detail/core/outbox.hpp>

#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>

#include "support/recorded_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace {

using namespace asio_wheel::detail;
using asio_wheel::test::recorded_queue;
using kind = recorded_queue::kind;
using elements = recorded_queue::elements;
using proxy = queue_port::proxy;

struct some_wait : wait_node {
    some_wait() : wait_node(form()) {}
};

struct scene {
    recorded_queue queue;
    outbox out{queue};
    some_wait a;
    some_wait b;
    some_wait c;
};

} // namespace

BOOST_AUTO_TEST_SUITE(outbox_)

BOOST_FIXTURE_TEST_CASE(what_comes_first_is_queued_first, scene) {
    out.push(a);
    BOOST_TEST(out.push_proxy(b, proxy::deliver));
    out.push(c);
    out.push_turn();
    BOOST_TEST(out.push_proxy(a, proxy::abort));
    BOOST_TEST(queue.posts == 0);
    out.post(nullptr);
    BOOST_TEST(queue.posts == 1);
    BOOST_TEST((queue.posted == elements{{kind::wait, &a},
                                         {kind::proxy, &b},
                                         {kind::wait, &c},
                                         {kind::turn},
                                         {kind::abort, &a}}));
}

BOOST_FIXTURE_TEST_CASE(many_waits_cost_few_calls_of_the_queue_and_none_is_lost, scene) {
    std::deque<some_wait> waits(100);
    for (some_wait& wait : waits) {
        out.push(wait);
    }
    out.post(nullptr);
    BOOST_TEST(queue.pushed == (std::vector<std::size_t>{32, 32, 32, 4}),
               boost::test_tools::per_element());
    BOOST_REQUIRE(queue.posted.size() == waits.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
        BOOST_TEST((queue.posted[i] == recorded_queue::element{kind::wait, &waits[i]}));
    }
}

BOOST_FIXTURE_TEST_CASE(it_is_empty_until_something_comes_and_when_that_was_posted, scene) {
    BOOST_TEST(out.empty());
    out.push(a);
    BOOST_TEST(!out.empty());
    out.post(nullptr);
    BOOST_TEST(out.empty());
    out.push_turn();
    BOOST_TEST(!out.empty());
    out.post(nullptr);
    BOOST_TEST(out.empty());
    BOOST_TEST(out.push_proxy(a, proxy::abort));
    BOOST_TEST(!out.empty());
    out.push_turn();
    BOOST_TEST(out.push_proxy(a, proxy::abort));
    BOOST_TEST(!out.empty());
    out.post(nullptr);
    BOOST_TEST(out.empty());
}

BOOST_FIXTURE_TEST_CASE(an_empty_outbox_asks_the_queue_for_nothing_but_the_post, scene) {
    out.post(nullptr);
    BOOST_TEST(queue.posts == 1);
    BOOST_TEST(queue.posted.empty());
    BOOST_TEST(queue.pushed.empty());
}

BOOST_FIXTURE_TEST_CASE(a_proxy_without_memory_leaves_all_as_it_was, scene) {
    queue.has_memory = false;
    BOOST_TEST(!out.push_proxy(a, proxy::deliver));
    BOOST_TEST(out.empty());
    out.push(b);
    BOOST_TEST(!out.push_proxy(a, proxy::deliver));
    BOOST_TEST(!out.empty());
    out.post(nullptr);
    BOOST_TEST((queue.posted == elements{{kind::wait, &b}}));
}

BOOST_FIXTURE_TEST_CASE(the_first_element_can_be_taken_whatever_it_is, scene) {
    out.push(a);
    out.push(b);
    BOOST_TEST(out.take_first() == &queue.first);
    BOOST_TEST((queue.first == recorded_queue::element{kind::wait, &a}));
    BOOST_TEST(!out.empty()); // Otherwise nobody would post the other.
    out.push(c);
    out.post(nullptr);
    BOOST_TEST((queue.posted == elements{{kind::wait, &b}, {kind::wait, &c}}));

    BOOST_TEST(out.push_proxy(c, proxy::deliver));
    BOOST_TEST(out.take_first() == &queue.first);
    BOOST_TEST((queue.first == recorded_queue::element{kind::proxy, &c}));
    out.post(nullptr);
    BOOST_TEST(queue.posted.empty());
    BOOST_TEST(out.empty());
}

BOOST_FIXTURE_TEST_CASE(waits_that_follow_a_turn_are_known_until_the_next_turn, scene) {
    BOOST_TEST(!out.follows_turn());
    out.push_turn();
    BOOST_TEST(!out.follows_turn());
    out.push(a);
    BOOST_TEST(out.follows_turn());
    out.post(nullptr);
    BOOST_TEST(out.follows_turn()); // In the context's queue.
    out.push_turn();
    BOOST_TEST(!out.follows_turn());
    queue.has_memory = false;
    BOOST_TEST(!out.push_proxy(b, proxy::deliver));
    BOOST_TEST(!out.follows_turn());
    queue.has_memory = true;
    BOOST_TEST(out.push_proxy(b, proxy::deliver));
    BOOST_TEST(out.follows_turn());
}

BOOST_FIXTURE_TEST_CASE(posting_releases_the_lock_that_is_given, scene) {
    optional_mutex mutex(true);
    mutex.lock();
    std::unique_lock lock(mutex, std::adopt_lock);
    out.push(a);
    out.post(&lock);
    BOOST_TEST(!lock.owns_lock());
    BOOST_TEST((queue.posted == elements{{kind::wait, &a}}));
}

BOOST_AUTO_TEST_SUITE_END()
