// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One vocabulary: what has the same name in several utilities has the same form in each of them.
// docs/vocabulary.md has the table.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/rate_limiter.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using steady = std::chrono::steady_clock;
using context_executor = asio::io_context::executor_type;

template <class Executor>
using timer_on = asio_wheel::basic_waitable_timer<steady, asio::wait_traits<steady>, Executor>;
template <class Executor>
using interval_on = asio_wheel::basic_interval<steady, Executor>;
template <class Executor>
using idle_timer_on = asio_wheel::basic_idle_timer<steady, Executor>;
template <class Executor>
using heartbeat_on = asio_wheel::basic_heartbeat<steady, Executor>;
template <class Executor>
using queue_on = asio_wheel::basic_delay_queue<int, steady, Executor>;
template <class Executor>
using operations_on = asio_wheel::basic_delayed_operations<int, int, steady, Executor>;
template <class Executor>
using limiter_on = asio_wheel::basic_rate_limiter<steady, Executor>;
template <class Executor>
using scheduler_on = asio_wheel::basic_scheduler<steady, Executor>;
template <class Executor>
using stream_on = asio_wheel::timeout_stream<asio::basic_stream_socket<asio::ip::tcp, Executor>>;

template <template <class> class Utility>
constexpr bool has_an_executor() {
    using any = Utility<asio::any_io_executor>;
    using narrow = Utility<context_executor>;
    return std::same_as<typename any::executor_type, asio::any_io_executor> &&
           std::same_as<typename narrow::executor_type, context_executor> &&
           std::same_as<decltype(std::declval<narrow&>().get_executor()),
                        const context_executor&> &&
           std::same_as<typename any::template rebind_executor<context_executor>::other, narrow>;
}

template <class Utility>
constexpr bool has_a_clock() {
    using clock = typename Utility::clock_type;
    return std::same_as<typename Utility::duration, typename clock::duration> &&
           std::same_as<typename Utility::time_point, typename clock::time_point>;
}

template <class Utility>
concept counts_what_it_cancels = requires(Utility& u) {
    { u.cancel() } -> std::same_as<std::size_t>;
};

template <class Limited>
concept has_a_limit = requires(const Limited& options) {
    { options.max_pending } -> std::convertible_to<std::size_t>;
};

template <class Utility>
concept tells_what_is_pending = requires(const Utility& u) {
    { u.pending() } -> std::same_as<std::size_t>;
};

template <class Closable>
concept can_be_closed = requires(Closable& c) {
    { c.close() } -> std::same_as<void>;
    { std::as_const(c).closed() } -> std::same_as<bool>;
};

template <class Utility>
concept can_become_idle = requires(Utility& u) {
    { u.wait_idle() } -> std::same_as<void>;
    { u.wait_idle(std::chrono::seconds(1)) } -> std::same_as<bool>;
    u.async_wait_idle(asio::use_awaitable);
};

template <class Rule>
concept says_what_is_next = requires(const Rule& next, std::chrono::system_clock::time_point t) {
    { next(t) } -> std::same_as<std::optional<std::chrono::system_clock::time_point>>;
    { next(t, t) } -> std::same_as<std::optional<std::chrono::system_clock::time_point>>;
};

using scheduler = scheduler_on<asio::any_io_executor>;
using queue = queue_on<asio::any_io_executor>;
using operations = operations_on<asio::any_io_executor>;

// What was moved from can be cancelled, if it can be at all, assigned and destroyed.
template <class Make>
void expect_moved_from_is_harmless(Make make) {
    auto first = make();
    using utility = decltype(first);
    auto second = std::move(first);
    // NOLINTBEGIN(bugprone-use-after-move): that is what is tested.
    if constexpr (counts_what_it_cancels<utility>) {
        BOOST_TEST(first.cancel() == 0U);
    }
    first = std::move(second);
    second = std::move(first);
    {
        const utility dies = std::move(first);
    }
    first = make();
    // NOLINTEND(bugprone-use-after-move)
}

} // namespace

BOOST_AUTO_TEST_SUITE(utilities_vocabulary)

BOOST_AUTO_TEST_CASE(each_utility_has_an_executor_that_can_be_rebound) {
    static_assert(has_an_executor<timer_on>());
    static_assert(has_an_executor<interval_on>());
    static_assert(has_an_executor<idle_timer_on>());
    static_assert(has_an_executor<heartbeat_on>());
    static_assert(has_an_executor<queue_on>());
    static_assert(has_an_executor<operations_on>());
    static_assert(has_an_executor<limiter_on>());
    static_assert(has_an_executor<scheduler_on>());
    static_assert(has_an_executor<stream_on>());
    asio::io_context ctx;
    scheduler_on<context_executor> tasks(ctx);
    scheduler_on<context_executor>::group group(tasks);
    BOOST_TEST((tasks.get_executor() == ctx.get_executor()));
    BOOST_TEST((group.get_executor() == ctx.get_executor()));
}

