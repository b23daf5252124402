// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: without_caches

// Timers and their wheel while each allocation and each move of a handler fails once.

#include "support/failing.hpp"
#include "support/names.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/high_resolution_timer.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/counting_allocator.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <new>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using enum failing;

template <class Clock, class Executor>
using timer_of = asio_wheel::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

using timer = timer_of<world_clock, asio::any_io_executor>;
using native_timer = timer_of<world_clock, asio::io_context::executor_type>;
using strand_timer = timer_of<world_clock, reliable_strand>;
using asio_timer = asio::basic_waitable_timer<world_clock>;

// The timers of tests that also apply to Asio's. This validates the test itself.
using timers = std::tuple<timer, asio_timer>;

auto& wheel_of(world& w) {
    return w.call([&]() -> auto& { return asio_wheel::use_wheel<world_clock>(w.ctx()); });
}

auto& make_wheel_of(world& w, const asio_wheel::wheel_options& options) {
    return w.call([&]() -> auto& { return asio_wheel::make_wheel<world_clock>(w.ctx(), options); });
}

// Starts a wait on `t` that should end with `ec`.
template <class Timer>
outcome& wait(world& w, Timer& t, const error_code& ec = success) {
    outcome& o = w.expect(ec);
    w.start(o, [&](auto h) { t.async_wait(std::move(h)); });
    return o;
}

} // namespace

BOOST_AUTO_TEST_SUITE(failing_timers)

// ---- The executors of handlers

FAILING_TEST_CASE_TEMPLATE(a_wait, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
    wait(w, t);
    wait(w, t);
    w.run();
    wait(w, t);
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(a_handler_that_is_copied, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
    w.start(w.expect(), [&](auto&& h) { t.async_wait(h); });
    w.run();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_with_an_allocator, Timer, timers) {
    allocations count;
    each_failure([&](world& w) {
        Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
        w.start(w.expect(), [&](auto h) {
            t.async_wait(asio::bind_allocator(counting_allocator<>(count), std::move(h)));
        });
        w.run();
    });
    BOOST_TEST(count.live == 0U);
    BOOST_TEST(count.total != 0U);
}

FAILING_TEST_CASE(a_timer_on_the_contexts_own_executor) {
    native_timer t = w.call([&] { return native_timer(w.ctx(), 3ms); });
    wait(w, t);
    w.start(w.expect(), [&](auto h) {
        t.async_wait(asio::bind_executor(w.ctx().get_executor(), std::move(h)));
    });
    w.run();
}

FAILING_TEST_CASE(a_handler_bound_to_a_strand) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    const auto start = [&](auto h) { t.async_wait(asio::bind_executor(strand, std::move(h))); };
    w.start(w.expect(), start);
    w.start(w.expect(), start);
    w.run();
}

BOOST_AUTO_TEST_CASE(a_handler_bound_to_a_strand_and_an_allocator) {
    allocations count;
    each_failure([&](world& w) {
        w.ends_without_memory = false;
        const auto strand = w.strand();
        timer t = w.call([&] { return timer(w.ctx(), 3ms); });
        w.start(w.expect(), [&](auto h) {
            t.async_wait(asio::bind_executor(
                strand, asio::bind_allocator(counting_allocator<>(count), std::move(h))));
        });
        w.run();
    });
    BOOST_TEST(count.live == 0U);
}

FAILING_TEST_CASE(a_timer_on_a_strand) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    strand_timer t = w.call([&] { return strand_timer(strand, 3ms); });
    wait(w, t);
    wait(w, t);
    w.run();
    wait(w, t);
    w.run();
}

// Type-erased.
FAILING_TEST_CASE(a_timer_on_a_hidden_strand) {
    w.ends_without_memory = false;
    const auto strand = w.prepare([&] { return asio::make_strand(w.ctx()); });
    timer t = w.call([&] { return timer(strand, 3ms); });
    wait(w, t);
    w.run();
    wait(w, t);
    w.run();
}

FAILING_TEST_CASE(a_handler_bound_to_a_hidden_strand) {
    w.ends_without_memory = false;
    const asio::any_io_executor strand = w.prepare([&] { return asio::make_strand(w.ctx()); });
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    w.start(w.expect(), [&](auto h) { t.async_wait(asio::bind_executor(strand, std::move(h))); });
    w.run();
}

