// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// "May I cancel a timer while another thread calls its handler?" "My coroutine never wakes up."
//
//   boostorg/asio 447          cancel() on one thread, while others run the context
//   chriskohlhoff/asio 1652    expires_after() on one thread, async_wait() on another one
//
// Only one thread may use a timer at a time, with Asio and here. The threads that run the context
// do not count, because they use the state in the service and not the timer. So the first program
// is allowed. The second one has a data race with both libraries: a thread sets the expiry to end
// the wait of another thread. That is undefined, so no case shows it. The cases show what to do
// instead.
//
// real time, because several threads run the contexts. Waits that must not expire take an hour.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/threads.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>

namespace {

using namespace asio_wheel::test;

// boostorg/asio 447: very many timers expire at once, and any thread may cancel each of them.
// `counted` is the sum of the results of cancel().
struct result {
    std::atomic<std::size_t> called = 0;
    std::atomic<std::size_t> aborted = 0;
    std::atomic<std::size_t> counted = 0;
};

constexpr std::size_t many = 2'000;

template <class Timer>
void cancel_on_any_thread(result& seen) {
    asio::io_context ctx;
    for (std::size_t i = 0; i < many; ++i) {
        auto timer = std::make_shared<Timer>(ctx, Timer::clock_type::now() + 1ms);
        timer->async_wait([&seen, timer](error_code ec) {
            ++seen.called;
            seen.aborted += ec == aborted ? 1U : 0U;
        });
        asio::post(ctx, [&seen, timer] { seen.counted += timer->cancel(); });
    }
    const runners threads(ctx, 4);
}

// asio 1652: a consumer waits for messages, and sometimes does something else.
using channel = asio::experimental::concurrent_channel<void(error_code, int)>;

constexpr int messages = 1'000;

// The channel's own operation has the timeout, so that no timer is shared.
asio::awaitable<int> consume(channel& from) {
    int sum = 0;
    for (int i = 0; i < messages; ++i) {
        sum += co_await from.async_receive(asio_wheel::timeout(1h, asio::use_awaitable));
    }
    co_return sum;
}

asio::awaitable<void> produce(channel& to) {
    for (int i = 0; i < messages; ++i) {
        co_await to.async_send(error_code(), 1, asio::use_awaitable);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_several_threads, *boost::unit_test::timeout(120))

// This is safe with Asio, too. But a cancelled handler may succeed.
BOOST_AUTO_TEST_CASE(asio_a_timer_may_be_cancelled_while_others_run_the_context) {
    result seen;
    cancel_on_any_thread<asio::steady_timer>(seen);
    BOOST_TEST(seen.called == many);
    BOOST_TEST(seen.aborted == seen.counted);
}

BOOST_AUTO_TEST_CASE(ours_a_timer_may_be_cancelled_while_others_run_the_context) {
    result seen;
    cancel_on_any_thread<asio_wheel::steady_timer>(seen);
    BOOST_TEST(seen.called == many);
    BOOST_TEST(seen.aborted == seen.counted);
}

BOOST_AUTO_TEST_CASE(ours_an_operation_with_a_timeout_needs_no_timer_to_share) {
    asio::io_context ctx;
    channel queue(ctx, 10);
    asio::co_spawn(asio::make_strand(ctx), produce(queue), [](std::exception_ptr e) {
        if (e) {
            std::rethrow_exception(e);
        }
    });
    std::future<int> sum = asio::co_spawn(asio::make_strand(ctx), consume(queue), asio::use_future);
    {
        const runners threads(ctx, 4);
    }
    BOOST_TEST(sum.get() == messages);
}

// Or each use of the timer goes through a strand: the wait and its end cannot miss each other.
BOOST_AUTO_TEST_CASE(ours_a_timer_on_a_strand_is_woken_by_any_thread) {
    asio::io_context ctx;
    auto work = asio::make_work_guard(ctx);
    const runners threads(ctx, 4);
    for (int i = 0; i < 500; ++i) {
        const auto strand = asio::make_strand(ctx);
        const auto timer = std::make_shared<asio_wheel::steady_timer>(strand, 1h);
        std::promise<error_code> woken;
        asio::post(strand, [&, timer] {
            timer->async_wait([&, timer](error_code ec) { woken.set_value(ec); });
        });
        asio::post(strand, [timer] { timer->expires_after(0s); });
        BOOST_TEST(woken.get_future().get() == aborted);
    }
    work.reset();
}

BOOST_AUTO_TEST_SUITE_END()
