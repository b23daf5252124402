// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Operations that are cancelled at their deadline.

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_ADDRESS__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // Asio's use_future: g++ 12.
#endif

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/sleep.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <new>
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

struct scene : virtual_world {
    manual_operation<error_code> op{ctx.get_executor()};

    // From now on, the operation completes as if by post when it is cancelled.
    void react() {
        op.on_cancel = [this] {
            if (op.pending()) {
                op.complete(aborted);
            }
        };
    }
};

// The deadline is that of a timer of the library's, or of the user's: see timer.cpp.
struct on_an_own_timer : scene {
    template <class... Args>
    auto after(Args&&... args) {
        return cancel_after(std::forward<Args>(args)...);
    }
    template <class... Args>
    auto at(Args&&... args) {
        return cancel_at(std::forward<Args>(args)...);
    }
};
struct on_the_users_timer : scene {
    timer limit{ctx};

    template <class... Args>
    auto after(Args&&... args) {
        return cancel_after(limit, std::forward<Args>(args)...);
    }
    template <class... Args>
    auto at(Args&&... args) {
        return cancel_at(limit, std::forward<Args>(args)...);
    }
};
using scenes = std::tuple<on_an_own_timer, on_the_users_timer>;

} // namespace

BOOST_AUTO_TEST_SUITE(cancel_after_, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_that_takes_too_long_is_cancelled_in_time, Scene,
                              scenes) {
    Scene s;
    s.react();
    s.op.start(s.after(100ms, s.log.note(1)));
    BOOST_TEST(s.wheel.pending() == 1U);
    s.pass(100ms - 1ns);
    BOOST_TEST(s.op.take_cancellations() == "");
    s.pass(1ns);
    BOOST_TEST(s.op.take_cancellations() == "terminal");
    BOOST_TEST(s.log.take() == "1!");
    BOOST_TEST(s.wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_that_completes_in_time_leaves_no_timer, Scene, scenes) {
    Scene s;
    s.op.start(s.after(100ms, s.log.note(1)));
    s.pass(90ms);
    s.op.complete({});
    BOOST_TEST(s.log_now() == "1");
    BOOST_TEST(s.wheel.pending() == 0U);
    s.pass(1h);
    BOOST_TEST(s.op.take_cancellations() == "");
    s.ctx.restart();
    s.ctx.poll();
    BOOST_TEST(s.ctx.stopped());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_that_was_ready_keeps_its_result_whatever_the_deadline,
                              Scene, scenes) {
    Scene s;
    s.op.on_start = [&] { s.op.complete({}); };
    for (const auto d : {-1h, 0h, 1h}) {
        s.op.start(s.after(d, s.log.note(1)));
        s.elapse(1h); // Before its handler is called.
        BOOST_TEST(s.log_now() == "1");
    }
    BOOST_TEST(s.op.take_cancellations() == "");
    BOOST_TEST(s.wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(within_a_tick_the_earlier_wins, scene) {
    async_sleep_for(ctx, 100'100us, cancel_after(100'200us, log.note(1)));
    async_sleep_for(ctx, 100'400us, cancel_after(100'300us, log.note(2)));
    BOOST_TEST(pass(200ms) != 0U);
    BOOST_TEST(log.take() == "1 2!");
    BOOST_TEST(wheel.pending() == 0U);
    async_sleep_for(ctx, 1s, cancel_after(1s, log.note(3)));
    pass(1s);
    BOOST_TEST(log.size() == 1U); // One of the two, and once.
}

BOOST_AUTO_TEST_CASE_TEMPLATE(each_type_of_cancellation_can_be_sent, Scene, scenes) {
    Scene s;
    const auto start = s.now();
    s.op.start(s.after(1s, cancellation_type::partial, s.log.note(1)));
    s.pass(1s);
    BOOST_TEST(s.op.take_cancellations() == "partial");
    s.op.complete({});
    s.op.start(
        s.at(start + 2s, cancellation_type::partial | cancellation_type::total, s.log.note(2)));
    s.pass(1s);
    BOOST_TEST(s.op.take_cancellations() == "partial total");
    s.op.complete({});
    s.op.start(s.after(1s, cancellation_type::total)(s.log.note(3)));
    s.pass(1s);
    BOOST_TEST(s.op.take_cancellations() == "total");
    s.op.complete(asio::error::eof);
    s.op.start(s.at(start + 4s)(s.log.note(4)));
    s.pass(1s);
    BOOST_TEST(s.op.take_cancellations() == "terminal");
    s.op.complete(aborted);
    s.poll();
    // In each case, the operation's own result is reported.
    BOOST_TEST(s.log.take() == "1 2 3(" + error_code(asio::error::eof).message() + ") 4!");
}

BOOST_AUTO_TEST_CASE(a_time_point_is_one_of_its_clock) {
    virtual_time_on<std::chrono::system_clock> world;
    journal log;
    manual_operation<> op(world.ctx.get_executor());
    op.start(cancel_at(world.now() + 24h, log.note(1)));
    world.pass(24h - 2ms);
    BOOST_TEST(op.take_cancellations() == "");
    world.pass(3ms);
    BOOST_TEST(op.take_cancellations() == "terminal");
    op.complete();
    world.poll();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_longest_deadlines_never_pass, Scene, scenes) {
    using seconds = std::chrono::duration<double>;
    Scene s;
    const auto never_passes = [&](auto d) {
        s.op.start(s.after(d, s.log.note(1)));
        s.pass(24h * 365 * 100);
        BOOST_TEST(s.op.take_cancellations() == "");
        s.op.complete({});
        BOOST_TEST(s.log_now() == "1");
    };
    never_passes(std::chrono::hours::max());
    never_passes(seconds(std::numeric_limits<double>::infinity()));
    never_passes(seconds(1e300));
    BOOST_CHECK_THROW(static_cast<void>(s.after(seconds(std::nan("")))), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(operations_of_any_signature, virtual_world) {
    int seen = 0;
    manual_operation<> nothing(ctx.get_executor());
    nothing.start(cancel_after(1s, [&] { seen += 1; }));
    nothing.complete();
    manual_operation<int, std::unique_ptr<int>> values(ctx.get_executor());
    values.start(cancel_after(
        1s, [&](int a, std::unique_ptr<int> b) { seen += a == 2 && *b == 3 ? 10 : 0; }));
    values.complete_inline(2, std::make_unique<int>(3));
    manual_operation<std::exception_ptr, std::string> failure(ctx.get_executor());
    auto message = failure.start(cancel_after(1s, asio::use_future));
    failure.complete_inline({}, "text");
    poll();
    BOOST_TEST(seen == 11);
    BOOST_TEST(message.get() == "text");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_outer_slot_works_before_and_after_the_deadline, Scene, scenes) {
    Scene s;
    asio::cancellation_signal signal;
    const auto start = [&](int n) {
        s.op.start(s.after(1s, asio::bind_cancellation_slot(signal.slot(), s.log.note(n))));
    };
    start(1);
    signal.emit(cancellation_type::total);
    BOOST_TEST(s.op.take_cancellations() == "total");
    s.pass(1s);
    BOOST_TEST(s.op.take_cancellations() == "terminal");
    signal.emit(cancellation_type::partial);
    BOOST_TEST(s.op.take_cancellations() == "partial");
    s.op.complete(aborted);
    BOOST_TEST(s.log_now() == "1!");
    signal.emit(cancellation_type::all); // No operation is left to cancel.
    BOOST_TEST(s.op.take_cancellations() == "");
    s.react();
    start(2);
    signal.emit(cancellation_type::terminal);
    BOOST_TEST(s.log_now() == "2!");
    BOOST_TEST(s.wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_slot_outlives_the_operation_and_the_context, virtual_world) {
    asio::cancellation_signal signal;
    {
        asio::io_context other;
        async_sleep_for(
            other, 1h,
            cancel_after(2h, asio::bind_cancellation_slot(signal.slot(), asio::detached)));
    }
    signal.emit(cancellation_type::terminal);
    {
        manual_operation<error_code> op(ctx.get_executor());
        op.start(cancel_after(2h, asio::bind_cancellation_slot(signal.slot(), log.note(1))));
        op.complete({});
        poll();
    }
    signal.emit(cancellation_type::terminal);
    BOOST_TEST(log.take() == "1");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_may_end_inside_its_cancellation, Scene, scenes) {
    Scene s;
    s.op.on_cancel = [&] { s.op.complete_inline(aborted); };
    s.op.start(s.after(1s, [&](error_code ec) {
        s.log.add("1", ec);
        s.op.start(s.after(1s, s.log.note(2)));
    }));
    BOOST_TEST(s.log_after(1s) == "1!");
    BOOST_TEST(s.log_after(1s) == "2!");
    asio::cancellation_signal signal;
    s.op.start(s.after(1s, asio::bind_cancellation_slot(signal.slot(), s.log.note(3))));
    signal.emit(cancellation_type::terminal);
    BOOST_TEST(s.log.take() == "3!");
    BOOST_TEST(s.wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_a_handler_throws_inside_a_cancellation_leaves_run, Scene,
                              scenes) {
    Scene s;
    s.op.on_cancel = [&] { s.op.complete_inline(aborted); };
    const auto throwing = [](error_code) { throw std::runtime_error("no"); };
    s.op.start(s.after(1s, throwing));
    BOOST_CHECK_THROW(s.pass(1s), std::runtime_error);
    asio::cancellation_signal signal;
    s.op.start(s.after(1s, asio::bind_cancellation_slot(signal.slot(), throwing)));
    BOOST_CHECK_THROW(signal.emit(cancellation_type::terminal), std::runtime_error);
    s.op.start(s.after(1s, s.log.note(1)));
    BOOST_TEST(s.log_after(1s) == "1!");
    BOOST_TEST(s.wheel.pending() == 0U);
}

// As a coroutine does, if it is on another executor.
BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_goes_on_if_its_cancellation_throws, Scene, scenes) {
    Scene s;
    s.op.on_cancel = [] { throw std::bad_alloc(); };
    s.op.start(s.after(1s, s.log.note(1)));
    BOOST_CHECK_THROW(s.pass(1s), std::bad_alloc);
    BOOST_TEST(s.op.pending());
    s.op.complete({});
    BOOST_TEST(s.log_now() == "1");
    BOOST_TEST(s.wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_may_end_inside_its_initiation, Scene, scenes) {
    Scene s;
    s.op.on_start = [&] { s.op.complete_inline({}); };
    s.op.start(s.after(1s, s.log.note(1)));
    BOOST_TEST(s.log.take() == "1");
    BOOST_TEST(s.wheel.pending() == 0U);
    BOOST_TEST(s.wheel.stats().scheduled == 1U); // By align().
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_that_is_not_started_or_forgotten_leaves_no_timer, Scene,
                              scenes) {
    Scene s;
    s.op.on_start = [&] {
        s.op.drop();
        throw std::runtime_error("no");
    };
    BOOST_CHECK_THROW(s.op.start(s.after(1s, s.log.note(1))), std::runtime_error);
    BOOST_TEST(s.wheel.pending() == 0U);
    s.op.on_start = {};
    s.op.start(s.after(1s, s.log.note(2)));
    BOOST_TEST(s.wheel.pending() == 1U);
    s.op.drop();
    BOOST_TEST(s.wheel.pending() == 0U);
    s.poll();
    BOOST_TEST(s.ctx.stopped());
    BOOST_TEST(s.log.size() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_has_its_executor_and_its_allocator, virtual_world) {
    const auto theirs = std::make_shared<tracker>();
    allocations count;
    bool cancelled_there = false;
    manual_operation<error_code> op(ctx.get_executor());
    op.on_cancel = [&] {
        cancelled_there = theirs->running_here();
        op.complete(aborted);
    };
    const auto handler = [&](error_code ec) {
        BOOST_TEST(count.live == 0U);
        BOOST_TEST(theirs->running_here());
        log.add("1", ec);
    };
    const auto token = asio::bind_executor(
        track(theirs, ctx), asio::bind_allocator(counting_allocator<>(count), handler));
    op.start(cancel_after(1s, token));
    BOOST_TEST(log_after(1s) == "1!");
    BOOST_TEST(cancelled_there);
    BOOST_TEST(theirs->work() == 0U);

    count.total = 0;
    async_sleep_for(ctx, 1s, cancel_after(2s, token));
    BOOST_TEST(count.live == 1U);
    pass(1s);
    async_sleep_for(ctx, 2s, cancel_after(1s, token));
    BOOST_TEST(count.live == 1U);
    BOOST_TEST(log_after(1s) == "1 1!");
    BOOST_TEST(count.total == 2U);
}

BOOST_FIXTURE_TEST_CASE(an_initiation_without_executor_needs_a_handler_that_has_one,
                        virtual_world) {
    const auto initiation = [](auto handler) {
        const auto ex = asio::get_associated_executor(handler);
        async_sleep_for(ex, 1h, std::move(handler));
    };
    auto token = cancel_after(1s, asio::bind_executor(ctx, log.note(1)));
    asio::async_initiate<decltype(token), void(error_code)>(initiation, token);
    BOOST_TEST(log_after(1s) == "1!");
}

BOOST_AUTO_TEST_CASE(an_operation_without_deadline_is_cancelled_at_once) {
    virtual_time world(asio_wheel::wheel_options{.max_pending = 1});
    journal log;
    manual_operation<error_code> op(world.ctx.get_executor());
    op.on_cancel = [&] { op.complete(aborted); };
    async_sleep_for(world.ctx, 1h, log.note(1));
    op.start(cancel_after(1h, log.note(2)));
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(world.log_now(log) == "2!");
    BOOST_TEST(world.log_after(1h + 1ms, log) == "1");
    op.start(cancel_after(1h, log.note(3)));
    BOOST_TEST(world.wheel.drain().size() == 1U);
    BOOST_TEST(world.log_now(log) == "3!");
    op.start(cancel_after(1h, log.note(4)));
    BOOST_TEST(world.log_now(log) == "4!");
}

BOOST_AUTO_TEST_CASE(everything_ends_with_its_context) {
    const auto alive = std::make_shared<int>();
    asio::cancellation_signal signal;
    {
        asio::io_context ctx;
        const auto never = [alive](error_code) { BOOST_ERROR("called"); };
        async_sleep_for(ctx, 1h, cancel_after(2h, never));
        async_sleep_for(asio::make_strand(ctx), 2h, cancel_after(1h, never));
        async_sleep_for(ctx, 1h, cancel_after(-1h, never)); // Queued.
        async_sleep_for(ctx, 1h,
                        cancel_after(2h, asio::bind_cancellation_slot(signal.slot(), never)));
        asio::steady_timer t(ctx, 1h);
        t.async_wait(cancel_after(1h, never));
    }
    BOOST_TEST(alive.use_count() == 1);
    signal.emit(cancellation_type::terminal);
}

BOOST_FIXTURE_TEST_CASE(of_two_deadlines_the_earlier_one_cancels, scene) {
    react();
    for (const auto& [outer, inner] : {std::pair(1s, 5s), std::pair(5s, 1s)}) {
        op.start(cancel_after(outer, cancel_after(inner, log.note(1))));
        BOOST_TEST(log_after(1s) == "1!");
        BOOST_TEST(op.take_cancellations() == "terminal");
        BOOST_TEST(wheel.pending() == 0U);
    }
}

// An operation that restarts itself for ever is cancelled too, once it checks its cancellation
// state.
BOOST_FIXTURE_TEST_CASE(an_operation_that_never_waits_cannot_evade_its_deadline, virtual_world) {
    int steps = 0;
    const auto loop = [&](auto& self, error_code = {}) {
        if (!!self.cancelled()) {
            return self.complete(aborted);
        }
        if (++steps == 10) {
            wheel.advance(1s); // In the meantime.
        }
        BOOST_TEST_REQUIRE(steps < 1000);
        asio::post(ctx, std::move(self));
    };
    auto implementation = [loop](auto& self, auto&&...) { loop(self); };
    auto token = cancel_after(1s, log.note(1));
    asio::async_compose<decltype(token), void(error_code)>(std::move(implementation), token, ctx);
    BOOST_TEST(log_now() == "1!");
    BOOST_TEST(steps >= 10);
}

BOOST_FIXTURE_TEST_CASE(adaptors_wrap_it_and_are_wrapped, virtual_world) {
    async_sleep_for(ctx, 1h, asio::as_tuple(cancel_after(1ms, [&](std::tuple<error_code> r) {
                        log.add("1", std::get<0>(r));
                    })));
    async_sleep_for(ctx, 1h, cancel_after(2ms, asio::as_tuple([&](std::tuple<error_code> r) {
                                              log.add("2", std::get<0>(r));
                                          })));
    error_code ec;
    async_sleep_for(ctx, 1h,
                    asio::redirect_error(cancel_after(3ms, [&] { log.add("3", ec); }), ec));
    async_sleep_for(
        ctx, 1h,
        asio::append(cancel_after(4ms, [&](error_code e, int n) { log.add(std::to_string(n), e); }),
                     4));
    auto later = async_sleep_for(ctx, 1h, cancel_after(5ms, asio::deferred));
    std::move(later)(log.note(5));
    auto partial = async_sleep_for(ctx, 1h, cancel_after(6ms));
    std::move(partial)(log.note(6));
    auto future = async_sleep_for(ctx, 1h, cancel_after(7ms, asio::use_future));
    pass(1s);
    BOOST_TEST(log.size() == 6U);
    BOOST_TEST(log.take() == "1! 2! 3! 4! 5! 6!");
    BOOST_CHECK_THROW(future.get(), boost::system::system_error);
}

BOOST_FIXTURE_TEST_CASE(a_deferred_operation_can_be_started_from_a_copy, virtual_world) {
    const auto later = async_sleep_for(ctx, 1h, cancel_after(1s, asio::deferred));
    pass(1h);
    later(log.note(1));
    pass(1ms);
    later(log.note(2));
    BOOST_TEST(log_after(1s) == "1! 2!");
}

BOOST_FIXTURE_TEST_CASE(a_group_cancels_operations_with_deadlines, virtual_world) {
    std::array<error_code, 2> seen{};
    asio::experimental::make_parallel_group(
        async_sleep_for(ctx, 1h, cancel_after(30min, asio::deferred)),
        async_sleep_for(ctx, 1h, cancel_after(1s, asio::deferred)))
        .async_wait(asio::experimental::wait_for_one(),
                    [&](std::array<std::size_t, 2>, error_code a, error_code b) { seen = {a, b}; });
    pass(1s);
    BOOST_TEST(seen[0] == aborted);
    BOOST_TEST(seen[1] == aborted);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(coroutines_wait_with_deadlines_and_have_them, virtual_world) {
    struct program {
        static asio::awaitable<void> forever(journal& log) {
            const auto ex = co_await asio::this_coro::executor;
            constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
            auto token = cancel_after(24h, tuple);
            const auto [ec] = co_await async_sleep_for(ex, 240h, token);
            log.add("forever", ec);
        }
        static asio::awaitable<void> run(journal& log) {
            const auto ex = co_await asio::this_coro::executor;
            error_code ec;
            auto redirected = asio::redirect_error(asio::use_awaitable, ec);
            auto token = cancel_after(1s, redirected);
            co_await async_sleep_for(ex, 1h, token);
            log.add("1", ec);
            auto partial = cancel_after(1s);
            try {
                co_await async_sleep_for(ex, 1h, partial);
            } catch (const boost::system::system_error& e) {
                log.add("2", e.code());
            }
            auto child = forever(log);
            auto limited = cancel_after(1s, asio::use_awaitable);
            co_await asio::co_spawn(ex, std::move(child), limited);
            log.add("3");
        }
        using executor = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
        static asio::awaitable<void> by_default(journal& log) {
            const executor ex(co_await asio::this_coro::executor);
            auto partial = cancel_after(2s);
            co_await async_sleep_for(ex, 1s, partial);
            log.add("default");
        }
    };
    asio::co_spawn(ctx, program::run(log), asio::detached);
    poll();
    BOOST_TEST(log_after(1s) == "1!");
    BOOST_TEST(log_after(1s) == "2!");
    BOOST_TEST(log_after(1s) == "forever! 3");
    asio::co_spawn(ctx, program::by_default(log), asio::detached);
    poll();
    BOOST_TEST(log_after(1s) == "default");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_result_is_one_handler_of_the_context, virtual_world) {
    async_sleep_for(ctx, 24h, asio::detached); // So that the wheel is not empty.
    manual_operation<> op(ctx.get_executor());
    for (int i = 0; i < 3; ++i) {
        op.start(cancel_after(1h, [] {}));
        op.complete();
        ctx.restart();
        BOOST_TEST(ctx.poll() == 1U);
        BOOST_TEST(wheel.pending() == 1U);
    }
    pass(24h);
}

// real time
BOOST_AUTO_TEST_CASE(a_socket_is_cancelled_and_can_be_used_again) {
    drained_context world;
    journal log;
    asio::ip::udp::socket socket(world.ctx,
                                 asio::ip::udp::endpoint(asio::ip::address_v4::loopback(), 0));
    char text[16];
    const auto start = std::chrono::steady_clock::now();
    socket.async_receive(asio::buffer(text),
                         cancel_after(2ms, [&](error_code ec, std::size_t) { log.add("1", ec); }));
    world.run();
    BOOST_TEST((std::chrono::steady_clock::now() >= start + 2ms));
    BOOST_TEST(log.take() == "1!");
    socket.async_receive(asio::buffer(text), cancel_after(1h, [&](error_code ec, std::size_t n) {
                             log.add(std::to_string(n), ec);
                         }));
    socket.send_to(asio::buffer("hello", 5), socket.local_endpoint());
    world.run();
    BOOST_TEST(log.take() == "5");
}

// real time
BOOST_AUTO_TEST_CASE(a_loop_of_operations_in_time_leaves_the_wake_up_alone) {
    drained_context world;
    auto& wheel = asio_wheel::use_wheel(world.ctx);
    int left = 10'000;
    const std::function<void()> next = [&] {
        if (--left != 0) {
            asio::post(world.ctx, cancel_after(1h, next));
        }
    };
    next();
    world.run();
    BOOST_TEST(left == 0);
    BOOST_TEST(wheel.stats().wake_ups == 0U);
    BOOST_TEST(wheel.pending() == 0U);
}

// real time, without a strand: each operation is cancelled, completes and is destroyed at about the
// same time.
BOOST_AUTO_TEST_CASE(deadlines_and_completions_meet_on_a_pool_without_a_strand) {
    asio::thread_pool pool(3);
    constexpr int chains = 6, rounds = 400;
    std::atomic<int> fired{0}, cancelled{0}, started{0};
    const auto next = [&](auto&& self, int round) -> void {
        if (round == rounds) {
            return;
        }
        ++started;
        auto t = std::make_unique<asio_wheel::steady_timer>(
            pool, std::chrono::microseconds(round % 3 * 300));
        auto& timer = *t;
        timer.async_wait(cancel_after(std::chrono::microseconds(round % 4 * 250),
                                      [&, round, self, t = std::move(t)](error_code ec) mutable {
                                          ++(ec ? cancelled : fired);
                                          t.reset();
                                          self(self, round + 1);
                                      }));
    };
    for (int i = 0; i < chains; ++i) {
        asio::post(pool, [&] { next(next, 0); });
    }
    pool.join();
    BOOST_TEST(started == chains * rounds);
    BOOST_TEST(fired + cancelled == chains * rounds);
}

// real time: composed operations on strands, which their own signals cancel too.
BOOST_AUTO_TEST_CASE(deadlines_completions_and_signals_meet_on_strands) {
    asio::thread_pool pool(3);
    constexpr int chains = 4, rounds = 300;
    std::atomic<int> done{0};
    struct program {
        static asio::awaitable<void> work(int round) {
            const auto ex = co_await asio::this_coro::executor;
            for (int i = 0; i < 3; ++i) {
                co_await async_sleep_for(ex, std::chrono::microseconds(round % 3 * 150),
                                         asio::use_awaitable);
            }
        }
        static asio::awaitable<void> chain(std::atomic<int>& count) {
            const auto ex = co_await asio::this_coro::executor;
            for (int round = 0; round < rounds; ++round) {
                asio::cancellation_signal signal;
                async_sleep_for(
                    ex, 500us, [&signal](error_code) { signal.emit(cancellation_type::terminal); });
                auto child = work(round);
                constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
                auto bound = asio::bind_cancellation_slot(signal.slot(), tuple);
                auto token = cancel_after(std::chrono::microseconds(round % 4 * 200), bound);
                static_cast<void>(co_await asio::co_spawn(ex, std::move(child), token));
                co_await async_sleep_for(ex, 2ms, asio::use_awaitable); // The signal is destroyed.
                ++count;
            }
        }
    };
    for (int i = 0; i < chains; ++i) {
        asio::co_spawn(asio::make_strand(pool), program::chain(done), asio::detached);
    }
    pool.join();
    BOOST_TEST(done == chains * rounds);
}

BOOST_AUTO_TEST_SUITE_END()
