// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// The lifetime and the memory of handlers. operator new is counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/steady_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/empty_pool.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace asio_wheel::test;

using alloc = counting_allocator<>;

// How often a handler and the functions made from it were copied and moved.
struct transfers {
    std::size_t copied = 0;
    std::size_t moved = 0;
    std::size_t called = 0;
};

class travelling_handler {
public:
    explicit travelling_handler(transfers& count) : count_(&count) {}
    travelling_handler(const travelling_handler& other) : count_(other.count_) { ++count_->copied; }
    travelling_handler(travelling_handler&& other) noexcept : count_(other.count_) {
        ++count_->moved;
    }
    travelling_handler& operator=(const travelling_handler&) = delete;
    ~travelling_handler() = default;

    void operator()(error_code) { ++count_->called; }

private:
    transfers* count_;
};

// Move-only, constructible only from its argument, callable only as an rvalue.
class single_use_handler {
public:
    explicit single_use_handler(bool& called) : called_(&called) {}
    void operator()(error_code) && { *called_ = true; }

private:
    std::unique_ptr<int> move_only_ = std::make_unique<int>();
    bool* called_;
};

// The same with an executor. (Some versions call the result of bind_executor() as an lvalue.)
class single_use_handler_on : public single_use_handler {
public:
    using executor_type = asio::any_io_executor;
    single_use_handler_on(executor_type ex, bool& called)
        : single_use_handler(called), ex_(std::move(ex)) {}
    [[nodiscard]] executor_type get_executor() const noexcept { return ex_; }

private:
    executor_type ex_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_handlers)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_pending_wait_is_one_allocation_freed_before_the_call, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    allocations count;
    T t(world.ctx), on_strand(asio::make_strand(world.ctx));
    const auto strand = asio::make_strand(world.ctx);
    std::size_t called = 0;
    const auto handler = [&] {
        return asio::bind_allocator(alloc(count), [&](error_code) {
            BOOST_TEST(count.live == 0U);
            ++called;
        });
    };
    const auto check = [&](const auto& start) {
        for (const bool expire : {true, false}) {
            t.expires_after(expire ? 1ms : 3'600'000ms);
            on_strand.expires_after(expire ? 1ms : 3'600'000ms);
            start();
            BOOST_TEST(count.live == 1U);
            if (!expire) {
                BOOST_TEST(t.cancel() + on_strand.cancel() == 1U);
            }
            BOOST_TEST(count.live == 1U);
            world.pass(1ms);
            BOOST_TEST(count.live == 0U);
        }
    };
    check([&] { t.async_wait(handler()); });
    BOOST_TEST(count.total == 2U);
    check([&] { t.async_wait(asio::bind_executor(world.ctx.get_executor(), handler())); });
    BOOST_TEST(count.total == 4U);
    check([&] { t.async_wait(asio::bind_executor(strand, handler())); });
    check([&] { on_strand.async_wait(handler()); });
    check([&] { on_strand.async_wait(asio::bind_executor(world.ctx.get_executor(), handler())); });
    BOOST_TEST(called == 10U);
}

// Allocates neither from the handler's allocator nor elsewhere: the memory for queuing on the
// executor is kept for the next wait.
BOOST_AUTO_TEST_CASE(delivering_through_another_executor_allocates_nothing) {
    virtual_world world;
    asio::io_context other;
    asio::thread_pool pool(1);
    allocations count;
    timer native(world.ctx), on_strand(asio::make_strand(world.ctx));
    const auto strand = asio::make_strand(world.ctx);
    const asio::any_io_executor hidden_strand = strand;
    const asio::any_io_executor hidden_context = other.get_executor();
    const auto made_by = [&](timer& t, const auto& bind) {
        int called = 0;
        const auto deliver = [&] {
            t.expires_at(world.now());
            t.async_wait(bind(asio::bind_allocator(alloc(count), [&](error_code) { ++called; })));
            const std::size_t before = heap.total;
            world.poll();
            other.restart();
            other.poll();
            return heap.total - before;
        };
        deliver(); // The first delivery allocates the memory that is kept.
        std::size_t made = 0;
        for (int i = 0; i < 100; ++i) {
            made += deliver();
        }
        BOOST_TEST(called == 101);
        BOOST_TEST(count.live == 0U);
        return made;
    };
    const auto to = [](const auto& ex) {
        return [ex](auto handler) { return asio::bind_executor(ex, std::move(handler)); };
    };
    BOOST_TEST(made_by(native, to(strand)) == 0U);
    BOOST_TEST(made_by(native, to(hidden_strand)) == 0U);
    BOOST_TEST(made_by(native, to(other.get_executor())) == 0U);
    BOOST_TEST(made_by(native, to(hidden_context)) == 0U);
    BOOST_TEST(made_by(on_strand, [](auto handler) { return handler; }) == 0U);
    BOOST_TEST(made_by(on_strand, to(world.ctx.get_executor())) == 0U);
}

