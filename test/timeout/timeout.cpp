// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Deadlines with an error of their own. cancel_after.cpp tests what they share with cancel_after().

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_ADDRESS__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // Asio's use_future: g++ 12.
#endif

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio::cancellation_type;
using asio_wheel::async_sleep_for;
using asio_wheel::timeout;
using asio_wheel::timeout_at;
using boost::system::system_error;

const error_code timed_out = asio_wheel::error::timed_out;

// The signatures that can report a timeout.
using asio_wheel::detail::timed_out_result;
static_assert(timed_out_result::accepts<void(error_code)>);
static_assert(timed_out_result::accepts<void(error_code, std::size_t)>);
static_assert(timed_out_result::accepts<void(const error_code&, int)>);
static_assert(timed_out_result::accepts<void(std::exception_ptr, std::string)>);
static_assert(timed_out_result::accepts<void(error_code) &&>);
static_assert(timed_out_result::accepts < void(error_code) noexcept,
              void(error_code, int) & noexcept >);
static_assert(!timed_out_result::accepts<void()>);
static_assert(!timed_out_result::accepts<void(std::size_t, error_code)>);
static_assert(!timed_out_result::accepts<void(error_code), void(int)>);

struct fixture : virtual_world {
    manual_operation<error_code> op{ctx.get_executor()};
    error_code seen = asio::error::eof;
    int calls = 0;

    fixture() {
        op.on_cancel = [this] {
            if (op.pending()) {
                op.complete(aborted);
            }
        };
    }

    auto see() {
        return [this](error_code ec) {
            seen = ec;
            ++calls;
        };
    }

    // Returns the result of a single call since the last time.
    error_code take() {
        BOOST_TEST(calls == 1);
        calls = 0;
        return std::exchange(seen, asio::error::eof);
    }
};

error_code code_of(const std::exception_ptr& e) {
    try {
        std::rethrow_exception(e);
    } catch (const system_error& failure) {
        return failure.code();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_deadline_that_passes_is_told, fixture) {
    op.start(timeout(100ms, see()));
    pass(100ms - 1ns);
    BOOST_TEST(calls == 0);
    pass(1ns);
    const error_code ec = take();
    BOOST_TEST(ec == timed_out);
    BOOST_TEST((ec == std::errc::timed_out));
    BOOST_TEST((ec == boost::system::errc::timed_out));
    BOOST_TEST(ec != aborted);
    BOOST_TEST(wheel.pending() == 0U);
    op.start(timeout_at(now() + 1s, see()));
    pass(1s);
    BOOST_TEST(take() == timed_out);
}

BOOST_FIXTURE_TEST_CASE(what_completes_in_time_keeps_its_result, fixture) {
    for (const error_code result : {success, aborted, error_code(asio::error::connection_reset)}) {
        op.start(timeout(100ms, see()));
        pass(90ms);
        op.complete(result);
        poll();
        BOOST_TEST(take() == result);
        BOOST_TEST(wheel.pending() == 0U);
    }
    // Also if the deadline passes after completion but before the handler is called.
    op.start(timeout(100ms, see()));
    wheel.advance(100ms);
    op.complete_inline({});
    BOOST_TEST(take() == success);
    poll();
    BOOST_TEST(op.take_cancellations() == "");
    op.on_start = [this] { op.complete({}); };
    op.start(timeout(-1s, see()));
    poll();
    BOOST_TEST(take() == success);
}

BOOST_FIXTURE_TEST_CASE(what_has_completed_when_it_is_cancelled_keeps_its_result, fixture) {
    for (const error_code result : {success, error_code(asio::error::connection_reset)}) {
        op.on_cancel = [&] { op.complete(result); }; // Ignores the cancellation.
        op.start(timeout(1s, see()));
        pass(1s);
        BOOST_TEST(op.take_cancellations() == "terminal");
        BOOST_TEST(take() == result);
    }
}

// More concurrent operations than a thread keeps timers for, in several rounds. Later operations
// get the timers of earlier ones, which are filed for another time.
BOOST_FIXTURE_TEST_CASE(each_operation_has_its_own_deadline_whichever_timer_it_gets,
                        virtual_world) {
    struct operation {
        manual_operation<error_code> op;
        int deadline, end; // Milliseconds: one is even, the other odd.
        error_code result = asio::error::eof;
    };
    std::mt19937_64 random(seed());
    std::uniform_int_distribution<int> any_deadline(1, 400), any_end(1, 100);
    timer another(ctx, 1h); // Otherwise the last wait would end in another way.
    another.async_wait([](error_code) {});
    for (int round = 0; round < 4; ++round) {
        std::deque<operation> all;
        for (int i = 0; i < 400; ++i) {
            operation& o =
                all.emplace_back(operation{.op = manual_operation<error_code>(ctx.get_executor()),
                                           .deadline = 2 * any_deadline(random),
                                           .end = 2 * any_end(random) - 1});
            o.op.on_cancel = [&o] { o.op.complete(aborted); };
            o.op.start(timeout(std::chrono::milliseconds(o.deadline),
                               [&o](error_code ec) { o.result = ec; }));
        }
        for (int ms = 1; ms <= 200; ++ms) {
            pass(1ms);
            for (operation& o : all) {
                if (o.end == ms && o.op.pending()) {
                    o.op.complete(success);
                }
            }
            poll();
            for (const operation& o : all) {
                const bool late = o.deadline <= ms && o.deadline < o.end;
                const error_code due = late ? timed_out : o.end <= ms ? success : asio::error::eof;
                BOOST_TEST_REQUIRE(o.result == due, seed_note(seed()));
            }
        }
        BOOST_TEST(wheel.pending() == 1U);
    }
    another.cancel();
}

BOOST_FIXTURE_TEST_CASE(within_a_tick_the_earlier_wins, fixture) {
    async_sleep_for(ctx, 100'100us, timeout(100'200us, see()));
    pass(200ms);
    BOOST_TEST(take() == success);
    async_sleep_for(ctx, 100'400us, timeout(100'300us, see()));
    pass(200ms);
    BOOST_TEST(take() == timed_out);
    async_sleep_for(ctx, 1s, timeout(1s, see()));
    pass(1s);
    const error_code either = take(); // Once.
    BOOST_TEST((either == timed_out || either == success));
}

