// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the service rejects, ends and counts: options, max_pending, drain(), stats().

#include <asio_wheel/detail/threads/thread_exit.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::error;
using asio_wheel::wheel_options;
using asio_wheel::detail::has_thread_exit;
using std::chrono::nanoseconds;
using time_point = timer::time_point;

const std::string refused = "(" + make_error_code(error::too_many_pending).message() + ")";
const std::string stopped = "(" + make_error_code(error::wheel_stopped).message() + ")";

const wheel_options at_most_two{.max_pending = 2};

} // namespace

BOOST_AUTO_TEST_SUITE(wheel_limits)

BOOST_AUTO_TEST_CASE(unusable_options_make_no_wheel) {
    struct bad {
        wheel_options options;
        std::string name;
        std::string value;
    };
    constexpr auto huge = std::numeric_limits<std::size_t>::max();
    const bad all[] = {
        {{.tick = 0ns}, "tick", "0"},
        {{.tick = -5ns}, "tick", "-5"},
        {{.tick = nanoseconds::min()}, "tick", std::to_string(nanoseconds::min().count())},
        {{.slots = 0}, "slots", "0"},
        {{.slots = (1U << 20U) + 1}, "slots", "1048577"},
        {{.slots = huge}, "slots", std::to_string(huge)},
        {{.levels = 0}, "levels", "0"},
        {{.levels = 9}, "levels", "9"},
        {{.slots = 1U << 20U, .levels = 4}, "levels", "4"},
        {{.tick = nanoseconds::max()}, "tick", std::to_string(nanoseconds::max().count())},
        {{.budget = 0}, "budget", "0"},
        {{.budget = 65537}, "budget", "65537"},
    };
    for (const bad& b : all) {
        BOOST_TEST_INFO_SCOPE(b.name << " = " << b.value);
        drained_context world;
        try {
            asio_wheel::make_wheel(world.ctx, b.options);
            BOOST_ERROR("no exception");
        } catch (const std::invalid_argument& e) {
            const std::string what = e.what();
            BOOST_TEST_INFO(what);
            BOOST_TEST(what.find(b.name) != std::string::npos);
            BOOST_TEST_INFO(what);
            BOOST_TEST(what.find(b.value) != std::string::npos);
        }
        BOOST_TEST(!asio::has_service<asio_wheel::wheel_service<>>(world.ctx));
        // The context still works.
        auto& wheel = asio_wheel::make_wheel(world.ctx, {.slots = 3, .budget = 7});
        BOOST_TEST(wheel.options().slots == 3U);
        BOOST_TEST(wheel.options().budget == 7U);
        BOOST_TEST(&asio_wheel::use_wheel(world.ctx) == &wheel);
    }
}

BOOST_AUTO_TEST_CASE(a_second_wheel_for_a_clock_is_refused) {
    drained_context world;
    auto& wheel = asio_wheel::make_wheel(world.ctx, {.slots = 16});
    BOOST_CHECK_THROW(asio_wheel::make_wheel(world.ctx, {.slots = 16}),
                      asio::service_already_exists);
    BOOST_CHECK_THROW(asio_wheel::make_wheel(world.ctx), asio::service_already_exists);
    BOOST_TEST(wheel.options().slots == 16U);
    const timer t(world.ctx);
    BOOST_TEST(&asio_wheel::use_wheel(world.ctx) == &wheel);
    asio_wheel::make_wheel<std::chrono::system_clock>(world.ctx);
    drained_context other;
    const timer first(other.ctx); // Creates a wheel.
    BOOST_CHECK_THROW(asio_wheel::make_wheel(other.ctx), asio::service_already_exists);
}

BOOST_AUTO_TEST_CASE(a_wait_over_the_limit_is_refused_and_the_others_are_untouched) {
    virtual_time world(at_most_two);
    journal log;
    timer a(world.ctx, 10ms), b(world.ctx, 20ms), c(world.ctx, 5ms), expired(world.ctx);
    const auto expiry = c.expiry();
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    c.async_wait(log.note("c"));
    expired.async_wait(log.note("expired"));
    BOOST_TEST(log.size() == 0U); // Not inside the call.
    BOOST_TEST(c.cancel() == 0U);
    BOOST_TEST(world.wheel.pending() == 2U);
    BOOST_TEST(world.log_now(log) == "c" + refused + " expired" + refused);
    BOOST_TEST((c.expiry() == expiry));
    b.async_wait(log.note("b again")); // On a timer with a pending wait.
    BOOST_TEST(world.log_now(log) == "b again" + refused);
    world.pass(11ms);
    BOOST_TEST(world.log_after(10ms, log) == "a b");
    const auto stats = world.wheel.stats();
    BOOST_TEST(stats.rejected == 3U);
    BOOST_TEST(stats.scheduled == 2U);
    BOOST_TEST(stats.fired == 2U);
    BOOST_TEST(stats.cancelled == 0U);
    BOOST_TEST(stats.peak_pending == 2U);
}

