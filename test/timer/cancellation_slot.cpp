// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Per-operation cancellation: a slot cancels its own wait, wherever the timer is, and no other one.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio::cancellation_signal;
using asio::cancellation_type;

template <class Handler>
auto cancelled_by(cancellation_signal& signal, Handler handler) {
    return asio::bind_cancellation_slot(signal.slot(), std::move(handler));
}

} // namespace

BOOST_AUTO_TEST_SUITE(timer_cancellation_slot)

BOOST_AUTO_TEST_CASE_TEMPLATE(each_type_of_cancellation_aborts_that_wait_and_no_other, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h);
    const auto expiry = t.expiry();
    for (const auto type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
          cancellation_type::terminal | cancellation_type::total, cancellation_type::all}) {
        cancellation_signal signal;
        t.async_wait(log.note(1));
        t.async_wait(cancelled_by(signal, log.note(2)));
        t.async_wait(log.note(3));
        signal.emit(cancellation_type::none);
        world.poll();
        BOOST_TEST(log.size() == 0U);
        signal.emit(type);
        BOOST_TEST(log.size() == 0U); // Not inside the call.
        signal.emit(type);            // One signal is enough.
        BOOST_TEST(world.log_now(log) == "2!");
        BOOST_TEST((t.expiry() == expiry));
        BOOST_TEST(t.cancel() == 2U);
        BOOST_TEST(world.log_now(log) == "1! 3!");
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(waits_keep_their_order_when_one_is_taken_out, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    for (const int taken : {0, 2, 4}) {
        cancellation_signal signal;
        T t(world.ctx, 1ms);
        for (int i = 0; i < 5; ++i) {
            i == taken ? t.async_wait(cancelled_by(signal, log.note(i)))
                       : t.async_wait(log.note(i));
        }
        signal.emit(cancellation_type::terminal);
        world.poll(); // On a slow machine, everything happens here.
        BOOST_TEST(world.log_after(1ms, log) == (taken == 0   ? "0! 1 2 3 4"
                                                 : taken == 2 ? "2! 0 1 3 4"
                                                              : "4! 0 1 2 3"));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_signal_after_completion_does_nothing, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    cancellation_signal expired, cancelled;
    T t(world.ctx, -1h);
    t.async_wait(cancelled_by(expired, log.note("expired")));
    world.poll();
    t.expires_after(1h);
    t.async_wait(cancelled_by(cancelled, log.note("cancelled")));
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "expired cancelled!");
    t.async_wait(log.note("next")); // It may reuse the memory of an earlier one.
    expired.emit(cancellation_type::all);
    cancelled.emit(cancellation_type::all);
    BOOST_TEST(world.log_now(log) == "");
    // Asio does not clear the slot either.
    BOOST_TEST(expired.slot().has_handler());
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "next!");
}

BOOST_FIXTURE_TEST_CASE(a_signal_after_the_end_of_the_timer_does_nothing, virtual_world) {
    cancellation_signal expired, destroyed, moved;
    {
        timer t(ctx, 1ms);
        t.async_wait(cancelled_by(expired, log.note("expired")));
        pass(1ms);
        t.expires_after(1h);
        t.async_wait(cancelled_by(destroyed, log.note("destroyed")));
    }
    destroyed.emit(cancellation_type::terminal); // Queued as an aborted one.
    BOOST_TEST(log_now() == "expired destroyed!");
    expired.emit(cancellation_type::terminal);
    destroyed.emit(cancellation_type::terminal);
    BOOST_TEST(log_now() == "");
}

