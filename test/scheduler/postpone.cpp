// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Tasks of a scheduler that are found by their keys, and that are postponed.

#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

/// A scheduler in virtual time, and the seconds at which its tasks were called.
struct calling : virtual_world {
    scheduler tasks{ctx};
    const std::chrono::steady_clock::time_point start = now();
    std::vector<int> called;

    auto note() {
        return [this] { called.push_back(static_cast<int>((now() - start) / 1s)); };
    }
    void seconds(int n) {
        for (int i = 0; i < n; ++i) {
            pass(1s);
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_postpone, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_task_can_be_postponed_later_and_earlier, calling) {
    const task_handle h = tasks.schedule_after(10s, note());
    BOOST_TEST(h.postpone(20s));
    BOOST_TEST((h.remaining() == 20s));
    BOOST_TEST((h.expiry() == start + 20s));
    seconds(15);
    BOOST_TEST(called.empty());
    BOOST_TEST(h.postpone_until(start + 17s));
    seconds(5);
    BOOST_TEST((called == std::vector<int>{17}));
    BOOST_TEST(!h.postpone(1s)); // It was called.
}

BOOST_FIXTURE_TEST_CASE(postponing_debounces, calling) {
    const task_handle save = tasks.schedule_after(3s, note());
    for (int key = 0; key < 5; ++key) { // A key is pressed each second.
        seconds(1);
        BOOST_TEST(save.postpone(3s));
    }
    seconds(10);
    BOOST_TEST((called == std::vector<int>{8}));
}

BOOST_FIXTURE_TEST_CASE(a_repeated_task_goes_on_from_its_new_time, calling) {
    const task_handle h = tasks.schedule_at_fixed_rate(10s, 10s, note());
    seconds(15);
    BOOST_TEST(h.postpone(1s));
    seconds(20);
    BOOST_TEST((called == std::vector<int>{10, 16, 26}));
}

BOOST_FIXTURE_TEST_CASE(what_has_no_next_call_is_not_postponed, calling) {
    BOOST_TEST(!task_handle().postpone(1s));
    BOOST_TEST(!task_handle().postpone_until(start + 1s));
    const task_handle cancelled = tasks.schedule_after(1s, note());
    cancelled.cancel();
    BOOST_TEST(!cancelled.postpone(1s));
    BOOST_TEST(!cancelled.postpone_until(start + 1s));
    task_handle running;
    bool postponed = true;
    running = tasks.schedule_at_fixed_rate(1s, 1s, [&] {
        postponed = running.postpone(1h) || // Its next call has no time yet.
                    running.postpone_until(start + 1h);
        running.cancel();
    });
    seconds(2);
    BOOST_TEST(!postponed);
    const task_handle orphan = tasks.schedule_after(1s, note());
    BOOST_TEST(tasks.stop().size() == 1U);
    BOOST_TEST(!orphan.postpone(1s));
    BOOST_TEST(!orphan.postpone_until(start + 1s));
    BOOST_TEST(called.empty());
}

BOOST_FIXTURE_TEST_CASE(a_bad_delay_leaves_the_task_where_it_is, calling) {
    const task_handle h = tasks.schedule_after(10s, note());
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_CHECK_THROW(static_cast<void>(h.postpone(nan)), std::invalid_argument);
    BOOST_TEST(h.postpone(-1h)); // Into the past: at once.
    poll();
    BOOST_TEST((called == std::vector<int>{0}));
}

BOOST_FIXTURE_TEST_CASE(a_task_is_found_by_its_key_until_it_is_over, calling) {
    const task_handle first = tasks.schedule_after("save", 10s, note());
    BOOST_TEST((tasks.find("save") == first));
    BOOST_TEST(tasks.is_pending("save"));
    BOOST_TEST((tasks.find("load") == task_handle()));
    BOOST_TEST(!tasks.is_pending("load"));
    const task_handle second = tasks.schedule_after("save", 5s, note());
    BOOST_TEST((tasks.find("save") == second));
    BOOST_TEST(tasks.find("save").postpone(7s));
    seconds(20);
    BOOST_TEST((called == std::vector<int>{7}));
    BOOST_TEST((tasks.find("save") == task_handle()));
    BOOST_TEST(!tasks.is_pending("save"));
}

BOOST_FIXTURE_TEST_CASE(a_task_is_cancelled_by_its_key, calling) {
    tasks.schedule_after("save", 10s, note());
    BOOST_TEST((tasks.cancel("save").result == cancel_result::cancelled));
    BOOST_TEST(!tasks.is_pending("save"));
    BOOST_TEST((tasks.cancel("save").result == cancel_result::already_cancelled));
    BOOST_TEST(tasks.pending() == 0U);
    bool pending_inside = true;
    tasks.schedule_after("inside", 1s, [&] { pending_inside = tasks.is_pending("inside"); });
    seconds(1);
    BOOST_TEST(!pending_inside); // It is being called for the last time.
    BOOST_TEST(called.empty());
}

// Real time.
BOOST_AUTO_TEST_CASE(threads_postpone_what_others_call) {
    constexpr int tasks_of_each = 200;
    asio::io_context ctx;
    scheduler tasks(ctx);
    std::atomic<int> called = 0;
    std::vector<task_handle> handles;
    for (int i = 0; i < tasks_of_each; ++i) {
        handles.push_back(tasks.schedule_after(i * 20us, [&called] { ++called; }));
    }
    std::atomic<int> moved = 0;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] { ctx.run(); });
        }
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] {
                for (int round = 0; round < 20; ++round) {
                    for (const task_handle& h : handles) {
                        moved += h.postpone(round * 100us) ? 1 : 0;
                        static_cast<void>(h.remaining());
                    }
                }
            });
        }
    }
    ctx.restart();
    ctx.run();
    BOOST_TEST(called == tasks_of_each); // Each once.
    BOOST_TEST_MESSAGE(moved << " calls were moved");
}

BOOST_AUTO_TEST_SUITE_END()