BOOST_AUTO_TEST_CASE(a_place_is_free_as_soon_as_a_wait_is_over) {
    virtual_time world(at_most_two);
    journal log;
    timer a(world.ctx, 10ms), b(world.ctx, 10ms), c(world.ctx, 10ms);
    const auto fill = [&] {
        for (timer* const t : {&a, &b}) {
            t->expires_after(10ms);
            t->async_wait(log.note("waits"));
        }
        c.expires_after(10ms + 1us); // So it comes after the others.
        BOOST_TEST(world.wheel.pending() == 2U);
    };
    fill();
    a.cancel(); // Immediately, not when its handler is called.
    BOOST_TEST(world.wheel.pending() == 1U);
    c.async_wait(log.note("c"));
    BOOST_TEST(world.wheel.pending() == 2U);
    BOOST_TEST(world.log_after(12ms, log) == "waits! waits c");

    fill();
    asio::cancellation_signal signal;
    a.cancel_one();
    a.async_wait(asio::bind_cancellation_slot(signal.slot(), log.note("slot")));
    signal.emit(asio::cancellation_type::terminal);
    c.async_wait(log.note("c"));
    BOOST_TEST(world.log_after(12ms, log) == "waits! slot! waits c");

    a.expires_after(10ms);
    a.async_wait([&](error_code ec) { // In the handler of an expired wait.
        log.add("a", ec);
        BOOST_TEST(world.wheel.pending() == 1U);
        a.expires_after(10ms);
        a.async_wait(log.note("again"));
        c.expires_after(10ms);
        c.async_wait(log.note("c"));
    });
    b.expires_after(1h);
    b.async_wait(log.note("b"));
    world.pass(11ms);
    BOOST_TEST(world.log_after(11ms, log) == "a c" + refused + " again");
    BOOST_TEST(b.expires_after(1ms) == 1U);
    b.async_wait(log.note("b")); // An aborted wait does not count any more.
    BOOST_TEST(world.log_after(2ms, log) == "b! b");
    BOOST_TEST(world.wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(no_place_is_ever_lost) {
    std::mt19937_64 random(asio_wheel::test::seed());
    virtual_time world({.max_pending = 5});
    std::size_t started = 0, called = 0;
    std::deque<timer> timers;
    for (int i = 0; i < 8; ++i) {
        timers.emplace_back(world.ctx);
    }
    for (int i = 0; i < 20'000; ++i) {
        timer& t = timers[random() % timers.size()];
        switch (random() % 8) {
        case 0:
            t.cancel();
            break;
        case 1:
            t.cancel_one();
            break;
        case 2:
            t.expires_after(random() % 5 * 1ms);
            break;
        case 3:
            static_cast<void>(t.postpone(random() % 5 * 1ms));
            break;
        case 4:
            t = timer(world.ctx, 1ms);
            break;
        case 5:
            world.wheel.advance(1ms);
            break;
        case 6:
            world.ctx.restart();
            world.ctx.poll_one();
            break;
        default:
            ++started;
            t.async_wait([&](error_code) { ++called; });
        }
        BOOST_TEST_REQUIRE(world.wheel.pending() <= 5U);
    }
    timers.clear();
    world.poll();
    BOOST_TEST(called == started);
    BOOST_TEST(world.wheel.pending() == 0U);
    const auto before = world.wheel.stats();
    BOOST_TEST(before.scheduled == before.fired + before.cancelled);
    BOOST_TEST(before.scheduled + before.rejected == started);
    BOOST_TEST(before.rejected > 0U);
    timer t(world.ctx, 1h);
    for (int i = 0; i < 6; ++i) {
        t.async_wait([](error_code) {});
    }
    BOOST_TEST(world.wheel.stats().rejected == before.rejected + 1);
    BOOST_TEST(t.cancel() == 5U);
}

BOOST_AUTO_TEST_CASE(refused_waits_reach_their_handlers_executor) {
    virtual_time world({.max_pending = 1});
    journal log;
    timer t(world.ctx, 1h);
    t.async_wait(log.note("waits"));
    const auto strand = asio::make_strand(world.ctx);
    t.async_wait(asio::bind_executor(strand, [&](error_code ec) {
        BOOST_TEST(strand.running_in_this_thread());
        BOOST_TEST((ec == error::too_many_pending));
        log.add("refused");
        BOOST_TEST(t.cancel() == 1U);
    }));
    BOOST_TEST(world.log_now(log) == "refused waits!");
}

BOOST_FIXTURE_TEST_CASE(pending_is_exact_at_every_step, virtual_world) {
    timer a(ctx, 10ms), b(ctx, 20ms);
    std::vector<std::size_t> seen;
    const auto note = [&](error_code) { seen.push_back(wheel.pending()); };
    a.async_wait(note);
    a.async_wait(note);
    b.async_wait(note);
    BOOST_TEST(wheel.pending() == 3U);
    wheel.advance(10ms);
    BOOST_TEST(wheel.pending() == 3U); // Due, but not delivered.
    poll();
    BOOST_TEST(wheel.pending() == 1U);
    static_cast<void>(b.postpone(30ms));
    BOOST_TEST(wheel.pending() == 1U);
    const timer moved(std::move(b));
    BOOST_TEST(wheel.pending() == 1U);
    pass(30ms);
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(seen == (std::vector<std::size_t>{2, 1, 0}), boost::test_tools::per_element());
}

// The effects of drain().

BOOST_FIXTURE_TEST_CASE(drain_returns_what_has_not_fired_in_order_and_aborts_it, virtual_world) {
    const time_point start = now();
    timer fired(ctx, 1ms), due(ctx, 2ms), a(ctx, 30ms), b(ctx, 10s), cancelled(ctx, 10ms), c(ctx);
    timer parked(ctx, 1h), overdue(ctx, 10ms);
    for (timer* const t : {&fired, &due, &cancelled, &parked}) {
        t->async_wait(log.note("x"));
    }
    a.async_wait(log.note("a1"));
    b.async_wait(log.note("b"));
    a.async_wait(log.note("a2"));
    c.expires_at(time_point::max());
    c.async_wait(log.note("c"));
    pass(1ms);
    wheel.advance(1ms);
    cancelled.cancel();
    parked.expires_after(2h);
    const auto expected = {start + 30ms, start + 30ms, start + 10s, time_point::max()};
    BOOST_TEST((wheel.drain() == std::vector<time_point>(expected)));
    BOOST_TEST(log.take() == "x");
    BOOST_TEST(log_now() == "x x! x! a1! a2! b! c!");
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(a.cancel() == 0U);
    BOOST_TEST((a.expiry() == start + 30ms));
    BOOST_TEST(wheel.drain().empty()); // A second time.
}

BOOST_FIXTURE_TEST_CASE(drain_may_be_called_of_an_empty_wheel_and_from_a_handler, virtual_world) {
    std::deque<timer> timers;
    for (int i = 0; i < 1000; ++i) {
        timers.emplace_back(ctx, 10ms + i * 1us).async_wait([&](error_code ec) {
            if (!ec) {
                log.add("drain");
                // All others are due as well, or wait for later times.
                const std::size_t left = wheel.drain().size();
                BOOST_TEST(left <= 1000U);
                BOOST_TEST(wheel.drain().empty());
            }
        });
    }
    timer distant(ctx, 1h);
    distant.async_wait(log.note("far"));
    BOOST_TEST(log_after(10ms) == "drain far!");
    virtual_time empty;
    BOOST_TEST(empty.wheel.drain().empty());
    BOOST_TEST(empty.wheel.drain().empty());
}

BOOST_FIXTURE_TEST_CASE(the_wheel_of_another_clock_is_not_drained, virtual_world) {
    asio_wheel::system_timer t(ctx, 1h);
    t.async_wait(log.note("t"));
    BOOST_TEST(wheel.drain().empty());
    BOOST_TEST(log_now().empty());
    BOOST_TEST(asio_wheel::use_wheel<std::chrono::system_clock>(ctx).drain().size() == 1U);
    BOOST_TEST(log_now() == "t!");
}

BOOST_FIXTURE_TEST_CASE(a_drained_wheel_accepts_no_wait, virtual_world) {
    static_cast<void>(wheel.drain());
    timer t(ctx, 1h), expired(ctx);
    t.async_wait(log.note("t"));
    expired.async_wait(log.note("expired"));
    timer later(ctx, 1ms);
    later.async_wait([&](error_code ec) {
        BOOST_TEST((ec == error::wheel_stopped));
        later.async_wait(log.note("later"));
    });
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(log_now() == "t" + stopped + " expired" + stopped + " later" + stopped);
    BOOST_TEST(wheel.stats().rejected == 4U);
    BOOST_TEST(log_after(2h) == "");
}

// A wait that is due when the wheel is drained may still be moved. It must not be lost.
BOOST_FIXTURE_TEST_CASE(a_wait_postponed_after_drain_still_completes, virtual_world) {
    timer t(ctx, 10ms);
    t.async_wait(log.note("wait"));
    wheel.advance(10ms);
    BOOST_TEST(wheel.drain().empty());
    const std::size_t moved = t.postpone(10ms);
    pass(10ms);
    pass(1h);
    BOOST_TEST(log.take().starts_with("wait"));
    BOOST_TEST(moved <= 1U);
    BOOST_TEST(t.cancel() == 0U);
    poll();
}

BOOST_AUTO_TEST_CASE(time_goes_on_after_drain) {
    virtual_time_on<std::chrono::system_clock> world;
    journal log;
    asio_wheel::system_timer t(world.ctx, 1h), due(world.ctx, 1ms);
    t.async_wait(log.note("t"));
    due.async_wait(log.note("due"));
    world.wheel.advance(2ms);
    const auto before = world.now();
    BOOST_TEST(world.wheel.drain().size() == 1U);
    BOOST_TEST((world.now() == before));
    world.pass(1h);
    BOOST_TEST((world.now() == before + 1h));
    BOOST_TEST(log.take() == "due t!");
    world.wheel.resume();
    BOOST_TEST((world.now() >= before + 1h));
    BOOST_TEST(world.log_now(log) == "");
}

// A wait that is started while others of its timer are due; waits that are cancelled or postponed
// while they are due; waits that are destroyed with their context.
BOOST_AUTO_TEST_CASE(stats_have_one_lateness_for_each_wait_that_fired) {
    virtual_time world;
    const auto check = [&](std::uint64_t fired) {
        const auto stats = world.wheel.stats();
        BOOST_TEST(stats.fired == fired);
        BOOST_TEST(stats.lateness.count() == fired);
    };
    timer a(world.ctx, 10ms), b(world.ctx, 10ms), c(world.ctx, 10ms);
    for (timer* const t : {&a, &b, &c}) {
        t->async_wait([](error_code) {});
    }
    BOOST_TEST(world.wheel.advance(12ms) == 3U);
    a.async_wait([](error_code) {});
    b.cancel();
    static_cast<void>(c.postpone(5ms));
    check(0);
    world.poll();
    check(2);
    world.pass(5ms);
    check(3);
    BOOST_TEST((world.wheel.stats().lateness.max() == 2ms));
}

// A handler is late because the wheel was late, or because other handlers came first: on its
// context, or on its strand.
BOOST_AUTO_TEST_CASE(stats_have_the_delay_of_each_handler_if_asked_for) {
    for (const bool asked : {true, false}) {
        virtual_time world({.measure_handlers = asked});
        world.align();
        world.poll();
        const auto before = world.wheel.stats();
        const auto strand = asio::make_strand(world.ctx);
        const auto slow = [&](error_code ec) { world.wheel.advance(ec ? 0ms : 100ms); };
        std::deque<timer> timers;
        for (int i = 0; i < 2; ++i) {
            timers.emplace_back(world.ctx, 10ms).async_wait(slow);
            timers.emplace_back(world.ctx, 10ms).async_wait(asio::bind_executor(strand, slow));
        }
        BOOST_TEST(world.wheel.advance(13ms) == 4U); // 3 ms late
        timers[0].cancel();                          // It is no longer counted.
        world.poll();
        const auto after = world.wheel.stats();
        BOOST_TEST(after.lateness.count() - before.lateness.count() == 3U);
        BOOST_TEST((after.lateness.max() == 3ms));
        BOOST_TEST(after.handler_delay.count() - before.handler_delay.count() == (asked ? 3U : 0U));
        BOOST_TEST(after.handler_delay.max().count() == (asked ? 200'000'000 : 0));
    }
}

// The rounding up to a tick is no lag of the loop, and a turn that gives way after a stall is no
// wake-up.
BOOST_AUTO_TEST_CASE(stats_have_the_lag_of_the_loop_at_each_wake_up) {
    using clock = manual_clock<struct lagging>;
    drained_context world;
    auto& wheel = asio_wheel::make_wheel<clock, impatient<clock>>(world.ctx, {.tick = 10ms});
    asio_wheel::basic_waitable_timer<clock, impatient<clock>> t(world.ctx);
    const auto wait = [&](std::chrono::nanoseconds d, std::chrono::nanoseconds late) {
        const auto before = wheel.stats();
        t.expires_after(d);
        t.async_wait(ignore);
        look(world.ctx);
        clock::advance(d + late);
        look(world.ctx);
        return wheel.stats() - before;
    };
    BOOST_TEST((wait(20ms, 0ms).loop_lag.sum() == 0ms));
    BOOST_TEST((wait(20ms, 3ms).loop_lag.sum() == 3ms));
    const auto rounded = wait(14ms, 9ms); // In the tick that begins 7 ms after the last one.
    BOOST_TEST((rounded.lateness.sum() == 9ms));
    BOOST_TEST((rounded.loop_lag.sum() == 6ms));
    const auto stalled = wait(24ms, 500ms);
    BOOST_TEST(stalled.wake_ups == 1U);
    BOOST_TEST(stalled.loop_lag.count() == 1U);
    BOOST_TEST((stalled.loop_lag.sum() == 500ms));
    BOOST_TEST(wheel.stats().loop_lag.count() == wheel.stats().wake_ups);
}

// Waits on timers that are filed already are not compared when they start.
BOOST_AUTO_TEST_CASE(a_peak_that_was_told_stays) {
    virtual_time world;
    std::deque<timer> timers;
    for (int i = 0; i < 10; ++i) {
        timers.emplace_back(world.ctx, 1h).async_wait(ignore);
        timers.back().cancel();
    }
    for (timer& t : timers) {
        t.async_wait(ignore);
    }
    BOOST_TEST(world.wheel.stats().peak_pending == 10U);
    timers.clear();
    BOOST_TEST(world.wheel.stats().pending == 0U);
    BOOST_TEST(world.wheel.stats().peak_pending == 10U);
}

BOOST_AUTO_TEST_CASE(stats_count_what_has_happened) {
    virtual_time world;
    const auto initial = world.wheel.stats();
    BOOST_TEST(initial.scheduled + initial.fired + initial.cancelled + initial.pending == 0U);
    BOOST_TEST(initial.peak_pending + initial.postponed + initial.rejected == 0U);
    BOOST_TEST(initial.lateness.count() == 0U);
    world.align();
    std::deque<timer> timers;
    for (int i = 0; i < 10; ++i) {
        timers.emplace_back(world.ctx, 100ms).async_wait([](error_code) {});
    }
    timers[0].cancel();                           // 1 cancelled
    timers[1].expires_after(200ms);               // 1 more
    static_cast<void>(timers[2].postpone(300ms)); // 1 postponed
    timers[3].async_wait([](error_code) {});
    static_cast<void>(timers[3].postpone(150ms)); // 2 more
    timers[3].cancel_one();                       // 1 cancelled
    timers.pop_back();                            // 1 more
    world.poll();
    auto stats = world.wheel.stats();
    BOOST_TEST(stats.pending == 7U);
    BOOST_TEST(stats.peak_pending <= 10U);
    BOOST_TEST(stats.peak_pending >= (has_thread_exit ? 10U : 9U)); // See docs/windows.md.
    BOOST_TEST(stats.scheduled == 12U);                             // one by align()
    BOOST_TEST(stats.cancelled == 4U);
    BOOST_TEST(stats.postponed == 3U);
    BOOST_TEST(stats.fired == 1U);
    world.wheel.advance(90ms);
    BOOST_TEST(world.wheel.advance(17ms + 1us) == 5U); // 7 ms late
    world.wheel.advance(10ms);                         // Late delivery does not count.
    world.poll();
    stats = world.wheel.stats();
    BOOST_TEST(stats.lateness.count() == 6U);
    BOOST_TEST(stats.lateness.count() == stats.fired);
    BOOST_TEST((stats.lateness.max() >= 7ms));
    BOOST_TEST((stats.lateness.max() <= 8ms));
    BOOST_TEST((stats.lateness.quantile(1) >= 7ms));
    BOOST_TEST((stats.lateness.quantile(1) <= 9ms));
    world.pass(1h);
    stats = world.wheel.stats();
    BOOST_TEST(stats.pending == 0U);
    BOOST_TEST(stats.fired == 8U);
    BOOST_TEST(stats.lateness.count() == 8U);
    BOOST_TEST(stats.scheduled == stats.fired + stats.cancelled);
    BOOST_TEST(stats.wake_ups == 0U); // Virtual time needs none.
    BOOST_TEST(stats.spurious_wake_ups == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