BOOST_FIXTURE_TEST_CASE(a_signal_of_a_wait_long_over_cancels_no_later_wait, virtual_world) {
    allocations count; // Without a cache, memory is reused at random.
    cancellation_signal stale;
    std::size_t fired = 0;
    timer t(ctx, 1ms);
    t.async_wait(cancelled_by(stale, [](error_code) {}));
    pass(1ms);
    for (int i = 0; i < 100'000; ++i) {
        t.expires_after(i % 2 == 0 ? 0ms : -1ms);
        t.async_wait(asio::bind_allocator(counting_allocator<>(count),
                                          [&](error_code ec) { fired += !ec; }));
        stale.emit(cancellation_type::terminal);
        poll();
    }
    BOOST_TEST(fired == 100'000U);
    BOOST_TEST(count.total == 100'000U);
}

BOOST_FIXTURE_TEST_CASE(a_signal_reaches_its_wait_when_the_timer_has_moved, virtual_world) {
    cancellation_signal constructed, assigned, due;
    timer a(ctx, 1h), b(ctx, 2h), target(ctx), last(ctx, 1ms);
    a.async_wait(cancelled_by(constructed, log.note("constructed")));
    b.async_wait(cancelled_by(assigned, log.note("assigned")));
    last.async_wait(cancelled_by(due, log.note("due")));
    const timer moved(std::move(a));
    target = std::move(b);
    a.expires_after(1h);
    a.async_wait(log.note("stays"));
    wheel.advance(1ms);
    target = std::move(last); // Aborts the waits of b.
    due.emit(cancellation_type::terminal);
    constructed.emit(cancellation_type::terminal);
    BOOST_TEST(log_now() == "due! assigned! constructed!");
    BOOST_TEST(a.cancel() == 1U);
    BOOST_TEST(log_now() == "stays!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_slot_can_be_used_again_inside_the_handler, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    cancellation_signal signal;
    T t(world.ctx, -1h);
    t.async_wait(cancelled_by(signal, [&](error_code ec) {
        log.add("first", ec);
        signal.emit(cancellation_type::terminal); // No effect: this is its handler.
        t.expires_after(1h);
        t.async_wait(cancelled_by(signal, log.note("second")));
        asio::post(world.ctx, [&] { signal.emit(cancellation_type::terminal); });
    }));
    BOOST_TEST(world.log_now(log) == "first second!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_slot_that_is_given_away_leaves_the_wait_alone, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h);
    auto signal = std::make_unique<cancellation_signal>();
    t.async_wait(cancelled_by(*signal, log.note("wait")));
    std::size_t emitted = 0;
    signal->slot().assign([&](cancellation_type) { ++emitted; });
    signal->emit(cancellation_type::terminal);
    BOOST_TEST(emitted == 1U);
    t.async_wait(cancelled_by(*signal, log.note("next")));
    signal.reset(); // The wait outlives the signal.
    BOOST_TEST(world.log_now(log) == "");
    BOOST_TEST(t.cancel() == 2U);
    BOOST_TEST(world.log_now(log) == "wait! next!");
}

BOOST_FIXTURE_TEST_CASE(a_signal_reaches_a_wait_until_its_handler_is_called, virtual_world) {
    cancellation_signal direct, bound;
    const auto strand = asio::make_strand(ctx);
    timer t(ctx, 1ms);
    t.async_wait(cancelled_by(direct, log.note("direct")));
    t.async_wait(asio::bind_executor(strand, cancelled_by(bound, log.note("bound"))));
    BOOST_TEST(wheel.advance(1ms) == 2U);
    direct.emit(cancellation_type::terminal);
    asio::post(strand,
               [&] { bound.emit(cancellation_type::terminal); }); // When it is queued there.
    BOOST_TEST(log_now() == "direct! bound!");
    BOOST_TEST(t.cancel() == 0U);
}

BOOST_AUTO_TEST_CASE(a_signal_reaches_a_refused_wait_or_one_without_context_and_does_nothing) {
    cancellation_signal refused, orphaned, unborn;
    std::optional<virtual_time> world(std::in_place, asio_wheel::wheel_options{.max_pending = 1});
    journal log;
    timer t(world->ctx, 1h);
    t.async_wait(log.note("pending"));
    t.async_wait(cancelled_by(refused, log.note("refused")));
    refused.emit(cancellation_type::terminal);
    world->poll();
    BOOST_TEST(log.take().starts_with("refused("));
    refused.emit(cancellation_type::terminal);
    BOOST_TEST(t.cancel() == 1U);
    world->poll();
    BOOST_TEST(log.take() == "pending!");
    {
        asio::io_context ctx;
        timer of_ctx(ctx, 1h);
        of_ctx.async_wait(cancelled_by(orphaned, log.note("orphaned")));
        const auto strand = asio::make_strand(ctx);
        timer on_strand(strand, -1h);
        on_strand.async_wait(cancelled_by(unborn, log.note("unborn")));
        asio::post(strand, [] {}); // Keeps the handler from being called at once.
        ctx.poll_one();
    }
    orphaned.emit(cancellation_type::terminal);
    unborn.emit(cancellation_type::terminal);
    BOOST_TEST(log.take() == "");
}

// real time
using threaded_timers = std::tuple<asio_wheel::steady_timer, asio::steady_timer>;

// Signals and handlers are on one strand, as Asio requires. Waits expire on any thread.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_signal_at_the_moment_of_expiry_gives_one_completion, T,
                              threaded_timers) {
    asio::thread_pool pool(2);
    constexpr int chains = 4, rounds = 500;
    std::atomic<int> fired{0}, cancelled{0};
    struct chain {
        explicit chain(asio::thread_pool& p)
            : strand(asio::make_strand(p.get_executor())), t(strand), trigger(p) {}
        asio::strand<asio::thread_pool::executor_type> strand;
        T t, trigger;
        cancellation_signal signal;
        int round = 0;
        int left = 0; // Handlers of this round that have not been called.
    };
    std::deque<chain> all;
    const auto start = [&](auto&& self, chain& c) -> void {
        if (c.round++ == rounds) {
            return;
        }
        c.left = 2;
        const auto done = [&self, &c] {
            if (--c.left == 0) {
                self(self, c);
            }
        };
        const auto d = std::chrono::microseconds(1 + c.round % 3 * 700);
        c.t.expires_after(d);
        c.t.async_wait(
            cancelled_by(c.signal, [&, done, once = std::make_unique<int>(1)](error_code ec) {
                if (--*once == 0) {
                    ++(ec ? cancelled : fired);
                }
                done();
            }));
        c.trigger.expires_after(d);
        c.trigger.async_wait(asio::bind_executor(c.strand, [&c, done](error_code) {
            c.signal.emit(cancellation_type::terminal);
            done();
        }));
    };
    for (int i = 0; i < chains; ++i) {
        chain& c = all.emplace_back(pool);
        asio::post(c.strand, [&] { start(start, c); });
    }
    pool.join();
    BOOST_TEST(fired + cancelled == chains * rounds);
    for (const chain& c : all) {
        BOOST_TEST(c.round == rounds + 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
