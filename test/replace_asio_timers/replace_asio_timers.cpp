// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: off

// Asio's timers by their own names, on a wheel.

#define BOOST_CHRONO_HEADER_ONLY

// Some libraries declare the template themselves.
namespace boost::asio {
template <typename Clock, typename WaitTraits, typename Executor>
class basic_waitable_timer;
}

#include <asio_wheel/replace_asio_timers.hpp>

#include <asio_wheel/error.hpp>
#include <asio_wheel/high_resolution_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/virtual_time.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/high_resolution_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/chrono/duration.hpp>
#include <boost/chrono/system_clocks.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#define HAS_ASIOS_CANCEL_AFTER 1
#endif

#include <chrono>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

using strict_executor = asio::io_context::executor_type;
using strict_timer = asio::steady_timer::rebind_executor<strict_executor>::other;

// Stores how waits have ended.
struct ends : std::vector<error_code> {
    [[nodiscard]] auto next() {
        return [this](const error_code& ec) { push_back(ec); };
    }
};

BOOST_AUTO_TEST_SUITE(replace_asio_timers, *boost::unit_test::timeout(60))

// (high_resolution_timer is one of the first two.)
using timers =
    std::tuple<asio::steady_timer, asio::system_timer, strict_timer,
               asio::steady_timer::rebind_executor<asio::strand<asio::any_io_executor>>::other>;

BOOST_AUTO_TEST_CASE_TEMPLATE(each_timer_of_asio_waits_on_a_wheel, Timer, timers) {
    using clock = typename Timer::clock_type;
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    Timer t(typename Timer::executor_type(ctx.get_executor()));
    t.expires_after(24h);
    ends log;
    t.async_wait(log.next());
    BOOST_TEST(asio_wheel::use_wheel<clock>(ctx).pending() == 1U);
    time.advance(24h - 1ms);
    BOOST_TEST(log.empty());
    time.advance(1ms);
    BOOST_TEST((log == ends{{error_code()}}));
    t.expires_after(1h);
    t.async_wait(log.next());
    BOOST_TEST(t.cancel() == 1U);
    time.advance(0ms);
    BOOST_TEST((log.back() == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(another_executors_timer_has_asios_name_too) {
    static_assert(
        std::same_as<strict_timer,
                     asio::basic_waitable_timer<std::chrono::steady_clock,
                                                asio::wait_traits<std::chrono::steady_clock>,
                                                strict_executor>>);
    static_assert(std::same_as<strict_timer::rebind_executor<asio::any_io_executor>::other,
                               asio::steady_timer>);
    static_assert(std::derived_from<asio::steady_timer, asio_wheel::steady_timer>);
    static_assert(
        std::derived_from<asio::high_resolution_timer, asio_wheel::high_resolution_timer>);
    static_assert(sizeof(asio::steady_timer) == sizeof(asio_wheel::steady_timer));
}

BOOST_AUTO_TEST_CASE(constructors_are_as_explicit_as_asios) {
    using timer = asio::steady_timer;
    static_assert(std::constructible_from<timer, asio::io_context&>);
    static_assert(std::constructible_from<timer, asio::thread_pool&, std::chrono::seconds>);
    static_assert(std::constructible_from<timer, strict_executor>);
    static_assert(!std::convertible_to<asio::io_context&, timer>);
    static_assert(!std::convertible_to<asio::any_io_executor, timer>);
    static_assert(!std::default_initializable<timer>);
    static_assert(!std::copyable<timer>);
    static_assert(std::movable<timer>);
    static_assert(std::convertible_to<strict_timer, timer>);
    static_assert(!std::constructible_from<strict_timer, timer>);
    static_assert(!std::assignable_from<strict_timer&, timer>);
    asio::io_context ctx;
    const timer a = {ctx.get_executor(), 1s}; // Asio's is not explicit here.
    const timer b(ctx, std::chrono::steady_clock::now());
    BOOST_TEST((a.expiry() > b.expiry()));
}

BOOST_AUTO_TEST_CASE(timers_with_a_clock_of_boost_chrono_are_left_to_asio) {
    asio::io_context ctx;
    asio::basic_waitable_timer<boost::chrono::steady_clock> t(ctx, boost::chrono::milliseconds(1));
    ends log;
    t.async_wait(log.next());
    ctx.run();
    BOOST_TEST((log == ends{{error_code()}}));
}

BOOST_AUTO_TEST_CASE(timers_with_different_executors_convert_with_their_waits) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    strict_timer a(ctx, 1s), b(ctx, 2s);
    ends log;
    a.async_wait(log.next());
    b.async_wait(log.next());
    asio::steady_timer c(std::move(a));
    asio::steady_timer d(ctx, 1h);
    d.async_wait(log.next());
    d = std::move(b);
    time.advance(1s);
    BOOST_TEST((log == ends{{asio::error::operation_aborted, error_code()}}));
    asio_wheel::steady_timer e(std::move(d)); // And to the wheel's own type.
    time.advance(1s);
    BOOST_TEST(log.size() == 3U);
    BOOST_TEST(!log.back());
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_refused_is_aborted) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.max_pending = 1});
    asio::steady_timer first(ctx, 1h), second(strict_timer(ctx, 1h)), third(ctx, 1h);
    ends log;
    first.async_wait(log.next());
    second.async_wait(log.next()); // There is one already.
    ctx.poll();
    BOOST_TEST((log == ends{{asio::error::operation_aborted}}));
    std::ignore = wheel.drain();
    third = std::move(second);
    third.async_wait(log.next());
    ctx.restart();
    ctx.poll();
    BOOST_TEST(log.size() == 3U);
    BOOST_TEST((log.back() == asio::error::operation_aborted));
    asio_wheel::steady_timer own(ctx, 1h); // Others learn why.
    own.async_wait(log.next());
    ctx.restart();
    ctx.poll();
    BOOST_TEST((log.back() == asio_wheel::error::wheel_stopped));
}

BOOST_AUTO_TEST_CASE(coroutines_wait_for_the_first_of_two) {
    using namespace asio::experimental::awaitable_operators;
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    std::size_t first = 2;
    asio::co_spawn(
        ctx,
        [&]() -> asio::awaitable<void> {
            asio::steady_timer slow(ctx, 2h), fast(ctx, 1h);
            first = (co_await (slow.async_wait(asio::use_awaitable) ||
                               fast.async_wait(asio::use_awaitable)))
                        .index();
        },
        asio::detached);
    time.advance(1h);
    BOOST_TEST(first == 1U);
}

#ifdef HAS_ASIOS_CANCEL_AFTER
BOOST_AUTO_TEST_CASE(asios_cancel_after_waits_on_the_wheel) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    asio::steady_timer slow(ctx, 2h), limit(ctx);
    ends log;
    slow.async_wait(asio::cancel_after(1h, log.next()));
    slow.async_wait(asio::cancel_after(limit, 90min, log.next()));
    BOOST_TEST(asio_wheel::use_wheel(ctx).pending() == 4U);
    time.advance(1h);
    BOOST_TEST((log == ends{{asio::error::operation_aborted}}));
    time.advance(30min);
    BOOST_TEST(log.size() == 2U);
}
#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace
