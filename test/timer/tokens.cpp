// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Each of Asio's completion tokens, on the wheel's timers and on Asio's.

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_ADDRESS__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // Asio's use_future, on any timer: g++ 12.
#endif

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/co_spawn.hpp>
#include <boost/asio/experimental/coro.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prepend.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

namespace {

using namespace asio_wheel::test;
using boost::system::system_error;

// Runs a coroutine to its end, and rethrows its exception.
template <class World>
void run_coroutine(World& world, asio::awaitable<void> coroutine) {
    std::exception_ptr failure;
    bool ended = false;
    asio::co_spawn(world.ctx, std::move(coroutine), [&](std::exception_ptr e) {
        failure = std::move(e);
        ended = true;
    });
    world.run();
    BOOST_TEST(ended);
    if (failure) {
        std::rethrow_exception(failure);
    }
}

const auto is_aborted = [](const system_error& e) { return e.code() == aborted; };

} // namespace

BOOST_AUTO_TEST_SUITE(timer_tokens, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE_TEMPLATE(use_future, World, real_worlds) {
    World world;
    typename World::timer t(world.ctx, 1ms);
    typename World::timer distant(world.ctx, 1h);
    std::future<void> expired = t.async_wait(asio::use_future);
    std::future<void> cancelled = distant.async_wait(asio::use_future);
    std::future<int> packaged =
        t.async_wait(asio::use_future([](error_code ec) { return ec ? 0 : 7; }));
    distant.cancel();
    world.run();
    expired.get();
    BOOST_TEST(packaged.get() == 7);
    BOOST_CHECK_EXCEPTION(cancelled.get(), system_error, is_aborted);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(deferred, World, real_worlds) {
    World world;
    journal seen;
    typename World::timer t(world.ctx, 1ms);
    auto later = t.async_wait(asio::deferred);
    world.poll();
    BOOST_TEST(t.cancel() == 0U); // Nothing has been started.
    std::move(later)(seen.note("deferred"));
    auto chain = t.async_wait(asio::deferred([&](error_code) {
        seen.add("first");
        t.expires_after(1ms);
        return t.async_wait(asio::deferred);
    }));
    std::move(chain)(seen.note("second"));
    world.run();
    BOOST_TEST(seen.take() == "deferred first second");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(adaptors_of_handlers, World, real_worlds) {
    World world;
    journal seen;
    typename World::timer t(world.ctx, 1ms);
    t.async_wait(asio::detached);
    t.async_wait(asio::append([&](error_code, int n) { seen.note(n)(); }, 1));
    t.async_wait(asio::prepend([&](int n, error_code) { seen.note(n)(); }, 2));
    t.async_wait(asio::as_tuple([&](std::tuple<error_code> r) { seen.add("3", std::get<0>(r)); }));
    error_code ec = asio::error::eof;
    t.async_wait(asio::redirect_error([&] { seen.note(4)(); }, ec));
    const auto owned = std::make_shared<int>(5);
    t.async_wait(asio::consign(seen.note(5), owned));
    BOOST_TEST(owned.use_count() == 2);
    world.run();
    BOOST_TEST(seen.take() == "1 2 3 4 5");
    BOOST_TEST(!ec);
    BOOST_TEST(owned.use_count() == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(use_awaitable, World, real_worlds) {
    using timer = typename World::timer;
    struct program {
        static asio::awaitable<void> run(int& done) {
            timer t(co_await asio::this_coro::executor, 1ms);
            const auto expiry = t.expiry();
            co_await t.async_wait(asio::use_awaitable);
            BOOST_TEST((timer::clock_type::now() >= expiry));
            ++done;

            constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
            auto [ec] = co_await t.async_wait(tuple);
            BOOST_TEST(!ec);
            ++done;

            ec = asio::error::eof;
            auto redirected = asio::redirect_error(asio::use_awaitable, ec);
            co_await t.async_wait(redirected);
            BOOST_TEST(!ec);
            ++done;

            auto later = t.async_wait(asio::deferred);
            co_await std::move(later)(asio::use_awaitable);
            ++done;
        }
        static asio::awaitable<void> fail(timer& t) { co_await t.async_wait(asio::use_awaitable); }
    };
    World world;
    int done = 0;
    run_coroutine(world, program::run(done));
    BOOST_TEST(done == 4);

    timer t(world.ctx, 1h);
    asio::post(world.ctx, [&] { asio::post(world.ctx, [&] { t.cancel(); }); });
    BOOST_CHECK_EXCEPTION(run_coroutine(world, program::fail(t)), system_error, is_aborted);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(use_awaitable_as_default, World, real_worlds) {
    using timer = asio::use_awaitable_t<>::as_default_on_t<typename World::timer>;
    using tuple_timer =
        asio::as_tuple_t<asio::use_awaitable_t<>>::as_default_on_t<typename World::timer>;
    struct program {
        static asio::awaitable<void> run(int& done) {
            const auto ex = co_await asio::this_coro::executor;
            timer t(ex, 1ms);
            co_await t.async_wait();
            ++done;
            tuple_timer u(ex, 1ms);
            const auto [ec] = co_await u.async_wait();
            BOOST_TEST(!ec);
            ++done;
            auto v = asio::use_awaitable.as_default_on(typename World::timer(ex, 1ms));
            co_await v.async_wait();
            ++done;
        }
    };
    World world;
    int done = 0;
    run_coroutine(world, program::run(done));
    BOOST_TEST(done == 3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(awaitable_operators, World, real_worlds) {
    using timer = typename World::timer;
    struct program {
        static asio::awaitable<int> sleep(std::chrono::milliseconds d, int result) {
            timer t(co_await asio::this_coro::executor, d);
            co_await t.async_wait(asio::use_awaitable);
            co_return result;
        }
        static asio::awaitable<void> run(bool& done) {
            using namespace asio::experimental::awaitable_operators;
            const std::variant<int, int> first = co_await (sleep(1h, 1) || sleep(1ms, 2));
            BOOST_TEST(first.index() == 1U);
            BOOST_TEST(std::get<1>(first) == 2);
            const std::tuple<int, int> both = co_await (sleep(1ms, 3) && sleep(2ms, 4));
            BOOST_TEST((both == std::tuple(3, 4)));
            done = true;
        }
    };
    World world;
    bool done = false;
    run_coroutine(world, program::run(done)); // It ends, so the loser was cancelled.
    BOOST_TEST(done);
}

// The pattern of a server for each message. If the wake-up were cancelled and armed again each
// time, its handlers would add to those that Asio's timer needs.
template <class Timer>
std::size_t handlers_for_operations_with_timeouts(int rounds) {
    struct program {
        static asio::awaitable<void> operation() {
            auto next = asio::post(co_await asio::this_coro::executor, asio::deferred);
            co_await std::move(next)(asio::use_awaitable);
        }
        static asio::awaitable<void> timeout() {
            Timer t(co_await asio::this_coro::executor, 1h);
            co_await t.async_wait(asio::use_awaitable);
        }
        static asio::awaitable<void> run(int n) {
            using namespace asio::experimental::awaitable_operators;
            for (int i = 0; i < n; ++i) {
                const auto which = co_await (operation() || timeout());
                BOOST_TEST_REQUIRE(which.index() == 0U);
            }
        }
    };
    asio::io_context ctx;
    asio::co_spawn(ctx, program::run(rounds), asio::detached);
    const std::size_t handlers = ctx.run_for(20s);
    BOOST_TEST(ctx.stopped());
    return handlers;
}

BOOST_AUTO_TEST_CASE(a_loop_of_operations_with_timeouts_leaves_the_wake_up_alone) {
    constexpr int rounds = 10'000;
    const std::size_t ours =
        handlers_for_operations_with_timeouts<asio_wheel::steady_timer>(rounds);
    const std::size_t asios = handlers_for_operations_with_timeouts<asio::steady_timer>(rounds);
    BOOST_TEST(ours <= asios + 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(parallel_groups_cancel_the_others, World, real_worlds) {
    namespace experimental = asio::experimental;
    World world;
    typename World::timer a(world.ctx, 1h);
    typename World::timer b(world.ctx, 1ms);
    std::array<std::size_t, 2> order{};
    error_code of_a;
    error_code of_b = asio::error::eof;
    experimental::make_parallel_group(a.async_wait(asio::deferred), b.async_wait(asio::deferred))
        .async_wait(experimental::wait_for_one(),
                    [&](std::array<std::size_t, 2> o, error_code ea, error_code eb) {
                        order = o;
                        of_a = ea;
                        of_b = eb;
                    });
    world.run();
    BOOST_TEST(order[0] == 1U);
    BOOST_TEST(of_a == aborted);
    BOOST_TEST(!of_b);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancelling_a_coroutine_cancels_its_wait, World, real_worlds) {
    using timer = typename World::timer;
    struct program {
        static asio::awaitable<void> run(bool& cancelled) {
            timer t(co_await asio::this_coro::executor, 1h);
            constexpr auto tuple = asio::as_tuple(asio::use_awaitable);
            const auto [ec] = co_await t.async_wait(tuple);
            cancelled = ec == aborted;
        }
    };
    World world;
    bool cancelled = false;
    asio::cancellation_signal signal;
    asio::co_spawn(world.ctx, program::run(cancelled),
                   asio::bind_cancellation_slot(signal.slot(), asio::detached));
    world.poll();
    asio::post(world.ctx, [&] { signal.emit(asio::cancellation_type::terminal); });
    world.run();
    BOOST_TEST(cancelled);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(experimental_coro, World, real_worlds) {
    using timer = typename World::timer;
    namespace experimental = asio::experimental;
    struct program {
        static experimental::coro<int> count(asio::any_io_executor ex) {
            timer t{ex};
            for (int i = 1; i <= 2; ++i) {
                t.expires_after(1ms);
                co_await t.async_wait(asio::deferred);
                co_yield i;
            }
        }
        static experimental::coro<void> run(asio::any_io_executor ex, int& sum) {
            timer t(ex, 1ms);
            co_await t; // t.async_wait(asio::deferred)
            auto counter = count(ex);
            while (const auto next = co_await counter) {
                sum += *next;
            }
            sum += 10;
        }
    };
    World world;
    int sum = 0;
    auto coroutine = program::run(world.ctx.get_executor(), sum);
    experimental::co_spawn(std::move(coroutine), asio::detached);
    world.run();
    BOOST_TEST(sum == 13);
}

BOOST_AUTO_TEST_SUITE_END()
