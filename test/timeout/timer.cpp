// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Deadlines on timers of the user's: cancel_after(timer, d, token) and the like.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#endif
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio::cancellation_type;
using asio_wheel::async_sleep_for;
using asio_wheel::cancel_after;
using asio_wheel::cancel_at;
using asio_wheel::timeout;
using asio_wheel::timeout_at;

const error_code timed_out = asio_wheel::error::timed_out;

// An operation that completes when it is cancelled, and a timer for its deadline.
struct fixture : virtual_world {
    manual_operation<error_code> op{ctx.get_executor()};
    timer limit{ctx};

    fixture() {
        op.on_cancel = [this] {
            if (op.pending()) {
                op.complete(aborted);
            }
        };
    }
};

// Ours and Asio's, if this Boost has it.
struct ours {
    using timer = asio_wheel::steady_timer;
    template <class... Args>
    static auto cancel_after(timer& t, Args&&... args) {
        return asio_wheel::cancel_after(t, std::forward<Args>(args)...);
    }
};
#if __has_include(<boost/asio/cancel_after.hpp>)
struct asios {
    using timer = asio::steady_timer;
    template <class... Args>
    static auto cancel_after(timer& t, Args&&... args) {
        return asio::cancel_after(t, std::forward<Args>(args)...);
    }
};
using both = std::tuple<ours, asios>;
#else
using both = std::tuple<ours>;
#endif

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_timer, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(an_operation_times_out_when_the_timer_expires, fixture) {
    const error_code own = asio::error::eof;
    op.start(timeout(limit, 100ms, log.note(1)));
    BOOST_TEST((limit.expiry() == now() + 100ms));
    BOOST_TEST(wheel.pending() == 1U);
    pass(100ms);
    op.start(timeout_at(limit, now() + 1s, log.note(2)));
    pass(1s);
    op.start(timeout(limit, 1s, cancellation_type::total, own, log.note(3)));
    pass(1s);
    op.start(timeout_at(limit, now() + 1s, own)(log.note(4)));
    pass(1s);
    const std::string late = "(" + timed_out.message() + ")";
    const std::string eof = "(" + own.message() + ")";
    BOOST_TEST(log.take() == "1" + late + " 2" + late + " 3" + eof + " 4" + eof);
    BOOST_TEST(op.take_cancellations() == "terminal terminal total terminal");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_operation_in_time_keeps_its_result_and_gives_the_timer_back, fixture) {
    timer other(ctx, 1h); // So that the context goes on.
    other.async_wait(ignore);
    for (int round = 0; round < 3; ++round) {
        op.start(timeout(limit, 1s, [&](error_code ec) {
            log.add("1", ec);
            // Nothing of the operation is left on the timer. (Asio's would still abort this wait.)
            BOOST_TEST(limit.cancel() == 0U);
            limit.expires_after(500ms);
            limit.async_wait(log.note(2));
        }));
        pass(900ms);
        op.complete({});
        BOOST_TEST(log_now() == "1");
        BOOST_TEST(log_after(500ms) == "2");
        BOOST_TEST(op.take_cancellations() == "");
        BOOST_TEST(wheel.pending() == 1U);
    }
    other.cancel();
}

BOOST_FIXTURE_TEST_CASE(nested_deadlines_on_two_timers, fixture) {
    timer inner(ctx);
    for (const auto& [a, b] : {std::pair(1s, 5s), std::pair(5s, 1s)}) {
        op.start(cancel_after(limit, a, cancel_after(inner, b, log.note(1))));
        BOOST_TEST(wheel.pending() == 2U);
        BOOST_TEST(log_after(1s) == "1!");
        BOOST_TEST(op.take_cancellations() == "terminal");
        BOOST_TEST(wheel.pending() == 0U);
    }
    op.start(cancel_after(limit, 1s, cancel_after(inner, 5s, log.note(2))));
    op.complete({});
    BOOST_TEST(log_now() == "2");
    BOOST_TEST(wheel.pending() == 0U);
    // One of the two on the library's own timer.
    op.start(timeout(limit, 5s, timeout(1s, log.note(3))));
    BOOST_TEST(log_after(1s) == "3(" + timed_out.message() + ")");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_start_sets_the_expiry_and_aborts_pending_waits, fixture) {
    limit.expires_after(1h);
    limit.async_wait(log.note(1));
    auto later = op.start(cancel_after(limit, 1s, asio::deferred));
    BOOST_TEST((limit.expiry() == now() + 1h)); // It has not begun.
    pass(2s);
    std::move(later)(log.note(2));
    BOOST_TEST((limit.expiry() == now() + 1s));
    BOOST_TEST(log_now() == "1!");
    BOOST_TEST(log_after(1s) == "2!");
}

