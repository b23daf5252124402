// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Fixed rates whose calls are late: missed. And functions that say when the next call is.

#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::missed;
using asio_wheel::scheduler;
using asio_wheel::task_handle;
using time_point = std::chrono::steady_clock::time_point;
using seconds = std::chrono::seconds;

/// A scheduler in virtual time, and for each call the second in which it was made, and that for
/// which it was scheduled.
struct late : virtual_world {
    scheduler tasks{ctx};
    const time_point start = now();
    std::vector<int> called, due;

    auto note() {
        return [this](const task_handle& h) {
            called.push_back(static_cast<int>((now() - start) / 1s));
            due.push_back(static_cast<int>((h.expiry() - start) / 1s));
        };
    }
    // Handlers run at the end only, as after suspend.
    void sleep_for(seconds d) {
        elapse(d);
        poll();
    }
    void in_time(int n) {
        for (int i = 0; i < n; ++i) {
            pass(1s);
        }
    }
};

// A clock of whole seconds, one of fractions, and one whose range is soon passed.
template <class Duration>
using clock_of = manual_clock<struct missed_calls, Duration>;

// What begin_call() does at `now` with a call that was scheduled for `expiry`.
template <class Clock>
struct begun {
    bool made;
    typename Clock::time_point expiry;
};
template <class Duration>
begun<clock_of<Duration>> begin(missed rule, Duration period, Duration expiry, Duration now) {
    using clock = clock_of<Duration>;
    const asio_wheel::detail::fixed_rate<clock> rate(period, rule);
    typename clock::time_point t(expiry);
    const bool made = rate.begin_call(t, [now] { return typename clock::time_point(now); });
    return {made, t};
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_missed_calls, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(six_hours_of_suspend_are_one_call_by_default, late) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, note());
    sleep_for(6h);
    BOOST_TEST((called == std::vector{21'600}));
    BOOST_TEST((due == std::vector{21'600}));
    BOOST_TEST((h.expiry() == start + 6h + 1s));
    in_time(2);
    BOOST_TEST(called.size() == 3U);
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(six_hours_of_suspend_are_no_call_if_late_calls_are_skipped, late) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, note(), missed::skip);
    sleep_for(6h);
    BOOST_TEST(called.empty());
    BOOST_TEST((h.expiry() == start + 6h + 1s));
    BOOST_TEST(tasks.pending() == 1U);
    in_time(2);
    BOOST_TEST((called == std::vector{21'601, 21'602}));
    BOOST_TEST((due == called));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(six_hours_of_suspend_are_all_calls_if_they_are_made_up_for, late) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, note(), missed::catch_up);
    sleep_for(6h);
    while (poll() != 0) {
    }
    BOOST_TEST_REQUIRE(due.size() == 21'600U);
    for (std::size_t i = 0; i < due.size(); ++i) {
        BOOST_TEST_REQUIRE(due[i] == static_cast<int>(i) + 1); // Each for its own time.
    }
    BOOST_TEST((h.expiry() == start + 6h + 1s));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_call_that_is_late_by_less_than_a_period_is_made, late) {
    for (const missed rule : {missed::coalesce, missed::skip}) {
        const time_point begin = now();
        called.clear();
        due.clear();
        const task_handle h = tasks.schedule_at_fixed_rate(3s, 3s, note(), rule);
        elapse(6s - 1ns);
        poll();
        BOOST_TEST(called.size() == 1U);
        BOOST_TEST((h.expiry() == begin + 6s)); // Not later than without the delay.
        h.cancel();
    }
}

BOOST_FIXTURE_TEST_CASE(a_call_that_is_late_by_a_period_counts_for_the_time_that_has_come, late) {
    const task_handle one = tasks.schedule_at_fixed_rate(3s, 3s, note());
    const task_handle none = tasks.schedule_at_fixed_rate(3s, 3s, note(), missed::skip);
    sleep_for(6s);
    BOOST_TEST((due == std::vector{6}));
    BOOST_TEST((one.expiry() == start + 9s));
    BOOST_TEST((none.expiry() == start + 9s));
    one.cancel();
    none.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_call_that_takes_long_makes_the_next_one_late, late) {
    const auto slow = [this](const task_handle& h) {
        note()(h);
        elapse(called.size() == 1 ? 2500ms : 0ms);
    };
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, slow);
    in_time(1); // The call ends after 3.5 s.
    pass(500ms);
    BOOST_TEST((due == std::vector{1, 3, 4})); // Those of 2 and 3 s are one.
    h.cancel();
    called.clear();
    due.clear();
    const time_point begin = now();
    const task_handle skips = tasks.schedule_at_fixed_rate(1s, 1s, slow, missed::skip);
    pass(1s);
    poll();
    BOOST_TEST(due.size() == 1U);
    BOOST_TEST((skips.expiry() == begin + 4s)); // 2 s is late by more than a period.
    skips.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_rate_that_began_long_ago_follows_its_rule, late) {
    const task_handle one = tasks.schedule_at_fixed_rate(-5s, 2s, note());
    poll();
    BOOST_TEST((due == std::vector{-1}));
    BOOST_TEST((one.expiry() == start + 1s));
    one.cancel();
    due.clear();
    const task_handle none = tasks.schedule_at_fixed_rate(-5s, 2s, note(), missed::skip);
    poll();
    BOOST_TEST(due.empty());
    BOOST_TEST((none.expiry() == start + 1s));
    none.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_task_that_was_only_skipped_was_never_called, late) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, note(), missed::skip);
    sleep_for(10s);
    const auto orphans = tasks.stop();
    BOOST_TEST((orphans == std::vector{h}));
    BOOST_TEST(called.empty());
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_skipped_call_can_be_cancelled_and_postponed_as_any_other, late) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 5s, note(), missed::skip);
    sleep_for(10s); // Skipped; the next is at 11 s.
    BOOST_TEST((h.remaining() == 1s));
    BOOST_TEST(h.postpone(3s));
    in_time(5);
    BOOST_TEST((due == std::vector{13}));
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(other_tasks_have_no_rule_because_they_miss_no_call, late) {
    const task_handle often = tasks.schedule_with_fixed_delay(1s, 1s, note());
    const task_handle once = tasks.schedule_after(2s, note());
    sleep_for(1h);
    BOOST_TEST(called.size() == 2U); // Late, each once.
    BOOST_TEST((often.remaining() == 1s));
    BOOST_TEST(once.is_expired());
    often.cancel();
}

