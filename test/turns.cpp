// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 600
// pch: off

// A slice is a turn: work for the wheel is done in slices of `budget`, between which other handlers of
// the context have their turns, and no lock is held for longer than one. Counted in waits, by a mutex
// that is watched and by a handler that is always ready, for each shape of wheel that the documents
// show. tools/locks prints how long it takes.

#define ASIO_WHEEL_SYNC_HEADER "support/measured_sync.hpp"

#include "support/turns.hpp"

#include "support/sanitizers.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace {

using namespace asio_wheel::test;
using namespace std::chrono_literals;

// The default, those of wheel_options and of the guides, and the extremes.
constexpr wheel_shape shapes[] = {{256, 4}, {512, 1}, {4096, 1}, {65'536, 1},
                                  {64, 2},  {16, 16}, {2, 8}};

constexpr std::size_t budget = 64;
constexpr std::size_t waits = is_tracked ? 1'000 : 10'000;
static_assert(waits > 10 * budget);

// A slice, the handler that began it, and what the watched handler itself may add.
constexpr std::size_t a_slice = budget + 2;

template <class Function>
void with_each_shape(Function f) {
    for (const wheel_shape& shape : shapes) {
        BOOST_TEST_CONTEXT(shape) {
            waiting_crowd crowd(shape, budget);
            f(crowd);
        }
    }
}

// What the locks of `f` cover.
template <class Wheel, class Function>
lock_record locks_of(Wheel& wheel, Function f) {
    lock_log log(wheel);
    f();
    return log.record();
}

} // namespace

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(a_lock_is_watched) {
    waiting_crowd crowd(shapes[0], budget);
    const lock_record nothing = locks_of(crowd.wheel(), [] {});
    BOOST_TEST(nothing.count == 0U);
    const lock_record one = locks_of(crowd.wheel(), [&] { crowd.wait(1, 1h); });
    BOOST_TEST(one.count >= 1U);
    BOOST_TEST(one.most_work == 1U);
    BOOST_TEST(one.longest_ns > 0);
    const lock_record aborted = locks_of(crowd.wheel(), [&] { crowd.timers().front().cancel(); });
    BOOST_TEST(aborted.most_work == 1U);
}

BOOST_AUTO_TEST_CASE(waits_that_expire_are_delivered_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wait(waits, 1s);
        waiting_crowd::gap gap;
        const lock_record locks = locks_of(crowd.wheel(), [&] { gap = crowd.run(1s); });
        BOOST_TEST(crowd.delivered() == waits);
        BOOST_TEST(gap.handlers <= a_slice);
        BOOST_TEST(locks.most_work <= budget);
        BOOST_TEST(locks.count >= waits / budget);
    });
}

BOOST_AUTO_TEST_CASE(waits_that_were_postponed_are_filed_again_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wait(waits, 1s);
        crowd.postpone(1h);
        waiting_crowd::gap gap;
        const lock_record locks = locks_of(crowd.wheel(), [&] { gap = crowd.run(1s); });
        BOOST_TEST(crowd.delivered() == 0U);
        BOOST_TEST(gap.cascaded <= budget);
        BOOST_TEST(locks.most_work <= budget);
        gap = crowd.run(1h);
        BOOST_TEST(crowd.delivered() == waits);
        BOOST_TEST(gap.handlers <= a_slice);
    });
}

BOOST_AUTO_TEST_CASE(waits_come_down_the_levels_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wait(waits, 30h);
        const lock_record locks = locks_of(crowd.wheel(), [&] {
            for (const auto step : {1h, 20h, 8h, 1h}) {
                const waiting_crowd::gap gap = crowd.run(step);
                BOOST_TEST(gap.cascaded <= budget);
                BOOST_TEST(gap.handlers <= a_slice);
            }
        });
        BOOST_TEST(crowd.delivered() == waits);
        BOOST_TEST(locks.most_work <= budget);
    });
}

BOOST_AUTO_TEST_CASE(what_is_overdue_when_time_is_paused_or_resumed_is_delivered_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wait(waits, 1s);
        waiting_crowd::clock::advance(1s);
        const lock_record locks = locks_of(crowd.wheel(), [&] {
            crowd.wheel().pause();
            BOOST_TEST(crowd.run(0s).handlers <= a_slice);
        });
        BOOST_TEST(crowd.delivered() == waits);
        BOOST_TEST(locks.most_work <= budget);
    });
}

BOOST_AUTO_TEST_CASE(paused_time_is_advanced_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wheel().pause();
        crowd.wait(waits, 1s);
        crowd.postpone(2s);
        const lock_record first =
            locks_of(crowd.wheel(), [&] { BOOST_TEST(crowd.wheel().advance(1s) == 0U); });
        BOOST_TEST(first.most_work <= budget);
        BOOST_TEST(first.count >= waits / budget);
        const lock_record second =
            locks_of(crowd.wheel(), [&] { BOOST_TEST(crowd.wheel().advance(1s) == waits); });
        BOOST_TEST(second.most_work <= budget);
        BOOST_TEST(second.count >= waits / budget);
        crowd.run(0s);
        BOOST_TEST(crowd.delivered() == waits);
    });
}