BOOST_FIXTURE_TEST_CASE(further_results_are_the_operations, virtual_world) {
    manual_operation<error_code, std::unique_ptr<int>> op(ctx.get_executor());
    op.on_cancel = [&] { op.complete_inline(aborted, std::make_unique<int>(7)); };
    bool called = false;
    op.start(timeout(
        1s, [&](error_code ec, std::unique_ptr<int> n) { called = ec == timed_out && *n == 7; }));
    pass(1s);
    BOOST_TEST(called);
}

BOOST_FIXTURE_TEST_CASE(exceptions_of_cancellation_become_timeouts_others_do_not, virtual_world) {
    manual_operation<std::exception_ptr, int> op(ctx.get_executor());
    std::exception_ptr result, seen;
    op.on_cancel = [&] { op.complete(result, 1); };
    const auto run = [&](std::exception_ptr e) {
        result = std::move(e);
        seen = std::make_exception_ptr(0);
        op.start(timeout(1s, [&](std::exception_ptr s, int) { seen = s; }));
        pass(1s);
    };
    run(std::make_exception_ptr(system_error(aborted)));
    BOOST_TEST(code_of(seen) == timed_out);
    run(std::make_exception_ptr(
        std::system_error(std::make_error_code(std::errc::operation_canceled))));
    BOOST_TEST(code_of(seen) == timed_out);
    run(std::make_exception_ptr(system_error(asio::error::connection_reset)));
    BOOST_TEST((code_of(seen) == asio::error::connection_reset));
    run(std::make_exception_ptr(std::runtime_error("own")));
    BOOST_CHECK_THROW(std::rethrow_exception(seen), std::runtime_error);
    run(nullptr);
    BOOST_TEST((seen == nullptr));
}

/// An operation that passes `value` in the place of an error.
template <class Value>
struct post_value {
    using executor_type = asio::io_context::executor_type;

    asio::io_context& ctx;
    Value value;