// ---- The arithmetic, on any clock

BOOST_AUTO_TEST_CASE(the_next_time_of_a_rate_takes_constant_time_and_never_overflows) {
    using tick = std::chrono::duration<std::int64_t, std::nano>;
    const auto check = [](tick period, tick expiry, tick now) {
        const auto one = begin(missed::coalesce, period, expiry, now);
        const auto none = begin(missed::skip, period, expiry, now);
        BOOST_TEST(one.made);
        BOOST_TEST(!none.made);
        const auto at = clock_of<tick>::time_point(now);
        BOOST_TEST((one.expiry <= at));
        BOOST_TEST((one.expiry > at - period || at.time_since_epoch() < tick::min() + period));
        BOOST_TEST((none.expiry > at || none.expiry == clock_of<tick>::time_point::max()));
        BOOST_TEST((none.expiry - one.expiry <= period));
    };
    check(tick(1), tick(0), tick::max());
    check(tick(3), tick(1), tick::max());
    check(tick(1), tick::min(), tick::max());
    check(tick(7), tick::min(), tick::max());
    check(tick(7), tick::min(), tick(5));
    check(tick(7), tick(-100), tick(100));
    check(tick::max(), tick::min(), tick::max());
    check(tick::max() / 2, tick(0), tick::max());
}