// A strand allocates for each handler. Its waits come when there is memory, and none is lost.
BOOST_AUTO_TEST_CASE(what_goes_to_a_strand_waits_for_memory) {
    virtual_world world;
    asio::io_context other;
    timer native(world.ctx, 1s), on_strand(asio::make_strand(world.ctx), 1s);
    const auto strand = asio::make_strand(world.ctx), second = asio::make_strand(other);
    int called = 0;
    const auto count = [&](error_code ec) { called += ec ? 0 : 1; };
    const empty_pool pool;
    for (int i = 0; i < 10; ++i) {
        native.async_wait(asio::bind_executor(strand, count));
        native.async_wait(asio::bind_executor(second, count));
        native.async_wait(asio::bind_executor(other, count));
        on_strand.async_wait(count);
    }
    BOOST_TEST(world.wheel.advance(1s) == 40U);
    const auto run = [&] {
        for (int i = 0; i < 1000; ++i) {
            world.ctx.restart();
            world.ctx.poll_one();
            other.restart();
            other.poll_one();
        }
    };
    {
        const empty_pool none_left;
        const out_of_memory from_now;
        run();
    }
    BOOST_TEST(called == 10); // Those on the other context's own executor.
    run();
    BOOST_TEST(called == 40);
}

// As with Asio, the handler and its memory are destroyed, the exception leaves run(), and the
// others continue.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_that_cannot_be_moved_to_its_call_is_destroyed, World,
                              worlds) {
    using T = typename World::timer;
    struct heavy {
        std::shared_ptr<int> held;
        int* moves_left;
        int* called;
        heavy(std::shared_ptr<int> h, int* m, int* c)
            : held(std::move(h)), moves_left(m), called(c) {}
        heavy(heavy&& other)
            : held(other.held), moves_left(other.moves_left), called(other.called) {
            if (--*moves_left == 0) {
                throw std::runtime_error("too heavy");
            }
        }
        heavy& operator=(heavy&&) = delete;
        ~heavy() = default;
        void operator()(error_code) const { ++*called; }
    };
    const auto held = std::make_shared<int>();
    int endless = -1;
    for (const bool strand : {false, true}) {
        World world;
        const asio::any_io_executor ex = strand
                                             ? asio::any_io_executor(asio::make_strand(world.ctx))
                                             : asio::any_io_executor(world.ctx.get_executor());
        int called = 0, moves = 0;
        T bad(ex, 1ms), good(ex, 1ms);
        // The number of moves depends on Asio. The first one after the start must fail.
        int counted = 1'000'000;
        bad.async_wait(heavy(held, &counted, &called));
        moves = counted;
        bad.cancel();
        world.poll();
        called = 0;
        counted = 1'000'000 - moves + 1;
        bad.expires_after(1ms);
        bad.async_wait(heavy(held, &counted, &called));
        good.async_wait(heavy(held, &endless, &called));
        BOOST_TEST(held.use_count() == 3);
        world.elapse(1ms);
        world.ctx.restart();
        BOOST_CHECK_THROW(world.ctx.poll(), std::runtime_error);
        world.poll();
        BOOST_TEST(called == 1);
        BOOST_TEST(held.use_count() == 1);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_pending_wait_has_its_allocation, World, worlds) {
    using T = typename World::timer;
    allocations count;
    std::optional<World> world(std::in_place);
    {
        T t(world->ctx, 1h), other(asio::make_strand(world->ctx), 1h);
        for (std::size_t i = 0; i < 10; ++i) {
            BOOST_TEST(count.live == 2 * i);
            t.async_wait(asio::bind_allocator(alloc(count), [](error_code) {}));
            other.async_wait(asio::bind_allocator(alloc(count), [](error_code) {}));
        }
        BOOST_TEST(count.live == 20U);
    }
    world->poll();
    BOOST_TEST(count.live == 0U);
    BOOST_TEST(count.total >= 20U);
}

BOOST_AUTO_TEST_CASE(nothing_is_left_when_the_context_has_ended) {
    allocations count;
    const auto held = std::make_shared<int>();
    {
        asio::io_context ctx;
        auto& wheel = asio_wheel::use_wheel(ctx);
        wheel.pause();
        timer pending(ctx, 1h), due(ctx, 1ms), cancelled(ctx, 1h);
        timer on_strand(asio::make_strand(ctx), 1ms);
        for (timer* const t : {&pending, &due, &cancelled, &on_strand}) {
            t->async_wait(asio::bind_allocator(alloc(count), [copy = held](error_code) {}));
            t->async_wait(asio::bind_executor(
                asio::make_strand(ctx),
                asio::bind_allocator(alloc(count), [copy = held](error_code) {})));
        }
        BOOST_TEST(held.use_count() == 9);
        cancelled.cancel();
        wheel.advance(2ms);
        ctx.poll_one();
        BOOST_TEST(held.use_count() == 8);
    }
    BOOST_TEST(held.use_count() == 1);
    BOOST_TEST(count.live == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_may_be_move_only_and_callable_once, World, worlds) {
    using T = typename World::timer;
    World world;
    T t(world.ctx, 1ms), on_strand(asio::make_strand(world.ctx), 1ms);
    bool called[4] = {};
    t.async_wait(single_use_handler(called[0]));
    on_strand.async_wait(single_use_handler(called[1]));
    t.async_wait(single_use_handler_on(asio::make_strand(world.ctx), called[2]));
    t.async_wait(single_use_handler_on(world.ctx.get_executor(), called[3]));
    world.pass(1ms);
    for (const bool was_called : called) {
        BOOST_TEST(was_called);
    }
}

BOOST_AUTO_TEST_CASE(a_handler_is_copied_and_moved_no_more_than_by_asio) {
    virtual_world world;
    asio::steady_timer theirs(world.ctx);
    timer ours(world.ctx);
    const auto count_of = [&](auto& t, auto start) {
        transfers count;
        t.expires_at(timer::time_point());
        start(t, travelling_handler(count));
        world.drained_context::poll(); // Asio's timer is in real time.
        BOOST_TEST(count.called == 1U);
        return count;
    };
    const auto rvalue = [](auto& t, travelling_handler h) {
        const auto start = [&t](travelling_handler&& r) { t.async_wait(std::move(r)); };
        start(std::move(h));
    };
    const auto lvalue = [](auto& t, travelling_handler h) { t.async_wait(h); };
    const transfers their_rvalue = count_of(theirs, rvalue), our_rvalue = count_of(ours, rvalue);
    BOOST_TEST(our_rvalue.copied == 0U);
    BOOST_TEST(our_rvalue.copied == their_rvalue.copied);
    BOOST_TEST(our_rvalue.moved <= their_rvalue.moved);
    const transfers their_lvalue = count_of(theirs, lvalue), our_lvalue = count_of(ours, lvalue);
    BOOST_TEST(our_lvalue.copied == 1U);
    BOOST_TEST(our_lvalue.copied == their_lvalue.copied);
    BOOST_TEST(our_lvalue.moved <= their_lvalue.moved);
}

// The handler's executor runs the handler, and has work while the wait is pending.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_runs_through_its_executor_which_works_meanwhile, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    const auto record = std::make_shared<tracker>(), other = std::make_shared<tracker>();
    const auto ex = track(record, world.ctx);
    T bound(world.ctx, 1ms), own(ex, 1ms);
    bool first = false, second = false, third = false;
    BOOST_TEST(record->work() == 0U);
    bound.async_wait(asio::bind_executor(ex, [&](error_code) { first = record->running_here(); }));
    BOOST_TEST(record->work() >= 1U);
    world.pass(1ms);
    BOOST_TEST(first);
    BOOST_TEST(record->work() == 0U);
    own.async_wait([&](error_code) { second = record->running_here(); });
    BOOST_TEST(record->work() >= 1U);
    world.pass(1ms);
    BOOST_TEST(second);
    BOOST_TEST(record->work() == 0U);
    own.expires_after(1h);
    own.async_wait(asio::bind_executor(track(other, world.ctx), [&](error_code) {
        third = other->running_here();
        BOOST_TEST(record->work() >=
                   1U); // Includes that of the timer, until the handler has returned.
    }));
    BOOST_TEST(record->work() >= 1U);
    BOOST_TEST(other->work() >= 1U);
    own.cancel();
    world.poll();
    BOOST_TEST(third);
    BOOST_TEST(record->work() + other->work() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_cannot_be_allocated_leaves_the_timer_as_it_was, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    allocations count;
    const auto held = std::make_shared<int>();
    asio::cancellation_signal signal;
    T t(world.ctx, 1h);
    const auto expiry = t.expiry();
    const auto refused = [&] {
        count.refuse = true;
        BOOST_CHECK_THROW(
            t.async_wait(asio::bind_cancellation_slot(
                signal.slot(), asio::bind_allocator(alloc(count), [copy = held](error_code) {}))),
            std::bad_alloc);
        count.refuse = false;
        BOOST_TEST(held.use_count() == 1);
        BOOST_TEST(count.live == 0U);
        BOOST_TEST((t.expiry() == expiry));
        signal.emit(asio::cancellation_type::terminal);
    };
    refused();
    BOOST_TEST(t.cancel() == 0U);
    world.poll();
    BOOST_TEST(world.ctx.stopped()); // No work is left behind.
    t.async_wait(log.note("waits"));
    refused();
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "waits!");
}

// Each allocation of the call that starts a wait fails in turn. Either the call throws and has no
// effect, or the handler will be called.
BOOST_AUTO_TEST_CASE(a_wait_for_which_memory_runs_out_anywhere_is_refused_or_kept) {
    for (const auto d : {3'600'000ms, 1ms, -1ms}) {
        for (const bool strand : {false, true}) {
            std::size_t failures = 0;
            for (std::size_t n = 0;; ++n) {
                BOOST_TEST_REQUIRE(n < 100U);
                BOOST_TEST_INFO_SCOPE("a wait for " << d.count() << " ms"
                                                    << (strand ? ", strand" : "") << ", allocation "
                                                    << n << " fails");
                bool failed = false;
                const empty_pool pool;
                drained_context world;
                journal log;
                const auto held = std::make_shared<int>();
                const asio::any_io_executor ex =
                    strand ? asio::any_io_executor(asio::make_strand(world.ctx))
                           : asio::any_io_executor(world.ctx.get_executor());
                timer t(ex, d);
                bool thrown = false;
                {
                    const fail_after limit(n);
                    try {
                        t.async_wait([&log, copy = held](error_code ec) { log.add("wait", ec); });
                    } catch (const std::bad_alloc&) {
                        thrown = true;
                    }
                    failed = limit.has_failed();
                }
                failures += thrown;
                const bool expires = d < 1h;
                BOOST_TEST(held.use_count() == (thrown ? 1 : 2));
                if (!expires || thrown) {
                    BOOST_TEST(t.cancel() == (thrown ? 0U : 1U));
                }
                world.run();
                BOOST_TEST(log.take() == (thrown ? "" : expires ? "wait" : "wait!"));
                BOOST_TEST(held.use_count() == 1);
                t.async_wait(log.note("again"));
                t.cancel();
                world.run();
                BOOST_TEST(log.take() == "again!");
                if (!failed) {
                    break;
                }
            }
            BOOST_TEST(failures > 0U);
        }
    }
}

// cancel() cannot throw: without memory for queuing the handler, another way must be found.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_cancelled_without_memory_still_completes, World, real_worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h), other(world.ctx, 2h);
    t.async_wait(log.note("t"));
    other.async_wait(log.note("other"));
    {
        const fail_after limit(0);
        BOOST_TEST(t.cancel() == 1U);
    }
    while (log.size() == 0) {
        BOOST_TEST_REQUIRE(world.ctx.run_one_for(2s) == 1U); // real time: soon, not in an hour
    }
    BOOST_TEST(log.take() == "t!");
    BOOST_TEST(other.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "other!");
}

