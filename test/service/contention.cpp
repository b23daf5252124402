// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// Which locks each step in a timer's life takes, which determines how timers scale with threads.
// Counted on one thread, after a warm-up. tools/contention prints this and more.
//
// real time: in paused time, a wheel may behave differently.

#define ASIO_WHEEL_SYNC_HEADER "support/counted_sync.hpp"

#include "support/core_sources.hpp"

#include "support/timer_life.hpp"

#include "support/only_if.hpp"
#include "support/sync_counter.hpp"

#include <asio_wheel/detail/threads/thread_exit.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>

namespace {

using namespace asio_wheel::test;
using asio_wheel::detail::has_thread_exit;
using life = timer_life<asio_wheel::steady_timer>;

// How often a step takes the wheel's lock, and how often a lock that belongs to the object, such as
// a stream's. No step takes another one: neither that of the block pool nor that of the scale of
// idle timers.
struct promise {
    const char* step;
    std::size_t wheels = 0;
    std::size_t own = 0;
};

constexpr promise promises[] = {
    {.step = "make a timer"},
    {.step = "arm a fresh timer", .wheels = 1},
    {.step = "arm the earliest of all", .wheels = 1},
    {.step = "arm again after cancel"},
    {.step = "re-arm to a later time"},
    {.step = "re-arm to an earlier time", .wheels = 1},
    {.step = "postpone to a later time"},
    {.step = "postpone back", .wheels = 1}, // The count says whether it was in time.
    {.step = "postpone to an earlier time", .wheels = 1},
    {.step = "cancel"},
    {.step = "deliver an aborted wait"},
    {.step = "expire one wait, and deliver it", .wheels = 3},
    {.step = "deliver each further one of its tick", .wheels = 1},
    {.step = "move a pending timer", .wheels = 1},
    {.step = "destroy a pending timer", .wheels = 1},
    {.step = "begin a sleep", .wheels = 1},
    {.step = "a timeout round an operation", .wheels = has_thread_exit ? 0U : 2U},
    {.step = "a read with a deadline", .own = 4},
    {.step = "touch an idle timer"},
    {.step = "push into a delay queue"},
    {.step = "erase from a delay queue"},
};

// Three rounds, after a warm-up.
template <class Check>
void each_step(Check check) {
    boost::asio::io_context ctx;
    life timers(ctx);
    sync_counter handler_counts;
    handler_counts.name_first_lock(
        "idle_scale", [&] { asio_wheel::scale_idle_timers(asio_wheel::use_wheel(ctx), 1); });
    for (const auto& step : life::steps()) {
        for (int i = 0; i < 8; ++i) {
            step.does(timers, handler_counts);
        }
        const births::part_of here("timer");
        for (int i = 0; i < 3; ++i) {
            const std::size_t times = step.does(timers, handler_counts);
            BOOST_TEST_CONTEXT(step.name << ", round " << i) {
                check(step.name, times, handler_counts.counts());
            }
        }
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(contention)

BOOST_AUTO_TEST_CASE(what_is_done_to_mutexes_and_atomics_is_counted) {
    struct alignas(64) {
        asio_wheel::detail::mutex mutex;
        alignas(64) asio_wheel::detail::atomic<int> changed{1};
        asio_wheel::detail::atomic<int> beside{2};
        alignas(64) asio_wheel::detail::atomic<int*> seen{nullptr};
    } shared;
    const births::part_of me("me");
    asio_wheel::detail::mutex mine;
    asio_wheel::detail::atomic<bool> flag{false};

    sync_counter handler_counts;
    handler_counts.begin();
    {
        const std::lock_guard lock(shared.mutex);
        BOOST_TEST(++shared.changed == 2);
        BOOST_TEST(shared.beside.load() == 2);
    }
    shared.beside.fetch_sub(1, std::memory_order_relaxed);
    int expected = 7;
    BOOST_TEST(
        !shared.beside.compare_exchange_strong(expected, 8)); // Counts as if it had succeeded.
    BOOST_TEST(expected == 1);
    BOOST_TEST(shared.seen.load() == nullptr);
    BOOST_TEST(mine.try_lock());
    mine.unlock();
    flag.store(true);
    BOOST_TEST(flag.exchange(false));
    handler_counts.end();
    ++shared.changed; // After the end.

    const sync_counts& c = handler_counts.counts();
    BOOST_TEST(c.locks.size() == 2U);
    BOOST_TEST(c.locks_of(wheels_name) == 1U);
    BOOST_TEST(c.locks_of("me") == 1U);
    BOOST_TEST(c.modifications == 4U);
    BOOST_TEST(c.lines.size() == 3U); // State of the thread is not shared.
    const auto written = std::count_if(c.lines.begin(), c.lines.end(),
                                       [](const auto& line) { return line.second.written; });
    BOOST_TEST(written == 2);
}

BOOST_AUTO_TEST_CASE(what_is_made_in_the_place_of_another_object_is_not_mistaken_for_it) {
    alignas(asio_wheel::detail::atomic<int>) std::byte place[sizeof(int)];
    using value = asio_wheel::detail::atomic<int>;
    sync_counter handler_counts;
    {
        const births::part_of me("me");
        auto& v = *::new (place) value(0);
        handler_counts.begin();
        ++v;
        handler_counts.end();
        BOOST_TEST(handler_counts.counts().lines.empty());
    }
    auto& v = *::new (place) value(0);
    handler_counts.begin();
    ++v;
    handler_counts.end();
    BOOST_TEST(handler_counts.counts().lines.size() == 1U);
}

BOOST_AUTO_TEST_CASE(each_step_of_a_timers_life_takes_the_locks_that_are_promised) {
    std::map<std::string, bool> done;
    each_step([&](const std::string& name, std::size_t times, const sync_counts& c) {
        const auto* const p = std::find_if(std::begin(promises), std::end(promises),
                                           [&](const promise& q) { return q.step == name; });
        BOOST_TEST_REQUIRE((p != std::end(promises)), "nothing is promised of it");
        done[name] = true;
        BOOST_TEST(c.locks_of(wheels_name) == p->wheels * times);
        BOOST_TEST(c.locks_of("timer") + c.locks_of("stream") == p->own * times);
        BOOST_TEST((c.locks_of("pool") == 0U || !has_thread_exit));
        BOOST_TEST(c.locks_of("idle_scale") == 0U);
    });
    BOOST_TEST(done.size() == std::size(promises), "a step that is promised is not done");
}

// Each of them writes the cache line of the lock. Without it, timers of several threads share only
// lines that they read.
BOOST_AUTO_TEST_CASE(what_takes_no_lock_of_the_wheel_writes_nothing_that_timers_share,
                     *only_if(has_thread_exit)) {
    each_step([](const std::string&, std::size_t, const sync_counts& c) {
        if (c.locks_of(wheels_name) == 0) {
            for (const auto& [address, line] : c.lines) {
                BOOST_TEST(!line.written, line.objects.begin()->first << " is written");
            }
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()
