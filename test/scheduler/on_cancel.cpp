// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Tasks that are told of their cancellation.

#include <asio_wheel/scheduler.hpp>

#include "support/latch.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::on_cancel;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

/// A log of calls ("a"), of cancellations ("-a"), and of the ends of functions ("~a").
struct told : logged_scheduler {
    // Logs when it is destroyed.
    class end {
    public:
        end(std::string& log, std::string what) : log_(&log), what_(std::move(what)) {}
        end(const end&) = delete;
        end& operator=(const end&) = delete;
        ~end() { *log_ += "~" + what_; }

    private:
        std::string* log_;
        std::string what_;
    };

    auto task(const std::string& what) {
        return on_cancel(
            [this, what] { log.text += what; },
            [this, what, e = std::make_shared<end>(log.text, what)] { log.text += "-" + what; });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_on_cancel, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(who_is_cancelled_is_told_once_before_its_function_is_destroyed, told) {
    const task_handle h = tasks.schedule_after(1s, task("a"));
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    BOOST_TEST(take_log() == "-a~a"); // Inside of cancel().
    h.cancel();
    tasks.stop().clear();
    BOOST_TEST(log_after(1s) == "");
}

BOOST_FIXTURE_TEST_CASE(who_is_called_is_not_told, told) {
    const task_handle h = tasks.schedule_after(1s, task("a"));
    BOOST_TEST(log_after(1s) == "a~a");
    h.cancel();
    BOOST_TEST(take_log() == "");
    const task_handle self =
        tasks.schedule_after(1s, on_cancel([](const task_handle& t) { t.cancel(); }, note("told")));
    BOOST_TEST(log_after(1s) == ""); // It was called for the last time.
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_key_tells, told) {
    tasks.schedule_after("key", 1s, task("a"));
    tasks.cancel("key");
    BOOST_TEST(take_log() == "-a~a");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_takes_the_place_of_another_tells_it, told) {
    tasks.schedule_after("key", 1s, task("a"));
    tasks.schedule_after("key", 1s, task("b"));
    BOOST_TEST(take_log() == "-a~a");
    BOOST_TEST(log_after(1s) == "b~b");
}

BOOST_FIXTURE_TEST_CASE(a_group_tells_what_it_cancels, told) {
    {
        scheduler::group session(tasks);
        session.schedule_after(1s, task("a"));
        session.cancel();
        BOOST_TEST(take_log() == "-a~a");
        session.schedule_at_fixed_rate(1s, 1s, task("b"));
    }
    BOOST_TEST(take_log() == "-b~b");
}

BOOST_FIXTURE_TEST_CASE(what_is_told_of_the_end_of_its_group_schedules_no_more_there,
                        logged_scheduler) {
    {
        scheduler::group session(tasks);
        const auto again = [&] { session.schedule_after(1s, note("after the end")); };
        session.schedule_after(1s, asio_wheel::on_cancel(note("x"), again));
    }
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(errors.find("stopped") != std::string::npos);
    BOOST_TEST(log_after(1s) == "");
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_scheduler_tells_all, told) {
    {
        scheduler other(ctx);
        other.schedule_after(1s, task("a"));
        other.schedule_after(1s, task("b"));
    }
    BOOST_TEST(take_log() == "-a~a-b~b");
}

BOOST_FIXTURE_TEST_CASE(stop_tells_all_but_orphans_which_are_told_when_they_are_cancelled, told) {
    const task_handle often = tasks.schedule_at_fixed_rate(0s, 1s, task("a"));
    const task_handle orphan = tasks.schedule_after(1s, task("b"));
    const task_handle adopted = tasks.schedule_after(1s, task("c"));
    BOOST_TEST(log_now() == "a");
    const auto orphans = tasks.stop();
    BOOST_TEST(orphans.size() == 2U);
    BOOST_TEST(take_log() == "-a~a");
    BOOST_TEST((orphan.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST(take_log() == "-b~b");
    scheduler other(ctx);
    other.adopt(orphans);
    BOOST_TEST(take_log() == "");
    adopted.cancel();
    BOOST_TEST(take_log() == "-c~c");
}

BOOST_FIXTURE_TEST_CASE(an_orphan_that_no_handle_leads_to_is_not_told, told) {
    tasks.schedule_after(1s, task("a"));
    tasks.stop().clear();
    poll(); // Its wait is gone then.
    BOOST_TEST(take_log() == "~a");
}

BOOST_FIXTURE_TEST_CASE(a_repeated_task_is_told_when_its_call_has_returned, told) {
    const auto in_the_call = [this](auto cancel) {
        scheduler one(ctx);
        one.schedule_at_fixed_rate(1s, 1s,
                                   on_cancel(
                                       [&](const task_handle& self) {
                                           cancel(one, self);
                                           log.text += "x";
                                       },
                                       note("-")));
        BOOST_TEST(log_after(1s) == "x-");
        pass(1s);
    };
    in_the_call([](scheduler&, const task_handle& self) { self.cancel(); });
    in_the_call([](scheduler& s, const task_handle&) { BOOST_TEST(s.stop().empty()); });
    BOOST_TEST(take_log() == "");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_does_not_go_on_by_itself_is_not_told, told) {
    int left = 1;
    tasks.schedule([&](auto t) { return left-- > 0 ? std::optional(t + 1s) : std::nullopt; },
                   task("a"));
    BOOST_TEST(log_after(1s) == "a~a");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_context_tells_no_one) {
    bool told = false;
    const auto alive = std::make_shared<int>();
    std::optional<asio::io_context> ctx(std::in_place);
    scheduler tasks(*ctx);
    tasks.schedule_after(1h, on_cancel([] {}, [&told, alive] { told = true; }));
    tasks.schedule_at_fixed_rate(1h, 1h, on_cancel([] {}, [&told, alive] { told = true; }));
    ctx.reset();
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(!told);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_on_cancel_throws_is_reported, told) {
    tasks.schedule_after("key", 1s, on_cancel([] {}, [] { throw std::runtime_error("oh."); }));
    tasks.cancel("key");
    BOOST_TEST(errors == "oh.");
    BOOST_TEST(tasks.pending() == 0U);
    const task_handle orphan =
        tasks.schedule_after(1s, on_cancel([] {}, [] { throw std::runtime_error("ah."); }));
    BOOST_TEST(tasks.stop().size() == 1U);
    std::ostringstream written; // An orphan has no scheduler.
    std::streambuf* const before = std::clog.rdbuf(written.rdbuf());
    orphan.cancel();
    std::clog.rdbuf(before);
    BOOST_TEST(errors == "oh.");
    BOOST_TEST(written.str() == "asio_wheel: a task has thrown: ah.\n");
}

BOOST_FIXTURE_TEST_CASE(on_cancel_may_take_the_handle_and_use_the_scheduler, told) {
    task_handle seen;
    const auto again = [&](const task_handle& self) {
        seen = self;
        BOOST_TEST(self.is_cancelled());
        BOOST_TEST((self.cancel().result == cancel_result::already_cancelled));
        BOOST_TEST(tasks.pending() == 1U);
        BOOST_TEST((tasks.find("key") == task_handle()));
        tasks.schedule_after("key", 1s, note("again"));
    };
    const task_handle h = tasks.schedule_after("key", 1s, on_cancel(note("a"), again));
    h.cancel();
    BOOST_TEST((seen == h));
    BOOST_TEST(log_after(1s) == "again");
}

BOOST_FIXTURE_TEST_CASE(any_function_object_with_a_member_on_cancel_is_told, told) {
    struct plain {
        std::string* log;
        void operator()() const { *log += "call"; }
        void on_cancel() const { *log += "cancel"; }
    };
    struct with_handle {
        task_handle* seen;
        void operator()(const task_handle&) const {}
        void on_cancel(const task_handle& h) { *seen = h; }
    };
    tasks.schedule_after(1s, plain{&log.text}).cancel();
    BOOST_TEST(take_log() == "cancel");
    task_handle seen;
    const task_handle h = tasks.schedule_after(1s, with_handle{&seen});
    h.cancel();
    BOOST_TEST((seen == h));
}

BOOST_FIXTURE_TEST_CASE(empty_functions_are_refused_on_either_side, told) {
    const std::function<void()> empty;
    BOOST_CHECK_THROW(tasks.schedule_after(1s, on_cancel(empty, [] {})), std::invalid_argument);
    BOOST_CHECK_THROW(tasks.schedule_after(1s, on_cancel([] {}, empty)), std::invalid_argument);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_task_that_could_not_be_scheduled_is_not_told, told) {
    tasks.close();
    BOOST_CHECK_THROW(tasks.schedule_after(1s, task("a")), boost::system::system_error);
    BOOST_TEST(take_log() == "~a");
}

// Real time: it is the thread that runs the call which tells, if the call is under way.
BOOST_AUTO_TEST_CASE(a_call_under_way_on_another_thread_is_told_there) {
    asio::thread_pool pool(1);
    scheduler tasks(pool);
    latch inside(1), go_on(1);
    std::thread::id called, told;
    const task_handle h =
        tasks.schedule_at_fixed_rate(0s, 1h,
                                     on_cancel(
                                         [&] {
                                             called = std::this_thread::get_id();
                                             inside.count_down();
                                             go_on.wait();
                                         },
                                         [&] { told = std::this_thread::get_id(); }));
    inside.wait();
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    go_on.count_down();
    pool.join();
    BOOST_TEST((told == called));
}

BOOST_AUTO_TEST_CASE(a_task_that_threads_race_for_is_called_or_told) {
    asio::thread_pool pool(2);
    std::atomic<int> called{0}, told{0};
    constexpr int all = 3'000;
    {
        scheduler tasks(pool);
        std::vector<task_handle> handles;
        handles.reserve(all);
        for (int i = 0; i < all; ++i) {
            handles.push_back(
                tasks.schedule_after(std::chrono::microseconds(i),
                                     on_cancel([&called] { ++called; }, [&told] { ++told; })));
        }
        std::vector<std::jthread> threads;
        threads.reserve(2);
        for (int t = 0; t < 2; ++t) {
            threads.emplace_back([&] {
                for (const task_handle& h : handles) {
                    h.cancel();
                }
            });
        }
        threads.clear();
        pool.join();
    }
    BOOST_TEST(called + told == all);
}

BOOST_AUTO_TEST_SUITE_END()
