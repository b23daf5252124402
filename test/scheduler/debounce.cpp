// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Bursts of events: scheduler::debounce(). Also for_each() and completed().

#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::debounce_options;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

struct debouncing : virtual_world {
    scheduler tasks{ctx};
    int saved = 0;

    task_handle event(const debounce_options& options) {
        return tasks.debounce("save", options, [this] { ++saved; });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_debounce, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_burst_of_events_is_one_call_when_it_is_quiet, debouncing) {
    for (int i = 0; i < 10; ++i) {
        event({.quiet = 500ms});
        pass(499ms);
        BOOST_TEST(saved == 0);
        BOOST_TEST(tasks.pending() == 1U);
    }
    pass(1ms);
    BOOST_TEST(saved == 1);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(events_without_a_pause_are_saved_at_latest_after_the_first, debouncing) {
    for (int i = 0; i < 3600; ++i) { // One a second, for an hour.
        event({.quiet = 5s, .at_latest = 60s});
        pass(1s);
    }
    BOOST_TEST(saved == 60);
}

BOOST_FIXTURE_TEST_CASE(as_long_as_quiet_it_throttles, debouncing) {
    for (int i = 0; i < 100; ++i) {
        event({.quiet = 1s, .at_latest = 1s});
        pass(100ms);
    }
    BOOST_TEST(saved == 10);
}

// There is always an event between the turn that makes the call due, and the call.
BOOST_FIXTURE_TEST_CASE(events_of_a_busy_context_do_not_hold_the_call_back, debouncing) {
    const debounce_options options{.quiet = 1s, .at_latest = 1s};
    timer other(ctx);
    int events = 0;
    const std::function<void()> next = [&] {
        if (saved == 0 && events < 100) {
            ++events;
            event(options);
            other.expires_at(now() - 1h); // So the call is not the first of the wheel's next turn.
            other.async_wait(ignore);
            asio::post(ctx, next);
        }
    };
    event(options);
    asio::post(ctx, next);
    pass(1s);
    BOOST_TEST(saved == 1);
    BOOST_TEST(events == 1);
}

BOOST_FIXTURE_TEST_CASE(a_limit_before_the_quiet_time_is_the_first_time, debouncing) {
    const task_handle h = event({.quiet = 10s, .at_latest = 3s});
    BOOST_TEST((h.remaining() == 3s));
    pass(3s);
    BOOST_TEST(saved == 1);
}

BOOST_FIXTURE_TEST_CASE(the_function_of_the_first_event_is_called, debouncing) {
    std::string called;
    for (const char name : {'a', 'b', 'c'}) {
        tasks.debounce("key", {.quiet = 1s}, [&called, name] { called += name; });
    }
    pass(1s);
    BOOST_TEST(called == "a");
}

BOOST_FIXTURE_TEST_CASE(an_event_during_the_call_begins_a_new_burst, debouncing) {
    const debounce_options options{.quiet = 1s};
    tasks.debounce("save", options, [&] {
        ++saved;
        event(options);
    });
    pass(1s);
    BOOST_TEST(saved == 1);
    pass(1s - 1ns);
    BOOST_TEST(saved == 1);
    pass(1ns);
    BOOST_TEST(saved == 2);
}

BOOST_FIXTURE_TEST_CASE(postponing_by_hand_does_not_go_beyond_the_limit_either, debouncing) {
    const task_handle h = event({.quiet = 1s, .at_latest = 5s});
    BOOST_TEST(h.postpone(1h));
    BOOST_TEST((h.remaining() == 5s));
    BOOST_TEST(h.postpone_until(wheel.now() + 1s));
    BOOST_TEST((h.remaining() == 1s));
}

BOOST_FIXTURE_TEST_CASE(bursts_of_different_keys_are_apart_and_groups_have_them_too, debouncing) {
    scheduler::group session(tasks);
    std::string called;
    tasks.debounce(1, {.quiet = 1s}, [&] { called += '1'; });
    pass(500ms);
    session.debounce(2, {.quiet = 1s}, [&] { called += '2'; });
    pass(500ms);
    BOOST_TEST(called == "1");
    BOOST_TEST(session.cancel() == 1U);
    pass(1s);
    BOOST_TEST(called == "1");
}

// Whether or not the task is due before the burst ends.
BOOST_FIXTURE_TEST_CASE(a_burst_takes_the_key_of_another_task, debouncing) {
    const debounce_options options{.quiet = 1s, .at_latest = 2s};
    int others = 0;
    tasks.schedule_after("save", 1h, [&] { ++others; });
    event(options);
    tasks.schedule_at_fixed_rate("save", 100ms, 100ms, [&] { ++others; });
    for (int i = 0; i < 4; ++i) {
        event(options);
        pass(500ms);
    }
    BOOST_TEST(saved == 1);
    pass(2h);
    BOOST_TEST(others == 0);
}

BOOST_FIXTURE_TEST_CASE(a_burst_takes_the_key_of_a_burst_of_another_group, debouncing) {
    scheduler::group first(tasks);
    scheduler::group second(tasks);
    std::string called;
    first.debounce(1, {.quiet = 1s}, [&] { called += '1'; });
    second.debounce(1, {.quiet = 1s}, [&] { called += '2'; });
    first.cancel();
    pass(1h);
    BOOST_TEST(called == "2");
}

BOOST_FIXTURE_TEST_CASE(an_event_of_a_pending_burst_is_refused_as_a_task_is, debouncing) {
    const debounce_options options{.quiet = 1s};
    tasks.debounce(1, options, [] {});
    BOOST_CHECK_THROW(tasks.debounce(1, options, std::function<void()>()), std::invalid_argument);
    tasks.close();
    BOOST_CHECK_THROW(tasks.debounce(1, options, [] {}), boost::system::system_error);
}

BOOST_FIXTURE_TEST_CASE(an_event_of_a_stopped_group_is_refused_too, debouncing) {
    const debounce_options options{.quiet = 1s};
    bool refused = false;
    {
        scheduler::group session(tasks);
        const auto save_at_the_end = [&] {
            try {
                session.debounce("save", options, [] {});
            } catch (const boost::system::system_error& e) {
                refused = e.code() == asio_wheel::error::scheduler_stopped;
            }
        };
        session.schedule_after(1h, asio_wheel::on_cancel([] {}, save_at_the_end));
        session.debounce("save", options, [&] { ++saved; });
    }
    BOOST_TEST(refused);
    pass(1h);
    BOOST_TEST(saved == 0);
}

BOOST_FIXTURE_TEST_CASE(unusable_times_of_a_debounce_are_named, debouncing) {
    BOOST_TEST(message_of([&] { event({.quiet = 0s}); }) ==
               "asio_wheel: debounce_options::quiet is 0 ns, but must be greater than 0 ns");
    BOOST_TEST(message_of([&] { event({.quiet = 1s, .at_latest = -1ns}); }) ==
               "asio_wheel: debounce_options::at_latest is -1 ns, but must be greater than 0 ns");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(completed_counts_the_calls_that_have_ended, debouncing) {
    const auto begin = now();
    std::string failures;
    scheduler all(
        ctx, {.on_error = [&](const task_handle&, const std::exception_ptr&) { failures += '!'; }});
    all.schedule_after(1s, [] {});
    all.schedule_after(1s, [] { throw std::runtime_error("it throws"); });
    all.schedule_after(1s, [&]() -> asio::awaitable<void> { co_return; });
    all.schedule_after(1s, [] {}).cancel();
    all.schedule_at_fixed_rate(1s, 1s, [&](const task_handle& self) {
        BOOST_TEST(all.completed() < 10U); // A call that is under way does not count.
        if (now() - begin >= 3s) {
            self.cancel();
        }
    });
    BOOST_TEST(all.completed() == 0U);
    pass(1s);
    BOOST_TEST(all.completed() == 4U);
    pass(1s);
    pass(1s);
    pass(1s);
    BOOST_TEST(all.completed() == 6U);
    BOOST_TEST(failures == "!");
}

BOOST_AUTO_TEST_CASE(threads_may_debounce_while_a_burst_ends) {
    asio::thread_pool pool(1);
    std::atomic<int> calls{0};
    {
        scheduler tasks(pool);
        scheduler::group session(tasks);
        for (int i = 0; i < 2000; ++i) {
            session.debounce("save", {.quiet = 1ns}, [&] { ++calls; });
        }
        session.wait_idle();
    }
    pool.join();
    BOOST_TEST(calls >= 1);
    BOOST_TEST(calls <= 2000);
}

BOOST_FIXTURE_TEST_CASE(for_each_visits_the_tasks_that_pending_counts, debouncing) {
    scheduler::group session(tasks);
    std::vector<task_handle> made{tasks.schedule_after(1s, [] {}),
                                  session.schedule_after(2s, [] {}),
                                  tasks.schedule_after("key", 3s, [] {})};
    std::vector<task_handle> seen;
    tasks.for_each([&](const task_handle& h) {
        seen.push_back(h);
        h.cancel(); // It may use the scheduler.
    });
    BOOST_TEST((seen == made));
    BOOST_TEST(tasks.pending() == 0U);
    tasks.for_each([](const task_handle&) { BOOST_TEST(false, "there is none"); });
}

BOOST_AUTO_TEST_SUITE_END()