// Nobody waits for time to pass here, so it may be real.
BOOST_AUTO_TEST_CASE_TEMPLATE(to_cancel_rearm_or_destroy_the_timer_cancels_the_operation, Tokens,
                              both) {
    drained_context world;
    journal log;
    manual_operation<error_code> op(world.ctx.get_executor());
    op.on_cancel = [&] { op.complete(aborted); };
    std::optional<typename Tokens::timer> limit(world.ctx);
    const auto start = [&] {
        op.start(Tokens::cancel_after(*limit, 1h, cancellation_type::total, log.note(1)));
        world.poll();
        BOOST_TEST(log.size() == 0U);
    };
    const auto expect_cancelled = [&] {
        BOOST_TEST(op.take_cancellations() == ""); // As if by post.
        world.poll();
        BOOST_TEST(op.take_cancellations() == "total");
        BOOST_TEST(log.take() == "1!");
    };
    start();
    BOOST_TEST(limit->cancel() == 1U);
    expect_cancelled();
    start();
    BOOST_TEST(limit->expires_after(2h) == 1U);
    expect_cancelled();
    start();
    limit.reset();
    expect_cancelled();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_that_begins_on_the_same_timer_cancels_the_one_before,
                              Tokens, both) {
    drained_context world;
    journal log;
    manual_operation<error_code> first(world.ctx.get_executor()), second(world.ctx.get_executor());
    first.on_cancel = [&] { first.complete(aborted); };
    typename Tokens::timer limit(world.ctx);
    first.start(Tokens::cancel_after(limit, 1h, log.note(1)));
    second.start(Tokens::cancel_after(limit, 1h, log.note(2)));
    BOOST_TEST(world.log_now(log) == "1!");
    BOOST_TEST(second.take_cancellations() == "");
    second.complete({});
    BOOST_TEST(world.log_now(log) == "2");
}

BOOST_FIXTURE_TEST_CASE(what_the_user_does_to_the_timer_is_no_timeout, fixture) {
    const auto start = [&] { op.start(timeout(limit, 1s, log.note(1))); };
    start();
    limit.cancel();
    BOOST_TEST(log_now() == "1!");
    start();
    limit.expires_after(1h);
    BOOST_TEST(log_after(1s) == "1!");
    start();
    limit = timer(ctx);
    BOOST_TEST(log_now() == "1!");
    start();
    BOOST_TEST(wheel.drain().size() == 1U);
    BOOST_TEST(log_now() == "1!");
    start(); // This one is refused.
    BOOST_TEST(log_now() == "1(" + error_code(asio_wheel::error::wheel_stopped).message() + ")");
}

BOOST_AUTO_TEST_CASE(a_wait_that_the_timers_wheel_refuses_is_told) {
    virtual_time world(asio_wheel::wheel_options{.max_pending = 1});
    error_code seen;
    manual_operation<error_code> op(world.ctx.get_executor());
    op.on_cancel = [&] { op.complete(aborted); };
    timer other(world.ctx, 1h), limit(world.ctx);
    other.async_wait(ignore);
    op.start(timeout(limit, 1h, [&](error_code ec) { seen = ec; }));
    world.poll();
    BOOST_TEST((seen == asio_wheel::error::too_many_pending));
    other.cancel();
}

