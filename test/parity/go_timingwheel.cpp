// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The features of github.com/RussellLuo/timingwheel: TimingWheel with AfterFunc, ScheduleFunc and
// Stop, Timer.Stop, and its package delayqueue.

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::delay_queue;
using asio_wheel::task_handle;
using time_point = std::chrono::steady_clock::time_point;

// tw := timingwheel.NewTimingWheel(time.Millisecond, 20)
struct timing_wheel : logged_scheduler {
    timing_wheel() : logged_scheduler({.tick = 1ms, .slots = 20, .levels = 4}) {}
};

// type EveryScheduler struct { Interval time.Duration }, of its examples
struct every {
    std::chrono::milliseconds interval;

    [[nodiscard]] std::optional<time_point> operator()(time_point previous) const {
        return previous + interval;
    }
};

// The wall clock.
using wall_clock = std::chrono::system_clock;
using calendar = asio_wheel::basic_scheduler<wall_clock>;

struct wall_time : virtual_time_on<wall_clock> {
    calendar tasks{ctx};

    // Advances time to the next deadline.
    void next() {
        BOOST_TEST_REQUIRE(wheel.advance_to_next() != 0U);
        poll();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(parity_go_timingwheel, *boost::unit_test::timeout(60))

// AfterFunc(d, f)

BOOST_FIXTURE_TEST_CASE(after_func_calls_once_and_never_early, timing_wheel) {
    int called = 0;
    for (const auto d : {1ms, 5ms, 10ms, 50ms, 100ms, 500ms, 1000ms, 10'000ms}) {
        pass(300us);
        const auto due = now() + d;
        tasks.schedule_after(d, [&, due] {
            BOOST_TEST((now() >= due)); // There: up to a tick early.
            BOOST_TEST((now() < due + 1ms));
            ++called;
        });
    }
    pass_in(110'000, 100us);
    BOOST_TEST(called == 8);
}

// ScheduleFunc(scheduler, f)

BOOST_FIXTURE_TEST_CASE(schedule_func_follows_its_plan, timing_wheel) {
    const task_handle t = tasks.schedule(every{1s}, note("x"));
    BOOST_TEST((t.remaining() == 1s));
    pass(1s);
    pass(1s);
    BOOST_TEST(log_after(1s) == "xxx");
    t.cancel();
    BOOST_TEST(log_after(1h) == "");
}

BOOST_FIXTURE_TEST_CASE(a_plan_may_end_and_an_empty_one_is_a_handle_to_nothing, timing_wheel) {
    const auto until = now() + 2500ms;
    const task_handle t = tasks.schedule(
        [until](time_point previous) {
            const auto next = previous + 1s;
            return next < until ? std::optional(next) : std::nullopt;
        },
        note("x"));
    pass_in(10, 1s);
    BOOST_TEST(take_log() == "xx");
    BOOST_TEST(t.is_expired());
    const task_handle nil =
        tasks.schedule([](time_point) { return std::optional<time_point>(); }, note("y"));
    BOOST_TEST((nil == task_handle()));
}

// "All times must be UTC": a scheduler on the wall clock, for calendar times

BOOST_FIXTURE_TEST_CASE(a_plan_may_follow_the_calendar, wall_time) {
    std::vector<wall_clock::time_point> calls;
    const auto handle = tasks.schedule(
        [](wall_clock::time_point t) { // Each noon.
            const auto noon = std::chrono::floor<std::chrono::days>(t) + 12h;
            return std::optional<wall_clock::time_point>(noon > t ? noon : noon + 24h);
        },
        [&](const calendar::handle& self) { calls.push_back(self.expiry()); });
    next();
    next();
    next();
    BOOST_TEST_REQUIRE(calls.size() == 3U);
    for (const auto t : calls) {
        BOOST_TEST((t - std::chrono::floor<std::chrono::days>(t) == 12h));
    }
    BOOST_TEST((calls[2] - calls[0] == 48h));
    handle.cancel();
    // The same.
    const auto noons = tasks.schedule(asio_wheel::daily(12h, asio_wheel::utc), [] {});
    BOOST_TEST((noons.expiry() == calls[2] + 24h));
    noons.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_function_may_be_called_at_a_date, wall_time) {
    const auto date = std::chrono::ceil<std::chrono::days>(now()) + 24h;
    bool called = false;
    tasks.schedule_at(date, [&] { called = true; });
    next();
    BOOST_TEST(called);
    BOOST_TEST((now() >= date));
}

// "In its own goroutine": ours never overlaps the calls of one task; concurrent work is posted

BOOST_FIXTURE_TEST_CASE(work_that_may_overlap_is_posted, timing_wheel) {
    int inside = 0;
    int most = 0;
    std::function<void()> work = [&] {
        most = std::max(most, ++inside);
        if (inside < 3) {
            elapse(1s);
            ctx.poll(); // Takes until the next call is due.
        }
        --inside;
    };
    const task_handle t = tasks.schedule(every{1s}, [&] { asio::post(ctx, [&work] { work(); }); });
    pass(1s);
    BOOST_TEST(most == 3);
    t.cancel();
    poll();
}

// delayqueue.New(size), Offer(elem, expiration), Poll(exitC, nowF), C

BOOST_FIXTURE_TEST_CASE(offered_elements_come_when_they_expire, virtual_world) {
    delay_queue<std::string> queue(ctx);
    std::string got;
    std::function<void()> poll_queue = [&] { // Receives from C, until exitC.
        queue.async_pop([&](error_code ec, const std::string& element) {
            if (!ec) {
                got += element;
                poll_queue();
            } else {
                got += ".";
            }
        });
    };
    poll_queue();
    queue.push_at(now() + 3s, "c");
    pass(500ms);
    queue.push_at(now() + 500ms, "a"); // Earlier than the element for which it waits.
    queue.push_at(now() + 500ms, "b"); // With equal times, in the order of pushes.
    pass(500ms);
    BOOST_TEST(got == "ab");
    pass(2s);
    BOOST_TEST(got == "abc");
    queue.cancel(); // close(exitC)
    poll();
    BOOST_TEST(got == "abc.");
}

BOOST_AUTO_TEST_SUITE_END()
