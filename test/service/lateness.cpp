// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Why waits were late: what is measured, and the verdict.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <asio_wheel/detail/core/lateness_meter.hpp>
#include <asio_wheel/detail/core/processor_time.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <deque>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::lateness_cause;
using asio_wheel::recent_lateness;
using asio_wheel::detail::lateness_meter;
using std::chrono::nanoseconds;

std::string printed(const recent_lateness& l) {
    std::ostringstream out;
    out << l;
    return out.str();
}

recent_lateness recent(lateness_meter& meter, nanoseconds now) {
    lateness_meter::sample s;
    s.when = now;
    return meter.recent(s);
}

void expect(const recent_lateness& l, std::uint64_t waits, nanoseconds late, nanoseconds by_loop,
            nanoseconds longest_lag) {
    BOOST_TEST(l.waits == waits);
    BOOST_TEST((l.late == late), l.late.count() << " ns late");
    BOOST_TEST((l.by_loop == by_loop), l.by_loop.count() << " ns by the loop");
    BOOST_TEST((l.longest_lag == longest_lag), l.longest_lag.count() << " ns at most");
}

using clock = manual_clock<struct of_late_waits>;
using late_timer = asio_wheel::basic_waitable_timer<clock, impatient<clock>>;

// A wheel whose clock shows 1,000 s.
struct late_world : drained_context {
    explicit late_world(const asio_wheel::wheel_options& options = {})
        : wheel((clock::set(clock::time_point(1'000s)),
                 asio_wheel::make_wheel<clock, impatient<clock>>(ctx, options))) {}

    asio_wheel::wheel_service<clock, impatient<clock>>& wheel;
};

} // namespace

BOOST_AUTO_TEST_SUITE(service_lateness)

BOOST_AUTO_TEST_CASE(the_verdict_names_what_explains_half_of_the_lateness) {
    const auto cause = [](std::uint64_t waits, nanoseconds late, nanoseconds by_loop) {
        return recent_lateness{.waits = waits, .late = late, .by_loop = by_loop}.cause();
    };
    BOOST_TEST((cause(0, 0ns, 0ns) == lateness_cause::none));
    BOOST_TEST((cause(320, 13s, 12s) == lateness_cause::loop));
    BOOST_TEST((cause(320, 13s, 6500ms) == lateness_cause::loop));
    BOOST_TEST((cause(320, 13s, 6499ms) == lateness_cause::wheel));
    BOOST_TEST((cause(1, 5ms, 0ns) == lateness_cause::wheel));
    BOOST_TEST((cause(1, nanoseconds::max(), nanoseconds::max()) == lateness_cause::loop));
    BOOST_TEST((cause(1, nanoseconds::max(), 0ns) == lateness_cause::wheel));
}

// A thread that has waited for a processor may still have been late because of its handlers.
BOOST_AUTO_TEST_CASE(the_processor_is_to_blame_if_the_thread_waited_for_one_longer_than_it_ran) {
    const auto cause = [](nanoseconds ran, nanoseconds waited, nanoseconds by_loop = 900ms) {
        return recent_lateness{.waits = 10,
                               .late = 1s,
                               .by_loop = by_loop,
                               .longest_lag = 100ms,
                               .lag = 500ms,
                               .ran = ran,
                               .waited = waited}
            .cause();
    };
    BOOST_TEST((cause(400ms, 450ms) == lateness_cause::processor));
    BOOST_TEST((cause(10ms, 250ms) == lateness_cause::processor));
    BOOST_TEST((cause(450ms, 450ms) == lateness_cause::processor), "half of it is enough");
    BOOST_TEST((cause(10ms, 249ms) == lateness_cause::loop), "a handler blocked");
    BOOST_TEST((cause(451ms, 450ms) == lateness_cause::loop), "handlers computed");
    BOOST_TEST((cause(0ms, 0ms) == lateness_cause::loop), "the system does not tell");
    BOOST_TEST((cause(400ms, 450ms, 100ms) == lateness_cause::wheel));
}

BOOST_AUTO_TEST_CASE(a_context_that_is_overdue_has_the_loop_to_blame) {
    BOOST_TEST((recent_lateness{.overdue = 1s}.cause() == lateness_cause::loop));
    BOOST_TEST(
        (recent_lateness{.waits = 1, .late = 9s, .overdue = 1s}.cause() == lateness_cause::wheel));
}

BOOST_AUTO_TEST_CASE(the_severity_is_that_of_the_longest_time_by_limits) {
    const asio_wheel::lateness_limits limits{.warning = 1s, .critical = 1min};
    for (nanoseconds recent_lateness::* const member :
         {&recent_lateness::longest, &recent_lateness::longest_lag, &recent_lateness::overdue}) {
        const auto with = [&](nanoseconds d, const asio_wheel::lateness_limits& by) {
            recent_lateness l;
            l.*member = d;
            return std::string(to_string(l.severity(by)));
        };
        BOOST_TEST(with(19'999'999ns, {}) == "ok");
        BOOST_TEST(with(20ms, {}) == "warning");
        BOOST_TEST(with(199'999'999ns, {}) == "warning");
        BOOST_TEST(with(200ms, {}) == "critical");
        BOOST_TEST(with(999ms, limits) == "ok");
        BOOST_TEST(with(1s, limits) == "warning");
        BOOST_TEST(with(1min, limits) == "critical");
    }
    BOOST_TEST(recent_lateness{.longest = 70ms}.verdict(limits).starts_with("All is well: "));
    BOOST_TEST((recent_lateness{.waits = 1, .late = 5ms, .longest = 5ms}.verdict()) ==
               "All is well: 1 wait was late, by 5.00 ms at most.");
    BOOST_TEST(to_string(static_cast<asio_wheel::lateness_severity>(99)) == "unknown");
}

BOOST_AUTO_TEST_CASE(the_verdict_is_a_sentence) {
    BOOST_TEST(printed({}) == "All is well: no wait was late.");
    BOOST_TEST(printed({.waits = 3, .late = 15ms, .longest = 6ms}) ==
               "All is well: 3 waits were late, by 6.00 ms at most.");
    recent_lateness l{.waits = 320,
                      .late = 13'184ms,
                      .by_loop = 13'088ms,
                      .longest_lag = 80ms,
                      .late_calls = 25,
                      .longest = 83ms};
    BOOST_TEST(printed(l) ==
               "Warning: 320 waits were late because of the loop: by 41.2 ms on average, 40.9 ms "
               "of it before the context called the wheel. It called late 25 times, by up to 80.0 "
               "ms: handlers take long, or block.");
    l.late_calls = 1;
    BOOST_TEST(printed(l).ends_with(
        " It called late once, by 80.0 ms: a handler blocked, or the process was stopped."));
    l.lag = 1s;
    l.ran = 2s;
    l.waited = 3s;
    l.late_calls = 2;
    BOOST_TEST(printed(l) ==
               "Warning: 320 waits were late because of the processor: by 41.2 ms on average, 40.9 "
               "ms of it before the context called the wheel. It called late 2 times, by up to "
               "80.0 ms: others had the processors. (Its thread ran for 2.00 s, and waited for a "
               "processor for 3.00 s.)");
    l = {.waits = 1, .late = 900ms, .longest = 900ms};
    BOOST_TEST(printed(l) ==
               "Critical: 1 wait was late because of the wheel: by 900 ms on average, 0 ns of it "
               "before the context called the wheel. More was due at once than a turn of the "
               "context delivers, or the wheel has given way to data after a stall.");
    l.longest_lag = 300ms; // No wait was due then.
    l.late_calls = 1;
    BOOST_TEST(printed(l).ends_with(
        "after a stall. Besides, the context called the wheel late. It called late once, by 300 "
        "ms: a handler blocked, or the process was stopped."));
    l = {.longest_lag = 30ms, .late_calls = 1};
    BOOST_TEST(printed(l) ==
               "Warning: no wait was late. But the context called the wheel late. It called late "
               "once, by 30.0 ms: a handler blocked, or the process was stopped.");
    for (const auto cause : {lateness_cause::none, lateness_cause::loop, lateness_cause::wheel,
                             lateness_cause::processor}) {
        BOOST_TEST(to_string(cause) != "unknown");
    }
    BOOST_TEST(to_string(static_cast<lateness_cause>(99)) == "unknown");
}

BOOST_AUTO_TEST_CASE(a_loop_that_stands_still_now_is_the_first_thing_to_say) {
    BOOST_TEST(printed({.overdue = 12s}) ==
               "Critical: the context should have called the wheel 12.0 s ago: a handler blocks, "
               "or nobody runs the context. In the last minute, no wait was late.");
    BOOST_TEST(printed({.overdue = 20ms})
                   .starts_with("Warning: the context should have called the wheel 20.0 ms ago"));
    BOOST_TEST(printed({.waits = 2, .late = 8ms, .longest = 4ms, .overdue = 50ms})
                   .starts_with("Warning: the context should have called the wheel 50.0 ms ago: a "
                                "handler blocks, or nobody runs the context. In the last minute, 2 "
                                "waits were late because of the wheel: "));
    BOOST_TEST(recent_lateness().verdict({.warning = 0ns}) == "Warning: no wait was late.");
}

// With measure_handlers, by what was measured in the last minutes.
BOOST_AUTO_TEST_CASE(the_verdict_names_the_longest_handler_if_it_explains_the_lags) {
    using asio_wheel::tag_stats;
    const recent_lateness l{.waits = 1,
                            .late = 80ms,
                            .by_loop = 80ms,
                            .longest_lag = 80ms,
                            .late_calls = 1,
                            .longest = 80ms};
    std::vector<tag_stats> tags(3);
    tags[1].kind = asio_wheel::wait_kind::idle;
    tags[1].tag = "session";
    const auto says = [&](nanoseconds recent) {
        tags[1].recent_run = recent;
        const std::string text = l.verdict({}, tags);
        const std::string before = "or the process was stopped. ";
        return text.substr(text.find(before) + before.size());
    };
    BOOST_TEST(says(80ms) == "The longest handler of a wait took 80.0 ms: idle \"session\".");
    BOOST_TEST(says(40ms) == "The longest handler of a wait took 40.0 ms: idle \"session\".");
    BOOST_TEST(says(39ms) == "No handler of a wait took longer than 39.0 ms: it was another one, "
                             "or is on a strand.");
    tags[2].recent_run = 90ms;
    BOOST_TEST(says(0ms) == "The longest handler of a wait took 90.0 ms: timer without a tag.");
    tags[1].recent_run = 90ms;
    BOOST_TEST(l.verdict({}, tags).ends_with("took 90.0 ms: idle \"session\"."),
               "of equals, the first");
    tags[1].recent_run = 0ms;
    BOOST_TEST(l.verdict().ends_with("or the process was stopped."));

    recent_lateness starved = l; // A long handler of a thread without a processor is worth a look.
    starved.waited = 1s;
    BOOST_TEST(starved.verdict({}, tags).find("took 90.0 ms: timer") != std::string::npos);
    tags[2].recent_run = 39ms;
    BOOST_TEST(starved.verdict({}, tags).find("handler") == std::string::npos);

    recent_lateness without_lags = l;
    without_lags.longest_lag = 0ns;
    BOOST_TEST(without_lags.verdict({}, tags) == without_lags.verdict());
}

// Lags of 2 ms are none. But with others, they may explain half of how late a wait was.
BOOST_AUTO_TEST_CASE(a_loop_may_be_to_blame_that_was_never_late_by_itself) {
    const recent_lateness l{.waits = 1, .late = 30ms, .by_loop = 20ms, .longest = 30ms};
    BOOST_TEST(
        printed(l).ends_with(" It called up to 2.00 ms late: handlers take long, or block."));
}

BOOST_AUTO_TEST_CASE(lateness_is_split_into_the_loops_and_the_rest) {
    lateness_meter meter;
    meter.woke_up(80ms, 1s);
    meter.found_due(1, 81ms, 1s, 1ms);
    meter.found_due(3, 40ms, 1s, 1ms);
    meter.found_due(5, 3ms, 1s, 1ms); // Not late: a tick, and 2 ms.
    meter.found_due(0, 40ms, 1s, 1ms);
    expect(recent(meter, 1s), 4, 201ms, 200ms, 80ms);
    meter.found_due(1, 101ms, 1020ms, 1ms); // In a further slice.
    expect(recent(meter, 1020ms), 5, 302ms, 280ms, 80ms);
    meter.woke_up(0ms, 2s);
    meter.found_due(1, 1ms, 2s, 1ms);
    expect(recent(meter, 2s), 5, 302ms, 280ms, 80ms);
}

// The deadline may have passed when the wait started.
BOOST_AUTO_TEST_CASE(a_wait_is_not_late_for_what_was_before_its_wheel_could_come) {
    lateness_meter meter;
    meter.woke_up(0ms, 1s);
    meter.found_due(1, nanoseconds::max(), 1s, 5ms); // So it is not late.
    meter.found_due(1, 1h, 1007ms, 5ms);
    expect(recent(meter, 1007ms), 1, 12ms, 0ms, 0ms);
}

BOOST_AUTO_TEST_CASE(a_wait_that_starts_after_its_deadline_is_not_late) {
    late_world world;
    late_timer first(world.ctx); // Its deadline is an hour ago, and nothing has woken the wheel up.
    first.async_wait(ignore);
    look(world.ctx);
    BOOST_TEST(printed(world.wheel.lateness()) == "All is well: no wait was late.");
    late_timer next(world.ctx, 1s);
    next.async_wait(ignore);
    world.poll();
    clock::advance(1s);
    look(world.ctx);
    clock::advance(1h);
    late_timer passed(world.ctx, -30min);
    passed.async_wait(ignore);
    look(world.ctx);
    BOOST_TEST(printed(world.wheel.lateness()) == "All is well: no wait was late.");
    BOOST_TEST((world.wheel.stats().lateness.quantile(1) >= 30min), "stats() count it in full");
}

// Its turn in the queue comes before the wake-up of the driver, and takes that one's waits along.
BOOST_AUTO_TEST_CASE(a_wait_that_starts_after_its_deadline_does_not_hide_the_loops_lag) {
    late_world world;
    late_timer late(world.ctx, 5ms);
    late.async_wait(ignore);
    world.poll();
    late_timer passed(world.ctx);
    boost::asio::post(world.ctx, [&] { // This handler takes 55 ms.
        clock::advance(55ms);
        passed.async_wait(ignore);
    });
    look(world.ctx);
    const recent_lateness l = world.wheel.lateness();
    BOOST_TEST((l.waits > 0U && l.by_loop * 2 > l.late), printed(l));
    BOOST_TEST((l.longest >= 50ms && l.longest <= 51ms), printed(l));
    BOOST_TEST((l.longest_lag >= 49ms && l.longest_lag <= 50ms), printed(l));
}

// The turn that such a wait has queued is behind other handlers, too.
BOOST_AUTO_TEST_CASE(a_loop_that_does_not_take_a_queued_turn_is_to_blame) {
    for (const bool is_stall : {false, true}) {
        const std::chrono::milliseconds blocked(is_stall ? 500 : 55);
        late_world world;
        std::deque<late_timer> late;
        for (int i = 0; i < 20; ++i) {
            late.emplace_back(world.ctx, 5ms).async_wait(ignore);
        }
        world.poll();
        late_timer passed(world.ctx);
        boost::asio::post(world.ctx, [&] {
            passed.async_wait(ignore);
            clock::advance(blocked); // Before the turn comes.
        });
        look(world.ctx);
        BOOST_TEST(world.wheel.pending() == 0U);
        const recent_lateness l = world.wheel.lateness();
        BOOST_TEST((l.waits >= 20U && l.by_loop * 10 > l.late * 9), printed(l));
        BOOST_TEST((l.longest >= blocked - 5ms && l.longest <= blocked + 1ms), printed(l));
        BOOST_TEST((l.longest_lag >= blocked - 6ms && l.longest_lag <= blocked), printed(l));
        BOOST_TEST((l.lag >= l.longest_lag && l.lag <= blocked), l.lag.count() << " ns of lag");
    }
}

// After a whole one, and not earlier.
BOOST_AUTO_TEST_CASE(lateness_is_forgotten_after_a_minute) {
    lateness_meter meter;
    meter.woke_up(80ms, 10'999ms);
    meter.found_due(1, 80ms, 10'999ms, 1ms);
    meter.woke_up(50ms, 30s);
    meter.found_due(1, 50ms, 30s, 1ms);
    expect(recent(meter, 70'999ms), 2, 130ms, 130ms, 80ms);
    expect(recent(meter, 71s), 1, 50ms, 50ms, 50ms);
    expect(recent(meter, 91s), 0, 0ms, 0ms, 0ms);
}

BOOST_AUTO_TEST_CASE(lateness_is_forgotten_after_a_minute_also_if_the_clock_was_set_back) {
    lateness_meter meter;
    meter.woke_up(80ms, 1h);
    meter.found_due(1, 80ms, 1h, 1ms);
    expect(recent(meter, 10s), 1, 80ms, 80ms, 80ms);
    expect(recent(meter, 70s), 1, 80ms, 80ms, 80ms);
    expect(recent(meter, 71s), 0, 0ms, 0ms, 0ms);
}

BOOST_AUTO_TEST_CASE(all_times_can_be_measured) {
    constexpr nanoseconds least = nanoseconds::min();
    constexpr nanoseconds most = nanoseconds::max();
    lateness_meter meter;
    meter.woke_up(3ms, least);
    meter.found_due(1, 3ms, least, 0ns);
    expect(recent(meter, least), 1, 3ms, 3ms, 3ms);
    meter.found_due(1, most, most, most - 1ns); // No wait is later than such a tick allows.
    meter.found_due(1'000'000, most, most, 1ns);
    expect(recent(meter, most), 1'000'000, most, 3'000s, 0ms);
    meter.woke_up(most, most);
    meter.found_due(2, most, most, 1ns);
    expect(recent(meter, most), 1'000'002, most, most, most);
}

BOOST_AUTO_TEST_CASE(a_queued_turn_is_measured_before_the_epoch_of_its_clock_too) {
    for (const nanoseconds begin : {nanoseconds::min(), nanoseconds(-1h), nanoseconds(-1ms)}) {
        lateness_meter meter;
        const nanoseconds now = begin + 20ms;
        meter.queued(3ms, begin);
        meter.called(20ms, now);
        meter.found_due(1, 30ms, now + 5ms, 1ms); // A tick, the loop, and the wheel.
        expect(recent(meter, now + 5ms), 1, 29ms, 23ms, 23ms);
    }
}

// Those of the thread that is late now. They are compared with what they were half a minute ago.
BOOST_AUTO_TEST_CASE(the_processor_is_judged_by_what_has_happened_lately) {
    lateness_meter meter;
    const auto ask = [&](nanoseconds when, long thread, nanoseconds ran, nanoseconds waited,
                         nanoseconds lag) {
        const recent_lateness l = meter.recent(
            {.when = when, .thread = thread, .time = {.ran = ran, .waited = waited}, .lag = lag});
        return std::to_string(l.ran / 1s) + ' ' + std::to_string(l.waited / 1s) + ' ' +
               std::to_string(l.lag / 1s);
    };
    BOOST_TEST(ask(1000s, 7, 100s, 200s, 10s) == "100 200 10"); // Since it began.
    BOOST_TEST(ask(1010s, 7, 101s, 202s, 11s) == "101 202 11");
    BOOST_TEST(ask(1030s, 7, 103s, 206s, 12s) == "103 206 12");
    BOOST_TEST(ask(1031s, 7, 104s, 207s, 13s) == "4 7 3"); // Since 1000 s.
    BOOST_TEST(ask(1060s, 7, 110s, 210s, 14s) == "10 10 4");
    BOOST_TEST(ask(1061s, 7, 111s, 211s, 15s) == "8 5 3"); // Since 1030 s.
    BOOST_TEST(ask(1062s, 8, 5s, 6s, 16s) == "5 6 16");    // Another thread.
    BOOST_TEST(ask(1100s, 8, 7s, 7s, 16s) == "7 7 16");
    BOOST_TEST(ask(1101s, 8, 0s, 0s, 16s) == "0 0 16"); // It has ended, and nobody tells any more.
    BOOST_TEST(ask(1102s, 8, 1s, 2s, 17s) == "1 2 17"); // Another one has got its number.
}

#ifdef __linux__
BOOST_AUTO_TEST_CASE(the_system_tells_how_long_a_thread_ran) {
    const long self = asio_wheel::detail::this_thread_number();
    BOOST_TEST(self > 0);
    const auto before = asio_wheel::detail::processor_time_of(self);
    if (before.ran + before.waited == 0ns) {
        BOOST_TEST_MESSAGE("not checked: this kernel does not tell");
        return;
    }
    auto after = before;
    while (after.ran - before.ran < 1ms) { // Computes until it has.
        after = asio_wheel::detail::processor_time_of(self);
    }
    BOOST_TEST((after.waited >= before.waited));
    const auto nobody = asio_wheel::detail::processor_time_of(0);
    BOOST_TEST((nobody.ran + nobody.waited == 0ns));
    const auto ended = asio_wheel::detail::processor_time_of((std::numeric_limits<int>::max)());
    BOOST_TEST((ended.ran + ended.waited == 0ns));
}
#endif

// Four of 10,000 wake-ups are late, but three of a hundred waits.
BOOST_AUTO_TEST_CASE(a_few_long_handlers_are_seen_and_the_wheel_is_not_blamed) {
    late_world world;
    constexpr int wake_ups = 10'000;
    std::deque<late_timer> timers;
    const auto start = [&](nanoseconds d) { timers.emplace_back(world.ctx, d).async_wait(ignore); };
    int made = 0;
    for (int i = 0; i < wake_ups; ++i) {
        const int ticks = i % (wake_ups / 4) == 0 ? 80 : 1; // Such a handler takes 80 ms.
        for (int k = 1; k <= ticks; ++k, ++made) {
            start(1ms * k);
        }
        world.poll();
        clock::advance(1ms * ticks);
        while (world.wheel.pending() != 0) {
            look(world.ctx);
        }
        timers.clear();
    }
    const auto stats = world.wheel.stats();
    BOOST_TEST(stats.fired == static_cast<unsigned>(made));
    BOOST_TEST((stats.lateness.quantile(.99) > 40ms));
    BOOST_TEST((stats.loop_lag.quantile(.99) < 1ms), "so the two cannot be compared");
    BOOST_TEST((stats.loop_lag.quantile_of_sum(.99) >= 79ms));
    const recent_lateness l = world.wheel.lateness();
    BOOST_TEST((l.cause() == lateness_cause::loop || l.cause() == lateness_cause::processor),
               printed(l));
    BOOST_TEST(l.waits >= 4U * 75U);
    BOOST_TEST(l.waits <= 4U * 80U);
    BOOST_TEST((l.by_loop == l.late), printed(l));
    BOOST_TEST((l.longest_lag >= 79ms && l.longest_lag <= 80ms), printed(l));
    BOOST_TEST((l.longest >= l.longest_lag && l.longest <= 81ms), printed(l));
    BOOST_TEST(l.late_calls == 4U);
    BOOST_TEST((world.wheel.report().lateness()->waits == l.waits));
    std::ostringstream report;
    world.wheel.report(report);
    BOOST_TEST(
        report.str().find("lateness in the last minute\n  Warning: " + std::to_string(l.waits) +
                          " waits were late because of the ") != std::string::npos,
        report.str());
}

BOOST_AUTO_TEST_CASE(a_punctual_wheel_has_no_late_waits) {
    virtual_time world;
    BOOST_TEST((world.wheel.lateness() == recent_lateness()));
    timer t(world.ctx, 1s);
    t.async_wait(ignore);
    world.pass(1s);
    BOOST_TEST((world.wheel.lateness().cause() == lateness_cause::none));
    BOOST_TEST(printed(*world.wheel.report().lateness()) == "All is well: no wait was late.");
}

// As another thread sees it while a handler blocks.
BOOST_AUTO_TEST_CASE(a_context_is_overdue_while_it_does_not_call_the_wheel) {
    late_world world({.budget = 1});
    const auto overdue = [&] { return world.wheel.lateness().overdue; };
    late_timer t(world.ctx, 20ms);
    t.async_wait(ignore);
    world.poll();
    BOOST_TEST((overdue() == 0ms), "its time has not come");
    clock::advance(22ms);
    BOOST_TEST((overdue() == 0ms), "nor is that late");
    clock::advance(5s);
    BOOST_TEST((overdue() > 5s && overdue() < 5s + 3ms), overdue().count() << " ns");
    look(world.ctx);
    BOOST_TEST((overdue() == 0ms), "it has called");
}

// If the rest of a turn is in the queue, the driver is not armed.
BOOST_AUTO_TEST_CASE(a_context_is_overdue_while_it_does_not_take_the_turn_in_its_queue) {
    late_world world;
    late_timer t(world.ctx, -1s); // A wait that is due already makes the wheel queue a turn.
    t.async_wait(ignore);
    clock::advance(1s);
    BOOST_TEST((world.wheel.lateness().overdue == 1s));
    look(world.ctx);
    BOOST_TEST((world.wheel.lateness().overdue == 0s));
}

// If another thread has started it, nobody looks whether the driver is still needed.
BOOST_AUTO_TEST_CASE(a_context_without_waits_is_not_overdue) {
    late_world world;
    late_timer t(world.ctx, 1h);
    t.async_wait(ignore);
    std::thread([&] {
        boost::asio::post(world.ctx, [&] { t.cancel(); });
        world.ctx.run();
    }).join();
    BOOST_TEST(world.wheel.pending() == 0U);
    clock::advance(2h);
    BOOST_TEST((world.wheel.lateness().overdue == 0s));
}

BOOST_AUTO_TEST_CASE(paused_time_is_never_overdue_and_its_jumps_make_no_wait_late) {
    virtual_time world;
    timer t(world.ctx, 1s);
    t.async_wait(ignore);
    world.pass(0s);
    static_cast<void>(world.wheel.advance(1h));
    BOOST_TEST((world.wheel.lateness().overdue == 0s));
    world.pass(0s);
    BOOST_TEST(world.wheel.stats().fired == 1U);
    BOOST_TEST(printed(world.wheel.lateness()) == "All is well: no wait was late.");
}

BOOST_AUTO_TEST_SUITE_END()