// Beyond Asio.
BOOST_FIXTURE_TEST_CASE(a_timer_may_be_moved_postponed_and_waited_on_meanwhile, fixture) {
    op.start(timeout(limit, 1s, log.note(1)));
    pass(500ms);
    timer moved(std::move(limit));
    BOOST_TEST(moved.postpone(1s) == 1U);
    moved.async_wait(log.note(2));
    pass(500ms);
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(log_after(500ms) == "2 1(" + timed_out.message() + ")");

    // The end of the operation leaves the other wait alone.
    op.start(timeout(moved, 1s, log.note(3)));
    moved.async_wait(log.note(4));
    std::vector<timer> grown;
    grown.push_back(std::move(moved));
    op.complete({});
    BOOST_TEST(log_now() == "3");
    BOOST_TEST(log_after(1s) == "4");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(a_timer_of_any_clock_executor_and_context) {
    virtual_time_on<std::chrono::system_clock> theirs;
    asio::io_context ctx;
    journal log;
    manual_operation<error_code> op(ctx.get_executor());
    op.on_cancel = [&] { op.complete(aborted); };
    const auto run = [&](auto&& limit) {
        for (const bool in_time : {false, true}) {
            op.start(timeout_at(limit, theirs.now() + std::chrono::hours(1), log.note(1)));
            theirs.pass(1h - 1s);
            if (in_time) {
                op.complete({});
            }
            ctx.restart();
            ctx.poll(); // On which the operation is cancelled, or has its end.
            theirs.pass(1s + 2ms);
            BOOST_TEST(log.size() == (in_time ? 1U : 0U));
            ctx.restart();
            ctx.poll();
            BOOST_TEST(log.take() == (in_time ? "1" : "1(" + timed_out.message() + ")"));
            BOOST_TEST(ctx.stopped());
        }
    };
    using timer = asio_wheel::system_timer;
    run(timer(theirs.ctx));
    run(timer(asio::make_strand(theirs.ctx)));
    run(timer::rebind_executor<asio::io_context::executor_type>::other(theirs.ctx));
}

BOOST_FIXTURE_TEST_CASE(a_timer_of_a_class_derived_from_one, fixture) {
    struct named_timer : timer {
        using timer::timer;
    };
    named_timer own(ctx);
    op.start(timeout(own, 1s, log.note(1)));
    pass(1s);
    op.start(timeout_at(own, now() + 1s, log.note(2)));
    pass(1s);
    op.start(cancel_after(own, 1s, log.note(3)));
    pass(1s);
    op.start(cancel_at(own, now() + 1s, log.note(4)));
    pass(1s);
    const std::string late = "(" + timed_out.message() + ")";
    BOOST_TEST(log.take() == "1" + late + " 2" + late + " 3! 4!");
}

BOOST_FIXTURE_TEST_CASE(the_operation_is_cancelled_where_its_handler_belongs, virtual_world) {
    const auto theirs = std::make_shared<tracker>();
    bool there = false;
    manual_operation<error_code> op(ctx.get_executor());
    op.on_cancel = [&] {
        there = theirs->running_here();
        op.complete(aborted);
    };
    timer limit(asio::make_strand(ctx));
    op.start(cancel_after(limit, 1s, asio::bind_executor(track(theirs, ctx), log.note(1))));
    BOOST_TEST(log_after(1s) == "1!");
    BOOST_TEST(there);
    BOOST_TEST(theirs->work() == 0U);
}

BOOST_FIXTURE_TEST_CASE(an_initiation_without_executor_has_the_timers, fixture) {
    const auto initiation = [this](auto handler) { async_sleep_for(ctx, 1h, std::move(handler)); };
    auto token = timeout(limit, 1s, log.note(1));
    asio::async_initiate<decltype(token), void(error_code)>(initiation, token);
    BOOST_TEST(log_after(1s) == "1(" + timed_out.message() + ")");
}

BOOST_FIXTURE_TEST_CASE(after_an_operation_that_ends_inside_its_initiation_the_timer_is_free,
                        fixture) {
    op.on_start = [this] { op.complete_inline({}); };
    op.start(cancel_after(limit, 1s, [this](error_code ec) {
        log.add("1", ec);
        limit.expires_after(2s);
        limit.async_wait(log.note(2));
    }));
    BOOST_TEST(log.take() == "1");
    BOOST_TEST(log_after(2s) == "2");
}

BOOST_AUTO_TEST_CASE(everything_ends_with_its_context) {
    const auto alive = std::make_shared<int>();
    asio::cancellation_signal signal;
    {
        const auto never = [alive](error_code) { BOOST_ERROR("called"); };
        std::optional<asio_wheel::steady_timer> outlives;
        asio::io_context ctx;
        asio_wheel::steady_timer a(ctx), b(ctx);
        outlives.emplace(ctx);
        async_sleep_for(ctx, 1h, timeout(*outlives, 2h, never));
        async_sleep_for(ctx, 1h, cancel_after(a, 2h, never));
        async_sleep_for(asio::make_strand(ctx), 1h,
                        cancel_after(b, -1h, asio::bind_cancellation_slot(signal.slot(), never)));
    }
    BOOST_TEST(alive.use_count() == 1);
    signal.emit(cancellation_type::terminal);

    // The timer's context ends first: the operation has no deadline any more.
    asio::io_context ctx;
    int calls = 0;
    manual_operation<error_code> op(ctx.get_executor());
    {
        asio::io_context other;
        asio_wheel::steady_timer limit(other);
        op.start(timeout(limit, 1h, [&](error_code ec) { calls += ec ? 100 : 1; }));
    }
    ctx.poll();
    BOOST_TEST(op.take_cancellations() == "");
    op.complete({});
    ctx.restart();
    ctx.poll();
    BOOST_TEST(calls == 1);
}

BOOST_FIXTURE_TEST_CASE(coroutines_with_a_timer_of_their_own, virtual_world) {
    struct program {
        static asio::awaitable<void> run(journal& log) {
            const auto ex = co_await asio::this_coro::executor;
            timer limit(ex);
            constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
            for (const auto d : {1s, 3s}) {
                auto token = timeout(limit, 2s, tuple);
                const auto [ec] = co_await async_sleep_for(ex, d, token);
                log.add("slept", ec);
                auto partial = timeout(limit, 2s);
                try {
                    co_await async_sleep_for(ex, d, partial);
                    log.add("again");
                } catch (const boost::system::system_error& e) {
                    log.add("again", e.code());
                }
            }
        }
    };
    asio::co_spawn(ctx, program::run(log), asio::detached);
    poll();
    for (int i = 0; i < 6; ++i) {
        pass(1s);
    }
    const std::string late = "(" + timed_out.message() + ")";
    BOOST_TEST(log.take() == "slept again slept" + late + " again" + late);
    BOOST_TEST(wheel.pending() == 0U);
}

// real time, without a strand: when an operation ends, its handler uses the timer at once. At about
// the same time the timer expires, or its wait is being started.
BOOST_AUTO_TEST_CASE(deadlines_and_completions_meet_on_a_pool_and_the_timer_is_used_again) {
    asio::thread_pool pool(3);
    constexpr int chains = 6, rounds = 400;
    std::atomic<int> fired{0}, cancelled{0};
    struct chain {
        explicit chain(asio::thread_pool& p) : pool(p), limit(p) {}
        asio::thread_pool& pool;
        asio_wheel::steady_timer limit;
        int round = 0;
    };
    const auto next = [&](const auto& self, const std::shared_ptr<chain>& c) -> void {
        if (c->round == rounds) {
            return;
        }
        const int round = c->round++;
        const auto done = [&, self, c](error_code ec) {
            ++(ec ? cancelled : fired);
            c->limit.expires_after(1h); // Nobody else uses it.
            self(self, c);
        };
        if (round % 5 == 0) {
            asio::post(pool, cancel_after(c->limit, 1h, [done] { done({}); }));
        } else {
            async_sleep_for(
                pool, std::chrono::microseconds(round % 3 * 300),
                cancel_after(c->limit, std::chrono::microseconds(round % 4 * 250), done));
        }
    };
    for (int i = 0; i < chains; ++i) {
        asio::post(pool, [&] { next(next, std::make_shared<chain>(pool)); });
    }
    pool.join();
    BOOST_TEST(fired + cancelled == chains * rounds);
    BOOST_TEST(fired > 0);
}

BOOST_AUTO_TEST_SUITE_END()
