// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Sleeping without a timer object.

#include <asio_wheel/sleep.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::async_sleep_for;
using asio_wheel::async_sleep_until;

// A handler that can be moved, and called once.
struct once {
    journal& log;
    std::unique_ptr<int> entry;

    void operator()(error_code ec) && { log.add(std::to_string(*entry), ec); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(sleep_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_sleep_is_never_early_and_at_most_a_tick_late, virtual_world) {
    async_sleep_for(ctx, 30s, log.note(1));
    async_sleep_until(ctx, now() + 10s, log.note(2));
    async_sleep_for(ctx.get_executor(), 20s + 1ns, log.note(3));
    BOOST_TEST(wheel.pending() == 3U);
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "2");
    BOOST_TEST(log_after(10s) == "");
    BOOST_TEST(log_after(1ms) == "3");
    BOOST_TEST(log_after(10s) == "1");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_sleep_into_the_past_completes_on_the_next_turn, virtual_world) {
    async_sleep_for(ctx, 0s, log.note(1));
    async_sleep_for(ctx, -1h, log.note(2));
    async_sleep_for(ctx, std::chrono::nanoseconds::min(), log.note(3));
    async_sleep_for(ctx, std::chrono::hours::min(), log.note(4));
    async_sleep_until(ctx, std::chrono::steady_clock::time_point::min(), log.note(5));
    BOOST_TEST(log.size() == 0U); // Not inside the call.
    poll();
    BOOST_TEST(log.size() == 5U);
}

BOOST_FIXTURE_TEST_CASE(the_longest_sleeps_last, virtual_world) {
    asio::cancellation_signal one, two, three;
    async_sleep_for(ctx, std::chrono::nanoseconds::max(),
                    asio::bind_cancellation_slot(one.slot(), log.note(1)));
    async_sleep_for(ctx, std::chrono::hours::max(),
                    asio::bind_cancellation_slot(two.slot(), log.note(2)));
    async_sleep_for(ctx, std::chrono::duration<double>(std::numeric_limits<double>::infinity()),
                    asio::bind_cancellation_slot(three.slot(), log.note(3)));
    BOOST_TEST(log_after(24h * 365 * 100) == "");
    for (auto* signal : {&three, &two, &one}) {
        signal->emit(asio::cancellation_type::terminal);
    }
    BOOST_TEST(log_now() == "3! 2! 1!");
}

BOOST_FIXTURE_TEST_CASE(a_coarse_or_fractional_time_is_rounded_up, virtual_world) {
    using coarse = std::chrono::time_point<std::chrono::steady_clock, std::chrono::hours>;
    const auto start = now();
    const coarse next = std::chrono::ceil<std::chrono::hours>(start);
    async_sleep_until(ctx, next, log.note(1));
    async_sleep_for(ctx, std::chrono::duration<double, std::milli>(0.5), log.note(2));
    BOOST_TEST(log_after(1ms) == "2");
    BOOST_TEST(log_after(next - now() - 2ms) == "");
    BOOST_TEST(log_after(3ms) == "1");
}

BOOST_AUTO_TEST_CASE(each_clock_has_its_wheel) {
    virtual_time_on<std::chrono::system_clock> world;
    journal log;
    async_sleep_until(world.ctx, world.now() + 24h, log.note(1));
    BOOST_TEST(world.wheel.pending() == 1U);
    BOOST_TEST(world.log_after(24h + 1ms, log) == "1");
}

BOOST_FIXTURE_TEST_CASE(each_type_of_cancellation_ends_a_sleep_once, virtual_world) {
    using asio::cancellation_type;
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        asio::cancellation_signal signal;
        async_sleep_for(ctx, 1h, asio::bind_cancellation_slot(signal.slot(), log.note(1)));
        async_sleep_for(ctx, 1h, log.note(2));
        signal.emit(cancellation_type::none);
        poll();
        BOOST_TEST(log.size() == 0U);
        signal.emit(type);
        signal.emit(type);
        BOOST_TEST(log.size() == 0U); // Not inside the call.
        BOOST_TEST(log_now() == "1!");
        signal.emit(type);
        BOOST_TEST(log_after(1h) == "2");
    }
}

BOOST_FIXTURE_TEST_CASE(a_sleep_that_is_due_can_be_cancelled_until_it_is_delivered, virtual_world) {
    asio::cancellation_signal direct, bound;
    const auto strand = asio::make_strand(ctx);
    async_sleep_for(ctx, 1ms, asio::bind_cancellation_slot(direct.slot(), log.note(1)));
    async_sleep_for(strand, 1ms, asio::bind_cancellation_slot(bound.slot(), log.note(2)));
    BOOST_TEST(wheel.advance(1ms) == 2U);
    direct.emit(asio::cancellation_type::terminal);
    bound.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_now() == "1! 2!");
}

