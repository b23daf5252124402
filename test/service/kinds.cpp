// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The kinds of waits: what is visited under which kind, and what counts as expired.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::pending_wait;
using asio_wheel::wait_kind;

constexpr auto ignore_all = [](auto&&...) {};

struct world : virtual_world {
    /// The kinds of all waits that are pending, in words.
    std::string kinds() {
        std::multiset<std::string_view> names;
        wheel.for_each_pending(
            [&](const pending_wait& w) { names.insert(asio_wheel::to_string(w.kind)); });
        std::string text;
        for (const std::string_view name : names) {
            text += (text.empty() ? "" : " ") + std::string(name);
        }
        return text;
    }

    /// What has expired since the last call, in words.
    std::string expired() {
        const auto now = wheel.stats().expired;
        std::string text;
        for (const wait_kind kind : asio_wheel::all_wait_kinds) {
            for (std::uint64_t n = before_[kind]; n != now[kind]; ++n) {
                text += (text.empty() ? "" : " ") + std::string(asio_wheel::to_string(kind));
            }
        }
        before_ = now;
        return text;
    }

private:
    asio_wheel::counts_by_kind before_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(service_kinds)

BOOST_AUTO_TEST_CASE(each_kind_has_a_name_of_its_own) {
    std::set<std::string_view> names;
    for (const wait_kind kind : asio_wheel::all_wait_kinds) {
        names.insert(asio_wheel::to_string(kind));
    }
    BOOST_TEST(names.size() == asio_wheel::all_wait_kinds.size());
    BOOST_TEST(names.count("unknown") == 0U);
    BOOST_TEST(asio_wheel::to_string(static_cast<wait_kind>(200)) == "unknown");
}

BOOST_FIXTURE_TEST_CASE(a_timer_expires_when_its_time_has_come, world) {
    timer t(ctx, 1s);
    t.async_wait(ignore);
    t.async_wait(ignore);
    BOOST_TEST(kinds() == "timer timer");
    pass(1s);
    BOOST_TEST(expired() == "timer timer timer"); // The first one has aligned the time.
    t.expires_after(1s);
    t.async_wait(ignore);
    t.cancel();
    pass(2s);
    BOOST_TEST(expired() == "");
}

BOOST_FIXTURE_TEST_CASE(a_sleep_expires_at_its_end, world) {
    expired();
    asio_wheel::async_sleep_for(ctx, 1s, ignore);
    asio_wheel::async_sleep_until(ctx, now() + 2s, ignore);
    BOOST_TEST(kinds() == "sleep sleep");
    pass(1s);
    BOOST_TEST(expired() == "sleep");
    pass(1s);
    BOOST_TEST(expired() == "sleep");
}

BOOST_FIXTURE_TEST_CASE(a_timeout_expires_if_the_operation_does_not_end_in_time, world) {
    expired();
    manual_operation<error_code> late(ctx.get_executor());
    manual_operation<error_code> in_time(ctx.get_executor());
    late.start(asio_wheel::timeout(1s, ignore_all));
    in_time.start(asio_wheel::cancel_after(1s, ignore_all));
    BOOST_TEST(kinds() == "timeout timeout");
    in_time.complete({});
    pass(2s);
    BOOST_TEST(expired() == "timeout");
}

BOOST_FIXTURE_TEST_CASE(a_deadline_on_a_timer_of_the_users_is_a_timeout, world) {
    expired();
    manual_operation<error_code> late(ctx.get_executor());
    timer t(ctx);
    late.start(asio_wheel::timeout(t, 1s, ignore_all));
    BOOST_TEST(kinds() == "timeout");
    pass(1s);
    BOOST_TEST(expired() == "timeout");
}

BOOST_FIXTURE_TEST_CASE(a_delayed_operation_expires_if_it_is_not_completed, world) {
    expired();
    asio_wheel::delayed_operations<std::string, int> operations(ctx);
    const auto never = [](asio_wheel::attempt) { return std::optional<int>(); };
    operations.async_wait("key", 1s, never, ignore_all);
    BOOST_TEST(kinds() == "timeout");
    pass(1s);
    BOOST_TEST(expired() == "timeout");
    operations.async_wait("key", 1s, never, ignore_all);
    operations.cancel("key");
    pass(1s);
    BOOST_TEST(expired() == "");
}

BOOST_FIXTURE_TEST_CASE(an_interval_expires_at_each_tick, world) {
    expired();
    asio_wheel::interval ticks(ctx, 1s);
    for (int i = 0; i < 3; ++i) {
        ticks.async_tick(ignore_all);
        BOOST_TEST(kinds() == "interval");
        pass(1s);
        BOOST_TEST(expired() == "interval");
    }
    ticks.async_tick(ignore_all);
    ticks.cancel();
    pass(1s);
    BOOST_TEST(expired() == "");
}

BOOST_FIXTURE_TEST_CASE(an_idle_timer_that_was_touched_does_not_expire, world) {
    expired();
    asio_wheel::idle_timer idle(ctx, 10s);
    idle.async_wait(ignore);
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(kinds() == "idle");
        pass(9s);
        idle.touch();
    }
    BOOST_TEST(wheel.stats().fired > 1U); // It has looked.
    BOOST_TEST(expired() == "");
    pass(10s);
    BOOST_TEST(expired() == "idle");
    idle.touch();
    idle.async_next_idle(ignore_all);
    pass(9s);
    idle.touch();
    pass(9s);
    BOOST_TEST(expired() == "");
    pass(1s);
    BOOST_TEST(expired() == "idle");
    idle.async_wait(ignore);
    idle.cancel();
    poll();
    BOOST_TEST(expired() == "");
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_expires_when_it_reports_something, world) {
    expired();
    asio_wheel::heartbeat pulse(ctx, {.send_every = 10s, .dead_after = 25s});
    pulse.async_next(ignore_all);
    BOOST_TEST(kinds() == "heartbeat");
    pass(9s);
    pulse.sent();
    pass(9s);
    BOOST_TEST(expired() == "");
    pass(1s);
    BOOST_TEST(expired() == "heartbeat"); // Time to send.
    pulse.async_next(ignore_all);
    pass(6s);
    BOOST_TEST(expired() == "heartbeat"); // The peer is dead.
}

