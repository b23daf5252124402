// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Intervals: fixed rate, missed ticks, fixed delay, phases and jitter.

#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"
#include "support/sanitizers.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::interval;
using asio_wheel::interval_options;
using asio_wheel::missed;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// An interval whose ticks are taken one after another and logged: the milliseconds from the start,
// and the number of periods if it is not one.
struct ticking : virtual_world {
    std::optional<interval> ticks;
    std::chrono::steady_clock::time_point start = now();
    bool taking = true;

    void begin(nanoseconds period, const interval_options& options = {}) {
        ticks.emplace(ctx, period, options);
        take();
    }

    void take() {
        ticks->async_tick([this](error_code ec, std::size_t periods) {
            log.text += log.text.empty() ? "" : " ";
            log.text += std::to_string((now() - start) / 1ms);
            log.text += periods != 1 ? "*" + std::to_string(periods) : "";
            log.text += ec ? "!" : "";
            if (!ec && taking) {
                take();
            }
        });
    }

    // Runs an otherwise idle context.
    void run_for(nanoseconds d) {
        const auto end = now() + d;
        pass(0ms);
        while (now() < end) {
            pass(std::min<nanoseconds>(1ms, end - now()));
        }
    }
    std::string log_of_run(nanoseconds d) {
        run_for(d);
        return take_log();
    }

