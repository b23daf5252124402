// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 600
// pch: off

// A slice is a turn: the wheel works in slices of `budget`. Other handlers of the context run
// between slices, and no lock is held for longer than one. This test counts waits, by an
// instrumented mutex and by a handler that is always ready, for each shape of wheel in the
// documents. tools/locks measures the times.

#define ASIO_WHEEL_SYNC_HEADER "support/measured_sync.hpp"

#include "support/core_sources.hpp"

#include "support/each.hpp"
#include "support/names.hpp"
#include "support/turns.hpp"

#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

namespace {

using namespace asio_wheel::test;

// The default shape, those of wheel_options and of the guides, and the extremes.
constexpr wheel_shape shapes[] = {{256, 4}, {512, 1}, {4096, 1}, {65'536, 1},
                                  {64, 2},  {16, 16}, {2, 8}};

constexpr std::size_t budget = 64;
constexpr std::size_t waits = is_tracked ? 1'000 : 10'000;
constexpr std::size_t slices = waits / budget;
static_assert(slices > 10);

// A slice, and the handler that started it.
constexpr std::size_t a_slice = budget + 1;

template <class Function>
void with_each_shape(Function f) {
    for (const wheel_shape& shape : shapes) {
        BOOST_TEST_CONTEXT(shape) {
            waiting_crowd crowd(shape, budget);
            f(crowd);
        }
    }
}

// Returns what the locks of `f` cover, and what they make ready.
template <class Crowd, class Function>
lock_record locks_of(Crowd& crowd, Function f) {
    lock_log log(crowd);
    f();
    return log.finish();
}

// Checks that no lock of `f` covers more than a slice.
template <class Crowd, class Function>
lock_record check_locks(Crowd& crowd, Function f) {
    const lock_record locks = locks_of(crowd, std::move(f));
    BOOST_TEST(locks.most_work <= budget);
    BOOST_TEST(locks.most_ready <= a_slice);
    return locks;
}

} // namespace

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(a_lock_is_watched) {
    waiting_crowd crowd(shapes[0], budget);
    const lock_record nothing = locks_of(crowd, [] {});
    BOOST_TEST(nothing.count == 0U);
    const lock_record one = locks_of(crowd, [&] { crowd.wait(1, 1h); });
    BOOST_TEST(one.count >= 1U);
    BOOST_TEST(one.most_work == 1U);
    BOOST_TEST(one.most_ready == 0U);
    BOOST_TEST((one.longest_ns > 0 || !thread_time_is_fine));
    const lock_record aborted = locks_of(crowd, [&] { crowd.timers().pop_back(); });
    BOOST_TEST(aborted.most_work == 1U);
    BOOST_TEST(aborted.most_ready == 1U);
}

// The log must detect a lock without slices.
BOOST_AUTO_TEST_CASE(a_lock_that_covers_much_is_noticed) {
    constexpr std::size_t large = waits;
    waiting_crowd crowd(shapes[0], large);
    crowd.wait(waits, 1s);
    waiting_crowd::gap gap;
    const lock_record expired = locks_of(crowd, [&] { gap = crowd.run(1s); });
    BOOST_TEST(crowd.delivered() == waits);
    BOOST_TEST(gap.handlers >= waits - 1);
    BOOST_TEST(expired.most_ready >= waits - 1);
    crowd.wait(waits, 1h);
    const lock_record drained = locks_of(crowd, [&] { static_cast<void>(crowd.wheel().drain()); });
    BOOST_TEST(drained.most_work == waits);
    BOOST_TEST(drained.most_ready == waits);
}

TEST_CASE_FOR_EACH(waits_that_expire_are_delivered_in_slices, with_each_shape,
                   waiting_crowd& crowd) {
    crowd.wait(waits, 1s);
    waiting_crowd::gap gap;
    check_locks(crowd, [&] { gap = crowd.run(1s); });
    BOOST_TEST(crowd.delivered() == waits);
    BOOST_TEST(gap.handlers <= a_slice);
}

TEST_CASE_FOR_EACH(waits_that_were_postponed_are_filed_again_in_slices, with_each_shape,
                   waiting_crowd& crowd) {
    crowd.wait(waits, 1s);
    check_locks(crowd, [&] { crowd.postpone(1h); });
    waiting_crowd::gap gap;
    const lock_record locks = check_locks(crowd, [&] { gap = crowd.run(1s); });
    BOOST_TEST(crowd.delivered() == 0U);
    BOOST_TEST(gap.cascaded <= budget);
    BOOST_TEST(locks.count >= slices);
    gap = crowd.run(1h - 1s); // On time: if it was late, others were busy, and a turn is longer.
    BOOST_TEST(crowd.delivered() == waits);
    BOOST_TEST(gap.handlers <= a_slice);
}

TEST_CASE_FOR_EACH(waits_come_down_the_levels_in_slices, with_each_shape, waiting_crowd& crowd) {
    crowd.wait(1, 30h + 10ms); // Opens the slot of the others.
    crowd.wait(waits, 30h + 20ms);
    check_locks(crowd, [&] {
        const waiting_crowd::gap gap = crowd.run(30h + 10ms);
        BOOST_TEST(gap.cascaded <= budget);
        BOOST_TEST(crowd.delivered() == 1U);
        if (crowd.levels() > 1) {
            BOOST_TEST(crowd.wheel().stats().cascaded >= waits);
        }
        BOOST_TEST(crowd.run(10ms).handlers <= a_slice);
    });
    BOOST_TEST(crowd.delivered() == 1 + waits);
}

TEST_CASE_FOR_EACH(waits_are_cancelled_without_a_lock, with_each_shape, waiting_crowd& crowd) {
    crowd.wait(waits, 1h);
    const lock_record locks = locks_of(crowd, [&] {
        for (auto& t : crowd.timers()) {
            BOOST_TEST_REQUIRE(t.cancel() == 1U);
        }
    });
    BOOST_TEST(locks.count == 0U);
    BOOST_TEST(crowd.ran() == waits);
    BOOST_TEST(crowd.delivered() == 0U);
}

TEST_CASE_FOR_EACH(timers_end_one_lock_each, with_each_shape, waiting_crowd& crowd) {
    crowd.wait(waits, 1h);
    const lock_record locks = locks_of(crowd, [&] { crowd.timers().clear(); });
    BOOST_TEST(locks.count == waits);
    BOOST_TEST(locks.most_work == 1U);
    BOOST_TEST(locks.most_ready == 1U);
    BOOST_TEST(crowd.ran() == waits);
    BOOST_TEST(crowd.delivered() == 0U);
}

TEST_CASE_FOR_EACH(what_is_overdue_when_time_is_paused_is_delivered_in_slices, with_each_shape,
                   waiting_crowd& crowd) {
    crowd.wait(waits, 1s);
    waiting_crowd::clock::advance(1s);
    check_locks(crowd, [&] {
        crowd.wheel().pause();
        BOOST_TEST(crowd.run(0s).handlers <= a_slice);
    });
    BOOST_TEST(crowd.delivered() == waits);
}

TEST_CASE_FOR_EACH(paused_time_is_advanced_in_slices, with_each_shape, waiting_crowd& crowd) {
    crowd.wheel().pause();
    crowd.wait(waits, 1s);
    crowd.postpone(2s);
    const lock_record first =
        check_locks(crowd, [&] { BOOST_TEST(crowd.wheel().advance(1s) == 0U); });
    BOOST_TEST(first.count >= slices);
    const lock_record second =
        check_locks(crowd, [&] { BOOST_TEST(crowd.wheel().advance(1s) == waits); });
    BOOST_TEST(second.count >= slices);
    BOOST_TEST(crowd.delivered() == waits);
}

TEST_CASE_FOR_EACH(paused_time_is_advanced_to_the_next_wait_in_slices, with_each_shape,
                   waiting_crowd& crowd) {
    crowd.wheel().pause();
    crowd.wait(waits, 1s);
    crowd.postpone(2s);
    const std::size_t before = crowd.delivered();
    const lock_record locks =
        check_locks(crowd, [&] { BOOST_TEST(crowd.wheel().advance_to_next() == waits); });
    // Each is filed again, found, and made due.
    BOOST_TEST(locks.count >= 3 * slices);
    BOOST_TEST(crowd.delivered() == before + waits);
}

TEST_CASE_FOR_EACH(a_wheel_is_drained_in_slices, with_each_shape, waiting_crowd& crowd) {
    crowd.wait(waits, 1h);
    const lock_record locks =
        check_locks(crowd, [&] { BOOST_TEST(crowd.wheel().drain().size() == waits); });
    BOOST_TEST(locks.count >= slices);
    BOOST_TEST(crowd.ran() == waits);
    BOOST_TEST(crowd.delivered() == 0U);
}

TEST_CASE_FOR_EACH(a_context_ends_in_slices, with_each_shape, waiting_crowd& crowd) {
    crowd.wait(waits, 1h);
    const lock_record locks = check_locks(crowd, [&] { crowd.end(); });
    BOOST_TEST(crowd.ran() == 0U);
    BOOST_TEST(crowd.wheel().pending() == 0U);
    BOOST_TEST(locks.count >= slices);
}

BOOST_AUTO_TEST_CASE(idle_timers_are_given_less_time_in_slices) {
    for (const wheel_shape& shape : shapes) {
        BOOST_TEST_CONTEXT(shape) {
            idle_crowd crowd(shape, budget);
            crowd.wait(waits, 4h);
            waiting_crowd::gap gap;
            check_locks(crowd, [&] { gap = crowd.scale(0.5); });
            BOOST_TEST(crowd.wheel().stats().postponed == waits);
            BOOST_TEST(gap.handlers <= 2 * budget); // scale() does the first slice itself.
        }
    }
}

// One timer may have very many waits. (Its waits become due together when it expires; tools/locks
// measures that.)
BOOST_AUTO_TEST_CASE(the_waits_of_one_timer_are_ended_in_slices) {
    using timer = waiting_crowd::timer;
    using way = std::function<void(waiting_crowd&, timer&)>;
    const std::pair<const char*, way> ways[] = {
        {"cancel()", [](waiting_crowd&, timer& t) { BOOST_TEST(t.cancel() == waits); }},
        {"expires_after()",
         [](waiting_crowd&, timer& t) { BOOST_TEST(t.expires_after(2h) == waits); }},
        {"the destructor", [](waiting_crowd& crowd, timer&) { crowd.timers().pop_back(); }},
        {"move assignment", [](waiting_crowd&, timer& t) { t = timer(t.get_executor()); }},
        {"drain()",
         [](waiting_crowd& crowd, timer&) { BOOST_TEST(crowd.wheel().drain().size() == waits); }},
        {"the context's end", [](waiting_crowd& crowd, timer&) { crowd.end(); }},
    };
    for (const auto& [name, end] : ways) {
        BOOST_TEST_CONTEXT(name) {
            waiting_crowd crowd(shapes[0], budget);
            timer& t = crowd.wait_on_one(waits, 1h);
            const lock_record locks = check_locks(crowd, [&, &e = end] { e(crowd, t); });
            BOOST_TEST(locks.count >= slices);
            BOOST_TEST(crowd.wheel().pending() == 0U);
            BOOST_TEST(crowd.ran() == (crowd.ended() ? 0U : waits));
        }
    }
}

// The same for waits whose handlers are queued elsewhere and have not been called yet.
BOOST_AUTO_TEST_CASE(a_context_ends_in_slices_though_handlers_are_on_another) {
    boost::asio::io_context elsewhere;
    std::size_t called = 0;
    {
        waiting_crowd crowd(shapes[0], budget);
        auto& t = crowd.timers().emplace_back(crowd.context(), 1s);
        for (std::size_t i = 0; i < waits; ++i) {
            t.async_wait(boost::asio::bind_executor(elsewhere.get_executor(),
                                                    [&](const auto& ec) { called += ec ? 0 : 1; }));
        }
        crowd.run(1s);
        BOOST_TEST(crowd.wheel().pending() == waits);
        check_locks(crowd, [&] { crowd.end(); });
        BOOST_TEST(crowd.wheel().pending() == 0U);
    }
    BOOST_TEST(called == 0U);
    elsewhere.run();
    BOOST_TEST(called == waits);
}

// Work that no counter shows does not take long either. The unit is processor time, which other
// processes do not affect, and the minimum of several runs counts.
BOOST_AUTO_TEST_CASE(no_lock_is_held_for_most_of_the_time_that_all_of_them_are,
                     *only_if(thread_time_is_fine)) {
    const std::pair<const char*, std::function<void(waiting_crowd&)>> workloads[] = {
        {"expiry", [](waiting_crowd& crowd) { crowd.run(1s); }},
        {"advance()",
         [](waiting_crowd& crowd) {
             crowd.wheel().pause();
             crowd.wheel().advance(1s);
         }},
        {"advance_to_next()",
         [](waiting_crowd& crowd) {
             crowd.wheel().pause();
             crowd.wheel().advance_to_next();
         }},
        {"drain()", [](waiting_crowd& crowd) { static_cast<void>(crowd.wheel().drain()); }},
        {"the context's end", [](waiting_crowd& crowd) { crowd.end(); }},
    };
    for (const auto& [name, workload] : workloads) {
        BOOST_TEST_CONTEXT(name) {
            double least = 1;
            for (int i = 0; i < 5; ++i) {
                waiting_crowd crowd(shapes[0], budget);
                crowd.wait(waits, 1s);
                const lock_record locks = locks_of(crowd, [&, &w = workload] { w(crowd); });
                least = std::min(least, static_cast<double>(locks.longest_ns) /
                                            static_cast<double>(locks.total_ns));
            }
            BOOST_TEST(least < 0.4); // A slice is a hundredth or a fifteenth of the work.
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
