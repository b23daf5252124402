// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Moving the expiry: as with Asio's timers, which aborts the pending wait, and by postpone(), which
// does not. Also remaining().

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::nanoseconds;
using duration = timer::duration;
using time_point = timer::time_point;

// Returns what happened in which millisecond from now until `end`, such as "10:a 20:b!".
std::string log_text(virtual_time& world, journal& log, nanoseconds end) {
    std::string text;
    const time_point start = world.now();
    world.poll();
    for (nanoseconds t{0};; t += 1ms) {
        if (log.size() != 0) {
            text += (text.empty() ? "" : " ") + std::to_string(t / 1ms) + ":" + log.take();
        }
        if (t >= end) {
            return text;
        }
        world.pass(start + t + 1ms - world.now());
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(timer_rearm)

BOOST_FIXTURE_TEST_CASE(a_wait_moved_later_completes_then_and_not_before, virtual_world) {
    timer t(ctx, 10ms);
    t.async_wait(log.note("old"));
    pass(5ms);
    BOOST_TEST(t.expires_after(20ms) == 1U);
    t.async_wait(log.note("new"));
    BOOST_TEST(log_text(*this, log, 100ms) == "0:old! 20:new");
}

BOOST_FIXTURE_TEST_CASE(a_wait_moved_earlier_completes_then, virtual_world) {
    timer t(ctx, 1h);
    t.async_wait(log.note("old"));
    pass(5ms);
    BOOST_TEST(t.expires_after(20ms) == 1U);
    t.async_wait(log.note("new"));
    BOOST_TEST(log_text(*this, log, 100ms) == "0:old! 20:new");
}

// real time: the context sleeps until the later expiry when the earlier one is set
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_moved_earlier_wakes_the_context_up, World, real_worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h), other(world.ctx, 2ms);
    t.async_wait(log.note("old"));
    other.async_wait([&](error_code) {
        t.expires_after(3ms);
        t.async_wait(log.note("new"));
    });
    world.run();
    BOOST_TEST(log.take() == "old! new");
    BOOST_TEST((world.now() >= t.expiry()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_moved_into_the_past_completes_on_the_next_turn, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h);
    t.async_wait(log.note("old"));
    t.expires_after(-1h);
    t.async_wait(log.note("new"));
    BOOST_TEST(world.log_now(log) == "old! new");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_works_again_after_it_has_expired, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(t.expires_after(1ms) == 0U);
        t.async_wait(log.note(i));
        BOOST_TEST(world.log_after(1ms, log) == std::to_string(i));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_handler_of_an_aborted_wait_is_called_before_that_of_the_next,
                              World, worlds) {
    World world;
    journal log;
    typename World::timer t(world.ctx, -1ms);
    t.async_wait(log.note(1));
    BOOST_TEST(t.expires_after(-1ms) == 1U);
    t.async_wait(log.note(2));
    BOOST_TEST(t.expires_after(-2ms) == 1U);
    t.async_wait(log.note(3));
    BOOST_TEST(world.log_after(0ms, log) == "1! 2! 3");
}

BOOST_FIXTURE_TEST_CASE(of_several_moves_the_last_one_counts, virtual_world) {
    for (const auto& moves : std::initializer_list<std::vector<nanoseconds>>{{30ms, 20ms},
                                                                             {20ms, 30ms},
                                                                             {5ms, 50ms, 20ms},
                                                                             {300ms, 5ms, 30ms},
                                                                             {10s, 300ms, 1h, 20ms},
                                                                             {-1s, 30ms}}) {
        timer t(ctx, 10ms), other(ctx, 20ms);
        t.async_wait(log.note("first"));
        other.async_wait(log.note("other"));
        for (const nanoseconds d : moves) {
            t.expires_after(d);
            other.expires_after(45ms - d % 20ms);
        }
        t.async_wait(log.note("last"));
        other.async_wait(log.note("last other"));
        const std::string last = std::to_string(moves.back() / 1ms);
        const std::string last_other = std::to_string((45ms - moves.back() % 20ms) / 1ms);
        BOOST_TEST(log_text(*this, log, 100ms) ==
                   "0:first! other! " + last + ":last " + last_other + ":last other");
    }
}

BOOST_AUTO_TEST_CASE(a_wait_moved_when_its_slot_has_begun_completes_at_its_new_time) {
    for (const unsigned levels : {1U, 2U, 4U}) {
        for (const std::size_t slots : {4U, 16U, 256U}) {
            virtual_time shaped({.slots = slots, .levels = levels});
            shaped.align();
            journal log;
            timer t(shaped.ctx, 200ms), other(shaped.ctx, 201ms);
            t.async_wait(log.note("old"));
            other.async_wait(log.note("other"));
            shaped.pass(80ms);
            t.expires_after(40ms); // To 120 ms.
            t.async_wait(log.note("new"));
            BOOST_TEST(log_text(shaped, log, 200ms) == "0:old! 40:new 121:other");
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_million_moves_complete_once, virtual_world) {
    std::size_t fired = 0, aborts = 0;
    timer t(ctx);
    const auto count = [&](error_code ec) { ++(ec ? aborts : fired); };
    for (int i = 0; i < 1'000'000; ++i) {
        t.expires_after(30s);
        t.async_wait(count);
        if (i % 64 == 0) {
            pass(1ms);
        }
    }
    pass(29s);
    BOOST_TEST(fired == 0U);
    BOOST_TEST(aborts == 999'999U);
    pass(1s);
    BOOST_TEST(fired == 1U);
    // The timer's entry was filed all the time, and visited now and then.
    BOOST_TEST(wheel.stats().cascaded <= 100U);
}

BOOST_FIXTURE_TEST_CASE(a_moved_timer_can_be_destroyed_at_its_new_time, virtual_world) {
    for (const nanoseconds first : {nanoseconds(200ms), nanoseconds(100ms)}) {
        std::optional<timer> t(std::in_place, ctx, first);
        t->async_wait(log.note("old"));
        pass(80ms);
        t->expires_after(50ms);
        t->async_wait(log.note("new"));
        wheel.advance(50ms);
        t.reset();
        BOOST_TEST(log_now() == "old! new!");
        BOOST_TEST(log_after(1h) == "");
    }
}

// The effects of postpone().

BOOST_FIXTURE_TEST_CASE(a_postponed_wait_completes_at_its_new_time_without_being_aborted,
                        virtual_world) {
    for (const nanoseconds first : {5ms, 50ms, 500ms}) {
        for (const nanoseconds second : {10ms, 49ms, 50ms, 51ms, 600ms}) {
            timer t(ctx, first);
            t.async_wait(log.note("wait"));
            BOOST_TEST(t.postpone(second) == 1U);
            BOOST_TEST((t.expiry() == now() + second));
            BOOST_TEST(log_text(*this, log, 1s) == std::to_string(second / 1ms) + ":wait");
            t.expires_after(first);
            t.async_wait(log.note("wait"));
            pass(3ms);
            BOOST_TEST(t.postpone_until(now() + second) == 1U);
            BOOST_TEST(log_text(*this, log, 1s) == std::to_string(second / 1ms) + ":wait");
        }
    }
}

BOOST_FIXTURE_TEST_CASE(postpone_moves_all_pending_waits_and_keeps_their_order, virtual_world) {
    timer t(ctx, 10ms);
    for (int i = 0; i < 4; ++i) {
        t.async_wait(log.note(i));
    }
    BOOST_TEST(t.postpone(20ms) == 4U);
    t.async_wait(log.note(4));
    BOOST_TEST(t.cancel_one() == 1U);
    BOOST_TEST(t.postpone(30ms) == 4U);
    BOOST_TEST(log_text(*this, log, 100ms) == "0:0! 30:1 2 3 4");
}

BOOST_FIXTURE_TEST_CASE(postpone_without_a_wait_sets_the_expiry, virtual_world) {
    timer t(ctx); // Never used before.
    BOOST_TEST(t.postpone(10ms) == 0U);
    BOOST_TEST((t.expiry() == now() + 10ms));
    t.async_wait(log.note("fresh"));
    BOOST_TEST(log_text(*this, log, 50ms) == "10:fresh");

    BOOST_TEST(t.postpone(20ms) == 0U); // After it has expired.
    t.async_wait(log.note("expired"));
    BOOST_TEST(log_text(*this, log, 50ms) == "20:expired");

    t.expires_after(30ms);
    t.async_wait(log.note("parked"));
    t.expires_after(40ms); // Keeps its place on the wheel.
    for (const nanoseconds d : {10ms, 20ms, 5ms}) {
        BOOST_TEST(t.postpone(d) == 0U);
        BOOST_TEST((t.expiry() == now() + d));
    }
    BOOST_TEST(log_text(*this, log, 50ms) == "0:parked!");
    BOOST_TEST(t.postpone(7ms) == 0U);
    t.async_wait(log.note("again"));
    BOOST_TEST(log_text(*this, log, 50ms) == "7:again");

    t.expires_after(10ms);
    t.async_wait(log.note("cancelled"));
    t.cancel();
    BOOST_TEST(t.postpone(30ms) == 0U);
    BOOST_TEST(log_text(*this, log, 50ms) == "0:cancelled!");
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_due_but_not_delivered_can_be_postponed, virtual_world) {
    timer t(ctx, 10ms), other(ctx, 10ms);
    t.async_wait(log.note(1));
    t.async_wait(log.note(2));
    other.async_wait(log.note("other"));
    BOOST_TEST(wheel.advance(10ms) == 3U);
    BOOST_TEST(t.postpone(20ms) == 2U);
    BOOST_TEST(t.postpone(10ms) == 2U);
    BOOST_TEST(wheel.pending() == 3U);
    BOOST_TEST(log_text(*this, log, 50ms) == "0:other 10:1 2");
    BOOST_TEST(wheel.stats().fired == 4U); // Including the one that found the start of a tick.

    // Due again, cancelled, or followed by another wait before anything was delivered.
    t.expires_after(10ms);
    t.async_wait(log.note(3));
    BOOST_TEST(wheel.advance(10ms) == 1U);
    BOOST_TEST(t.postpone(10ms) == 1U);
    t.async_wait(log.note(4));
    BOOST_TEST(wheel.advance(10ms) == 2U);
    BOOST_TEST(log_text(*this, log, 50ms) == "0:3 4");
    t.expires_after(10ms);
    t.async_wait(log.note(5));
    wheel.advance(10ms);
    static_cast<void>(t.postpone(10ms));
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(log_text(*this, log, 50ms) == "0:5!");
}

BOOST_FIXTURE_TEST_CASE(a_wait_postponed_on_its_way_to_a_strand_waits_again, virtual_world) {
    const auto strand = asio::make_strand(ctx);
    timer t(strand, 10ms);
    t.async_wait(log.note("wait"));
    BOOST_TEST(wheel.advance(10ms) == 1U);
    asio::post(strand, [&] { BOOST_TEST(t.postpone(10ms) == 1U); });
    BOOST_TEST(log_text(*this, log, 50ms) == "10:wait");
}

BOOST_FIXTURE_TEST_CASE(postpone_inside_the_handler_is_too_late, virtual_world) {
    timer t(ctx, 10ms);
    t.async_wait([&](error_code ec) {
        log.add("wait", ec);
        BOOST_TEST(t.postpone(10ms) == 0U);
    });
    BOOST_TEST(log_text(*this, log, 50ms) == "10:wait");
}

BOOST_FIXTURE_TEST_CASE(a_wait_postponed_to_now_or_the_past_completes_on_the_next_turn,
                        virtual_world) {
    timer t(ctx);
    for (const time_point past :
         {now(), now() - 1ns, now() - 1h, time_point(), time_point::min()}) {
        t.expires_after(1h);
        t.async_wait(log.note("wait"));
        BOOST_TEST(t.postpone_until(past) == 1U);
        BOOST_TEST(log_now() == "wait");
        t.cancel();
        poll();
        log.take();
    }
}

// real time
BOOST_AUTO_TEST_CASE(a_wait_can_be_postponed_in_real_time_too) {
    real_time<timer> world;
    journal log;
    timer t(world.ctx, 1h);
    for (const duration d : {duration(0), duration(-1), duration(-1h), duration::min()}) {
        t.expires_after(1h);
        t.async_wait(log.note("wait"));
        BOOST_TEST(t.postpone(d) == 1U);
        world.run();
        BOOST_TEST(log.take() == "wait");
    }
    t.expires_after(1h); // Earlier, while the context sleeps.
    t.async_wait(log.note("earlier"));
    timer other(world.ctx, 2ms);
    other.async_wait([&](error_code) { BOOST_TEST(t.postpone(3ms) == 1U); });
    world.run();
    BOOST_TEST(log.take() == "earlier");
    BOOST_TEST((world.now() >= t.expiry()));
    t.expires_after(1ms);
    t.async_wait(log.note("later"));
    BOOST_TEST(t.postpone(3ms) == 1U);
    world.run();
    BOOST_TEST(log.take() == "later");
    BOOST_TEST((world.now() >= t.expiry()));
}

BOOST_FIXTURE_TEST_CASE(any_time_may_be_postponed_to, virtual_world) {
    timer t(ctx, 10ms), other(ctx);
    const auto check = [&](time_point expected) {
        BOOST_TEST((t.expiry() == expected));
        other.expires_after(1ms);
        other.async_wait(log.note("other"));
        BOOST_TEST(log_after(1ms) == "other");
    };
    t.async_wait(log.note("wait"));
    BOOST_TEST(t.postpone(duration::max()) == 1U);
    check(time_point::max());
    BOOST_TEST(t.postpone(duration::max() - now().time_since_epoch() / 2) == 1U);
    check(time_point::max());
    BOOST_TEST(t.postpone_until(time_point::max() - 1ns) == 1U);
    check(time_point::max() - 1ns);
    const time_point end = now() + 50ms;
    BOOST_TEST(t.postpone_until(end) == 1U);
    BOOST_TEST(log_after(49ms) == "");
    BOOST_TEST(log_after(1ms) == "wait");
    BOOST_TEST(t.postpone(duration::min()) == 0U);
    BOOST_TEST((t.expiry() == now() + duration::min()));
}

BOOST_FIXTURE_TEST_CASE(an_idle_timeout_postponed_a_million_times_costs_nothing_and_fires_once,
                        virtual_world) {
    timer t(ctx, 30s);
    t.async_wait(log.note("idle"));
    for (int i = 1; i <= 1'000'000; ++i) {
        BOOST_REQUIRE(t.postpone(30s) == 1U);
        if (i % 10 == 1) {
            wheel.advance(1ms);
        }
    }
    BOOST_TEST(poll() == 0U);
    const auto stats = wheel.stats();
    BOOST_TEST(stats.postponed == 1'000'000U);
    BOOST_TEST(stats.cascaded <= 30U);
    BOOST_TEST(log_after(30s - 1ms) == "");
    BOOST_TEST(log_after(1ms) == "idle");
}

BOOST_FIXTURE_TEST_CASE(waits_complete_in_order_of_expiry_also_when_they_were_postponed,
                        virtual_world) {
    timer a(ctx, 10ms), b(ctx, 15ms);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    static_cast<void>(a.postpone(20ms));
    wheel.advance(20ms);
    BOOST_TEST(log_now() == "b a");
    a.expires_after(10ms);
    b.expires_after(15ms);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    wheel.advance(10ms);
    static_cast<void>(a.postpone(10ms)); // While it was due.
    wheel.advance(10ms);
    BOOST_TEST(log_now() == "b a");
}

BOOST_FIXTURE_TEST_CASE(remaining_is_the_time_until_the_expiry_and_never_negative, virtual_world) {
    timer t(ctx);
    BOOST_TEST((t.remaining() == 0ns));
    t.expires_after(10ms);
    BOOST_TEST((t.remaining() == 10ms));
    t.async_wait([](error_code) {});
    pass(3ms);
    BOOST_TEST((t.remaining() == 7ms));
    static_cast<void>(t.postpone(20ms));
    BOOST_TEST((std::as_const(t).remaining() == 20ms));
    pass(20ms);
    BOOST_TEST((t.remaining() == 0ns));
    pass(1h);
    BOOST_TEST((t.remaining() == 0ns));
    t.expires_at(time_point::max());
    BOOST_TEST((t.remaining() == time_point::max() - now()));
    t.expires_at(time_point::min());
    BOOST_TEST((t.remaining() == 0ns));
}

BOOST_AUTO_TEST_SUITE_END()