    ~ticking() {
        taking = false;
        ticks.reset();
        poll();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(interval_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(the_first_tick_comes_after_a_period, ticking) {
    begin(100ms);
    BOOST_TEST(log_of_run(350ms) == "100 200 300");
}

BOOST_FIXTURE_TEST_CASE(the_first_tick_may_come_at_once, ticking) {
    begin(100ms, {.first = 0ms});
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_of_run(250ms) == "0 100 200");
}

BOOST_FIXTURE_TEST_CASE(the_first_tick_may_come_at_a_phase, ticking) {
    begin(100ms, {.first = 30ms});
    BOOST_TEST(log_of_run(250ms) == "30 130 230");
}

// The second tick, of 600 ms, is taken only at 950 ms.
BOOST_FIXTURE_TEST_CASE(one_tick_counts_for_all_that_were_missed, ticking) {
    begin(300ms);
    run_for(300ms);
    elapse(650ms);
    BOOST_TEST(log_of_run(300ms) == "300 950*2 1200");
}

BOOST_FIXTURE_TEST_CASE(skipped_ticks_are_not_taken_and_counted_in_the_next_one, ticking) {
    begin(300ms, {.missed = missed::skip});
    run_for(300ms);
    elapse(650ms);
    poll();
    BOOST_TEST((ticks->expiry() == start + 1200ms));
    BOOST_TEST(log_of_run(600ms) == "300 1200*3 1500");
}

// tokio's Delay: the period begins anew when a tick was late.
BOOST_FIXTURE_TEST_CASE(a_reset_after_a_late_tick_delays_the_rate, ticking) {
    begin(300ms);
    run_for(300ms);
    elapse(650ms);
    poll();
    ticks->reset();
    BOOST_TEST(log_of_run(301ms) == "300 950*2 1250");
}

BOOST_FIXTURE_TEST_CASE(ticks_that_nobody_asked_for_are_skipped, ticking) {
    taking = false;
    begin(300ms, {.missed = missed::skip});
    BOOST_TEST(log_of_run(950ms) == "300");
    taking = true;
    take(); // 600 is late by a period, and 900 is missed with it.
    BOOST_TEST(log_of_run(600ms) == "1200*3 1500");
}

BOOST_FIXTURE_TEST_CASE(a_period_that_is_changed_after_a_skip_begins_at_the_time_that_was_skipped,
                        ticking) {
    begin(300ms, {.missed = missed::skip});
    elapse(650ms);
    poll();
    ticks->period(100ms);
    BOOST_TEST(log_of_run(150ms) == "700*3 800");
}

// Its time is that of its jitter.
BOOST_FIXTURE_TEST_CASE(a_tick_is_not_missed_because_of_its_jitter, virtual_world) {
    for (const missed rule : {missed::skip, missed::coalesce, missed::catch_up}) {
        interval ticks(ctx, 10ms, {.missed = rule, .jitter = 1});
        for (int n = 0; n != 1000; ++n) {
            std::size_t periods = 0;
            ticks.async_tick([&](error_code, std::size_t p) { periods = p; });
            wheel.advance_to_next();
            elapse(1ms); // A handler takes so long.
            poll();
            BOOST_TEST_REQUIRE(periods == 1U);
        }
    }
}

// What missed ticks are is what missed calls of a scheduler's task are.
BOOST_FIXTURE_TEST_CASE(a_rule_means_the_same_for_ticks_and_for_calls, ticking) {
    for (const missed rule : {missed::coalesce, missed::catch_up, missed::skip}) {
        start = now();
        std::string calls;
        asio_wheel::scheduler tasks(ctx);
        tasks.schedule_at_fixed_rate(
            300ms, 300ms,
            [&] {
                calls += calls.empty() ? "" : " ";
                calls += std::to_string((now() - start) / 1ms);
            },
            rule);
        begin(300ms, {.missed = rule});
        run_for(300ms);
        elapse(650ms);
        run_for(600ms);
        std::string taken;
        bool counting = false;
        for (const char c : take_log()) { // Without the numbers of periods.
            counting = c == '*' || (counting && c != ' ');
            taken += counting ? std::string() : std::string(1, c);
        }
        BOOST_TEST(taken == calls);
        BOOST_TEST(!calls.empty());
        ticks->cancel();
        poll();
        static_cast<void>(take_log());
    }
}

BOOST_FIXTURE_TEST_CASE(a_rate_may_catch_up_on_missed_ticks, ticking) {
    begin(300ms, {.missed = missed::catch_up});
    run_for(300ms);
    elapse(650ms);
    BOOST_TEST(log_of_run(300ms) == "300 950 950 1200");
}

BOOST_FIXTURE_TEST_CASE(a_tick_that_is_late_by_less_than_a_period_moves_nothing, ticking) {
    for (const missed rule : {missed::coalesce, missed::catch_up, missed::skip}) {
        start = now();
        begin(100ms, {.missed = rule});
        run_for(99ms);
        elapse(60ms);
        BOOST_TEST(log_of_run(150ms) == "159 200 300");
        ticks->cancel();
        poll();
        static_cast<void>(take_log());
    }
}

BOOST_FIXTURE_TEST_CASE(six_hours_of_sleep_are_one_tick_or_360, ticking) {
    begin(1min);
    elapse(6h);
    BOOST_TEST(log_now() == "21600000*360");
    begin(1min, {.missed = missed::catch_up});
    std::size_t ticked = 0;
    elapse(6h);
    while (poll() != 0) {
        pass(0ms);
    }
    for (const char c : take_log()) {
        ticked += c == ' ' ? 1 : 0;
    }
    BOOST_TEST(ticked == 360U); // Including the abort of the first interval.
}

BOOST_FIXTURE_TEST_CASE(a_fixed_delay_begins_when_the_tick_is_asked_for, ticking) {
    taking = false;
    begin(100ms, {.fixed_delay = true});
    run_for(250ms); // It came at 100, and the next one is not awaited yet.
    BOOST_TEST(take_log() == "100");
    take();
    BOOST_TEST(log_of_run(200ms) == "350");
    elapse(1h);
    take();
    run_for(150ms);
    BOOST_TEST(take_log() ==
               std::to_string(450 + 3600 * 1000 + 100)); // A single one, of full length.
}

BOOST_FIXTURE_TEST_CASE(a_fixed_delay_may_begin_at_once, ticking) {
    begin(100ms, {.fixed_delay = true, .first = 0ms});
    BOOST_TEST(log_of_run(250ms) == "0 100 200");
}

BOOST_FIXTURE_TEST_CASE(a_million_ticks_do_not_drift, virtual_world) {
    constexpr std::size_t a_million = unless_emulated(1'000'000);
    interval ticks(ctx, 1'234'567ns);
    const auto start = now();
    std::size_t taken = 0;
    auto take = [&](auto& self) -> void {
        ticks.async_tick([&](error_code ec, std::size_t periods) {
            if (!ec) {
                taken += periods;
                self(self);
            }
        });
    };
    take(take);
    while (taken < a_million) {
        BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
        poll();
    }
    BOOST_TEST((now() - start >= taken * 1'234'567ns));
    BOOST_TEST((now() - start < taken * 1'234'567ns + 1ms));
    BOOST_TEST((ticks.expiry() - start == (taken + 1) * 1'234'567ns));
    ticks.cancel();
    poll();
}

BOOST_FIXTURE_TEST_CASE(slow_work_keeps_the_rate, ticking) {
    begin(225ms);
    for (int i = 0; i < 20; ++i) {
        run_for(145ms);
        elapse(80ms); // A handler keeps the context busy.
    }
    poll();
    BOOST_TEST(ticks->cancel() == 1U);
    poll();
    BOOST_TEST(std::count(log.text.begin(), log.text.end(), ' ') == 20); // 20 ticks and the abort.
    BOOST_TEST(log.text.find('*') == log.text.rfind('*'));               // That of the abort.
}

BOOST_FIXTURE_TEST_CASE(handlers_of_one_interval_never_overlap, ticking) {
    taking = false;
    begin(100ms);
    BOOST_TEST(log_of_run(1s) == "100"); // The next ticks are not taken
    take();
    BOOST_TEST(log_of_run(1ms) == "1000*9"); // until now.
}

// As a loop does that waits for a tick or something else, whatever comes first.
BOOST_FIXTURE_TEST_CASE(jitter_is_drawn_once_for_a_tick_however_often_it_is_asked_for,
                        virtual_world) {
    constexpr int intervals = 40;
    const auto mean_after = [&](const interval_options& options, auto ask) {
        nanoseconds sum{};
        for (int i = 0; i != intervals; ++i) {
            interval ticks(ctx, 10s, options);
            const auto start = now();
            std::optional<nanoseconds> late;
            while (!late) {
                ask(ticks);
                ticks.async_tick([&](error_code ec, std::size_t) {
                    late = ec ? late : std::optional<nanoseconds>(now() - start - 10s);
                });
                pass(now() - start < 10s ? 10s : 100ms); // Then something else comes.
            }
            sum += *late;
        }
        return sum / intervals;
    };
    const auto nothing = [](interval&) {};
    const auto same_period = [](interval& ticks) { ticks.period(10s); };
    // 5 s are expected, and the deviation is 0.5 s. Would each call draw, it were 1.2 s.
    BOOST_TEST((mean_after({.jitter = 1}, nothing) > 2s));
    BOOST_TEST((mean_after({.jitter = 1}, same_period) > 2s));
}

BOOST_FIXTURE_TEST_CASE(jitter_is_drawn_anew_for_each_tick, virtual_world) {
    interval ticks(ctx, 10s, {.jitter = 1});
    std::vector<nanoseconds> late;
    const auto start = now();
    for (int n = 1; n <= 20; ++n) {
        ticks.async_tick([&](error_code, std::size_t) { late.push_back(now() - start - n * 10s); });
        BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
        poll();
    }
    std::sort(late.begin(), late.end());
    BOOST_TEST((std::adjacent_find(late.begin(), late.end()) == late.end()));
}

BOOST_FIXTURE_TEST_CASE(an_interval_cancelled_before_its_first_tick_never_ticks, ticking) {
    begin(100ms);
    run_for(50ms);
    BOOST_TEST(ticks->cancel() == 1U);
    BOOST_TEST(ticks->cancel() == 0U);
    BOOST_TEST(log_of_run(1s) == "50*0!");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_tick_was_not_taken, ticking) {
    begin(100ms);
    run_for(150ms);
    ticks->cancel();
    BOOST_TEST(log_of_run(100ms) == "100 150*0!");
    take();
    BOOST_TEST(log_of_run(100ms) == "250 300");
}

BOOST_FIXTURE_TEST_CASE(a_tick_that_is_asked_for_again_aborts_the_one_before, ticking) {
    taking = false;
    begin(100ms);
    take();
    BOOST_TEST(log_of_run(150ms) == "0*0! 100");
}

BOOST_FIXTURE_TEST_CASE(reset_begins_a_period_now, ticking) {
    begin(100ms);
    run_for(150ms);
    ticks->reset();
    BOOST_TEST(log_of_run(200ms) == "100 250 350");
}

BOOST_FIXTURE_TEST_CASE(reset_at_sets_the_next_tick_also_beyond_a_period, ticking) {
    begin(100ms);
    run_for(150ms);
    ticks->reset_at(start + 175ms);
    BOOST_TEST(log_of_run(150ms) == "100 175 275");
    ticks->reset_at(start + 1s);
    BOOST_TEST(log_of_run(850ms) == "1000 1100");
}

BOOST_FIXTURE_TEST_CASE(reset_at_holds_for_a_fixed_delay_too, ticking) {
    taking = false;
    begin(100ms, {.fixed_delay = true});
    BOOST_TEST(log_of_run(150ms) == "100");
    ticks->reset_at(start + 1s); // No wait is pending.
    take();
    BOOST_TEST(log_of_run(850ms) == "1000");
    run_for(50ms);
    take();
    BOOST_TEST(log_of_run(100ms) == "1150"); // Another pause.
}

BOOST_FIXTURE_TEST_CASE(a_tick_at_a_time_of_its_own_stays_there_when_the_period_changes, ticking) {
    begin(100ms);
    ticks->reset_at(start + 1s);
    ticks->period(200ms);
    BOOST_TEST(log_of_run(1300ms) == "1000 1200");
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_do_anything_to_its_interval, ticking) {
    ticks.emplace(ctx, 100ms);
    ticks->async_tick([&](error_code, std::size_t) {
        BOOST_TEST(ticks->cancel() == 0U);
        ticks->period(50ms);
        ticks->async_tick([&](error_code ec, std::size_t) {
            BOOST_TEST(ec == aborted);
            ticks.reset();
            log.text += "end";
        });
        ticks->reset();
        ticks->cancel();
    });
    BOOST_TEST(log_of_run(1s) == "end");
}

BOOST_AUTO_TEST_CASE(an_interval_ends_with_its_context_without_a_call) {
    const auto alive = std::make_shared<int>();
    std::optional<asio::io_context> ctx(std::in_place);
    interval ticks(*ctx, 1h);
    ticks.async_tick([alive](error_code, std::size_t) { BOOST_TEST(false); });
    ctx.reset();
    BOOST_TEST(alive.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(what_the_wheel_refuses_is_told, ticking) {
    begin(100ms);
    static_cast<void>(wheel.drain());
    BOOST_TEST(log_now() == "0*0!");
    ticks->async_tick([&](error_code ec, std::size_t periods) {
        BOOST_TEST((ec == asio_wheel::error::wheel_stopped));
        BOOST_TEST(periods == 0U);
        log.text = "told";
    });
    BOOST_TEST(log_now() == "told");
}

BOOST_FIXTURE_TEST_CASE(the_period_may_change_while_a_tick_is_waited_for, ticking) {
    begin(100ms);
    run_for(150ms);
    ticks->period(200ms);
    BOOST_TEST((ticks->period() == 200ms));
    BOOST_TEST(log_of_run(400ms) == "100 300 500");
    ticks->period(75ms);
    BOOST_TEST(log_of_run(125ms) == "575 650");
}

BOOST_FIXTURE_TEST_CASE(a_first_tick_at_its_own_time_stays_there_when_the_period_changes, ticking) {
    begin(100ms, {.first = 30ms});
    ticks->period(50ms);
    BOOST_TEST(log_of_run(100ms) == "30 80");
}

// Its jitter is a share of the new period.
BOOST_FIXTURE_TEST_CASE(such_a_tick_is_not_missed_if_it_has_jitter, virtual_world) {
    for (int i = 0; i < 20; ++i) {
        interval ticks(ctx, 10s, {.missed = missed::skip, .first = 0s, .jitter = 1});
        const auto begin = now();
        std::vector<std::size_t> periods;
        ticks.async_tick([&](error_code, std::size_t n) { periods.push_back(n); });
        ticks.period(100ms);
        while (periods.empty() && now() - begin < 20s) {
            pass(1ms);
        }
        BOOST_TEST(periods == std::vector<std::size_t>{1});
        BOOST_TEST((now() - begin <= 101ms));
    }
}

BOOST_FIXTURE_TEST_CASE(missed_periods_are_counted_up_to_the_largest_size, virtual_world) {
    interval ticks(ctx, 1us);
    std::size_t periods = 0;
    ticks.async_tick([&](error_code, std::size_t n) { periods = n; });
    pass(3h);
    BOOST_TEST(periods == std::min<std::uint64_t>(3h / 1us, SIZE_MAX));
}

BOOST_FIXTURE_TEST_CASE(the_longest_period_has_a_first_tick_only, ticking) {
    begin(nanoseconds::max(), {.first = 10ms});
    BOOST_TEST(log_of_run(20ms) == "10");
    BOOST_TEST(log_after(24h * 365 * 100) == "");
}

BOOST_FIXTURE_TEST_CASE(bad_input_is_named, virtual_world) {
    BOOST_TEST(message_of([&] { interval(ctx, 0s); }) ==
               "asio_wheel: the period of an interval is 0 ns, but must be greater than 0 ns");
    BOOST_TEST(message_of([&] { interval(ctx, -1us); }) ==
               "asio_wheel: the period of an interval is -1000 ns, but must be greater than 0 ns");
    BOOST_TEST(message_of([&] { interval(ctx, 1s, {.first = -1ns}); }) ==
               "asio_wheel: interval_options::first is -1 ns, but must be 0 ns or more");
    BOOST_TEST(message_of([&] { interval(ctx, 1us, {.jitter = 1.5}); }) ==
               "asio_wheel: interval_options::jitter is 1.500000, but must be 0 to 1");
    BOOST_TEST(message_of([&] { interval(ctx, 1us, {.jitter = -0.25}); }) ==
               "asio_wheel: interval_options::jitter is -0.250000, but must be 0 to 1");
    BOOST_TEST(message_of([&] {
                   interval(ctx, 1us, {.jitter = std::numeric_limits<double>::quiet_NaN()});
               }) == "asio_wheel: interval_options::jitter is nan, but must be 0 to 1");
    interval ticks(ctx, 1s, {.jitter = 0.5});
    BOOST_TEST(message_of([&] { ticks.period(0s); }) != "nothing");
    BOOST_TEST((ticks.period() == 1s)); // Unchanged.
}

BOOST_FIXTURE_TEST_CASE(jitter_stays_in_its_window_and_adds_up_to_nothing, virtual_world) {
    interval ticks(ctx, 100ms, {.jitter = 0.5});
    const auto start = now();
    auto least = 1000ms, most = 0ms;
    for (int i = 1; i <= 2'000; ++i) {
        bool taken = false;
        ticks.async_tick([&](error_code ec, std::size_t periods) {
            taken = !ec;
            BOOST_TEST(periods == 1U);
        });
        BOOST_TEST_REQUIRE(wheel.advance_to_next() == 1U);
        poll();
        BOOST_TEST_REQUIRE(taken);
        const auto late = std::chrono::floor<milliseconds>(now() - start - i * 100ms);
        BOOST_TEST((late >= 0ms));
        BOOST_TEST((late <= 50ms));
        least = std::min(least, late);
        most = std::max(most, late);
    }
    BOOST_TEST((least < 5ms)); // One in 10^91 runs would not.
    BOOST_TEST((most > 45ms));
}

BOOST_AUTO_TEST_CASE(random_phases_spread) {
    constexpr int intervals = 10'000, bins = 10;
    std::vector<int> hits(bins);
    for (int i = 0; i < intervals; ++i) {
        const auto phase = asio_wheel::random_phase(1s);
        BOOST_TEST_REQUIRE((phase >= 0s && phase < 1s));
        ++hits[static_cast<std::size_t>(phase / 100ms)];
    }
    double chi_squared = 0;
    for (const int hit : hits) {
        const double off = hit - intervals / bins;
        chi_squared += off * off / (intervals / bins);
    }
    BOOST_TEST(chi_squared < 60); // Nine degrees of freedom: more in one of 10^9 runs.
}

BOOST_FIXTURE_TEST_CASE(an_interval_in_a_coroutine, virtual_world) {
    std::vector<std::size_t> seen;
    const auto program = [&]() -> asio::awaitable<void> {
        interval ticks(co_await asio::this_coro::executor, 10ms);
        for (int i = 0; i < 3; ++i) {
            seen.push_back(co_await ticks.async_tick(asio::use_awaitable));
        }
        const auto [ec, periods] = co_await ticks.async_tick(asio::as_tuple(asio::use_awaitable));
        BOOST_TEST(!ec);
        seen.push_back(periods);
    };
    asio::co_spawn(ctx, program, asio::detached);
    poll();
    pass(10ms);
    pass(15ms);
    pass(5ms);
    pass(10ms);
    BOOST_TEST((seen == std::vector<std::size_t>{1, 1, 1, 1}));
}

BOOST_FIXTURE_TEST_CASE(other_tokens_and_default_tokens, virtual_world) {
    using io_executor = asio::io_context::executor_type;
    using awaitable_interval = asio::use_awaitable_t<io_executor>::as_default_on_t<interval>;
    static_assert(std::same_as<awaitable_interval::clock_type, std::chrono::steady_clock>);
    interval ticks(ctx.get_executor(), 10ms);
    std::future<std::size_t> future = ticks.async_tick(asio::use_future);
    pass(25ms);
    BOOST_TEST(future.get() == 2U);
    auto later = ticks.async_tick(asio::deferred);
    error_code ec = aborted;
    pass(10ms);
    std::move(later)([&](error_code e, std::size_t) { ec = e; });
    pass(1ms);
    BOOST_TEST(ec == success);
}

BOOST_FIXTURE_TEST_CASE(the_handlers_slot_executor_and_allocator_are_used, virtual_world) {
    interval ticks(ctx, 10ms);
    asio::cancellation_signal signal;
    error_code ec;
    std::size_t periods = 1;
    ticks.async_tick(asio::bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t p) {
        ec = e;
        periods = p;
    }));
    signal.emit(asio::cancellation_type::partial);
    poll();
    BOOST_TEST(ec == aborted);
    BOOST_TEST(periods == 0U);

    const auto record = std::make_shared<tracker>();
    const tracker_executor ex(record, ctx.get_executor());
    bool on_executor = false;
    ticks.async_tick(asio::bind_executor(
        ex, [&](error_code, std::size_t) { on_executor = record->running_here(); }));
    pass(10ms);
    BOOST_TEST(on_executor);

    allocations counts;
    ticks.async_tick(
        asio::bind_allocator(counting_allocator<>(counts),
                             [&](error_code, std::size_t) { BOOST_TEST(counts.live == 0U); }));
    BOOST_TEST(counts.live == 1U);
    pass(10ms);
    BOOST_TEST(counts.total == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