// An any_io_executor puts every function into memory from std::allocator (Boost 1.81,
// boost/asio/execution/any_executor.hpp, line 789). A due wait tries again until there is memory,
// or until it is cancelled.
FAILING_TEST_CASE(a_timer_on_an_unknown_executor) {
    w.ends_without_memory = false;
    const auto strand = w.strand();
    timer t = w.call([&] { return timer(strand, 3ms); });
    wait(w, t).otherwise = aborted;
    wait(w, t).otherwise = aborted;
    w.run();
    wait(w, t).otherwise = aborted;
    w.run();
}

FAILING_TEST_CASE(a_handler_bound_to_an_unknown_executor) {
    w.ends_without_memory = false;
    const auto strand = w.prepare([&] { return asio::any_io_executor(w.strand()); });
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    outcome& o = w.expect();
    o.otherwise = aborted;
    w.start(o, [&](auto h) { t.async_wait(asio::bind_executor(strand, std::move(h))); });
    w.run();
}

// Its work needs memory, too.
FAILING_TEST_CASE(a_timer_on_a_large_executor) {
    w.ends_without_memory = false;
    const asio::any_io_executor large = w.large();
    timer t = w.call([&] { return timer(large, 3ms); });
    wait(w, t).otherwise = aborted;
    wait(w, t).otherwise = aborted;
    w.run();
    outcome& o = w.expect();
    o.otherwise = aborted;
    timer native = w.call([&] { return timer(w.ctx(), 3ms); });
    w.start(o, [&](auto h) { native.async_wait(asio::bind_executor(large, std::move(h))); });
    w.run();
}

FAILING_TEST_CASE(a_handler_bound_to_another_context) {
    asio::io_context& other = w.other();
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    w.start(w.expect(),
            [&](auto h) { t.async_wait(asio::bind_executor(other.get_executor(), std::move(h))); });
    w.run();
}

// On Windows, the library does not queue operations in a pool, and hands them over with memory.
FAILING_TEST_CASE(a_handler_bound_to_a_pool) {
    w.ends_without_memory = !on_completion_port;
    asio::thread_pool& pool = w.pool();
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    w.start(w.expect(),
            [&](auto h) { t.async_wait(asio::bind_executor(pool.get_executor(), std::move(h))); });
    w.run();
}

FAILING_TEST_CASE(a_timer_on_a_pool) {
    w.ends_without_memory = !on_completion_port;
    asio::thread_pool& pool = w.pool();
    timer t = w.call([&] { return timer(pool, 3ms); });
    outcome& o = wait(w, t);
    o.is_work = false; // Of ctx().
    o.otherwise = on_completion_port ? error_code(aborted) : success;
    w.run();
}

// A broken std::promise needs memory for its exception, and calls std::terminate() without it (in
// libstdc++ 12, <future>, ~promise()). If a move fails while a function is called for a future, the
// future gets the exception.
constexpr auto not_for_futures = {allocations_until_started, allocations_until_done, one_move};

BOOST_AUTO_TEST_CASE_TEMPLATE(a_future, Timer, timers) {
    each_failure(
        [](world& w) {
            Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
            const std::future<void> done = w.call([&] { return t.async_wait(asio::use_future); });
            const auto waits = [&] { return done.wait_for(0s) != std::future_status::ready; };
            w.also_waits = waits;
            w.run_until([&] { return !waits(); });
            w.check(!waits(), "the future is not ready");
        },
        not_for_futures);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_future_of_a_function, Timer, timers) {
    each_failure(
        [](world& w) {
            Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
            std::future<void> done;
            w.start(w.expect(),
                    [&](auto h) { done = t.async_wait(asio::use_future(std::move(h))); });
            w.run();
            w.check(done.wait_for(0s) == std::future_status::ready, "the future is not ready");
        },
        not_for_futures);
}

FAILING_TEST_CASE_TEMPLATE(a_deferred_wait, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
    w.start(w.expect(), [&](auto h) { t.async_wait(asio::deferred)(std::move(h)); });
    w.run();
}

template <class Timer>
asio::awaitable<void> wait_twice(Timer& t, int& waited) {
    co_await t.async_wait(asio::use_awaitable);
    ++waited;
    heap.faults.ignore();
    t.expires_after(2ms);
    co_await t.async_wait(asio::use_awaitable);
    ++waited;
    heap.faults.ignore();
}