BOOST_AUTO_TEST_CASE(paused_time_is_advanced_to_the_next_wait_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wheel().pause();
        crowd.wait(waits, 1s);
        crowd.postpone(2s);
        const lock_record locks =
            locks_of(crowd.wheel(), [&] { BOOST_TEST(crowd.wheel().advance_to_next() == waits); });
        BOOST_TEST(locks.most_work <= budget);
        BOOST_TEST(locks.count >= waits / budget);
        crowd.run(0s);
    });
}

BOOST_AUTO_TEST_CASE(a_wheel_is_drained_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wait(waits, 1h);
        const lock_record locks =
            locks_of(crowd.wheel(), [&] { BOOST_TEST(crowd.wheel().drain().size() == waits); });
        BOOST_TEST(locks.most_work <= budget);
        BOOST_TEST(locks.count >= waits / budget);
        crowd.run(0s);
        BOOST_TEST(crowd.delivered() == waits);
    });
}

BOOST_AUTO_TEST_CASE(a_context_ends_in_slices) {
    with_each_shape([](waiting_crowd& crowd) {
        crowd.wait(waits, 1h);
        const lock_record locks = locks_of(crowd.wheel(), [&] { crowd.end(); });
        BOOST_TEST(crowd.delivered() == 0U);
        BOOST_TEST(locks.most_work <= budget);
        BOOST_TEST(locks.count >= waits / budget);
    });
}

BOOST_AUTO_TEST_CASE(idle_timers_are_given_less_time_in_slices) {
    for (const wheel_shape& shape : shapes) {
        BOOST_TEST_CONTEXT(shape) {
            idle_crowd crowd(shape, budget);
            crowd.wait(waits, 4h);
            std::uint64_t between_turns = 0;
            const lock_record locks =
                locks_of(crowd.wheel(), [&] { between_turns = crowd.scale(0.5); });
            BOOST_TEST(crowd.wheel().stats().postponed == waits);
            BOOST_TEST(between_turns <= 2 * budget); // scale() does the first slice itself.
            BOOST_TEST(locks.most_work <= budget);
        }
    }
}

// One timer may have very many waits.
BOOST_AUTO_TEST_CASE(the_waits_of_one_timer_are_delivered_in_slices) {
    waiting_crowd crowd(shapes[0], budget);
    crowd.wait_on_one(waits, 1s);
    waiting_crowd::gap gap;
    const lock_record locks = locks_of(crowd.wheel(), [&] { gap = crowd.run(1s); });
    BOOST_TEST(crowd.delivered() == waits);
    BOOST_TEST(gap.handlers <= a_slice);
    BOOST_TEST(locks.most_work <= budget);
}

BOOST_AUTO_TEST_CASE(the_waits_of_one_timer_are_ended_in_slices) {
    using timer = waiting_crowd::timer;
    const std::pair<const char*, std::function<void(waiting_crowd&, timer&)>> ways[] = {
        {"cancel()", [](waiting_crowd&, timer& t) { BOOST_TEST(t.cancel() == waits); }},
        {"expires_after()",
         [](waiting_crowd&, timer& t) { BOOST_TEST(t.expires_after(2h) == waits); }},
        {"the destructor", [](waiting_crowd& crowd, timer&) { crowd.timers().pop_back(); }},
        {"move assignment",
         [](waiting_crowd& crowd, timer& t) {
             t = timer(t.get_executor());
             static_cast<void>(crowd);
         }},
        {"drain()",
         [](waiting_crowd& crowd, timer&) { BOOST_TEST(crowd.wheel().drain().size() == waits); }},
        {"the context's end", [](waiting_crowd& crowd, timer&) { crowd.end(); }},
    };
    for (const auto& [name, end] : ways) {
        BOOST_TEST_CONTEXT(name) {
            waiting_crowd crowd(shapes[0], budget);
            timer& t = crowd.wait_on_one(waits, 1h);
            const lock_record locks = locks_of(crowd.wheel(), [&, &e = end] { e(crowd, t); });
            BOOST_TEST(locks.most_work <= budget);
            BOOST_TEST(crowd.wheel().pending() == 0U);
        }
    }
}

// Processor time, which no other process takes away; what the least of some runs says.
BOOST_AUTO_TEST_CASE(no_lock_is_held_for_most_of_the_time_that_all_of_them_are) {
    const std::function<void(waiting_crowd&)> workloads[] = {
        [](waiting_crowd& crowd) { crowd.run(1s); },
        [](waiting_crowd& crowd) { crowd.wheel().drain(); },
        [](waiting_crowd& crowd) { crowd.end(); },
    };
    for (const auto& workload : workloads) {
        double least = 1;
        for (int i = 0; i < 3; ++i) {
            waiting_crowd crowd(shapes[0], budget);
            crowd.wait(waits, 1s);
            const lock_record locks = locks_of(crowd.wheel(), [&] { workload(crowd); });
            least = std::min(least, static_cast<double>(locks.longest_ns) /
                                        static_cast<double>(locks.total_ns));
        }
        BOOST_TEST(least < 0.4); // A slice is a hundredth of the work, or a fifteenth.
    }
}

BOOST_AUTO_TEST_SUITE_END()
