// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// The allocations of moving and constructing utilities. operator new is counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace {

using namespace asio_wheel::test;

// Returns how many allocations it takes to move `u` in all ways.
template <class Utility>
std::size_t allocations_of_moving(Utility& u) {
    return allocations_of([&u] {
        Utility other = std::move(u);
        u = std::move(other);
        other = std::move(u);
        std::swap(u, other);
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(movable_utilities_memory, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(constructing_an_interval_an_idle_timer_or_a_heartbeat_is_one_allocation,
                        virtual_time) {
    const asio_wheel::idle_timer first(ctx, 1s); // Creates the list of all idle timers.
    std::optional<asio_wheel::interval> ticks;
    std::optional<asio_wheel::idle_timer> idle;
    std::optional<asio_wheel::heartbeat> pulse;
    BOOST_TEST(allocations_of([&] { ticks.emplace(ctx, 1s); }) == 1U);
    BOOST_TEST(allocations_of([&] { idle.emplace(ctx, 1s); }) == 1U);
    BOOST_TEST(allocations_of([&] {
                   pulse.emplace(ctx,
                                 asio_wheel::heartbeat_options{.send_every = 1s, .dead_after = 2s});
               }) == 1U);
}

BOOST_FIXTURE_TEST_CASE(moving_allocates_nothing, virtual_time) {
    asio_wheel::interval ticks(ctx, 1s);
    ticks.async_tick([](error_code, std::size_t) {});
    BOOST_TEST(allocations_of_moving(ticks) == 0U);

    asio_wheel::idle_timer idle(ctx, 1s);
    idle.async_wait(ignore);
    BOOST_TEST(allocations_of_moving(idle) == 0U);

    asio_wheel::heartbeat pulse(ctx, {.send_every = 1s, .dead_after = 2s});
    pulse.async_next([](error_code, asio_wheel::heartbeat_event) {});
    BOOST_TEST(allocations_of_moving(pulse) == 0U);

    asio_wheel::delay_queue<int> queue(ctx);
    queue.push(1s, 1);
    queue.async_pop([](error_code, int) {});
    BOOST_TEST(allocations_of_moving(queue) == 0U);

    asio_wheel::scheduler tasks(ctx);
    tasks.schedule_after(1s, [] {});
    BOOST_TEST(allocations_of_moving(tasks) == 0U);
    pass(1s);
}

BOOST_AUTO_TEST_SUITE_END()