BOOST_FIXTURE_TEST_CASE(a_queue_expires_once_for_each_element_that_is_popped, world) {
    expired();
    asio_wheel::delay_queue<int> queue(ctx);
    for (int i = 0; i < 3; ++i) {
        queue.push(1s, i);
        queue.async_pop(ignore_all);
    }
    BOOST_TEST(kinds() == "queue"); // One wait for all.
    pass(1s);
    BOOST_TEST(expired() == "queue queue queue");
    queue.async_pop(ignore_all);
    queue.cancel();
    poll();
    BOOST_TEST(expired() == "");
}

BOOST_FIXTURE_TEST_CASE(a_scheduler_expires_at_each_time_of_a_task, world) {
    expired();
    asio_wheel::scheduler tasks(ctx);
    auto task = tasks.schedule_at_fixed_rate(1s, 1s, [] {});
    BOOST_TEST(kinds() == "scheduler");
    pass(1s);
    pass(1s);
    BOOST_TEST(expired() == "scheduler scheduler");
    task.cancel();
    pass(1s);
    BOOST_TEST(expired() == "");
}

BOOST_FIXTURE_TEST_CASE(a_stream_expires_when_a_deadline_closes_it, world) {
    expired();
    asio_wheel::timeout_stream<manual_layer> stream(ctx);
    const auto wire = stream.socket().wire;
    std::array<char, 8> memory{};
    stream.expires_after(1s);
    stream.async_read_some(asio::buffer(memory), ignore_all);
    BOOST_TEST(kinds() == "stream");
    wire->read.complete({}, 3);
    poll();
    pass(2s);
    BOOST_TEST(expired() == ""); // The operation has ended in time.
    stream.expires_after(1s);
    stream.async_read_some(asio::buffer(memory), ignore_all);
    pass(1s);
    BOOST_TEST(wire->closed == 1);
    BOOST_TEST(expired() == "stream");
    stream.async_read_some(asio::buffer(memory), ignore_all); // Too late.
    poll();
    BOOST_TEST(expired() == "stream");
}

BOOST_FIXTURE_TEST_CASE(the_difference_of_two_snapshots_has_the_kinds_too, world) {
    const auto before = wheel.stats();
    asio_wheel::async_sleep_for(ctx, 1s, ignore);
    pass(1s);
    const auto in_between = wheel.stats() - before;
    BOOST_TEST(in_between.expired[wait_kind::sleep] == 1U);
    BOOST_TEST(in_between.expired[wait_kind::timer] == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