BOOST_AUTO_TEST_CASE(a_million_cycles_leave_no_memory_behind) {
    virtual_world world;
    timer t(world.ctx), other(world.ctx, 1h);
    std::size_t aborts = 0;
    other.async_wait([](error_code) {});
    const auto cycles = [&](int n) {
        for (int i = 0; i < n; ++i) {
            t.expires_after(30s);
            t.async_wait([&](error_code ec) { aborts += ec == aborted; });
            BOOST_REQUIRE(t.cancel() == 1U);
            if (i % 16 == 0) {
                world.poll();
            }
        }
        world.poll();
    };
    cycles(1000);
    const std::size_t live = heap.live;
    constexpr int million = fewer_on_windows(1'000'000);
    cycles(million);
    BOOST_TEST(heap.live == live);
    BOOST_TEST(aborts == million + 1000U);
    BOOST_TEST(world.wheel.pending() == 1U);
    other.cancel();
}

// Steady state: memory is reused, and the thread runs the context.
BOOST_AUTO_TEST_CASE(moving_a_wait_allocates_nothing) {
    virtual_world world;
    timer t(world.ctx, 30s);
    std::size_t fired = 0;
    t.async_wait([&](error_code ec) { fired += !ec; });
    BOOST_TEST(allocations_of([&] {
                   for (int i = 0; i < 100'000; ++i) {
                       static_cast<void>(t.postpone(30s));
                   }
               }) == 0U);
    t.cancel();
    world.poll();

    // Each re-arm aborts a handler, and the next wait reuses its memory.
    constexpr std::size_t million = fewer_on_windows(1'000'000);
    std::size_t left = million + 100, before = 0, made = 1;
    const auto rearm = [&](auto&& self) -> void {
        if (left == million) {
            before = heap.total;
        } else if (left == 0) {
            made = heap.total - before;
            return;
        }
        --left;
        t.expires_after(30s);
        t.async_wait([&](error_code ec) { fired += !ec; });
        asio::post(world.ctx, [&self] { self(self); });
    };
    asio::post(world.ctx, [&] { rearm(rearm); });
    world.poll();
    BOOST_TEST(made == 0U);
    BOOST_TEST(fired == 0U);
    world.pass(31s);
    BOOST_TEST(fired == 1U);
}

BOOST_AUTO_TEST_CASE(delivering_allocates_nothing) {
    virtual_world world;
    std::deque<timer> timers;
    std::size_t fired = 0, made = 1;
    for (int i = 0; i < 1000; ++i) {
        timers.emplace_back(world.ctx);
    }
    const auto start = [&] {
        for (timer& t : timers) {
            t.expires_after(10ms);
            t.async_wait([&](error_code ec) { fired += !ec; });
        }
    };
    for (int i = 0; i < 3; ++i) { // The first round creates the tokens.
        start();
        made = allocations_of([&] { world.pass(10ms); });
    }
    BOOST_TEST(made == 0U);
    BOOST_TEST(fired == 3000U);
    start();
    made = allocations_of([&] {
        for (timer& t : timers) {
            t.cancel();
        }
        world.poll();
    });
    BOOST_TEST(made == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
