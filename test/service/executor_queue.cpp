// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// The queue of a context by public functions of Asio only. The stage `public_asio` of .ci/run tests
// the library with it. Here it is tested alone: with executors that count work themselves, with
// executors that do not, and by a timer, where the context's executor is not known.

#include "support/operator_new.hpp"

#include <asio_wheel/detail/asio/executor_queue.hpp>

#include "support/backend.hpp"
#include "support/calling_op.hpp"
#include "support/only_if.hpp"
#include "support/own_context.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace detail = asio_wheel::detail;
using detail::executor_queue;

// Whether a context ran so many handlers. Asio may count some of its own.
bool is_count(std::size_t ran, std::size_t expected) {
    return counts_only_handlers ? ran == expected : ran >= expected;
}

// What happens to an operation.
struct record {
    std::vector<int> ran;
    int destroyed = 0;
};

class noting_op : public detail::public_operation {
public:
    noting_op(record& r, int number)
        : public_operation(&noting_op::run), record_(r), number_(number) {}

private:
    static void run(void* queue, public_operation* self, const boost::system::error_code&,
                    std::size_t) {
        auto& op = *static_cast<noting_op*>(self);
        if (queue != nullptr) {
            op.record_.ran.push_back(op.number_);
        } else {
            ++op.record_.destroyed;
        }
    }

    record& record_;
    int number_;
};

// An executor of an io_context without the functions of the Networking TS.
class plain_executor {
public:
    using inner = asio::io_context::executor_type;

    explicit plain_executor(const inner& ex) noexcept : inner_(ex) {}

    template <class Function>
    void execute(Function&& function) const {
        inner_.execute(std::forward<Function>(function));
    }
    template <class Property>
        requires asio::can_query_v<const inner&, Property>
    [[nodiscard]] decltype(auto) query(const Property& p) const {
        return asio::query(inner_, p);
    }
    [[nodiscard]] auto require(asio::execution::blocking_t::never_t) const {
        return asio::require(inner_, asio::execution::blocking.never);
    }
    [[nodiscard]] auto require(asio::execution::outstanding_work_t::tracked_t) const {
        return asio::require(inner_, asio::execution::outstanding_work.tracked);
    }
    bool operator==(const plain_executor&) const noexcept = default;

private:
    inner inner_;
};

// The three ways to a queue. `further` handlers are run in addition: two at the first use of a
// timer, and one when work ends.
struct counting {
    static void introduce(asio::io_context& ctx) { executor_queue::introduce(ctx.get_executor()); }
    static constexpr std::size_t at_first_use = 0, at_the_end = 0;
};
struct tracking {
    static void introduce(asio::io_context& ctx) {
        executor_queue::introduce(plain_executor(ctx.get_executor()));
    }
    static constexpr std::size_t at_first_use = 0, at_the_end = 0;
};
struct by_timer {
    static void introduce(asio::io_context& ctx) { executor_queue::prepare(ctx); }
    static constexpr std::size_t at_first_use = 2, at_the_end = 1;
};
using ways = std::tuple<counting, tracking, by_timer>;

template <class Way>
struct world {
    world() {
        Way::introduce(ctx);
        BOOST_TEST(is_count(ctx.poll(), Way::at_first_use));
        ctx.restart();
    }
    record seen;
    std::deque<noting_op> ops;
    asio::io_context ctx;
    executor_queue queue{ctx};

