// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// When waits complete: never early, at most one tick late, in order, for any deadline.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::wheel_options;
using std::chrono::nanoseconds;
using time_point = timer::time_point;

constexpr auto year = 365 * 24h;

// A hashed wheel that turns every 16 ticks, the default, and shapes with few levels.
const wheel_options shapes[] = {{.slots = 16, .levels = 1}, {.slots = 256, .levels = 4},
                                {.slots = 4, .levels = 3},  {.slots = 2, .levels = 8},
                                {.slots = 64, .levels = 2}, {.slots = 4096, .levels = 1}};

// Returns a number from 0 to `end` - 1.
nanoseconds any_below(nanoseconds end, std::mt19937_64& random) {
    return nanoseconds(random() % static_cast<std::uint64_t>(end.count()));
}

std::string name_of(const wheel_options& options) {
    return std::to_string(options.slots) + " slots, " + std::to_string(options.levels) + " levels";
}

} // namespace

BOOST_AUTO_TEST_SUITE(timer_expiry)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_fresh_timer_has_expired, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx);
    BOOST_TEST((t.expiry() == typename T::time_point()));
    BOOST_TEST(t.cancel() == 0U);
    BOOST_TEST(t.cancel_one() == 0U);
    t.wait(); // It returns.
    t.async_wait(log.note(1));
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(world.log_now(log) == "1");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_for_now_or_the_past_completes_on_the_next_turn, World,
                              worlds) {
    using T = typename World::timer;
    using duration = typename T::duration;
    World world;
    journal log;
    T t(world.ctx), distant(world.ctx, 1h);
    distant.async_wait(log.note("far"));
    for (const duration d : {duration(0), duration(-1), duration(-1h),
                             duration::min() + duration(1), duration::min()}) {
        t.expires_after(d);
        t.async_wait(log.note("wait"));
        BOOST_TEST(log.size() == 0U);
        BOOST_TEST(world.log_now(log) == "wait");
    }
    for (const auto time :
         {T::time_point::min(), typename T::time_point(), world.now() - 1h, world.now()}) {
        t.expires_at(time);
        t.async_wait(log.note("wait"));
        BOOST_TEST(log.size() == 0U);
        BOOST_TEST(world.log_now(log) == "wait");
    }
    BOOST_TEST(distant.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "far!");
}