BOOST_FIXTURE_TEST_CASE(a_sleep_is_one_allocation_freed_before_the_call, virtual_world) {
    allocations count;
    const auto strand = asio::make_strand(ctx);
    const auto handler = [&](error_code ec) {
        BOOST_TEST(count.live == 0U);
        log.add("done", ec);
    };
    const auto counted = [&] { return asio::bind_allocator(counting_allocator<>(count), handler); };
    asio::cancellation_signal signal;
    async_sleep_for(ctx, 1s, counted());
    BOOST_TEST(count.live == 1U);
    pass(1s);
    async_sleep_for(strand, 1s, counted());
    BOOST_TEST(count.live == 1U);
    pass(1s);
    async_sleep_for(ctx, 1s, asio::bind_cancellation_slot(signal.slot(), counted()));
    BOOST_TEST(count.live == 1U);
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_now() == "done done done!");
    BOOST_TEST(count.total == 3U);

    count.refuse = true;
    BOOST_CHECK_THROW(async_sleep_for(ctx, 1s, counted()), std::bad_alloc);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_runs_through_its_executor_which_works_meanwhile, virtual_world) {
    const auto ours = std::make_shared<tracker>();
    const auto theirs = std::make_shared<tracker>();
    async_sleep_for(track(ours, ctx), 1s, [&](error_code) {
        BOOST_TEST(ours->running_here());
        log.add("own");
    });
    async_sleep_for(track(ours, ctx), 1s, asio::bind_executor(track(theirs, ctx), [&](error_code) {
                        BOOST_TEST(theirs->running_here());
                        log.add("bound");
                    }));
    BOOST_TEST(ours->work() == 2U);
    BOOST_TEST(theirs->work() == 1U);
    BOOST_TEST(log_after(1s) == "own bound");
    BOOST_TEST(ours->work() == 0U);
    BOOST_TEST(theirs->work() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_be_move_only_and_callable_once, virtual_world) {
    async_sleep_for(ctx, 1s, once{log, std::make_unique<int>(1)});
    const asio::any_io_executor any = asio::make_strand(ctx);
    async_sleep_for(any, 1s, once{log, std::make_unique<int>(2)});
    BOOST_TEST(log_after(1s) == "1 2");
}

BOOST_AUTO_TEST_CASE(what_the_wheel_refuses_is_told) {
    virtual_time world(asio_wheel::wheel_options{.max_pending = 1});
    journal log;
    async_sleep_for(world.ctx, 1s, log.note(1));
    async_sleep_for(world.ctx, 1s, [&](error_code ec) {
        BOOST_TEST((ec == asio_wheel::error::too_many_pending));
        log.add("2");
    });
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(world.log_now(log) == "2");
    BOOST_TEST(world.wheel.drain().size() == 1U);
    async_sleep_for(world.ctx, 1s, [&](error_code ec) {
        BOOST_TEST((ec == asio_wheel::error::wheel_stopped));
        log.add("3");
    });
    BOOST_TEST(world.log_now(log) == "1! 3");
}

BOOST_AUTO_TEST_CASE(a_sleep_ends_with_its_context_without_a_call) {
    const auto alive = std::make_shared<int>();
    asio::cancellation_signal signal;
    {
        asio::io_context ctx;
        const auto never = [alive](error_code) { BOOST_ERROR("called"); };
        async_sleep_for(ctx, 1h, never);
        async_sleep_for(asio::make_strand(ctx), 1h, never);
        async_sleep_for(ctx, 1h, asio::bind_cancellation_slot(signal.slot(), never));
        async_sleep_for(ctx, -1h, never);
        async_sleep_for(asio::make_strand(ctx), -1h, never);
        auto& wheel = asio_wheel::use_wheel(ctx);
        wheel.pause();
        wheel.advance(0s); // The last two are queued now.
        BOOST_TEST(alive.use_count() == 7);
    }
    BOOST_TEST(alive.use_count() == 1);
    signal.emit(asio::cancellation_type::terminal);
}

BOOST_FIXTURE_TEST_CASE(a_deferred_sleep_begins_when_it_is_started, virtual_world) {
    auto later = async_sleep_for(ctx, 10s, asio::deferred);
    pass(1h);
    BOOST_TEST(wheel.pending() == 0U);
    std::move(later)(log.note(1));
    BOOST_TEST(log_after(10s - 1ms) == "");
    BOOST_TEST(log_after(1ms) == "1");
}

BOOST_FIXTURE_TEST_CASE(sleeps_in_a_parallel_group_cancel_each_other, virtual_world) {
    std::array<std::size_t, 2> order{};
    error_code of_long, of_short = asio::error::eof;
    asio::experimental::make_parallel_group(async_sleep_for(ctx, 1h, asio::deferred),
                                            async_sleep_for(ctx, 1s, asio::deferred))
        .async_wait(asio::experimental::wait_for_one(),
                    [&](std::array<std::size_t, 2> o, error_code a, error_code b) {
                        order = o;
                        of_long = a;
                        of_short = b;
                    });
    pass(1s);
    BOOST_TEST(order[0] == 1U);
    BOOST_TEST(of_long == aborted);
    BOOST_TEST(!of_short);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_sleeps, virtual_world) {
    struct program {
        static asio::awaitable<void> run(journal& log) {
            const auto ex = co_await asio::this_coro::executor;
            co_await async_sleep_for(ex, 1s, asio::use_awaitable);
            log.add("1");
            auto later = async_sleep_for(ex, 1s, asio::deferred);
            co_await std::move(later);
            log.add("2");
            error_code ec;
            constexpr auto token = asio::as_tuple(asio::use_awaitable);
            std::tie(ec) = co_await async_sleep_until(ex, std::chrono::steady_clock::now(), token);
            log.add("3", ec);
            auto redirected = asio::redirect_error(asio::use_awaitable, ec);
            co_await async_sleep_for(ex, 1h, redirected);
            log.add("4", ec);
        }
        using executor = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
        static asio::awaitable<void> by_default(journal& log) {
            const executor ex(co_await asio::this_coro::executor);
            co_await async_sleep_for(ex, 1s);
            log.add("default");
        }
    };
    asio::cancellation_signal signal;
    asio::co_spawn(ctx, program::run(log),
                   asio::bind_cancellation_slot(signal.slot(), asio::detached));
    poll();
    BOOST_TEST(log_after(1s) == "1");
    BOOST_TEST(log_after(1s) == "2 3");
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_now() == "4!");
    asio::co_spawn(ctx, program::by_default(log), asio::detached);
    poll();
    BOOST_TEST(log_after(1s) == "default");
}