    noting_op& op(int number) { return ops.emplace_back(seen, number); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(executor_queue_, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(operations_run_in_the_order_of_their_posts, Way, ways) {
    world<Way> w;
    detail::public_batch batch;
    for (int i = 0; i < 5; ++i) {
        w.queue.work_started();
        batch.push(w.op(i));
    }
    w.queue.post(batch);
    BOOST_TEST(batch.empty());
    executor_queue::post_to(w.ctx, w.op(5));
    BOOST_TEST(w.seen.ran.empty());
    BOOST_TEST(is_count(w.ctx.poll(), 6U + Way::at_the_end));
    BOOST_TEST(w.seen.ran == (std::vector<int>{0, 1, 2, 3, 4, 5}),
               boost::test_tools::per_element());
    BOOST_TEST(w.ctx.stopped());
    BOOST_TEST(w.seen.destroyed == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(work_keeps_the_context_running_until_it_ends, Way, ways) {
    world<Way> w;
    for (int round = 0; round < 3; ++round) {
        w.ctx.restart();
        for (int i = 0; i < 3; ++i) {
            w.queue.work_started();
        }
        for (int i = 0; i < 3; ++i) {
            w.ctx.poll();
            BOOST_TEST(!w.ctx.stopped());
            executor_queue::post_to(w.ctx, w.op(i)); // Work ends while there is other work.
            w.queue.work_finished();
        }
        w.ctx.run_for(20s);
        BOOST_TEST(w.ctx.stopped());
    }
}

// The wheel subtracts what Asio's timer counts for its wake-up. When all waits have ended, the
// timer is what remains.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_count_of_work_may_be_negative, Way, ways) {
    world<Way> w;
    asio::steady_timer wake_up(w.ctx, 1h);
    w.queue.work_started(); // A wait,
    wake_up.async_wait([](const boost::system::error_code&) {});
    w.queue.work_finished(); // and the wake-up for it.
    w.ctx.poll();
    BOOST_TEST(!w.ctx.stopped());
    w.queue.post(w.op(1)); // The wait is aborted: its operation counts in its place.
    w.ctx.poll();
    BOOST_TEST(w.seen.ran.size() == 1U);
    wake_up.cancel();
    w.queue.work_started(); // The handler of the wake-up counts again.
    w.ctx.restart();
    w.ctx.poll();
    BOOST_TEST(w.ctx.stopped());
    w.queue.work_started();
    w.ctx.restart();
    w.ctx.poll();
    BOOST_TEST(!w.ctx.stopped());
    executor_queue::post_to(w.ctx, w.op(2));
    w.queue.work_finished();
    w.ctx.run_for(20s);
    BOOST_TEST(w.ctx.stopped());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_queued_is_destroyed_with_the_context, Way, ways) {
    record seen;
    noting_op first(seen, 1), second(seen, 2);
    {
        asio::io_context ctx;
        Way::introduce(ctx);
        executor_queue queue(ctx);
        queue.work_started();
        queue.post(first);
        queue.work_started();
        queue.post(second);
        if (!on_completion_port) { // Its context would wait for this work.
            queue.work_started();
        }
    }
    BOOST_TEST(seen.ran.empty());
    BOOST_TEST(seen.destroyed == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_is_queued_without_memory, Way, ways) {
    world<Way> w;
    for (int i = 0; i < 100; ++i) {
        w.op(i);
    }
    w.seen.ran.reserve(100);
    const out_of_memory none;
    for (int round = 0; round < 2; ++round) {
        for (noting_op& op : w.ops) {
            w.queue.work_started();
            w.queue.post(op);
        }
        w.ctx.restart();
        w.ctx.poll();
        w.seen.ran.clear();
    }
    BOOST_TEST(w.ctx.stopped());
}

BOOST_AUTO_TEST_CASE(an_operation_is_queued_in_its_own_memory) {
    asio::io_context ctx;
    executor_queue::introduce(ctx.get_executor());
    int called = 0;
    const std::size_t live = heap.live;
    executor_queue::post_to(ctx, call([&called] { ++called; }));
    BOOST_TEST(heap.live == live + 1);
    ctx.run();
    BOOST_TEST(called == 1);
    BOOST_TEST(heap.live == live);
    {
        asio::io_context other;
        executor_queue::introduce(other.get_executor());
        executor_queue::post_to(other, call([&called] { ++called; }));
    }
    BOOST_TEST(called == 1);
    BOOST_TEST(heap.live == live);
}

// Asio hides what a handler posts as its continuation.
BOOST_AUTO_TEST_CASE(a_poll_inside_a_handler_finds_what_was_posted_there) {
    asio::io_context ctx;
    executor_queue::introduce(
        asio::prefer(ctx.get_executor(), asio::execution::relationship.continuation));
    bool called = false;
    bool found = false;
    asio::post(ctx, [&] {
        executor_queue::post_to(ctx, call([&] { called = true; }));
        ctx.poll();
        found = called;
    });
    ctx.run();
    BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(a_context_knows_whether_it_runs_in_this_thread) {
    asio::io_context ctx;
    executor_queue::introduce(ctx.get_executor());
    bool inside = false;
    executor_queue::post_to(ctx,
                            call([&] { inside = executor_queue::running_in_this_thread(ctx); }));
    BOOST_TEST(!executor_queue::running_in_this_thread(ctx));
    ctx.run();
    BOOST_TEST(inside);
}

// Asio's own threads run the timer's handlers there. (With io_uring they run no handlers, not even
// those of Asio's timers.)
BOOST_AUTO_TEST_CASE(a_context_of_the_user_runs_operations_too, *only_if(!on_io_uring)) {
    own_context ctx;
    std::atomic<bool> called = false;
    executor_queue::post_to(ctx, call([&called] { called = true; }));
    for (int i = 0; i < 20'000 && !called; ++i) {
        std::this_thread::sleep_for(1ms);
    }
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_SUITE_END()
