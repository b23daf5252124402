// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Where handlers run: strands, a second context, thread pools, and contexts that the wheel does not
// know. What happens to a wait while it is queued on another executor.

#include <asio_wheel/steady_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/own_context.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;

template <class World, class Executor>
using timer_on = typename World::timer::template rebind_executor<Executor>::other;

using io_strand = asio::strand<asio::io_context::executor_type>;

// Takes nothing.
struct throwing_executor {
    asio::io_context* ctx;

    [[nodiscard]] asio::io_context& query(asio::execution::context_t) const noexcept {
        return *ctx;
    }
    template <class Function>
    void execute(Function&&) const {
        throw std::runtime_error("no");
    }
    friend bool operator==(const throwing_executor&, const throwing_executor&) noexcept = default;
};

// Throws as soon as its work is no longer to be tracked.
struct executor_that_stays_tracked : throwing_executor {
    using tracked_t = asio::execution::outstanding_work_t::tracked_t;
    using untracked_t = asio::execution::outstanding_work_t::untracked_t;

    [[nodiscard]] executor_that_stays_tracked require(tracked_t) const { return *this; }
    [[nodiscard]] executor_that_stays_tracked require(untracked_t) const {
        throw std::runtime_error("no");
    }
    [[nodiscard]] static constexpr asio::execution::outstanding_work_t
    query(asio::execution::outstanding_work_t) noexcept {
        return asio::execution::outstanding_work.tracked;
    }
    using throwing_executor::query;
};

// Throws when it is to use other memory.
struct executor_with_its_own_memory : throwing_executor {
    template <class Allocator>
    [[nodiscard]] executor_with_its_own_memory
    prefer(asio::execution::allocator_t<Allocator>) const {
        throw std::runtime_error("no");
    }
};

// Two contexts: that of the timers, where time stands still, and that of the handlers, which runs
// only when the test says so.
struct two_contexts : virtual_world {
    drained_context other;
    journal seen;
    const asio_wheel::wheel_stats before = wheel.stats();

    [[nodiscard]] auto elsewhere(std::string entry) {
        return asio::bind_executor(other.ctx, seen.note(std::move(entry)));
    }