// If an operation cannot be started in a coroutine, the coroutine is destroyed (Boost 1.81,
// boost/asio/impl/use_awaitable.hpp, do_init()), which needs memory of Asio's. So the test only
// checks that it continues after a wait.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_coroutine_goes_on_without_memory, Timer, timers) {
    asio::io_context ctx;
    Timer t(ctx, 3ms);
    int waited = 0;
    asio::co_spawn(ctx, wait_twice(t, waited), asio::detached);
    ctx.poll();
    for (int round = 1; round <= 2; ++round) {
        heap.faults.watch(0, fault_line::endless);
        for (int i = 0; i < (polls_are_slow ? 500 : 5) && waited != round; ++i) {
            world_clock::advance(1ms);
            if (polls_are_slow) {
                std::this_thread::sleep_for(1ms);
            }
            ctx.poll();
        }
        heap.faults.ignore();
        BOOST_TEST(waited == round);
    }
}

// ---- The ends of a wait

template <class Timer>
void bound_to_slot(world& w, Timer& t, asio::cancellation_slot slot, outcome& o) {
    w.start(o, [&](auto h) { t.async_wait(asio::bind_cancellation_slot(slot, std::move(h))); });
}

FAILING_TEST_CASE_TEMPLATE(a_signal, Timer, timers) {
    asio::cancellation_signal signal, unused;
    Timer t = w.call([&] { return Timer(w.ctx(), 3ms); });
    outcome& o = w.expect(aborted);
    bound_to_slot(w, t, signal.slot(), o);
    bound_to_slot(w, t, unused.slot(), w.expect());
    wait(w, t);
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.poll();
    w.check(!o.waits(), "a signal has not ended its wait");
    w.run();
}

FAILING_TEST_CASE(a_signal_to_a_handler_of_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    asio::cancellation_signal signal;
    const auto strand = w.strand();
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    w.start(w.expect(aborted), [&](auto h) {
        t.async_wait(
            asio::bind_executor(strand, asio::bind_cancellation_slot(signal.slot(), std::move(h))));
    });
    w.pass(1);
    signal.emit(asio::cancellation_type::terminal);
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(cancelling, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx(), 30ms); });
    const std::array all{&wait(w, t, aborted), &wait(w, t, aborted), &wait(w, t, aborted)};
    std::size_t waits = 0;
    for (const outcome* o : all) {
        waits += o->accepted ? 1 : 0;
    }
    w.pass(1);
    const std::size_t first = t.cancel_one();
    w.check(first == (waits != 0 ? 1U : 0U), "cancel_one() miscounts");
    w.check(t.cancel() == waits - first, "cancel() miscounts");
    w.poll();
    for (const outcome* o : all) {
        w.check(!o->waits(), "cancel() has not ended a wait");
    }
    w.run();
    wait(w, t); // It expires at its original time.
    w.run();
}

