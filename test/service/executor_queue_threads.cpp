// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// The queue of a context by public functions of Asio, used by several threads.

#include <asio_wheel/detail/asio/executor_queue.hpp>

#include "support/calling_op.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio_wheel::detail::executor_queue;
using asio_wheel::test::call;

} // namespace

BOOST_AUTO_TEST_SUITE(executor_queue_threads, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(threads_post_and_count_work_together) {
    asio::thread_pool pool(2);
    executor_queue::introduce(pool.get_executor());
    executor_queue queue(pool);
    std::atomic<int> called = 0;
    constexpr int posts = 1000;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                executor_queue own(queue);
                for (int i = 0; i < posts; ++i) {
                    own.work_started();
                    executor_queue::post_to(pool, call([&called] { ++called; }));
                    own.work_finished();
                }
            });
        }
    }
    pool.join();
    BOOST_TEST(called == 3 * posts);
}

// As above, by a timer: the wait that counts as work begins and ends very often.
BOOST_AUTO_TEST_CASE(threads_use_the_timer_together) {
    asio::io_context ctx;
    executor_queue::prepare(ctx);
    executor_queue queue(ctx);
    std::atomic<int> called = 0;
    constexpr int posts = 1000;
    queue.work_started();
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] { ctx.run(); });
        }
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&, last = t == 1] {
                for (int i = 0; i < posts; ++i) {
                    executor_queue own(queue);
                    own.work_started();
                    executor_queue::post_to(ctx, call([&called] { ++called; }));
                    own.work_finished();
                }
                if (last) {
                    queue.work_finished();
                }
            });
        }
    }
    ctx.restart();
    ctx.run();
    BOOST_TEST(called == 2 * posts);
}

BOOST_AUTO_TEST_SUITE_END()