    // Queues due handlers on the other context.
    void send() {
        BOOST_TEST_REQUIRE(pass(1s) == 1U);
        BOOST_TEST_REQUIRE(seen.size() == 0U);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_executors, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_runs_on_the_strand_of_its_timer, World, worlds) {
    World world;
    const io_strand strand = asio::make_strand(world.ctx);
    const asio::strand<asio::any_io_executor> outer{asio::any_io_executor(strand)};
    int on_strand = 0;
    const auto check = [&on_strand](const auto& s) {
        return [&on_strand, s](const error_code&) { on_strand += s.running_in_this_thread(); };
    };
    timer_on<World, io_strand> concrete(strand, 1ms);
    typename World::timer hidden(strand, 1ms);
    typename World::timer nested(outer, 1ms);
    typename World::timer bound(world.ctx, 1ms);
    concrete.async_wait(check(strand));
    hidden.async_wait(check(strand));
    nested.async_wait(check(outer));
    bound.async_wait(asio::bind_executor(strand, check(strand)));
    world.pass(5ms);
    BOOST_TEST(on_strand == 4);
    concrete.expires_after(1h);
    concrete.async_wait(check(strand));
    concrete.cancel();
    world.poll();
    BOOST_TEST(on_strand == 5);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_bound_to_another_context_runs_there, World, worlds) {
    World world;
    drained_context other;
    journal seen;
    typename World::timer t(world.ctx, 2ms);
    t.async_wait(asio::bind_executor(other.ctx, seen.note("there")));
    // Both have work.
    BOOST_TEST(other.ctx.poll() == 0U);
    BOOST_TEST(!other.ctx.stopped());
    world.elapse(3ms);
    world.run();
    BOOST_TEST(seen.take() == "");
    BOOST_TEST(!other.ctx.stopped());
    other.run();
    BOOST_TEST(seen.take() == "there");
}

// The work of the timers' context ends when the handlers are queued on the other one.
BOOST_AUTO_TEST_CASE_TEMPLATE(run_returns_while_handlers_wait_in_another_context, World, worlds) {
    World world;
    drained_context other;
    journal seen;
    typename World::timer t(world.ctx, 1h);
    t.async_wait(asio::bind_executor(other.ctx, seen.note("there")));
    BOOST_TEST(t.cancel() == 1U);
    world.run();
    other.run();
    BOOST_TEST(seen.take() == "there!");
}

// The timer that was cancelled may still be filed.
BOOST_AUTO_TEST_CASE_TEMPLATE(run_returns_while_an_expired_handler_waits_in_another_context, World,
                              worlds) {
    World world;
    drained_context other;
    journal seen;
    typename World::timer cancelled(world.ctx, 1h);
    cancelled.async_wait(seen.note("here"));
    BOOST_TEST(cancelled.cancel() == 1U);
    typename World::timer t(world.ctx, 1ms);
    t.async_wait(asio::bind_executor(other.ctx, seen.note("there")));
    world.elapse(2ms);
    world.run();
    BOOST_TEST(seen.take() == "here!");
    other.run();
    BOOST_TEST(seen.take() == "there");
}

// For the executor of the timer and for that of the handler.
BOOST_AUTO_TEST_CASE_TEMPLATE(executors_have_work_while_a_wait_is_pending, World, worlds) {
    World world;
    drained_context other;
    const auto of_timer = std::make_shared<tracker>();
    const auto of_handler = std::make_shared<tracker>();
    timer_on<World, tracker_executor<>> t(track(of_timer, world.ctx), 1ms);
    bool called = false;
    t.async_wait(asio::bind_executor(track(of_handler, other.ctx), [&](const error_code&) {
        called = true;
        BOOST_TEST(of_handler->running_here());
    }));
    BOOST_TEST(of_timer->work() == 1U);
    BOOST_TEST(of_handler->work() == 1U);
    world.pass(3ms);
    BOOST_TEST(!called);
    other.run();
    BOOST_TEST(called);
    BOOST_TEST(of_timer->work() == 0U);
    BOOST_TEST(of_handler->work() == 0U);

    bool again = false;
    t.async_wait([&](const error_code&) { again = of_timer->running_here(); });
    BOOST_TEST(of_timer->work() == 1U);
    world.poll();
    BOOST_TEST(again);
    BOOST_TEST(of_timer->work() == 0U);
    BOOST_TEST(of_handler->executed() == 1U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(dispatch_in_a_handler_runs_inline, World, worlds) {
    World world;
    const io_strand strand = asio::make_strand(world.ctx);
    int inlined = 0;
    const auto check = [&inlined](auto ex) {
        return asio::bind_executor(ex, [&inlined, ex](const error_code&) {
            bool here = false;
            asio::dispatch(ex, [&here] { here = true; });
            inlined += here;
        });
    };
    typename World::timer t(world.ctx, 1ms);
    t.async_wait(check(world.ctx.get_executor()));
    t.async_wait(check(asio::any_io_executor(world.ctx.get_executor())));
    t.async_wait(check(strand));
    world.pass(3ms);
    BOOST_TEST(inlined == 3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_of_any_type_runs_on_its_own_executor, World, worlds) {
    World world;
    drained_context other;
    journal seen;
    typename World::timer t(world.ctx, 1ms);
    asio::any_completion_handler<void(error_code)> handler(
        asio::bind_executor(other.ctx, seen.note("there")));
    t.async_wait(std::move(handler));
    world.pass(3ms);
    BOOST_TEST(seen.take() == "");
    other.run();
    BOOST_TEST(seen.take() == "there");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(handlers_bound_to_a_pool_or_the_system_run_there, World, worlds) {
    World world;
    asio::thread_pool pool(1);
    std::promise<bool> on_pool;
    std::promise<void> called;
    typename World::timer t(world.ctx, 1ms);
    t.async_wait(asio::bind_executor(pool, [&](const error_code&) {
        on_pool.set_value(pool.get_executor().running_in_this_thread());
    }));
    t.async_wait(asio::bind_executor(asio::system_executor(),
                                     [&](const error_code&) { called.set_value(); }));
    world.pass(3ms);
    BOOST_TEST(on_pool.get_future().get());
    called.get_future().get();
    pool.join();
}

// A due wait is queued on its handler's executor, here on a context that does not run. Until the
// handler is called, the wait belongs to the timer.
BOOST_FIXTURE_TEST_CASE(a_wait_on_its_way_to_another_context_can_be_cancelled, two_contexts) {
    asio::cancellation_signal signal;
    const std::function<std::size_t(std::optional<timer>&)> ways[] = {
        [](auto& t) { return t->cancel(); },
        [](auto& t) { return t->cancel_one(); },
        [](auto& t) { return t->expires_after(1s); },
        [](auto& t) { return t.reset(), std::size_t{1}; },
        [](auto& t) { return *t = timer(t->get_executor()), std::size_t{1}; },
        [&signal](auto&) { return signal.emit(asio::cancellation_type::total), std::size_t{1}; },
    };
    for (const auto& way : ways) {
        std::optional<timer> t(std::in_place, ctx, 1s);
        t->async_wait(asio::bind_cancellation_slot(signal.slot(), elsewhere("there")));
        send();
        BOOST_TEST(wheel.pending() == 1U);
        BOOST_TEST(way(t) == 1U);
        BOOST_TEST(wheel.pending() == 0U);
        other.run();
        BOOST_TEST(seen.take() == "there!");
    }
    BOOST_TEST(wheel.stats().cancelled - before.cancelled == std::size(ways));
    BOOST_TEST(wheel.stats().fired == before.fired);
}

BOOST_FIXTURE_TEST_CASE(a_wait_on_its_way_to_another_context_can_be_postponed, two_contexts) {
    timer t(ctx, 1s);
    t.async_wait(elsewhere("there"));
    send();
    BOOST_TEST(t.postpone(1s) == 1U);
    other.poll();
    BOOST_TEST(seen.take() == "");
    send();
    // Once more, and due again before it arrives.
    BOOST_TEST(t.postpone(1s) == 1U);
    send();
    other.run();
    BOOST_TEST(seen.take() == "there");
    BOOST_TEST(wheel.stats().fired - before.fired == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_postponed_wait_on_its_way_can_be_cancelled, two_contexts) {
    timer t(ctx, 1s);
    t.async_wait(elsewhere("there"));
    send();
    BOOST_TEST(t.postpone(1h) == 1U);
    BOOST_TEST(t.cancel() == 1U);
    other.run();
    BOOST_TEST(seen.take() == "there!");
}

BOOST_FIXTURE_TEST_CASE(a_timer_with_a_wait_on_its_way_can_be_moved, two_contexts) {
    timer t(ctx, 1s);
    t.async_wait(elsewhere("there"));
    send();
    timer target(std::move(t));
    BOOST_TEST(t.cancel() == 0U);
    BOOST_TEST(target.cancel() == 1U);
    other.run();
    BOOST_TEST(seen.take() == "there!");
}

// The handler is destroyed with the queue that it was in. Nothing else is accessed.
BOOST_FIXTURE_TEST_CASE(the_end_of_a_handlers_context_ends_its_wait, virtual_world) {
    journal seen;
    timer t(ctx, 1s);
    const auto alive = std::make_shared<int>();
    auto other = std::make_unique<asio::io_context>();
    t.async_wait(asio::bind_executor(*other, [alive](const error_code&) {}));
    t.async_wait(seen.note("here"));
    pass(1s);
    BOOST_TEST(seen.take() == "here");
    BOOST_TEST(alive.use_count() == 2);
    BOOST_TEST(wheel.pending() == 1U);
    other.reset();
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(wheel.pending() == 0U);
    run();
    t.expires_after(1s);
    t.async_wait(seen.note("again"));
    pass(1s);
    BOOST_TEST(seen.take() == "again");
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_handlers_context_ends_a_postponed_wait, virtual_world) {
    journal seen;
    for (const bool another : {false, true}) {
        timer t(ctx, 1s);
        auto other = std::make_unique<asio::io_context>();
        t.async_wait(asio::bind_executor(*other, [](const error_code&) {}));
        pass(1s);
        BOOST_TEST(t.postpone(1s) == 1U);
        if (another) {
            t.async_wait(seen.note("another"));
        }
        other.reset();
        BOOST_TEST(wheel.pending() == (another ? 1U : 0U));
        pass(1s);
        BOOST_TEST(seen.take() == (another ? "another" : ""));
        run();
    }
}

// What a user can add up: each accepted wait is pending, or has ended in one of three ways.
BOOST_FIXTURE_TEST_CASE(what_an_executor_drops_is_counted, virtual_world) {
    const auto check_sum = [this](std::uint64_t dropped) {
        const asio_wheel::wheel_stats stats = wheel.stats();
        BOOST_TEST(stats.dropped == dropped);
        BOOST_TEST(stats.scheduled ==
                   stats.fired + stats.cancelled + stats.dropped + stats.pending);
    };
    timer t(ctx, 1s);
    timer distant(ctx, 1h);
    distant.async_wait([](const error_code&) {});
    auto other = std::make_unique<asio::io_context>();
    t.async_wait(asio::bind_executor(*other, [](const error_code&) {}));
    pass(1s);
    check_sum(0);
    other.reset();
    check_sum(1);
    t.expires_after(1s);
    t.async_wait(asio::bind_executor(throwing_executor{&ctx}, [](const error_code&) {}));
    BOOST_CHECK_THROW(pass(1s), std::runtime_error);
    check_sum(2);
    t.expires_after(1s);
    const auto alive = std::make_shared<int>();
    t.async_wait(
        asio::bind_executor(executor_that_stays_tracked{{&ctx}}, [alive](const error_code&) {}));
    BOOST_CHECK_THROW(pass(1s), std::runtime_error);
    BOOST_TEST(alive.use_count() == 1); // The handler was destroyed.
    check_sum(3);
    t.expires_after(1s);
    t.async_wait(
        asio::bind_executor(executor_with_its_own_memory{{&ctx}}, [alive](const error_code&) {}));
    BOOST_CHECK_THROW(pass(1s), std::runtime_error);
    BOOST_TEST(alive.use_count() == 1);
    check_sum(4);
    distant.cancel();
    poll();
    check_sum(4);
    BOOST_TEST(wheel.pending() == 0U);
}

// As with Asio's timers: a handler that is queued on its executor belongs to that executor.
BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_on_its_way_arrives_when_its_timers_context_has_ended, Timer,
                              timers) {
    drained_context other;
    int called = 0;
    const auto alive = std::make_shared<int>();
    std::optional<Timer> t;
    {
        asio::io_context ctx;
        t.emplace(ctx, 0s);
        for (int i = 0; i < 3; ++i) {
            t->async_wait(asio::bind_executor(other.ctx, [alive, &called](const error_code& ec) {
                BOOST_TEST(!ec);
                ++called;
            }));
        }
        BOOST_TEST(ctx.run_one() == 1U); // The first one is queued.
        BOOST_TEST(alive.use_count() == 4);
        if constexpr (std::is_same_v<Timer, asio::steady_timer>) {
            t.reset(); // It must not outlive its context.
        }
    }
    BOOST_TEST(alive.use_count() == 2);
    t.reset();
    other.run();
    BOOST_TEST(called == 1);
    BOOST_TEST(alive.use_count() == 1);
}

// The last wait may end outside of the wheel's own turns: in a turn of a strand that was busy when
// the wait was sent there.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_context_stops_when_its_last_wait_ends_on_a_busy_strand, Timer,
                              timers) {
    for (int turns = 0; turns < 4; ++turns) { // After so many, the strand is busy.
        asio::io_context ctx;
        const asio::any_io_executor strand = asio::make_strand(ctx);
        Timer later(strand, 1h);
        later.async_wait([](const error_code&) {});
        ctx.poll();
        Timer now(strand, 0s);
        bool called = false;
        now.async_wait([&](const error_code&) { called = true; });
        const std::function<void(int)> after = [&](int left) {
            if (left > 0) {
                asio::post(ctx, [&, left] { after(left - 1); });
            } else {
                asio::post(strand, [&] { later.cancel(); });
            }
        };
        after(turns);
        for (int i = 0; i < 10 && !ctx.stopped(); ++i) {
            poll_with_timers(ctx);
        }
        BOOST_TEST(called);
        BOOST_TEST(ctx.stopped());
    }
}

BOOST_FIXTURE_TEST_CASE(a_postponed_wait_on_its_way_ends_with_its_timers_context, virtual_world) {
    int called = 0;
    std::optional<asio::io_context> own(std::in_place);
    auto& own_wheel = asio_wheel::use_wheel(*own);
    own_wheel.pause();
    steady_timer t(*own, 1s);
    t.async_wait(asio::bind_executor(ctx, [&](const error_code&) { ++called; }));
    BOOST_TEST(own_wheel.advance(1s) == 1U);
    BOOST_TEST(own->run_one() == 1U);
    BOOST_TEST(t.postpone(1h) == 1U);
    own.reset();
    BOOST_TEST(t.cancel() == 0U);
    run();
    BOOST_TEST(called == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(joining_a_pool_waits_for_pending_waits, World, real_worlds) {
    asio::thread_pool pool(2);
    std::atomic<int> called = 0;
    typename World::timer a(pool, 2ms);
    typename World::timer b(asio::make_strand(pool), 3ms);
    a.async_wait([&](const error_code& ec) { called += ec ? 100 : 1; });
    b.async_wait([&](const error_code& ec) { called += ec ? 100 : 1; });
    pool.join();
    BOOST_TEST(called == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_stopped_pool_calls_nobody, World, real_worlds) {
    const auto alive = std::make_shared<int>();
    {
        asio::thread_pool pool(2);
        typename World::timer t(pool, 1h);
        t.async_wait([alive](const error_code&) { BOOST_ERROR("called"); });
        pool.stop();
        pool.join();
        BOOST_TEST(alive.use_count() == 2);
    }
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(timers_work_on_the_system_executor, World, real_worlds) {
    std::promise<void> expired;
    std::promise<error_code> cancelled;
    timer_on<World, asio::system_executor> t(asio::system_executor(), 2ms);
    t.async_wait([&](const error_code&) { expired.set_value(); });
    expired.get_future().get();
    typename World::timer hidden(asio::system_executor(), 1h);
    hidden.async_wait([&](const error_code& ec) { cancelled.set_value(ec); });
    hidden.cancel();
    BOOST_TEST(cancelled.get_future().get() == aborted);
    // Pending when the program ends.
    static auto* const forever = new timer_on<World, asio::system_executor>(t.get_executor(), 1h);
    forever->async_wait([](const error_code&) { std::abort(); });
}

// A context whose queue the wheel does not know. Asio's timers work there, so wheel timers do too.
// (With io_uring, neither do.)
BOOST_TEST_DECORATOR(*only_if(!on_io_uring))
BOOST_AUTO_TEST_CASE_TEMPLATE(timers_work_on_a_context_of_any_kind, World, real_worlds) {
    using own = own_context::executor_type;
    own_context ctx;
    int called = 0;
    const auto count = [&](const error_code& ec) {
        BOOST_TEST(!ec);
        BOOST_TEST(ctx.running_in_this_thread());
        ++called;
    };
    timer_on<World, own> concrete(ctx, 2ms);
    typename World::timer hidden(ctx.get_executor(), 1ms);
    timer_on<World, asio::strand<own>> serial(asio::make_strand(ctx.get_executor()), 1ms);
    concrete.async_wait(count);
    hidden.async_wait(count);
    serial.async_wait(count);
    BOOST_TEST(ctx.run(3));
    BOOST_TEST(called == 3);

    hidden.expires_after(1h);
    hidden.async_wait([&](const error_code& ec) { called += ec == aborted ? 10 : 100; });
    BOOST_TEST(hidden.cancel() == 1U);
    BOOST_TEST(ctx.run(1));
    BOOST_TEST(called == 13);
}

BOOST_AUTO_TEST_CASE(virtual_time_works_on_a_context_of_any_kind) {
    own_context ctx;
    auto& wheel = asio_wheel::use_wheel(ctx);
    wheel.pause();
    journal seen;
    std::vector<steady_timer> timers;
    for (int i = 0; i < 3; ++i) {
        timers.emplace_back(ctx.get_executor(), (3 - i) * 1h);
        timers.back().async_wait(seen.note(i));
    }
    BOOST_TEST(wheel.advance(3h + 1ms) == 3U);
    BOOST_TEST(ctx.run(3));
    BOOST_TEST(seen.take() == "2 1 0");
}

// Asio runs the timers of such a context on a thread of its own. If that thread is busy when the
// context is destroyed, Asio's reactor has a data race (see tsan.supp). So the test waits until it
// sleeps.
BOOST_AUTO_TEST_CASE(the_end_of_a_context_of_any_kind_destroys_its_handlers,
                     *only_if(!on_io_uring)) {
    const auto alive = std::make_shared<int>();
    const auto handler = [alive](const error_code&) {};
    {
        own_context ctx;
        steady_timer distant(ctx.get_executor(), 1h);
        distant.async_wait(handler);
        distant.async_wait(asio::bind_executor(asio::system_executor(), handler));
        std::this_thread::sleep_for(20ms); // real time
    }
    BOOST_TEST(alive.use_count() == 2); // Those of `alive` and of the handler.
}

// On Windows, that is safe. Asio's thread may still handle what was cancelled, and nothing is left
// that the end of the context would wait for.
BOOST_AUTO_TEST_CASE(a_context_of_any_kind_may_end_while_asios_thread_is_busy,
                     *only_if(on_completion_port)) {
    const auto start_and_cancel = [](const auto& executor) {
        steady_timer t(executor, 1h);
        t.async_wait([](const error_code&) {});
        BOOST_TEST(t.cancel() == 1U);
    };
    for (int i = 0; i != 200; ++i) {
        {
            own_context ctx;
            start_and_cancel(ctx.get_executor());
            BOOST_TEST(ctx.run(1));
        }
        asio::thread_pool pool(1);
        start_and_cancel(pool.get_executor());
        pool.join();
    }
}

#ifndef BOOST_ASIO_NO_TS_EXECUTORS
// As a timer's executor and as a handler's.
BOOST_AUTO_TEST_CASE_TEMPLATE(executors_of_the_networking_ts_work, World, real_worlds) {
    drained_context world;
    journal seen;
    const asio::executor plain = world.ctx.get_executor();
    const asio::executor strand = asio::make_strand(world.ctx);
    timer_on<World, asio::executor> a(plain, 1ms);
    timer_on<World, asio::executor> b(strand, 2ms);
    typename World::timer c(world.ctx, 3ms);
    a.async_wait(seen.note("a"));
    b.async_wait(seen.note("b"));
    c.async_wait(asio::bind_executor(strand, seen.note("c")));
    world.run();
    BOOST_TEST(seen.take() == "a b c");
    b.expires_after(1h);
    b.async_wait(asio::bind_executor(plain, seen.note("b")));
    BOOST_TEST(b.cancel() == 1U);
    world.run();
    BOOST_TEST(seen.take() == "b!");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
