// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Delayed operations on a strand, of a context that several threads run: in real time.

#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/error.hpp>

#include "support/context.hpp"
#include "support/threads.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using boost::system::error_code;
using strand_type = asio::strand<asio::io_context::executor_type>;
using operations =
    asio_wheel::basic_delayed_operations<int, int, std::chrono::steady_clock, strand_type>;

// What became of operations, and how often.
struct counts {
    std::atomic<int> started = 0;
    std::atomic<int> completed = 0; // as check() and force() say
    std::atomic<int> cancelled = 0; // as cancel() says
    std::atomic<int> with_value = 0;
    std::atomic<int> late = 0;
    std::atomic<int> aborted = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(delayed_operations_threads, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(handlers_on_other_threads_get_what_was_decided_on_the_strand) {
    constexpr int rounds = 300;
    counts n;
    thread_checks all;
    {
        drained_context world;
        asio::thread_pool pool(2);
        const strand_type strand(world.ctx.get_executor());
        const strand_type session(world.ctx.get_executor());
        auto waiting = std::make_unique<operations>(strand);
        int stock = 0; // Used on the strand.

        const auto handler = [&](int least) {
            return [&n, &all, least](error_code ec, int value) {
                all.expect(ec || value >= least);
                ++(!ec ? n.with_value : ec == aborted ? n.aborted : n.late);
            };
        };
        const auto start = [&](int i) {
            const int least = 1 + i % 5;
            const auto function = [&all, &stock, strand, least]() -> std::optional<int> {
                all.expect(strand.running_in_this_thread());
                return stock >= least ? std::optional(stock) : std::nullopt;
            };
            const auto timeout = std::chrono::microseconds(i % 7 * 500);
            ++n.started;
            switch (i % 4) {
            case 0:
                return waiting->async_wait({i % 3, 3}, timeout, function, handler(least));
            case 1:
                return waiting->async_wait(i % 3, timeout, function,
                                           asio::bind_executor(session, handler(least)));
            case 2:
                return waiting->async_wait(i % 3, timeout, function,
                                           asio::bind_executor(pool, handler(least)));
            default:
                return waiting->async_wait(
                    {i % 3, 3}, timeout, function,
                    asio::bind_executor(world.ctx.get_executor(), handler(least)));
            }
        };
        const auto event = [&](int i) {
            stock = i % 8;
            n.completed +=
                static_cast<int>(i % 31 == 0 ? waiting->force(3) : waiting->check(i % 4));
            if (i % 17 == 0) {
                n.cancelled += static_cast<int>(waiting->cancel(i % 3));
            }
        };

        asio::executor_work_guard<asio::io_context::executor_type> work(world.ctx.get_executor());
        const runners running(world.ctx, 2);
        {
            std::vector<std::jthread> producers;
            for (int t = 0; t < 2; ++t) {
                producers.emplace_back([&, t] {
                    for (int i = 0; i < rounds; ++i) {
                        asio::post(strand, [&, i] { start(i); });
                        asio::post(strand, [&, i, t] { event(i * 2 + t); });
                    }
                });
            }
        }
        signal_flag over;
        asio::post(strand, [&] {
            n.cancelled += static_cast<int>(waiting->pending());
            waiting.reset(); // While handlers are on their way.
            over.set();
        });
        BOOST_TEST(over.wait());
        work.reset();
        // The runners end when all operations have come to their handlers' executors.
        while (n.with_value + n.late + n.aborted != n.started) {
            std::this_thread::yield();
        }
        pool.join();
    }
    BOOST_TEST(n.started == 2 * rounds);
    BOOST_TEST(n.aborted == n.cancelled);
    BOOST_TEST(n.with_value + n.late >= n.completed); // Others had their deadlines.
    BOOST_TEST(n.with_value > 0);
}

BOOST_AUTO_TEST_CASE(contexts_may_end_while_handlers_are_on_their_way_to_others) {
    for (int round = 0; round < 50; ++round) {
        drained_context other;
        const strand_type session(other.ctx.get_executor());
        std::atomic<int> called = 0;
        std::atomic<int> destroyed = 0;
        struct last_word {
            std::atomic<int>* count;
            void operator()(int*) const { ++*count; }
        };
        {
            asio::executor_work_guard<asio::io_context::executor_type> work(
                other.ctx.get_executor());
            const runners running(other.ctx, 1);
            {
                asio::io_context ctx;
                asio_wheel::delayed_operations<int, int> waiting(ctx);
                for (int i = 0; i < 20; ++i) {
                    const std::shared_ptr<int> token(nullptr, last_word{&destroyed});
                    waiting.async_wait(
                        i % 3, i % 2 == 0 ? 0ms : 1h, []() -> std::optional<int> { return {}; },
                        asio::bind_executor(i % 4 < 2
                                                ? asio::any_io_executor(session)
                                                : asio::any_io_executor(other.ctx.get_executor()),
                                            [&called, token](error_code, int) { ++called; }));
                }
                waiting.cancel(1);
                ctx.poll_one();
                ctx.poll_one();
                ctx.run_for(std::chrono::microseconds(round * 20));
            } // What has left the context is called, and the rest is destroyed.
            work.reset();
        }
        BOOST_TEST(destroyed == 20);
        BOOST_TEST(called <= 20);
    }
}

BOOST_AUTO_TEST_SUITE_END()
