// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Floating-point durations may be infinite or NaN. Checks each function that takes a duration.
// (Those of delay queues: see delay_queue.)

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <string>
#include <type_traits>

namespace {

using namespace asio_wheel::test;

template <class Rep>
using seconds_in = std::chrono::duration<Rep>;
using seconds = seconds_in<double>;

constexpr seconds no_number{std::numeric_limits<double>::quiet_NaN()};
constexpr seconds_in<float> no_float{std::numeric_limits<float>::quiet_NaN()};
constexpr seconds infinite{std::numeric_limits<double>::infinity()};

using fractional_time = std::chrono::time_point<std::chrono::steady_clock, seconds>;

// A clock with a floating-point representation.
struct fractional_clock {
    using duration = seconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<fractional_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept { return time_point(1e6s); }
};

// A task for each scheduling function.
struct scheduling : virtual_world {
    asio_wheel::basic_scheduler<fractional_clock> tasks{ctx};
    asio_wheel::scheduler steady{ctx};
    asio_wheel::scheduler::group group{steady};
};

asio::awaitable<void> nothing() {
    co_return;
}

} // namespace

BOOST_AUTO_TEST_SUITE(durations)

BOOST_FIXTURE_TEST_CASE(a_sleep_that_is_not_a_number_is_refused, virtual_world) {
    const auto ex = ctx.get_executor();
    const std::string refusal = "asio_wheel: the length of a sleep is not a number (NaN)";
    BOOST_TEST(message_of([&] { asio_wheel::async_sleep_for(ctx, no_number, ignore); }) == refusal);
    BOOST_TEST(message_of([&] { asio_wheel::async_sleep_for(ex, -no_number, ignore); }) == refusal);
    BOOST_TEST(message_of([&] { asio_wheel::async_sleep_for(ex, no_float, ignore); }) == refusal);
    BOOST_TEST(message_of([&] {
                   static_cast<void>(asio_wheel::async_sleep_for(ex, no_number, asio::deferred));
               }) == refusal);
    BOOST_TEST(message_of([&] {
                   asio_wheel::async_sleep_until(ctx, fractional_time(no_number), ignore);
               }) == "asio_wheel: the end of a sleep is not a number (NaN)");
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(a_time_limit_that_is_not_a_number_is_refused) {
    constexpr auto any = asio::cancellation_type::all;
    const error_code why = asio::error::host_unreachable;
    const auto cancels = [](auto f) {
        BOOST_TEST(message_of(f) == "asio_wheel: the time of cancel_after() is not a number (NaN)");
    };
    cancels([&] { static_cast<void>(asio_wheel::cancel_after(no_number)); });
    cancels([&] { static_cast<void>(asio_wheel::cancel_after(no_number, any)); });
    cancels([&] { static_cast<void>(asio_wheel::cancel_after(no_number, ignore)); });
    cancels([&] { static_cast<void>(asio_wheel::cancel_after(no_number, any, ignore)); });
    const auto times_out = [](auto f) {
        BOOST_TEST(message_of(f) == "asio_wheel: a timeout is not a number (NaN)");
    };
    times_out([&] { static_cast<void>(asio_wheel::timeout(no_number)); });
    times_out([&] { static_cast<void>(asio_wheel::timeout(no_number, any)); });
    times_out([&] { static_cast<void>(asio_wheel::timeout(no_number, why)); });
    times_out([&] { static_cast<void>(asio_wheel::timeout(no_number, ignore)); });
    times_out([&] { static_cast<void>(asio_wheel::timeout(no_number, any, ignore)); });
    times_out([&] { static_cast<void>(asio_wheel::timeout(no_number, why, ignore)); });
    asio::io_context ctx;
    times_out([&] {
        static_cast<void>(
            asio::co_spawn(ctx, nothing(), asio_wheel::timeout(no_number, asio::deferred)));
    });
    constexpr fractional_time t(no_number);
    BOOST_TEST(message_of([&] { static_cast<void>(asio_wheel::cancel_at(t, ignore)); }) ==
               "asio_wheel: the time of cancel_at() is not a number (NaN)");
    BOOST_TEST(message_of([&] { static_cast<void>(asio_wheel::timeout_at(t, ignore)); }) ==
               "asio_wheel: a deadline is not a number (NaN)");
}

// Integer durations are always numbers, and tokens made of them are still constant expressions.
BOOST_AUTO_TEST_CASE(a_token_may_be_a_constant) {
    constexpr auto in_time = asio_wheel::cancel_after(1s);
    constexpr auto with_token = asio_wheel::cancel_after(1s, asio::deferred);
    static_cast<void>(in_time);
    static_cast<void>(with_token);
}

BOOST_FIXTURE_TEST_CASE(a_period_that_is_not_a_number_is_refused, virtual_world) {
    const auto refuses = [](const std::string& what, auto f) {
        BOOST_TEST(message_of(f) == "asio_wheel: " + what + " is not a number (NaN)");
    };
    refuses("the period of an interval", [&] { asio_wheel::interval(ctx, no_number); });
    asio_wheel::interval ticks(ctx, 1s);
    refuses("the period of an interval", [&] { ticks.period(no_number); });
    BOOST_TEST((ticks.period() == 1s));
    refuses("the period of an idle timer", [&] { asio_wheel::idle_timer(ctx, no_number); });
    asio_wheel::idle_timer idle(ctx, 1s);
    refuses("the period of an idle timer", [&] { idle.period(no_float); });
    BOOST_TEST((idle.period() == 1s));
}

BOOST_FIXTURE_TEST_CASE(a_task_whose_time_is_not_a_number_is_refused, scheduling) {
    const auto refuses = [](const std::string& what, auto f) {
        BOOST_TEST(message_of(f) == "asio_wheel: " + what + " is not a number (NaN)");
    };
    const auto f = [] { BOOST_TEST(false, "it is called"); };
    const std::string delay = "the delay of a task";
    const std::string period = "the period of a task";
    refuses(delay, [&] { steady.schedule_after(no_number, f); });
    refuses(delay, [&] { steady.schedule_after("key", no_number, f); });
    refuses(delay, [&] { group.schedule_after(no_float, f); });
    refuses(delay, [&] { tasks.schedule_after(no_number, f); });
    refuses(delay, [&] { tasks.schedule_at_fixed_rate(no_number, 1s, f); });
    refuses(delay, [&] { tasks.schedule_with_fixed_delay(no_number, 1s, f); });
    refuses(period, [&] { tasks.schedule_at_fixed_rate(1s, no_number, f); });
    refuses(period, [&] { tasks.schedule_with_fixed_delay(1s, no_number, f); });
    refuses("the time of a task",
            [&] { tasks.schedule_at(fractional_clock::time_point(no_number), f); });
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(steady.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(a_streams_deadline_that_is_not_a_number_is_refused) {
    asio::io_context ctx;
    asio_wheel::timeout_stream<asio::ip::tcp::socket> stream(ctx);
    const std::string refusal =
        "asio_wheel: the deadline of a timeout_stream is not a number (NaN)";
    BOOST_TEST(message_of([&] { stream.expires_after(no_number); }) == refusal);
    BOOST_TEST(message_of([&] { stream.read_expires_after(no_number); }) == refusal);
    BOOST_TEST(message_of([&] { stream.write_expires_after(no_number); }) == refusal);
    BOOST_TEST(message_of([&] { stream.message_expires_after(no_number); }) == refusal);
    BOOST_TEST(message_of([&] { stream.idle_after(no_number); }) ==
               "asio_wheel: the idle period of a timeout_stream is not a number (NaN)");
    BOOST_CHECK_THROW(stream.write_idle_after(no_number), std::invalid_argument);
    BOOST_CHECK_THROW(stream.least_rate(1, no_number), std::invalid_argument);
    BOOST_CHECK_THROW(stream.lifetime(no_number), std::invalid_argument);
}

// Pauses are integers, and other types do not convert to them.
BOOST_AUTO_TEST_CASE(pauses_and_phases_are_numbers) {
    static_assert(!std::convertible_to<seconds, decltype(asio_wheel::backoff_options::initial)>);
    static_assert(
        !std::convertible_to<seconds, decltype(asio_wheel::heartbeat_options::send_every)>);
    static_assert(!std::invocable<decltype(asio_wheel::random_phase), seconds>);
    BOOST_TEST(true);
}

BOOST_FIXTURE_TEST_CASE(infinite_times_never_come, scheduling) {
    asio_wheel::async_sleep_for(ctx, infinite, log.note("sleep"));
    asio_wheel::async_sleep_until(ctx, fractional_time(infinite), log.note("sleep"));
    asio_wheel::interval ticks(ctx, infinite);
    ticks.async_tick([&](error_code ec, std::size_t) { log.add("tick", ec); });
    asio_wheel::idle_timer idle(ctx, infinite);
    idle.touch();
    idle.async_wait(log.note("idle"));
    asio_wheel::heartbeat pulse(ctx, asio_wheel::heartbeat_options());
    pulse.async_next([&](error_code ec, asio_wheel::heartbeat_event) { log.add("pulse", ec); });
    timer t(ctx, 24h * 365 * 100);
    t.async_wait(asio_wheel::timeout(infinite, log.note("century")));
    t.async_wait(asio_wheel::cancel_after(infinite, log.note("century")));
    const auto f = [&] { log.add("task"); };
    steady.schedule_after(infinite, f);
    steady.schedule_after("key", infinite, f);
    tasks.schedule_after(infinite, f);
    tasks.schedule_at_fixed_rate(0s, infinite, [&] { log.add("once"); });
    asio_wheel::timeout_stream<asio::ip::tcp::socket> stream(ctx);
    stream.expires_after(infinite);
    stream.idle_after(infinite);
    stream.write_idle_after(infinite);
    stream.least_rate(1, infinite);
    stream.lifetime(infinite, 0.5);
    BOOST_TEST(log_now() == "once");
    BOOST_TEST(log_after(24h * 365 * 100) == "century century");
    BOOST_TEST(tasks.stop().size() == 1U);
    BOOST_TEST(steady.stop().size() == 2U);
    ticks.cancel();
    idle.cancel();
    pulse.cancel();
    static_cast<void>(wheel.drain());
    poll();
    BOOST_TEST(log.size() == 5U);
}

// Each is beyond what the clock can count. With Asio's timers, they have passed long ago.
BOOST_FIXTURE_TEST_CASE(the_longest_duration_of_any_unit_never_comes_for_a_timer, virtual_world) {
    const auto ex = ctx.get_executor();
    const auto end = timer::time_point::max();
    const auto never = [&](const auto& longest) {
        using longest_type = std::remove_cvref_t<decltype(longest)>;
        using longest_time = std::chrono::time_point<std::chrono::steady_clock, longest_type>;
        timer by_context(ctx, longest), by_executor(ex, longest), t(ctx);
        BOOST_TEST((by_context.expiry() == end));
        BOOST_TEST((by_executor.expiry() == end));
        BOOST_TEST(t.expires_after(longest) == 0U);
        BOOST_TEST((t.expiry() == end));
        t.expires_after(1s);
        bool called = false;
        t.async_wait([&](error_code ec) { called = !ec; });
        BOOST_TEST(t.postpone(longest) == 1U);
        BOOST_TEST((t.expiry() == end));
        BOOST_TEST((timer(ctx, longest_time(longest)).expiry() == end));
        BOOST_TEST((timer(ex, longest_time(longest)).expiry() == end));
        t.expires_after(1s);
        t.async_wait([&](error_code ec) { called = !ec; });
        BOOST_TEST(t.postpone_until(longest_time(longest)) == 1U);
        BOOST_TEST((t.expiry() == end));
        poll();
        BOOST_TEST(wheel.advance_to_next() == 0U);
        BOOST_TEST(!called);
        BOOST_TEST(t.expires_at(longest_time(longest)) == 1U);
        BOOST_TEST((t.expiry() == end));
        poll();
    };
    never(std::chrono::hours::max());
    never(std::chrono::milliseconds::max());
    never(std::chrono::nanoseconds::max());
    never(std::chrono::duration<std::int64_t, std::ratio<86400 * 365>>::max());
    never(infinite);
    never(seconds::max());
}

BOOST_FIXTURE_TEST_CASE(the_shortest_duration_of_any_unit_has_passed_for_a_timer, virtual_world) {
    const auto begin = wheel.now();
    for (const seconds d : {-infinite, seconds(-1), seconds(std::chrono::hours::min())}) {
        timer t(ctx, d);
        BOOST_TEST((t.expiry() < begin));
    }
    BOOST_TEST((timer(ctx, std::chrono::hours::min()).expiry() < begin));
    BOOST_TEST((timer(ctx, std::chrono::milliseconds::min()).expiry() < begin));
}

BOOST_FIXTURE_TEST_CASE(a_timer_rounds_a_fraction_up, virtual_world) {
    timer t(ctx, seconds_in<long double>(1.5e-9L));
    BOOST_TEST((t.remaining() == 2ns));
    t.expires_after(std::chrono::duration<std::int64_t, std::pico>(1));
    BOOST_TEST((t.remaining() == 1ns));
    t.expires_after(seconds(0.25));
    BOOST_TEST((t.remaining() == 250ms));
}

BOOST_FIXTURE_TEST_CASE(an_expiry_that_is_not_a_number_is_refused, virtual_world) {
    const auto ex = ctx.get_executor();
    const auto refuses = [](auto f) {
        BOOST_TEST(message_of(f) == "asio_wheel: the expiry of a timer is not a number (NaN)");
    };
    timer t(ctx, 1h);
    asio_wheel::basic_waitable_timer<fractional_clock> fractional(ctx, seconds(1));
    t.async_wait(log.note("aborted"));
    const auto expiry = t.expiry();
    refuses([&] { timer(ctx, no_number); });
    refuses([&] { timer(ex, no_float); });
    refuses([&] { timer(ctx, fractional_time(no_number)); });
    refuses([&] { t.expires_after(no_number); });
    refuses([&] { t.expires_at(fractional_time(no_number)); });
    refuses([&] { static_cast<void>(t.postpone(no_number)); });
    refuses([&] { static_cast<void>(t.postpone_until(fractional_time(no_number))); });
    refuses([&] { fractional.expires_after(no_number); });
    refuses([&] { fractional.expires_at(fractional_clock::time_point(no_number)); });
    BOOST_TEST(log_now() == "");
    BOOST_TEST((t.expiry() == expiry));
    BOOST_TEST(t.cancel() == 1U);
    poll();
}

BOOST_FIXTURE_TEST_CASE(paused_time_can_be_moved_to_its_end, virtual_world) {
    timer t(ctx, 24h * 365 * 200);
    bool called = false;
    t.async_wait([&](error_code ec) { called = !ec; });
    BOOST_TEST(wheel.advance(std::chrono::hours::min()) == 0U);
    BOOST_TEST(message_of([&] { wheel.advance(no_number); }) ==
               "asio_wheel: the time to advance is not a number (NaN)");
    BOOST_TEST(wheel.advance(std::chrono::hours::max()) == 1U);
    poll();
    BOOST_TEST(called);
}

// The most distant past is past.
BOOST_FIXTURE_TEST_CASE(negative_infinite_times_have_come, scheduling) {
    asio_wheel::async_sleep_for(ctx, -infinite, log.note("sleep"));
    steady.schedule_after(-infinite, [&] { log.add("task"); });
    poll();
    BOOST_TEST(log.size() == 2U);
    BOOST_TEST(message_of([&] { asio_wheel::idle_timer(ctx, -infinite); }) != "nothing");
}

BOOST_AUTO_TEST_CASE(a_time_that_is_not_a_number_changes_nothing) {
    using time_point = fractional_clock::time_point;
    const time_point no_time{no_number};
    asio::io_context ctx;
    asio_wheel::basic_interval<fractional_clock> ticks(ctx, 1s);
    const time_point next = ticks.expiry();
    BOOST_TEST(message_of([&] { ticks.reset_at(no_time); }) ==
               "asio_wheel: the time of a tick is not a number (NaN)");
    BOOST_TEST((ticks.expiry() == next));
    asio_wheel::basic_delayed_operations<int, int, fractional_clock> operations(ctx);
    BOOST_TEST(message_of([&] {
                   operations.async_wait_until(
                       1, no_time, [] { return std::optional<int>(); },
                       [](const error_code&, int) {});
               }) == "asio_wheel: the deadline of a delayed operation is not a number (NaN)");
    BOOST_TEST(operations.pending() == 0U);
    BOOST_TEST(operations.keys() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