    [[nodiscard]] executor_type get_executor() const noexcept { return ctx.get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const {
        asio::post(ctx, asio::append(std::forward<Handler>(handler), value));
    }
};

BOOST_FIXTURE_TEST_CASE(an_operation_may_pass_what_converts_to_its_error, virtual_world) {
    error_code seen;
    std::exception_ptr thrown = std::make_exception_ptr(1);
    const auto see = timeout(1s, [&](error_code ec) { seen = ec; });
    const auto catches = timeout(1s, [&](const std::exception_ptr& e) { thrown = e; });
    asio::async_initiate<decltype(see), void(error_code)>(
        post_value<asio::error::misc_errors>{ctx, asio::error::eof}, see);
    asio::async_initiate<decltype(catches), void(std::exception_ptr)>(
        post_value<std::nullptr_t>{ctx, nullptr}, catches);
    poll();
    BOOST_TEST(seen == asio::error::eof);
    BOOST_TEST((thrown == nullptr));
}

BOOST_FIXTURE_TEST_CASE(channels_time_out, fixture) {
    asio::experimental::channel<void(error_code, int)> channel(ctx);
    channel.async_receive(timeout(1s, [this](error_code ec, int) { see()(ec); }));
    pass(1s);
    BOOST_TEST(take() == timed_out);
}

BOOST_FIXTURE_TEST_CASE(an_outer_cancellation_stays_what_it_is, fixture) {
    asio::cancellation_signal signal;
    const auto start = [&](auto... options) {
        op.start(timeout(1s, options..., asio::bind_cancellation_slot(signal.slot(), see())));
    };
    start();
    pass(500ms);
    signal.emit(cancellation_type::terminal);
    poll();
    BOOST_TEST(take() == aborted);
    BOOST_TEST(wheel.pending() == 0U);

    // In the tick of the deadline, before and after it.
    start();
    wheel.advance(1s);
    signal.emit(cancellation_type::all);
    poll();
    BOOST_TEST(take() == aborted);
    op.on_cancel = {};
    start();
    pass(1s);
    signal.emit(cancellation_type::terminal);
    op.complete(aborted);
    poll();
    BOOST_TEST(take() == timed_out);

    // A cancellation that the operation ignores does not count.
    start();
    signal.emit(cancellation_type::total);
    pass(1s);
    op.complete(aborted);
    poll();
    BOOST_TEST(take() == timed_out);
    start(cancellation_type::total);
    signal.emit(cancellation_type::total);
    pass(1s);
    op.complete(aborted);
    poll();
    BOOST_TEST(take() == aborted);
}

BOOST_FIXTURE_TEST_CASE(of_nested_deadlines_the_earlier_wins_and_says_which, fixture) {
    const error_code outer = make_error_code(boost::system::errc::network_down);
    const error_code inner = make_error_code(boost::system::errc::no_link);
    for (const auto& [a, b] :
         {std::pair(1'000'000us, 5'000'000us), std::pair(5'000'000us, 1'000'000us),
          // In the same tick.
          std::pair(1'000'100us, 1'000'200us), std::pair(1'000'200us, 1'000'100us)}) {
        op.start(timeout(a, outer, timeout(b, inner, see())));
        pass(1s + 1ms);
        BOOST_TEST(take() == (a < b ? outer : inner));
        BOOST_TEST(wheel.pending() == 0U);
        op.start(timeout(a, outer)(timeout_at(now() + b, inner)(see())));
        pass(1s + 1ms);
        BOOST_TEST(take() == (a < b ? outer : inner));
    }
}

// It needs no place on the wheel.
BOOST_AUTO_TEST_CASE(a_deadline_that_never_passes_is_not_refused) {
    virtual_time world(asio_wheel::wheel_options{.max_pending = 1});
    std::string log;
    manual_operation<error_code> op(world.ctx.get_executor());
    op.on_cancel = [&] { op.complete(aborted); };
    const auto completes = [&](auto token) {
        op.start(std::move(token));
        world.poll();
        BOOST_TEST(log == "");
        op.complete(success);
        world.poll();
        BOOST_TEST(std::exchange(log, "") == "done");
    };
    const auto see = [&](error_code ec) { log += ec ? ec.message() : "done"; };
    async_sleep_for(world.ctx, 1h, asio::detached);
    completes(timeout(std::chrono::hours::max(), see));
    std::ignore = world.wheel.drain();
    completes(timeout(std::chrono::hours::max(), see));
    completes(timeout_at(std::chrono::steady_clock::time_point::max(), see));
    completes(asio_wheel::cancel_after(std::chrono::nanoseconds::max(), see));
}

BOOST_AUTO_TEST_CASE(a_deadline_that_is_refused_is_told) {
    virtual_time world(asio_wheel::wheel_options{.max_pending = 1});
    error_code seen;
    manual_operation<error_code> op(world.ctx.get_executor());
    op.on_cancel = [&] { op.complete(aborted); };
    const auto see = [&](error_code ec) { seen = ec; };
    async_sleep_for(world.ctx, 1h, asio::detached);
    op.start(timeout(1h, see));
    world.poll();
    BOOST_TEST((seen == asio_wheel::error::too_many_pending));
    world.pass(2h);
    op.start(timeout(1h, see));
    BOOST_TEST(world.wheel.drain().size() == 1U);
    world.poll();
    BOOST_TEST((seen == asio_wheel::error::wheel_stopped));
    seen = {};
    op.start(timeout(1h, see));
    world.poll();
    BOOST_TEST((seen == asio_wheel::error::wheel_stopped));
}

BOOST_FIXTURE_TEST_CASE(tokens_of_all_kinds, fixture) {
    auto future = async_sleep_for(ctx, 1h, timeout(1s, asio::use_future));
    auto later = async_sleep_for(ctx, 1h, timeout(1s));
    std::move(later)(see());
    pass(1s);
    BOOST_TEST(take() == timed_out);
    BOOST_CHECK_EXCEPTION(future.get(), system_error,
                          [](const auto& e) { return e.code() == timed_out; });
    async_sleep_for(ctx, 1h, timeout_at(now() + 1s)(see()));
    pass(1s);
    BOOST_TEST(take() == timed_out);
    async_sleep_for(ctx, 1h, timeout(1s, asio::as_tuple([this](std::tuple<error_code> r) {
                                         see()(std::get<0>(r));
                                     })));
    pass(1s);
    BOOST_TEST(take() == timed_out);
}

namespace {

asio::awaitable<int> after(std::chrono::seconds d, int result) {
    const auto ex = co_await asio::this_coro::executor;
    co_await async_sleep_for(ex, d, asio::use_awaitable);
    co_return result;
}

asio::awaitable<int> failing(std::chrono::seconds d) {
    co_await after(d, 0);
    throw std::runtime_error("failed");
}

asio::awaitable<int> stubborn() {
    try {
        co_await after(1h, 0);
    } catch (const system_error& e) {
        BOOST_TEST(e.code() == aborted); // The deadline is not its own.
    }
    co_return 5;
}

} // namespace

BOOST_FIXTURE_TEST_CASE(coroutines_have_deadlines, virtual_world) {
    struct program {
        static asio::awaitable<void> run(journal& log) {
            const auto ex = co_await asio::this_coro::executor;
            auto quick = after(1s, 2);
            const int result =
                co_await asio::co_spawn(ex, std::move(quick), timeout(10s, asio::use_awaitable));
            log.add(std::to_string(result));

            auto slow = after(10s, 3);
            try {
                co_await asio::co_spawn(ex, std::move(slow), timeout(1s, asio::use_awaitable));
            } catch (const system_error& e) {
                BOOST_TEST(e.code() == timed_out);
                log.add("slow");
            }

            auto fails = failing(1s); // Immediately; operator|| would wait for the timer.
            try {
                co_await asio::co_spawn(ex, std::move(fails), timeout(1h, asio::use_awaitable));
            } catch (const std::runtime_error& e) {
                log.add(e.what());
            }

            auto own = stubborn();
            const int stands =
                co_await asio::co_spawn(ex, std::move(own), timeout(1s, asio::use_awaitable));
            log.add(std::to_string(stands));
        }
    };
    asio::co_spawn(ctx, program::run(log), asio::detached);
    poll();
    for (const char* expected : {"2", "slow", "failed", "5"}) {
        BOOST_TEST(log_after(1s) == expected);
    }
    BOOST_TEST(wheel.pending() == 0U);
    auto future = asio::co_spawn(ctx, after(10s, 1), timeout(1s, asio::use_future));
    poll();
    pass(1s);
    BOOST_CHECK_EXCEPTION(future.get(), system_error,
                          [](const auto& e) { return e.code() == timed_out; });
}

BOOST_FIXTURE_TEST_CASE(in_coroutines_each_sees_its_own_deadline, virtual_world) {
    struct program {
        static asio::awaitable<void> child(std::chrono::seconds own, error_code& seen) {
            const auto ex = co_await asio::this_coro::executor;
            constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
            const auto token = timeout(own, tuple);
            const auto [ec] = co_await async_sleep_for(ex, 1h, token);
            seen = ec;
            if (ec) {
                throw system_error(ec);
            }
        }
    };
    for (const bool inner_first : {true, false}) {
        error_code inner;
        std::exception_ptr outer;
        asio::co_spawn(
            ctx, program::child(inner_first ? 1s : 5s, inner),
            timeout(inner_first ? 5s : 1s, [&](std::exception_ptr e) { outer = std::move(e); }));
        poll();
        pass(1s);
        BOOST_TEST(inner == (inner_first ? timed_out : aborted));
        BOOST_TEST(code_of(outer) == timed_out);
        BOOST_TEST(wheel.pending() == 0U);
    }
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_that_is_cancelled_from_outside_is_not_timed_out,
                        virtual_world) {
    asio::cancellation_signal signal;
    std::exception_ptr seen;
    asio::co_spawn(
        ctx, after(1h, 1),
        timeout(1h, asio::bind_cancellation_slot(
                        signal.slot(), [&](std::exception_ptr e, int) { seen = std::move(e); })));
    poll();
    signal.emit(cancellation_type::terminal);
    poll();
    BOOST_TEST(code_of(seen) == aborted);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_may_have_all_that_a_timeout_may_have, virtual_world) {
    const error_code own = make_error_code(boost::system::errc::network_down);
    // How a coroutine of ten seconds ends that gets `args`, within a second.
    const auto code = [&](const auto& where, const auto& function, auto&&... args) {
        std::exception_ptr seen;
        const auto see = [&](std::exception_ptr e, int) { seen = std::move(e); };
        asio::co_spawn(where, after(10s, 1), function(std::forward<decltype(args)>(args)..., see));
        poll();
        pass(1s);
        BOOST_TEST_REQUIRE((seen != nullptr));
        BOOST_TEST(wheel.pending() == 0U);
        return code_of(seen);
    };
    const asio::any_io_executor ex = ctx.get_executor();
    const asio::any_io_executor strand = asio::make_strand(ctx);
    const auto terminal = cancellation_type::terminal;
    BOOST_TEST(code(ex, timeout, 1s) == timed_out);
    BOOST_TEST(code(ex, timeout, 1s, own) == own);
    BOOST_TEST(code(ex, timeout, 1s, terminal, own) == own);
    BOOST_TEST(code(ex, timeout, 1s, asio_wheel::each_error) == timed_out);
    BOOST_TEST(code(ex, timeout_at, now() + 1s) == timed_out);
    BOOST_TEST(code(ex, timeout_at, now() + 1s, own) == own);
    BOOST_TEST(code(strand, timeout_at, now() + 1s, terminal) == timed_out);
    int mapped = 0;
    const auto map = [&](error_code why, std::exception_ptr& e, int& result) {
        e = std::make_exception_ptr(system_error(why));
        mapped += ++result;
    };
    BOOST_TEST(code(strand, timeout_at, now() + 1s, own, map) == own);
    BOOST_TEST(mapped == 1);

    // A coroutine is not cancelled by a type that it does not ask for.
    int result = 0;
    asio::co_spawn(ctx, after(10s, 5),
                   timeout(1s, cancellation_type::total,
                           [&](const std::exception_ptr& e, int n) { result = e ? -1 : n; }));
    poll();
    pass(9s);
    BOOST_TEST(result == 0);
    pass(1s);
    BOOST_TEST(result == 5);
}

BOOST_AUTO_TEST_CASE(a_coroutine_may_end_by_a_time_of_another_clock) {
    virtual_time_on<std::chrono::system_clock> world;
    std::exception_ptr seen;
    const auto sleep = [](virtual_time_on<std::chrono::system_clock>& w) -> asio::awaitable<void> {
        asio_wheel::basic_waitable_timer<std::chrono::system_clock> t(w.ctx, 48h);
        co_await t.async_wait(asio::use_awaitable);
    };
    asio::co_spawn(
        world.ctx, sleep(world),
        timeout_at(world.now() + 24h, [&](std::exception_ptr e) { seen = std::move(e); }));
    world.poll();
    world.pass(24h - 1s);
    BOOST_TEST((seen == nullptr));
    world.pass(1s + 2ms);
    BOOST_TEST(code_of(seen) == timed_out);
}

BOOST_FIXTURE_TEST_CASE(coroutines_of_any_executor_have_deadlines, virtual_world) {
    struct program {
        static asio::awaitable<void> run(journal& log, virtual_time& world) {
            const auto ex = co_await asio::this_coro::executor;
            const error_code own = make_error_code(boost::system::errc::network_down);
            auto quick = after(1s, 2);
            const int result = co_await asio::co_spawn(
                ex, std::move(quick), timeout_at(world.now() + 10s, asio::use_awaitable));
            log.add(std::to_string(result));
            auto slow = after(10s, 3);
            try {
                co_await asio::co_spawn(ex, std::move(slow),
                                        timeout_at(world.now() + 1s, own, asio::use_awaitable));
            } catch (const system_error& e) {
                BOOST_TEST(e.code() == own);
                log.add("at");
            }
            auto slow_too = after(10s, 3);
            try {
                co_await asio::co_spawn(ex, std::move(slow_too),
                                        timeout(1s, own, asio::use_awaitable));
            } catch (const system_error& e) {
                BOOST_TEST(e.code() == own);
                log.add("after");
            }
        }
        using executor = asio::io_context::executor_type;
        using use_narrow = asio::use_awaitable_t<executor>;
        static asio::awaitable<int, executor> narrow(std::chrono::seconds d) {
            asio_wheel::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>, executor>
                t(co_await asio::this_coro::executor, d);
            co_await t.async_wait(use_narrow());
            co_return 7;
        }
        // On another type of executor.
        static asio::awaitable<void, executor> on_a_narrow_executor(journal& log,
                                                                    virtual_time& world) {
            auto quick = narrow(1s);
            const int result = co_await asio::co_spawn(world.ctx, std::move(quick),
                                                       timeout_at(world.now() + 2s, use_narrow()));
            log.add(std::to_string(result));
            auto slow = narrow(10s);
            try {
                co_await asio::co_spawn(world.ctx, std::move(slow), timeout(1s, use_narrow()));
            } catch (const system_error& e) {
                BOOST_TEST(e.code() == timed_out);
                log.add("narrow");
            }
        }
    };
    asio::co_spawn(ctx, program::run(log, *this), asio::detached);
    poll();
    for (const char* expected : {"2", "at", "after"}) {
        BOOST_TEST(log_after(1s) == expected);
    }
    asio::co_spawn(ctx, program::on_a_narrow_executor(log, *this), asio::detached);
    poll();
    for (const char* expected : {"7", "narrow"}) {
        BOOST_TEST(log_after(1s) == expected);
    }
    BOOST_TEST(wheel.pending() == 0U);
}

// real time: a composed operation that has read a part of its data
BOOST_AUTO_TEST_CASE(a_read_that_times_out_tells_what_it_has_read) {
    drained_context world;
    asio::ip::tcp::acceptor acceptor(world.ctx,
                                     asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::ip::tcp::socket client(world.ctx);
    client.connect(acceptor.local_endpoint());
    asio::ip::tcp::socket server = acceptor.accept();
    acceptor.close();
    asio::write(client, asio::buffer("hello", 5));
    char text[16];
    error_code seen;
    std::size_t size = 0;
    asio::async_read(server, asio::buffer(text), timeout(5ms, [&](error_code ec, std::size_t n) {
                         seen = ec;
                         size = n;
                     }));
    world.run();
    BOOST_TEST(seen == timed_out);
    BOOST_TEST(size == 5U);
}

// real time
BOOST_AUTO_TEST_CASE(coroutines_on_strands_end_once_whoever_is_first) {
    asio::thread_pool pool(3);
    constexpr int chains = 4, rounds = 300;
    std::atomic<int> done{0}, late{0};
    struct program {
        static asio::awaitable<void> work(int round) {
            const auto ex = co_await asio::this_coro::executor;
            for (int i = 0; i < 2; ++i) {
                co_await async_sleep_for(ex, std::chrono::microseconds(round % 3 * 200),
                                         asio::use_awaitable);
            }
        }
        static asio::awaitable<void> chain(std::atomic<int>& ends, std::atomic<int>& timeouts) {
            const auto ex = co_await asio::this_coro::executor;
            for (int round = 0; round < rounds; ++round) {
                auto child = work(round);
                try {
                    co_await asio::co_spawn(
                        ex, std::move(child),
                        timeout(std::chrono::microseconds(round % 4 * 200), asio::use_awaitable));
                } catch (const system_error& e) {
                    timeouts += e.code() == timed_out;
                    ends -= e.code() != timed_out;
                }
                ++ends;
            }
        }
    };
    for (int i = 0; i < chains; ++i) {
        asio::co_spawn(asio::make_strand(pool), program::chain(done, late), asio::detached);
    }
    pool.join();
    BOOST_TEST(done == chains * rounds);
    BOOST_TEST(late > 0);
}

BOOST_AUTO_TEST_SUITE_END()