BOOST_AUTO_TEST_CASE(a_rate_is_kept_exactly) {
    using tick = std::chrono::duration<int>;
    for (int period = 1; period < 12; ++period) {
        for (int expiry = -30; expiry < 30; ++expiry) {
            for (int now = expiry; now < 60; ++now) {
                const auto one = begin(missed::coalesce, tick(period), tick(expiry), tick(now));
                int expected = expiry;
                while (expected + period <= now) {
                    expected += period;
                }
                BOOST_TEST_REQUIRE(one.made);
                BOOST_TEST_REQUIRE(one.expiry.time_since_epoch().count() == expected);
                const auto none = begin(missed::skip, tick(period), tick(expiry), tick(now));
                BOOST_TEST_REQUIRE(none.made == (expected == expiry));
                BOOST_TEST_REQUIRE(none.expiry.time_since_epoch().count() ==
                                   (none.made ? expiry : expected + period));
                const auto all = begin(missed::catch_up, tick(period), tick(expiry), tick(now));
                BOOST_TEST_REQUIRE(all.made);
                BOOST_TEST_REQUIRE(all.expiry.time_since_epoch().count() == expiry);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_back_misses_no_call) {
    using tick = std::chrono::duration<int>;
    for (const missed rule : {missed::coalesce, missed::skip}) {
        const auto early = begin(rule, tick(2), tick(100), tick(50));
        BOOST_TEST(early.made);
        BOOST_TEST(early.expiry.time_since_epoch().count() == 100);
    }
}

BOOST_AUTO_TEST_CASE(a_clock_may_count_in_fractions) {
    using tick = std::chrono::duration<double>;
    const auto one = begin(missed::coalesce, tick(0.25), tick(1.0), tick(7.6));
    BOOST_TEST(one.made);
    BOOST_TEST(one.expiry.time_since_epoch().count() == 7.5, boost::test_tools::tolerance(1e-9));
    const auto none = begin(missed::skip, tick(0.25), tick(1.0), tick(7.6));
    BOOST_TEST(!none.made);
    BOOST_TEST(none.expiry.time_since_epoch().count() == 7.75, boost::test_tools::tolerance(1e-9));
    const auto endless = begin(missed::skip, tick(1e-3), tick::min(), tick::max());
    BOOST_TEST((endless.expiry == clock_of<tick>::time_point::max()));
    const auto never =
        begin(missed::skip, tick(std::numeric_limits<double>::infinity()), tick(1), tick(9));
    BOOST_TEST(never.made);
}

// On the wheel, too.
BOOST_AUTO_TEST_CASE(a_scheduler_on_a_clock_of_fractions_follows_its_rules) {
    using clock = manual_clock<struct fractions, std::chrono::duration<double>>;
    virtual_time_on<clock> world;
    asio_wheel::basic_scheduler<clock> tasks(world.ctx);
    int one = 0, none = 0;
    const auto a = tasks.schedule_at_fixed_rate(1s, 500ms, [&] { ++one; });
    const auto b = tasks.schedule_at_fixed_rate(1s, 500ms, [&] { ++none; }, missed::skip);
    world.pass(clock::duration(3600.2));
    BOOST_TEST(one == 1);
    BOOST_TEST(none == 0);
    world.pass(clock::duration(0.4));
    BOOST_TEST(one == 2);
    BOOST_TEST(none == 1);
    a.cancel();
    b.cancel();
}

// ---- Functions that say when

BOOST_FIXTURE_TEST_CASE(a_function_that_says_when_may_be_told_the_time, late) {
    std::vector<int> previous, told;
    const auto next = [&](time_point t, time_point current) -> std::optional<time_point> {
        previous.push_back(static_cast<int>((t - start) / 1s));
        told.push_back(static_cast<int>((current - start) / 1s));
        return previous.size() < 4 ? std::optional(current + 2s) : std::nullopt;
    };
    tasks.schedule(next, note());
    in_time(2);
    sleep_for(10s); // The call for 4 s is late.
    in_time(5);
    BOOST_TEST((previous == std::vector{0, 2, 4, 14}));
    BOOST_TEST((told == std::vector{0, 2, 12, 14}));
    BOOST_TEST((called == std::vector{2, 12, 14}));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_function_that_takes_both_is_told_both, late) {
    struct either {
        int* both;
        std::optional<time_point> operator()(time_point) const { return std::nullopt; }
        std::optional<time_point> operator()(time_point, time_point) const {
            return ++*both < 3 ? std::optional(time_point()) : std::nullopt;
        }
    };
    int both = 0;
    tasks.schedule(either{&both}, note());
    poll();
    poll();
    BOOST_TEST(both == 3);
    BOOST_TEST(called.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