BOOST_AUTO_TEST_CASE(each_utility_names_the_types_of_its_clock) {
    static_assert(has_a_clock<asio_wheel::steady_timer>());
    static_assert(has_a_clock<asio_wheel::interval>());
    static_assert(has_a_clock<asio_wheel::idle_timer>());
    static_assert(has_a_clock<asio_wheel::heartbeat>());
    static_assert(has_a_clock<queue>());
    static_assert(has_a_clock<operations>());
    static_assert(has_a_clock<asio_wheel::rate_limiter>());
    static_assert(has_a_clock<scheduler>());
    static_assert(std::same_as<asio_wheel::system_scheduler::clock_type,
                               asio_wheel::system_timer::clock_type>);
    BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(the_same_verbs_have_the_same_results) {
    static_assert(counts_what_it_cancels<asio_wheel::steady_timer>);
    static_assert(counts_what_it_cancels<asio_wheel::interval>);
    static_assert(counts_what_it_cancels<asio_wheel::idle_timer>);
    static_assert(counts_what_it_cancels<asio_wheel::heartbeat>);
    static_assert(counts_what_it_cancels<queue>);
    static_assert(counts_what_it_cancels<operations>);
    static_assert(counts_what_it_cancels<asio_wheel::rate_limiter>);
    static_assert(counts_what_it_cancels<scheduler::group>);
    static_assert(has_a_limit<asio_wheel::wheel_options>);
    static_assert(has_a_limit<asio_wheel::delay_queue_options>);
    static_assert(has_a_limit<asio_wheel::scheduler_options>);
    static_assert(tells_what_is_pending<asio_wheel::wheel_service<>>);
    static_assert(tells_what_is_pending<operations>);
    static_assert(tells_what_is_pending<asio_wheel::rate_limiter>);
    static_assert(tells_what_is_pending<scheduler>);
    static_assert(says_what_is_next<decltype(asio_wheel::daily(0s))>);
    static_assert(can_be_closed<queue>);
    static_assert(can_be_closed<asio_wheel::rate_limiter>);
    static_assert(can_be_closed<scheduler>);
    static_assert(can_become_idle<scheduler>);
    static_assert(can_become_idle<scheduler::group>);
    BOOST_TEST(true);
}

// Without rounding and conversions: a user's executor, and its default token.
BOOST_AUTO_TEST_CASE(a_scheduler_on_an_executor_of_its_own_type_calls_its_tasks_there) {
    drained_context world;
    using strand = asio::strand<context_executor>;
    asio_wheel::basic_scheduler<steady, strand> tasks(asio::make_strand(world.ctx));
    int calls = 0;
    tasks.schedule_after(0s, [&] {
        BOOST_TEST(tasks.get_executor().running_in_this_thread());
        ++calls;
    });
    asio_wheel::basic_scheduler<steady, strand>::group group(tasks);
    group.schedule_after("key", 0s, [&] {
        BOOST_TEST(group.get_executor().running_in_this_thread());
        ++calls;
    });
    bool idle = false;
    tasks.async_wait_idle([&](error_code) { idle = true; });
    world.run();
    BOOST_TEST(calls == 2);
    BOOST_TEST(idle);
}

BOOST_AUTO_TEST_CASE(what_was_moved_from_can_be_cancelled_assigned_and_destroyed) {
    asio::io_context ctx;
    expect_moved_from_is_harmless([&] { return asio_wheel::steady_timer(ctx, 1h); });
    expect_moved_from_is_harmless([&] { return asio_wheel::interval(ctx, 1h); });
    expect_moved_from_is_harmless([&] { return asio_wheel::idle_timer(ctx, 1h); });
    expect_moved_from_is_harmless(
        [&] { return asio_wheel::heartbeat(ctx, {.send_every = 1h, .dead_after = 2h}); });
    expect_moved_from_is_harmless([&] { return queue(ctx); });
    expect_moved_from_is_harmless([&] { return operations(ctx); });
    expect_moved_from_is_harmless(
        [&] { return asio_wheel::rate_limiter(ctx, {.rate = {1}, .burst = 1}); });
    expect_moved_from_is_harmless([&] { return scheduler(ctx); });
    expect_moved_from_is_harmless(
        [&] { return asio_wheel::timeout_stream<asio::ip::tcp::socket>(ctx); });
}

BOOST_AUTO_TEST_CASE(what_was_moved_from_refuses_everything_else) {
    asio::io_context ctx;
    const auto refuses = [](auto object, auto use) {
        const auto taken = std::move(object);
        BOOST_CHECK_EXCEPTION(use(object), std::logic_error, [](const std::logic_error& e) {
            return std::string(e.what()) == "asio_wheel: an object is used that was moved from";
        });
    };
    const auto ignore = [](const auto&...) {};
    refuses(asio_wheel::interval(ctx, 1h), [&](auto& ticks) { ticks.async_tick(ignore); });
    refuses(asio_wheel::interval(ctx, 1h), [](auto& ticks) { ticks.reset(); });
    refuses(asio_wheel::idle_timer(ctx, 1h), [&](auto& idle) { idle.async_wait(ignore); });
    refuses(asio_wheel::heartbeat(ctx, {}), [&](auto& pulse) { pulse.async_next(ignore); });
    refuses(queue(ctx), [](auto& q) { q.push(1s, 1); });
    refuses(queue(ctx), [&](auto& q) { q.async_pop(ignore); });
    refuses(operations(ctx), [](auto& waiting) { waiting.check(1); });
    refuses(scheduler(ctx), [](auto& tasks) { tasks.schedule_after(1s, [] {}); });
    refuses(scheduler(ctx), [](auto& tasks) { static_cast<void>(tasks.find(1)); });
    refuses(scheduler(ctx), [](auto& tasks) { tasks.wait_idle(); });
    refuses(scheduler(ctx), [&](auto& tasks) { tasks.async_wait_idle(ignore); });
    refuses(scheduler(ctx), [](auto& tasks) { tasks.adopt({}); });
    refuses(scheduler(ctx), [](auto& tasks) { const scheduler::group none(tasks); });
    refuses(scheduler(ctx), [](auto& tasks) {
        const auto never = [](auto) {
            return std::optional<std::chrono::steady_clock::time_point>();
        };
        tasks.schedule(never, [] {});
    });
    BOOST_TEST(ctx.run() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