BOOST_FIXTURE_TEST_CASE(a_deadline_that_time_has_passed_is_due_at_once, virtual_time) {
    for (const nanoseconds passed : {nanoseconds(1ns), nanoseconds(10s), nanoseconds(year)}) {
        const time_point start = now();
        timer t(ctx);
        pass(passed);
        t.expires_at(start);
        t.async_wait(log.note("due"));
        BOOST_TEST(log_now() == "due");
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_longest_wait_never_completes_and_can_be_cancelled, World,
                              worlds) {
    using T = typename World::timer;
    using duration = typename T::duration;
    World world;
    journal log;
    T t(world.ctx), other(world.ctx);
    const auto check = [&] {
        t.async_wait(log.note("never"));
        const std::size_t handlers = world.ctx.run_for(1ms); // real time
        if (counts_only_handlers) {
            BOOST_TEST(handlers == 0U);
        }
        other.expires_after(1ms);
        other.async_wait(log.note("other"));
        BOOST_TEST(world.log_after(1ms, log) == "other");
        BOOST_TEST(t.cancel() == 1U);
        BOOST_TEST(world.log_now(log) == "never!");
    };
    t.expires_after(duration::max());
    BOOST_TEST((t.expiry() == T::time_point::max()));
    check();
    t.expires_after(duration::max() - 1ms);
    BOOST_TEST((t.expiry() == T::time_point::max()));
    check();
    t.expires_at(T::time_point::max());
    check();
    t.expires_at(T::time_point::max() - duration(1));
    check();
    t.expires_at(T::time_point::max() - 1ms);
    check();
}

BOOST_AUTO_TEST_CASE(the_longest_wait_does_not_complete_at_the_end_of_time) {
    for (const wheel_options& shape : shapes) {
        BOOST_TEST_CONTEXT(name_of(shape)) {
            virtual_time world(shape);
            journal log;
            timer never(world.ctx, timer::duration::max());
            timer late(world.ctx);
            late.expires_at(time_point::max() - 1h);
            never.async_wait(log.note("never"));
            late.async_wait(log.note("late"));
            BOOST_TEST(world.log_after(100 * year, log) == "");
            world.pass(timer::duration::max());
            BOOST_TEST((world.now() == time_point::max()));
            BOOST_TEST(log.take() == "late");
            world.pass(1h);
            BOOST_TEST(world.wheel.advance_to_next() == 0U);
            BOOST_TEST(never.cancel() == 1U);
            BOOST_TEST(world.log_now(log) == "never!");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_wait_is_neither_early_nor_more_than_a_tick_late) {
    for (const nanoseconds tick : {nanoseconds(1ms), nanoseconds(10ms), nanoseconds(100ms)}) {
        BOOST_TEST_CONTEXT("a tick of " << tick.count() << " ns") {
            virtual_time world({.tick = tick});
            world.pass(tick / 3); // Not at the start of a tick.
            std::deque<timer> timers;
            std::size_t early = 0, late = 0, fired = 0;
            for (nanoseconds d = 150ms; d < 550ms; d += 1ms) {
                timer& t = timers.emplace_back(world.ctx, d);
                t.async_wait([&](error_code) {
                    ++fired;
                    early += world.now() < t.expiry();
                    // Time advances in steps of 1 ms.
                    late += world.now() > t.expiry() + tick + 1ms;
                });
            }
            for (nanoseconds t = 0ms; t <= 550ms + tick; t += 1ms) {
                world.pass(1ms);
            }
            BOOST_TEST(fired == 400U);
            BOOST_TEST(early == 0U);
            BOOST_TEST(late == 0U);
        }
    }
}

// 1 to 1000 ms from any position within a tick, checked whenever a wait is due.
BOOST_FIXTURE_TEST_CASE(a_wait_of_any_length_is_never_early, virtual_time) {
    std::mt19937_64 random(asio_wheel::test::seed());
    std::size_t early = 0, late = 0, fired = 0;
    std::deque<timer> timers;
    for (int i = 0; i < 1000; ++i) {
        timers.emplace_back(ctx);
    }
    for (int round = 0; round < 100; ++round) {
        for (timer& t : timers) {
            const auto longest =
                nanoseconds(1ms) * (1 << (random() % 11)); // Mostly less than a tick.
            t.expires_after(nanoseconds(1) + any_below(longest, random));
            t.async_wait([&](error_code ec) {
                fired += !ec;
                early += now() < t.expiry();
                late += now() >= t.expiry() + 1ms;
            });
        }
        while (wheel.advance_to_next() != 0) {
            poll();
        }
        wheel.advance(any_below(1ms, random));
    }
    BOOST_TEST(fired == 100'000U);
    BOOST_TEST(early == 0U);
    BOOST_TEST(late == 0U);
}

// real time
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_never_sees_a_time_before_the_expiry, World, real_worlds) {
    using T = typename World::timer;
    World world;
    std::deque<T> timers;
    std::size_t early = 0, fired = 0;
    for (int i = 0; i < 1000; ++i) {
        T& t = timers.emplace_back(world.ctx, i * 3001ns);
        t.async_wait([&](error_code ec) {
            early += world.now() < t.expiry();
            fired += !ec;
        });
    }
    world.run();
    BOOST_TEST(fired == 1000U);
    BOOST_TEST(early == 0U);
}

BOOST_AUTO_TEST_CASE(exactly_the_waits_whose_time_has_come_are_complete) {
    for (const wheel_options& shape : shapes) {
        BOOST_TEST_CONTEXT(name_of(shape)) {
            virtual_time world(shape);
            world.align();
            std::deque<timer> timers;
            std::size_t fired = 0;
            for (int ticks = 0; ticks < 1024; ++ticks) {
                timers.emplace_back(world.ctx, ticks * 1ms).async_wait([&, ticks](error_code) {
                    BOOST_TEST(static_cast<int>(fired) == ticks);
                    ++fired;
                });
            }
            world.poll();
            for (std::size_t ticks = 0; ticks < 1024; ++ticks) {
                BOOST_TEST_REQUIRE(fired == ticks + 1);
                world.pass(1ms - 1ns);
                BOOST_TEST_REQUIRE(fired == ticks + 1);
                world.pass(1ns);
            }
            BOOST_TEST(fired == 1024U);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_deadline_on_a_slots_edge_is_due_there) {
    for (const wheel_options& shape : shapes) {
        for (unsigned power = 1; power < 40; ++power) {
            for (const int off : {-1, 0, 1}) {
                const nanoseconds d = ((std::int64_t{1} << power) + off) * 1ms;
                BOOST_TEST_INFO_SCOPE(name_of(shape) << ", " << d.count() << " ns");
                virtual_time world(shape);
                world.align();
                timer t(world.ctx, d);
                bool fired = false;
                t.async_wait([&](error_code) { fired = true; });
                BOOST_TEST_REQUIRE(world.pass(d - 1ns) == 0U);
                BOOST_TEST_REQUIRE(!fired);
                BOOST_TEST_REQUIRE(world.pass(1ns) == 1U);
                BOOST_TEST_REQUIRE(fired);
            }
        }
    }
}

// Real time passes in ticks. Time that a test moves is exact.
BOOST_FIXTURE_TEST_CASE(a_deadline_between_two_ticks_is_due_at_the_second_of_them,
                        drained_context) {
    auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 20ms});
    wheel.pause();
    const auto start = wheel.now();
    asio_wheel::steady_timer first(ctx, 1ns), second(ctx, 20ms + 2ns);
    first.async_wait([](error_code) {});
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST((wheel.now() == start + 1ns));
    auto seen = start;
    second.async_wait([&](error_code) { seen = wheel.now(); });
    wheel.resume(); // real time
    ctx.run_for(20s);
    BOOST_TEST((seen >= second.expiry()));
    BOOST_TEST(wheel.stats().wake_ups == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_between_two_ticks_is_due_exactly_in_paused_time, virtual_time) {
    timer t(ctx, 1ms + 1ns);
    t.async_wait([](error_code) {});
    BOOST_TEST(pass(1ms) == 0U);
    BOOST_TEST(pass(1ns) == 1U);
}

BOOST_AUTO_TEST_CASE(a_wait_longer_than_a_turn_of_the_wheel_completes_once_in_its_round) {
    virtual_time world({.slots = 16, .levels = 1});
    world.align();
    journal log;
    timer longest(world.ctx, 47ms), longer(world.ctx, 31ms), t(world.ctx, 15ms), odd(world.ctx);
    odd.expires_after(62ms + 1ns);
    longest.async_wait(log.note(47)); // One slot, later turns first.
    longer.async_wait(log.note(31));
    t.async_wait(log.note(15));
    odd.async_wait(log.note(63));
    std::string seen;
    for (int ms = 1; ms < 100; ++ms) {
        world.pass(1ms);
        if (log.size() != 0) {
            seen += std::to_string(ms) + ":" + log.take() + " ";
        }
    }
    BOOST_TEST(seen == "15:15 31:31 47:47 63:63 ");
}

BOOST_AUTO_TEST_CASE(a_wait_of_years_is_due_in_its_tick) {
    for (const wheel_options& shape : shapes) {
        BOOST_TEST_CONTEXT(name_of(shape)) {
            virtual_time world(shape);
            world.align();
            timer t(world.ctx);
            std::size_t fired = 0;
            for (const int years : {1, 5, 10, 1, 100}) {
                t.expires_after(years * year);
                t.async_wait([&](error_code) { ++fired; });
                BOOST_TEST(world.pass(years * year - 1h) == 0U);
                BOOST_TEST(world.pass(1h - 1ns) == 0U);
                BOOST_TEST(world.pass(1ns) == 1U);
            }
            BOOST_TEST(fired == 5U);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_handler_that_waits_again_keeps_its_cadence, virtual_time) {
    pass(123'456ns);
    timer by_interval(ctx, 10s), by_time(ctx, 10s);
    const time_point start = now();
    std::vector<nanoseconds> seen, exact;
    auto again = [&](auto&& self, error_code aborted_at_the_end) -> void {
        if (aborted_at_the_end) {
            return;
        }
        seen.push_back(now() - start);
        by_interval.expires_after(10s);
        by_interval.async_wait([&self](error_code ec) { self(self, ec); });
    };
    auto next = [&](auto&& self, error_code aborted_at_the_end) -> void {
        if (aborted_at_the_end) {
            return;
        }
        exact.push_back(now() - start);
        by_time.expires_at(by_time.expiry() + 10s);
        by_time.async_wait([&self](error_code ec) { self(self, ec); });
    };
    by_interval.async_wait([&](error_code ec) { again(again, ec); });
    by_time.async_wait([&](error_code ec) { next(next, ec); });
    for (int i = 1; i <= 12; ++i) {
        BOOST_TEST(wheel.advance_to_next() == 2U); // Both in one tick: no drift.
        poll();
        BOOST_TEST_REQUIRE(exact.size() == static_cast<std::size_t>(i));
        BOOST_TEST((exact.back() - i * 10s < 1ms));
        BOOST_TEST((exact.back() >= i * 10s));
    }
    BOOST_TEST((seen == exact));
    BOOST_TEST(by_interval.cancel() + by_time.cancel() == 2U);
    poll();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(waits_on_one_timer_complete_in_the_order_they_were_started, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1ms);
    for (int i = 0; i < 10; ++i) {
        t.async_wait(log.note(i));
    }
    BOOST_TEST(world.log_after(1ms, log) == "0 1 2 3 4 5 6 7 8 9");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(waits_that_are_found_due_together_complete_in_order_of_expiry, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T a(world.ctx), b(world.ctx), c(world.ctx);
    for (const auto unit : {nanoseconds(10ms), nanoseconds(10us), nanoseconds(1ns)}) {
        const auto start = world.now() + 1ms;
        a.expires_at(start + 3 * unit);
        b.expires_at(start + 1 * unit);
        c.expires_at(start + 2 * unit);
        a.async_wait(log.note("a"));
        b.async_wait(log.note("b"));
        c.async_wait(log.note("c"));
        BOOST_TEST(world.log_after(3 * unit + 2ms, log) == "b c a");
    }
}

// Asio's timers promise no order. By a clock that runs, and in paused time: both have the same.
BOOST_AUTO_TEST_CASE(waits_with_the_same_expiry_complete_in_the_order_of_their_starts) {
    using clock = manual_clock<struct equal_waits>;
    using timer_type = asio_wheel::basic_waitable_timer<clock, impatient<clock>>;
    for (const bool paused : {false, true}) {
        for (int others = 0; others < 40; others += 3) {
            BOOST_TEST_INFO_SCOPE((paused ? "paused" : "running") << ", " << others << " others");
            drained_context world;
            auto& wheel = asio_wheel::use_wheel<clock, impatient<clock>>(world.ctx);
            if (paused) {
                wheel.pause();
            }
            const auto pass = [&](nanoseconds d) {
                if (paused) {
                    wheel.advance(d);
                    world.poll();
                } else {
                    clock::advance(d);
                    look(world.ctx);
                }
            };
            std::deque<timer_type> unrelated;
            for (int i = 0; i < others; ++i) {
                unrelated.emplace_back(world.ctx, i % 3 * 1ms).async_wait([](error_code) {});
            }
            pass(10ms);
            for (timer_type& t : unrelated) {
                t.expires_after(&t == &unrelated.front() ? 1s : 1s + 1ns);
                t.async_wait([](error_code) {});
            }
            // For one time, and with others between them.
            std::vector<int> order, expected;
            std::deque<timer_type> timers;
            for (int i = 0; i < 600; ++i) {
                expected.push_back(i);
                timers.emplace_back(world.ctx, 1s).async_wait([&order, i](error_code) {
                    order.push_back(i);
                });
                if (i % 7 == 0) {
                    unrelated.emplace_back(world.ctx, 1s - 1ns).async_wait([](error_code) {});
                }
            }
            pass(1s + 1ms);
            BOOST_TEST_REQUIRE((order == expected));
            unrelated.clear();
            timers.clear();
            look(world.ctx);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(waits_for_the_past_complete_in_order_of_expiry, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T a(world.ctx, -1s), b(world.ctx, -3s), c(world.ctx, -2s);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    c.async_wait(log.note("c"));
    BOOST_TEST(world.log_now(log) == "b c a");
}

// Waits expire in order, except for those that fall into one tick and different slices of it.
BOOST_AUTO_TEST_CASE(a_jump_of_time_completes_what_is_due_in_order_and_nothing_else) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (wheel_options shape : shapes) {
        for (const nanoseconds jump : {nanoseconds(20ms), nanoseconds(3s), nanoseconds(10h),
                                       nanoseconds(100 * 24h), nanoseconds(10 * year)}) {
            for (const std::size_t budget : {1U, 65536U}) {
                BOOST_TEST_INFO_SCOPE(name_of(shape)
                                      << ", " << jump.count() << " ns, budget " << budget);
                shape.budget = budget;
                virtual_time world(shape);
                std::deque<timer> timers;
                std::vector<time_point> expected, seen;
                for (int i = 0; i < 200; ++i) {
                    timer& t = timers.emplace_back(world.ctx, any_below(2 * jump, random));
                    t.async_wait([&](error_code ec) {
                        if (!ec) {
                            seen.push_back(t.expiry());
                        }
                    });
                    expected.push_back(t.expiry());
                }
                std::sort(expected.begin(), expected.end());
                world.pass(jump);
                const std::size_t due = seen.size();
                BOOST_TEST((due == 0 || expected[due - 1] <= world.now()));
                BOOST_TEST((due == expected.size() || expected[due] > world.now() - 1ms));
                world.pass(2 * jump);
                BOOST_TEST_REQUIRE(seen.size() == expected.size());
                for (std::size_t i = 0; i < seen.size(); ++i) {
                    BOOST_TEST((budget == 1 ? std::chrono::abs(seen[i] - expected[i]) < 1ms
                                            : seen[i] == expected[i]));
                }
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
