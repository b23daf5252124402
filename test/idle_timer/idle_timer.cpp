// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Idle timers.

#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::heartbeat;
using asio_wheel::heartbeat_event;
using asio_wheel::idle_timer;

} // namespace

// In paused time a touch is exact: the kernel's clock does not matter.
BOOST_AUTO_TEST_SUITE(idle_timer_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(it_completes_when_nothing_touched_it_for_a_period, virtual_world) {
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    BOOST_TEST(log_after(30s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "1");
}

BOOST_FIXTURE_TEST_CASE(a_touch_begins_a_period_anew, virtual_world) {
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    for (int i = 0; i < 100; ++i) {
        pass(29s);
        idle.touch();
    }
    BOOST_TEST((idle.idle_for() == 0s));
    BOOST_TEST(log_after(30s - 1ns) == "");
    BOOST_TEST((idle.idle_for() == 30s - 1ns));
    BOOST_TEST(log_after(1ns) == "1");
}

BOOST_FIXTURE_TEST_CASE(touches_move_nothing_and_are_looked_at_once_a_period, virtual_world) {
    idle_timer idle(ctx, 10s);
    idle.async_wait(ignore);
    const auto before = wheel.stats();
    for (int i = 0; i < 100'000; ++i) {
        idle.touch();
        pass(1ms);
    }
    const auto after = wheel.stats();
    BOOST_TEST(after.fired - before.fired == 10U); // In 100 s.
    BOOST_TEST(after.postponed == before.postponed);
    BOOST_TEST(after.cancelled == before.cancelled);
    idle.cancel();
}

BOOST_FIXTURE_TEST_CASE(what_is_idle_already_completes_on_the_next_turn, virtual_world) {
    idle_timer idle(ctx, 1s);
    pass(5s);
    idle.async_wait(log.note(1));
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(log_now() == "1");
    idle.async_wait(log.note(2)); // It is still idle.
    BOOST_TEST(log_now() == "2");
    idle.touch();
    idle.async_wait(log.note(3));
    BOOST_TEST(log_after(999ms) == "");
    BOOST_TEST(log_after(1ms) == "3");
}

BOOST_FIXTURE_TEST_CASE(the_period_may_change_while_it_is_waited_for, virtual_world) {
    idle_timer idle(ctx, 30s);
    idle.async_wait(log.note(1));
    pass(10s);
    idle.period(20s);
    BOOST_TEST((idle.period() == 20s));
    BOOST_TEST(log_after(10s - 1ns) == "");
    idle.period(40s);
    BOOST_TEST(log_after(20s) == "");
    BOOST_TEST(log_after(1ns) == "1");
    idle.touch();
    idle.async_wait(log.note(2));
    pass(15s);
    idle.period(10s); // It has been idle for that long already.
    BOOST_TEST(log_now() == "2");
}

BOOST_FIXTURE_TEST_CASE(a_wait_can_be_cancelled_in_each_way, virtual_world) {
    asio::cancellation_signal signal;
    std::optional<idle_timer> idle(std::in_place, ctx, 30s);
    idle->async_wait(log.note(1));
    BOOST_TEST(idle->cancel() == 1U);
    BOOST_TEST(idle->cancel() == 0U);
    idle->async_wait(asio::bind_cancellation_slot(signal.slot(), log.note(2)));
    signal.emit(asio::cancellation_type::total);
    idle->async_wait(log.note(3));
    idle->async_wait(log.note(4)); // Replaces it.
    idle.reset();
    BOOST_TEST(log_now() == "1! 2! 3! 4!");
}

// The slot must cancel the wait that is pending now.
BOOST_FIXTURE_TEST_CASE(a_slot_reaches_it_also_after_it_was_looked_at, virtual_world) {
    asio::cancellation_signal signal;
    idle_timer idle(ctx, 10s);
    idle.async_wait(asio::bind_cancellation_slot(signal.slot(), log.note(1)));
    pass(5s);
    idle.touch();
    pass(6s); // The wait was visited.
    signal.emit(asio::cancellation_type::terminal);
    BOOST_TEST(log_now() == "1!");
}

BOOST_FIXTURE_TEST_CASE(one_allocation_lives_at_a_time, virtual_world) {
    allocations counts;
    idle_timer idle(ctx, 10s);
    idle.async_wait(asio::bind_allocator(counting_allocator<>(counts), log.note(1)));
    for (int i = 0; i < 10; ++i) {
        pass(6s);
        idle.touch();
        BOOST_TEST(counts.live == 1U);
    }
    BOOST_TEST(log_after(10s) == "1");
    BOOST_TEST(counts.live == 0U);
    BOOST_TEST(counts.total == 1U); // For all periods.
}

// A lack of memory does not lose an accepted wait, which frees its memory when it completes.
BOOST_FIXTURE_TEST_CASE(it_waits_on_without_memory, virtual_world) {
    allocations counts;
    std::size_t live = 1;
    std::string log_text;
    const counting_allocator<> allocator(counts);
    idle_timer idle(ctx, 10s);
    heartbeat pulse(ctx, {.send_every = 10s, .dead_after = 25s});
    idle.async_wait(asio::bind_allocator(allocator, [&](error_code ec) {
        log_text += ec ? "!" : "i";
        live = counts.live;
    }));
    pulse.async_next(asio::bind_allocator(
        allocator, [&](error_code ec, heartbeat_event) { log_text += ec ? "!" : "p"; }));
    counts.refuse = true;
    for (int i = 0; i < 10; ++i) {
        pass(6s);
        idle.touch();
        pulse.sent();
        pulse.received();
    }
    BOOST_TEST(log_text == "");
    pass(10s);
    BOOST_TEST((log_text == "ip" || log_text == "pi"));
    BOOST_TEST(live <= 1U);
    BOOST_TEST(counts.live == 0U);
    counts.refuse = false;
    idle.async_wait(asio::bind_allocator(allocator, [](error_code) {}));
    idle.cancel(); // It frees its memory if it is aborted,
    poll();
    BOOST_TEST(counts.live == 0U);
    {
        asio::io_context other;
        idle_timer last(other, 10s);
        last.async_wait(asio::bind_allocator(allocator, [](error_code) {}));
        BOOST_TEST(counts.live == 1U);
    }
    BOOST_TEST(counts.live == 0U); // or destroyed.
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_do_anything_to_its_timer, virtual_world) {
    std::optional<idle_timer> idle(std::in_place, ctx, 10s);
    idle->async_wait([&](error_code) {
        log.add("1");
        idle->touch();
        idle->period(1s);
        BOOST_TEST(idle->cancel() == 0U);
        idle->async_wait([&](error_code ec) {
            log.add("2", ec);
            idle.reset();
        });
    });
    BOOST_TEST(log_after(10s) == "1");
    BOOST_TEST(log_after(1s) == "2");
    BOOST_TEST(!idle.has_value());
}

BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_context_without_a_call) {
    const auto alive = std::make_shared<int>();
    std::optional<asio::io_context> ctx(std::in_place);
    idle_timer idle(*ctx, 1h);
    heartbeat pulse(*ctx, {.send_every = 1h, .dead_after = 2h});
    idle.async_wait([alive](error_code) { BOOST_TEST(false); });
    pulse.async_next([alive](error_code, heartbeat_event) { BOOST_TEST(false); });
    ctx.reset();
    BOOST_TEST(alive.use_count() == 1);
}

// The wheel of a new context uses what that of an earlier one has left behind.
BOOST_AUTO_TEST_CASE(a_touch_after_the_end_of_the_context_is_not_in_the_time_of_another_one) {
    auto ctx = std::make_unique<asio::io_context>();
    auto other = std::make_unique<asio::io_context>(); // At another address.
    asio_wheel::idle_timer idle(*ctx, 1h);
    ctx.reset();
    auto& wheel = asio_wheel::use_wheel(*other);
    wheel.pause();
    wheel.advance(24h);
    idle.touch();
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (idle.idle_for() == 0ns && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
    }
    BOOST_TEST((idle.idle_for() > 0ns));
}

BOOST_AUTO_TEST_CASE(a_period_can_be_changed_after_the_end_of_the_context) {
    std::optional<asio::io_context> ctx(std::in_place);
    idle_timer idle(*ctx, 1h);
    idle.async_wait([](error_code) { BOOST_TEST(false); });
    ctx.reset();
    idle.period(2h);
    BOOST_TEST((idle.period() == 2h));
}

BOOST_FIXTURE_TEST_CASE(what_the_wheel_refuses_is_told, virtual_world) {
    idle_timer idle(ctx, 1s);
    static_cast<void>(wheel.drain());
    idle.async_wait(log.note("x"));
    BOOST_TEST(log_now() == "x(" + error_code(asio_wheel::error::wheel_stopped).message() + ")");
}

BOOST_FIXTURE_TEST_CASE(the_longest_period_never_ends, virtual_world) {
    idle_timer idle(ctx, std::chrono::hours::max());
    idle.touch();
    idle.async_wait(log.note(1));
    BOOST_TEST(log_after(24h * 365 * 100) == "");
    idle.cancel();
    poll();
}

BOOST_AUTO_TEST_CASE(any_thread_may_touch_it) {
    asio::thread_pool pool(2);
    idle_timer idle(pool, 300ms);
    std::future<void> over = idle.async_wait(asio::use_future);
    const auto end = std::chrono::steady_clock::now() + 200ms;
    std::array<std::chrono::steady_clock::time_point, 3> touched; // Or a little later.
    std::vector<std::thread> threads;
    for (auto& last : touched) {
        threads.emplace_back([&] {
            for (auto now = end - 200ms; now < end; now = std::chrono::steady_clock::now()) {
                last = now;
                idle.touch();
                static_cast<void>(idle.idle_for());
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    over.get();
    BOOST_TEST((std::chrono::steady_clock::now() >= *std::ranges::max_element(touched) + 300ms));
    pool.join();
}

// Not always: the processor that keeps the kernel's time may have been delayed.
BOOST_AUTO_TEST_CASE(the_coarse_clock_is_not_behind) {
    int behind = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto before = std::chrono::steady_clock::now();
        const auto coarse = asio_wheel::detail::coarse_now<std::chrono::steady_clock>();
        behind += coarse < before ? 1 : 0;
        std::this_thread::sleep_for(10us);
    }
    BOOST_TEST(behind < 100);
}

BOOST_FIXTURE_TEST_CASE(bad_periods_are_named, virtual_world) {
    BOOST_TEST(message_of([&] { idle_timer(ctx, 0s); }) ==
               "asio_wheel: the period of an idle timer is 0 ns, but must be greater than 0 ns");
    idle_timer idle(ctx, 1s);
    idle.async_wait(log.note(1));
    BOOST_TEST(message_of([&] { idle.period(-1s); }) != "nothing");
    BOOST_TEST(log_after(1s) == "1"); // Nothing is lost.
}

BOOST_AUTO_TEST_SUITE_END()