FAILING_TEST_CASE(cancelling_what_goes_to_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.strand();
    strand_timer t = w.call([&] { return strand_timer(strand, 30ms); });
    wait(w, t, aborted);
    wait(w, t, aborted);
    w.pass(1);
    t.cancel();
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(setting_the_expiry_anew, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx(), 30ms); });
    wait(w, t, aborted);
    w.call([&] { return t.expires_after(20ms); });
    wait(w, t, aborted);
    w.call([&] { return t.expires_at(world_clock::now() + 2ms); });
    wait(w, t);
    w.run();
    w.call([&] { return t.expires_after(1ms); });
    wait(w, t);
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(destroying_a_timer, Timer, timers) {
    {
        Timer t = w.call([&] { return Timer(w.ctx(), 30ms); });
        wait(w, t, aborted);
        wait(w, t, aborted);
        w.pass(1);
    }
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(moving_a_timer, Timer, timers) {
    Timer a = w.call([&] { return Timer(w.ctx(), 3ms); });
    wait(w, a);
    Timer b = w.call([&] { return Timer(std::move(a)); });
    wait(w, b);
    Timer c = w.call([&] { return Timer(w.ctx(), 30ms); });
    wait(w, c, aborted);
    w.call([&] { c = std::move(b); });
    wait(w, c);
    w.run();
}

FAILING_TEST_CASE(moving_a_timer_to_another_kind_of_executor) {
    native_timer a = w.call([&] { return native_timer(w.ctx(), world_clock::now() + 3ms); });
    wait(w, a);
    timer b = w.call([&] { return timer(std::move(a)); });
    wait(w, b);
    native_timer c = w.call([&] { return native_timer(w.ctx(), world_clock::now() + 5ms); });
    wait(w, c);
    timer d = w.call([&] { return timer(w.ctx(), 30ms); });
    wait(w, d, aborted);
    w.call([&] { d = std::move(c); });
    wait(w, d);
    w.run();
}

FAILING_TEST_CASE(ending_the_context) {
    asio::cancellation_signal signal;
    asio::io_context& other = w.other();
    const auto strand = w.strand(other);
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    wait(w, t);
    bound_to_slot(w, t, signal.slot(), w.expect());
    w.start(w.expect(), [&](auto h) { t.async_wait(asio::bind_executor(strand, std::move(h))); });
    w.pass(1);
    // Due and cancelled waits that were not delivered.
    timer due = w.prepare([&] { return timer(w.ctx(), 0ms); });
    w.prepare([&] { due.cancel(); });
    w.end_context();
}

// ---- The time of expiry

FAILING_TEST_CASE_TEMPLATE(waits_for_the_past, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx()); });
    wait(w, t);
    wait(w, t);
    Timer u = w.call([&] { return Timer(w.ctx(), -1h); });
    wait(w, u);
    w.poll();
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(a_wake_up_that_is_moved_earlier_and_later, Timer, timers) {
    Timer a = w.call([&] { return Timer(w.ctx(), 20ms); });
    Timer b = w.call([&] { return Timer(w.ctx(), 10ms); });
    Timer c = w.call([&] { return Timer(w.ctx(), 3ms); });
    wait(w, a);
    wait(w, b);
    wait(w, c);
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(a_wait_that_is_started_while_others_wait, Timer, timers) {
    Timer a = w.call([&] { return Timer(w.ctx(), 9ms); });
    wait(w, a);
    w.pass(2);
    Timer b = w.prepare([&] { return Timer(w.ctx(), 3ms); });
    wait(w, b);
    w.run();
}

FAILING_TEST_CASE(postponing) {
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    wait(w, t);
    wait(w, t);
    w.pass(2);
    w.call([&] { return t.postpone(5ms); });
    w.pass(2);
    w.call([&] { return t.postpone_until(world_clock::now() + 2ms); }); // To an earlier time.
    w.run();
}

FAILING_TEST_CASE(postponing_what_is_due_already) {
    auto& wheel = wheel_of(w);
    wheel.pause();
    timer first = w.call([&] { return timer(w.ctx(), 3ms); });
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    wait(w, first);
    outcome& o = wait(w, t);
    w.start(w.expect(), [&](auto h) { // Among other due waits.
        first.async_wait(std::move(h));
    });
    w.pass(0);
    w.call([&] { return wheel.advance(5ms); });
    w.call([&] { return t.postpone(2ms); });
    w.call([&] { return wheel.advance(2ms + 1ms); }); // Due again, and still in the queue.
    w.call([&] { return t.postpone(2ms); });
    w.poll();
    w.check(o.calls == 0, "a wait ends that was postponed");
    w.call([&] { return wheel.advance(2ms + 1ms); });
    w.poll();
    w.check(!o.waits(), "a wait that was postponed does not end");
}

FAILING_TEST_CASE(postponing_what_goes_to_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.strand();
    strand_timer t = w.call([&] { return strand_timer(strand, 3ms); });
    wait(w, t);
    wait(w, t);
    w.pass(2);
    w.call([&] { return t.postpone(5ms); });
    w.run();
}

FAILING_TEST_CASE(waits_in_many_slices) {
    make_wheel_of(w, {.budget = 2});
    std::array<std::optional<timer>, 9> all;
    int i = 0;
    for (auto& t : all) {
        w.call([&] { t.emplace(w.ctx(), 3ms + (i % 3) * 1ms); });
        wait(w, *t);
        ++i;
    }
    w.pass(1);
    for (i = 0; i < 4; ++i) { // Their slot comes, and they continue to wait.
        w.call([&] { return all[static_cast<std::size_t>(i)]->postpone(8ms); });
    }
    w.run();
}

FAILING_TEST_CASE(waits_of_several_levels) {
    make_wheel_of(w, {.slots = 4, .levels = 3});
    std::array<std::optional<timer>, 5> all;
    std::chrono::milliseconds d = 1ms;
    for (auto& t : all) {
        w.call([&] { t.emplace(w.ctx(), d); });
        wait(w, *t);
        d *= 3;
    }
    w.run();
}

BOOST_AUTO_TEST_CASE(aborting_one_of_very_many) {
    each_failure(
        [](world& w) {
            // So many that an aborted wait is queued separately.
            std::vector<timer> many;
            w.prepare([&] {
                many.reserve(16'400);
                for (std::size_t i = 0; i < 16'400; ++i) {
                    many.emplace_back(w.ctx(), 1h).async_wait([](const error_code&) {});
                }
                w.also_waits = [&] { return true; };
            });
            timer t = w.call([&] { return timer(w.ctx(), 1h); });
            wait(w, t, aborted);
            w.call([&] { return t.expires_after(2h); });
            wait(w, t, aborted);
            w.pass(1);
            t.cancel();
            w.run();
            w.prepare([&] {
                w.also_waits = nullptr;
                many.clear();
                w.ctx().poll();
            });
        },
        {one_move});
}

// ---- Clocks

FAILING_TEST_CASE(a_clock_that_is_set_back) {
    using wall_timer = timer_of<wall_clock, asio::any_io_executor>;
    wall_timer a = w.call([&] { return wall_timer(w.ctx(), 5ms); });
    wall_timer b = w.call([&] { return wall_timer(w.ctx(), 8ms); });
    wait(w, a);
    w.prepare([&] { wall_clock::advance(-20ms); });
    w.call([&] { b.expires_after(3ms); });
    wait(w, b);
    w.pass(2);
    wall_clock::advance(-10ms);
    w.run();
    wall_clock::advance(-10ms);
    w.call([&] { b.expires_after(3ms); });
    wait(w, b);
    w.run();
}

template <class Timer>
void wait_on_paused_time() {
    each_failure([](world& w) {
        auto& wheel = w.call(
            [&]() -> auto& { return asio_wheel::use_wheel<typename Timer::clock_type>(w.ctx()); });
        wheel.pause();
        Timer t = w.call([&] { return Timer(w.ctx(), 3h); });
        outcome& a = wait(w, t);
        outcome& b = wait(w, t);
        w.pass(0);
        w.call([&] { return wheel.advance_to_next(); });
        w.poll();
        w.check(!a.waits(), "advance_to_next() does not end a wait");
        w.check(!b.waits(), "advance_to_next() does not end a wait");
    });
}

BOOST_AUTO_TEST_CASE(the_three_timers) {
    wait_on_paused_time<asio_wheel::steady_timer>();
    wait_on_paused_time<asio_wheel::system_timer>();
    wait_on_paused_time<asio_wheel::high_resolution_timer>();
}

FAILING_TEST_CASE(pausing_and_resuming) {
    auto& wheel = wheel_of(w);
    timer a = w.call([&] { return timer(w.ctx(), 3ms); });
    timer b = w.call([&] { return timer(w.ctx(), 9ms); });
    outcome& o = wait(w, a);
    wait(w, b);
    w.pass(1);
    w.call([&] { wheel.pause(); });
    w.pass(2);
    w.check(o.calls == 0, "a wait ends in paused time");
    w.call([&] { return wheel.advance(5ms); });
    w.poll();
    w.check(!o.waits(), "advance() does not end a wait");
    w.call([&] { wheel.resume(); });
    w.run();
}

FAILING_TEST_CASE(pausing_when_something_is_overdue) {
    auto& wheel = wheel_of(w);
    timer a = w.call([&] { return timer(w.ctx(), 3ms); });
    wait(w, a);
    w.pass(0);
    world_clock::advance(5ms);
    w.call([&] { wheel.pause(); });
    w.run();
}

FAILING_TEST_CASE_TEMPLATE(blocking, Timer, timers) {
    Timer t = w.call([&] { return Timer(w.ctx()); });
    wait(w, t);
    w.call([&] { t.wait(); });
    error_code ec;
    w.call([&] { t.wait(ec); });
    w.run();
}

// ---- Operations on the whole wheel

FAILING_TEST_CASE(draining) {
    w.ends_without_memory = false; // A strand needs some.
    auto& wheel = make_wheel_of(w, {.budget = 2});
    const auto strand = w.strand();
    std::array<std::optional<strand_timer>, 5> all;
    std::size_t waits = 0;
    for (auto& t : all) {
        w.call([&] { t.emplace(strand, 30ms); });
        waits += wait(w, *t, aborted).accepted ? 1 : 0;
    }
    const auto expiries = w.call([&] { return wheel.drain(); });
    w.check(expiries.size() == waits, "drain() miscounts");
    w.run();
    wait(w, *all[0], asio_wheel::error::wheel_stopped);
    w.run();
}

BOOST_AUTO_TEST_CASE(draining_without_memory) {
    each_failure(
        [](world& w) {
            auto& wheel = wheel_of(w);
            timer t = w.call([&] { return timer(w.ctx(), 30ms); });
            outcome& o = wait(w, t, aborted);
            w.pass(1);
            try {
                static_cast<void>(wheel.drain());
            } catch (const std::bad_alloc&) {
                w.poll();
                w.check(o.calls == 0, "drain() has thrown, and aborted a wait nevertheless");
                w.check(!o.accepted || t.postpone(20ms) == 1,
                        "drain() has thrown, and stopped the wheel");
                wait(w, t, aborted);
                w.prepare([&] { return wheel.drain(); });
            }
            w.poll();
            w.check(!o.waits(), "drain() does not abort a wait");
        },
        {one_move});
}

// A walk that finds no memory in one of its slices leaves nothing behind, and the next one visits
// all waits.
FAILING_TEST_CASE(visiting_what_waits) {
    auto& wheel = make_wheel_of(w, {.budget = 2});
    std::array<std::optional<timer>, 5> all;
    std::size_t waits = 0;
    for (auto& t : all) {
        w.call([&] { t.emplace(w.ctx(), 3ms); });
        for (int i = 0; i < 4; ++i) { // More than the memory of a slice.
            waits += wait(w, *t).accepted ? 1 : 0;
        }
    }
    std::size_t visited = 0;
    w.call([&] {
        visited = 0;
        wheel.for_each_pending([&](const asio_wheel::pending_wait&) { ++visited; });
    });
    w.check(visited == waits, "for_each_pending() misses a wait");
    const auto report = w.call([&] { return wheel.report(); });
    w.check(report.waits() == waits, "report() miscounts");
    const auto groups = w.call([&] { return report.groups(); });
    w.check(groups.size() == (waits != 0 ? 1U : 0U), "groups() has something else");
    const auto occupancy = w.call([&] { return wheel.occupancy(); });
    w.check(occupancy.levels.size() == wheel.options().levels, "occupancy() misses a level");
    w.run();
}

FAILING_TEST_CASE(too_many_waits) {
    w.ends_without_memory = false; // A strand needs some.
    auto& wheel = make_wheel_of(w, {.max_pending = 1});
    const auto strand = w.strand();
    timer t = w.call([&] { return timer(w.ctx(), 3ms); });
    wait(w, t);
    if (w.call([&] { return wheel.pending(); }) == 1) {
        wait(w, t, asio_wheel::error::too_many_pending);
        w.start(w.expect(asio_wheel::error::too_many_pending),
                [&](auto h) { t.async_wait(asio::bind_executor(strand, std::move(h))); });
    }
    w.run();
}

// A wheel without a context: only its construction needs memory.
BOOST_AUTO_TEST_CASE(a_wheel_without_a_context) {
    each_failure(
        [](world& w) {
            asio_wheel::wheel wheel = w.call([] { return asio_wheel::wheel(8, 2); });
            struct entry : asio_wheel::wheel_entry {};
            std::array<entry, 3> all;
            wheel.insert(all[0], 3);
            wheel.insert(all[1], 30);
            wheel.insert(all[2], 300);
            wheel.reschedule(all[2], 20);
            wheel.erase(all[1]);
            std::array<asio_wheel::wheel_entry*, 4> due{};
            std::size_t expired = 0;
            for (int i = 0; i < 9; ++i) { // In slices.
                expired += wheel.advance(30, 1, due).expired;
            }
            w.check(expired == 2 && wheel.empty(), "a wheel loses an entry");
        },
        {one_move});
}

BOOST_AUTO_TEST_CASE(looking_at_a_wheel) {
    each_failure(
        [](world& w) {
            auto& wheel = make_wheel_of(w, {.tick = 2ms, .slots = 8, .levels = 2});
            timer t = w.call([&] { return timer(w.ctx(), 3ms); });
            const outcome& o = wait(w, t);
            const auto stats = w.call([&] { return wheel.stats(); });
            w.check(stats.pending == (o.accepted ? 1U : 0U), "stats() miscounts");
            w.check(stats.scheduled == stats.pending, "a wait that was refused is counted");
            w.call([&] { asio_wheel::scale_idle_timers(wheel, 0.5); });
            w.run();
            w.check(wheel.pending() == 0, "pending() miscounts");
        },
        {one_move});
}

BOOST_AUTO_TEST_SUITE_END()