// real time
BOOST_AUTO_TEST_CASE(run_returns_when_nobody_sleeps_any_more) {
    drained_context world;
    auto slept = async_sleep_for(world.ctx, 1ms, asio::use_future);
    asio::cancellation_signal signal;
    async_sleep_for(world.ctx, 1h, asio::bind_cancellation_slot(signal.slot(), asio::detached));
    signal.emit(asio::cancellation_type::terminal);
    const auto start = std::chrono::steady_clock::now();
    world.run();
    BOOST_TEST((std::chrono::steady_clock::now() >= start + 1ms));
    slept.get();
}

// real time
BOOST_AUTO_TEST_CASE(threads_sleep_and_are_woken_on_a_pool) {
    asio::thread_pool pool(2);
    std::atomic<int> slept{0}, cancelled{0};
    constexpr int chains = 4, rounds = 500;
    struct chain {
        asio::strand<asio::thread_pool::executor_type> strand;
        asio::cancellation_signal signal;
        int round = 0;
    };
    std::vector<std::unique_ptr<chain>> all;
    const auto start = [&](auto&& self, chain& c) -> void {
        if (c.round++ == rounds) {
            return;
        }
        const auto d = std::chrono::microseconds(c.round % 3 * 400);
        const auto left = std::make_shared<int>(2);
        const auto done = [&self, &c, left] {
            if (--*left == 0) {
                self(self, c);
            }
        };
        async_sleep_for(c.strand, d,
                        asio::bind_cancellation_slot(c.signal.slot(), [&, done](error_code ec) {
                            ++(ec ? cancelled : slept);
                            done();
                        }));
        async_sleep_for(c.strand, d, [&c, done](error_code) {
            c.signal.emit(asio::cancellation_type::total);
            done();
        });
    };
    for (int i = 0; i < chains; ++i) {
        all.push_back(std::make_unique<chain>(asio::make_strand(pool.get_executor())));
        asio::post(all.back()->strand, [&, &c = *all.back()] { start(start, c); });
    }
    pool.join();
    BOOST_TEST(slept + cancelled == chains * rounds);
}

BOOST_AUTO_TEST_SUITE_END()
