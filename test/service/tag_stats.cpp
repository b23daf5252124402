// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// stats_by_tag(): what is measured of each kind and tag.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <asio_wheel/detail/core/tag_meter.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace asio_wheel::test;
using asio_wheel::tag;
using asio_wheel::tag_stats;
using asio_wheel::wait_kind;
using asio_wheel::detail::tag_meter;
using asio_wheel::detail::wait_node;
using std::chrono::nanoseconds;

struct measured_world : virtual_time {
    measured_world() : virtual_time({.measure_handlers = true}) {}

    /// Of a tag that was measured; zeros if it was not.
    [[nodiscard]] tag_stats of(std::string_view name) const {
        const auto all = wheel.stats_by_tag();
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const tag_stats& t) { return t.tag == name; });
        return found == all.end() ? tag_stats() : *found;
    }

    /// A handler that takes so long.
    [[nodiscard]] auto takes(nanoseconds d) {
        return [this, d](error_code) { wheel.advance(d); };
    }
};

struct tagged_wait : asio_wheel::detail::described_node<wait_node> {
    explicit tagged_wait(const char* name, wait_kind k = wait_kind::timer)
        : described_node({.kind = k}) {
        what.tag = name;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(service_tag_stats)

BOOST_FIXTURE_TEST_CASE(handlers_are_measured_by_tag, measured_world) {
    std::deque<timer> timers;
    const auto start = [&](auto token) { timers.emplace_back(ctx, 10ms).async_wait(token); };
    start(tag("slow", takes(80ms)));
    start(tag("quick", takes(1ms)));
    start(tag("slow", takes(20ms)));
    pass(13ms);
    BOOST_TEST((of("slow") == tag_stats{.kind = wait_kind::timer,
                                        .tag = "slow",
                                        .fired = 2,
                                        .wake_ups = 0,
                                        .late = 6ms,
                                        .longest_late = 3ms,
                                        .delayed = 81ms,
                                        .longest_delay = 81ms,
                                        .handlers = 2,
                                        .ran = 100ms,
                                        .longest_run = 80ms,
                                        .recent_run = 80ms}));
    BOOST_TEST((of("quick").delayed == 80ms));
    BOOST_TEST((of("quick").ran == 1ms));
    BOOST_TEST(wheel.stats_by_tag().front().tag == "slow", "the most time in handlers is first");
}

BOOST_AUTO_TEST_CASE(nothing_is_measured_by_tag_unless_asked_for) {
    virtual_time world;
    timer t(world.ctx, 1ms);
    t.async_wait(tag("a", ignore));
    world.pass(1ms);
    BOOST_TEST(world.wheel.stats_by_tag().empty());
}

BOOST_FIXTURE_TEST_CASE(waits_without_a_tag_are_measured_by_kind, measured_world) {
    timer t(ctx, 1ms);
    t.async_wait(ignore);
    asio_wheel::async_sleep_for(ctx, 1ms, takes(5ms));
    pass(1ms);
    const auto all = wheel.stats_by_tag();
    BOOST_TEST_REQUIRE(all.size() == 2U);
    BOOST_TEST((all[0].kind == wait_kind::sleep && all[0].tag.empty() && all[0].ran == 5ms));
    BOOST_TEST((all[1].kind == wait_kind::timer && all[1].tag.empty() && all[1].fired == 1));
}

BOOST_FIXTURE_TEST_CASE(a_handler_on_a_strand_is_late_but_its_time_is_not_measured,
                        measured_world) {
    const auto strand = asio::make_strand(ctx);
    timer first(ctx, 1ms), t(ctx, 1ms);
    first.async_wait(takes(7ms));
    t.async_wait(asio::bind_executor(strand, tag("strand", takes(5ms))));
    pass(1ms);
    BOOST_TEST(of("strand").fired == 1U);
    BOOST_TEST((of("strand").delayed == 7ms));
    BOOST_TEST(of("strand").handlers == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_throws_is_measured, measured_world) {
    timer t(ctx, 1ms);
    t.async_wait(tag("throws", [&](error_code) {
        wheel.advance(5ms);
        throw std::runtime_error("on purpose");
    }));
    wheel.advance(1ms);
    BOOST_CHECK_THROW(poll(), std::runtime_error);
    BOOST_TEST((of("throws").ran == 5ms));
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_runs_another_one_is_measured_with_it, measured_world) {
    timer outer(ctx, 1ms), inner(ctx, 1ms);
    outer.async_wait(tag("outer", [&](error_code) {
        wheel.advance(1ms);
        static_cast<void>(ctx.poll_one());
    }));
    inner.async_wait(tag("inner", takes(4ms)));
    pass(1ms);
    BOOST_TEST((of("inner").ran == 4ms));
    BOOST_TEST((of("outer").ran == 5ms));
}

BOOST_FIXTURE_TEST_CASE(a_wait_that_is_cancelled_is_not_measured, measured_world) {
    timer t(ctx, 1ms), due(ctx, 1ms);
    t.async_wait(tag("a", ignore));
    due.async_wait(tag("a", ignore));
    wheel.advance(1ms);
    BOOST_TEST(t.cancel() == 1U);
    due.cancel();
    poll();
    BOOST_TEST(of("a").fired == 0U);
    BOOST_TEST(of("a").handlers == 0U);
}

// A wheel whose wake-ups are made by hand.
struct woken_wheel {
    using clock = manual_clock<struct wakes_by_tag>;
    using woken_timer = asio_wheel::basic_waitable_timer<clock, impatient<clock>>;

    struct set_clock { // Before the wheel is made.
        set_clock() { clock::set(clock::time_point(1'000s)); }
    } now;
    drained_context world;
    asio_wheel::wheel_service<clock, impatient<clock>>& wheel =
        asio_wheel::make_wheel<clock, impatient<clock>>(world.ctx, {.measure_handlers = true});
};

BOOST_FIXTURE_TEST_CASE(a_wake_up_counts_for_the_wait_that_was_due_first, woken_wheel) {
    woken_timer a(world.ctx, 20ms), b(world.ctx, 25ms), c(world.ctx, 50ms);
    b.async_wait(tag("b", ignore));
    a.async_wait(tag("a", ignore));
    c.async_wait(tag("c", ignore));
    world.poll();
    clock::advance(30ms);
    look(world.ctx);
    clock::advance(30ms);
    look(world.ctx);
    std::string text;
    for (const tag_stats& t : wheel.stats_by_tag()) {
        text += std::string(t.tag) + ':' + std::to_string(t.wake_ups) + ' ';
    }
    BOOST_TEST(text == "a:1 b:0 c:1 ");
    BOOST_TEST(wheel.stats().wake_ups == 2U);
}

// As after most timeouts: the wait was cancelled before. What starts later, and is due at once, has
// not caused it.
BOOST_FIXTURE_TEST_CASE(a_wake_up_that_finds_nothing_due_counts_for_nobody, woken_wheel) {
    woken_timer cancelled(world.ctx, 20ms), later(world.ctx, 1h), at_once(world.ctx, 0ms);
    cancelled.async_wait(tag("cancelled", ignore));
    later.async_wait(tag("later", ignore));
    cancelled.cancel();
    world.poll();
    clock::advance(30ms);
    look(world.ctx);
    BOOST_TEST(wheel.stats().spurious_wake_ups == 1U);
    at_once.async_wait(tag("at once", ignore));
    look(world.ctx);
    const auto all = wheel.stats_by_tag();
    BOOST_TEST_REQUIRE(all.size() == 1U);
    BOOST_TEST((all[0].tag == "at once" && all[0].fired == 1 && all[0].wake_ups == 0));
    later.cancel();
}

BOOST_AUTO_TEST_CASE(equal_tags_of_several_sources_are_one) {
    const char here[] = "session", there[] = "session";
    const tagged_wait a(here), b(there), other_kind(here, wait_kind::idle);
    tag_meter meter;
    for (const tagged_wait* const wait : {&a, &b, &other_kind}) {
        asio_wheel::detail::measured_tag& t = meter.of(*wait);
        tag_meter::fired(t, 2ms, 3ms);
        tag_meter::ran(t, wait == &b ? 5ms : 4ms, 1);
    }
    const auto all = meter.all(1);
    BOOST_TEST_REQUIRE(all.size() == 2U);
    BOOST_TEST((all[0] == tag_stats{.kind = wait_kind::timer,
                                    .tag = "session",
                                    .fired = 2,
                                    .wake_ups = 0,
                                    .late = 4ms,
                                    .longest_late = 2ms,
                                    .delayed = 6ms,
                                    .longest_delay = 3ms,
                                    .handlers = 2,
                                    .ran = 9ms,
                                    .longest_run = 5ms,
                                    .recent_run = 5ms}));
    BOOST_TEST((all[1].kind == wait_kind::idle));
}

// So the memory is bounded, and nothing is lost.
BOOST_AUTO_TEST_CASE(what_has_no_room_is_counted_by_kind) {
    std::deque<std::string> names;
    tag_meter meter;
    const auto count = [&](wait_kind kind) {
        const tagged_wait wait(names.emplace_back(std::to_string(names.size())).c_str(), kind);
        tag_meter::fired(meter.of(wait), 1ms, 0ms);
    };
    for (std::size_t i = 0; i < tag_meter::slots + 5; ++i) {
        count(wait_kind::sleep);
    }
    count(wait_kind::idle);
    const auto all = meter.all(1);
    BOOST_TEST(all.size() == tag_meter::slots + 2);
    const auto others = [&](wait_kind kind) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const tag_stats& t) {
            return t.tag == tag_stats::others && t.kind == kind;
        });
        return found == all.end() ? 0 : found->fired;
    };
    BOOST_TEST(others(wait_kind::sleep) == 5U);
    BOOST_TEST(others(wait_kind::idle) == 1U);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_set_back_makes_no_time_negative) {
    asio_wheel::detail::measured_tag t;
    tag_meter::ran(t, -5ms, 7);
    tag_meter::ran(t, nanoseconds::max(), 8);
    tag_meter::ran(t, nanoseconds::max(), 3);
    BOOST_TEST((t.numbers.ran == nanoseconds::max()));
    BOOST_TEST((t.numbers.longest_run == nanoseconds::max()));
    BOOST_TEST(t.numbers.handlers == 3U);
}

BOOST_AUTO_TEST_CASE(the_recent_run_is_the_longest_of_two_minutes) {
    const tagged_wait wait("a");
    tag_meter meter;
    const auto run = [&](nanoseconds d, std::int64_t minute) {
        tag_meter::ran(meter.of(wait), d, minute);
    };
    const auto recent = [&](std::int64_t minute) {
        return meter.all(minute).front().recent_run / 1ms;
    };
    run(80ms, 5);
    run(10ms, 5);
    BOOST_TEST(recent(5) == 80);
    BOOST_TEST(recent(6) == 80);
    BOOST_TEST(recent(7) == 0);
    run(10ms, 6);
    BOOST_TEST(recent(6) == 80);
    BOOST_TEST(recent(7) == 10);
    run(5ms, 9);
    BOOST_TEST(recent(9) == 5);
    BOOST_TEST(meter.all(9).front().longest_run / 1ms == 80);
}

BOOST_AUTO_TEST_SUITE_END()
