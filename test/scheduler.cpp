// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Tasks and their handles.

#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/refusals.hpp"
#include "support/telling.hpp"
#include "support/threads.hpp"

#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace asio_wheel::test;
using namespace std::chrono_literals;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;
using boost::system::error_code;
using time_point = std::chrono::steady_clock::time_point;

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_task_is_called_once_in_time, telling) {
    tasks.schedule_after(10s, tell("a"));
    tasks.schedule_at(now() + 5s, tell("b"));
    tasks.schedule_after(-1s, tell("c"));
    BOOST_TEST(tasks.pending() == 3U);
    BOOST_TEST(told() == ""); // not from inside
    poll();
    BOOST_TEST(told() == "c");
    pass(5s);
    BOOST_TEST(told() == "b");
    pass(5s - 1ns);
    BOOST_TEST(told() == "");
    pass(1ns);
    BOOST_TEST(told() == "a");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_handle_tells_how_a_task_stands, telling) {
    const task_handle h = tasks.schedule_after(10s, tell("a"));
    pass(3s);
    BOOST_TEST((h.remaining() == 7s));
    BOOST_TEST(!h.is_expired());
    BOOST_TEST(!h.is_cancelled());
    pass(7s);
    BOOST_TEST(h.is_expired());
    BOOST_TEST(!h.is_cancelled());
    BOOST_TEST((h.remaining() == 0s));
    const task_handle none;
    BOOST_TEST(!none.is_expired());
    BOOST_TEST((none.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST((h != none));
}

BOOST_FIXTURE_TEST_CASE(cancel_says_what_it_came_to, telling) {
    const task_handle a = tasks.schedule_after(10s, tell("a"));
    const task_handle b = tasks.schedule_after(10s, tell("b"));
    pass(4s);
    const auto outcome = a.cancel();
    BOOST_TEST((outcome.result == cancel_result::cancelled));
    BOOST_TEST((outcome.remaining == 6s));
    BOOST_TEST(a.is_cancelled());
    BOOST_TEST(!a.is_expired());
    BOOST_TEST(tasks.pending() == 1U);
    BOOST_TEST((a.cancel().result == cancel_result::already_cancelled));
    pass(6s);
    BOOST_TEST(told() == "b");
    BOOST_TEST((b.cancel().result == cancel_result::already_fired));
    BOOST_TEST(!b.is_cancelled());
}

BOOST_FIXTURE_TEST_CASE(a_task_that_is_due_can_be_cancelled_until_it_is_called, telling) {
    const task_handle h = tasks.schedule_after(1s, tell("a"));
    elapse(1s);
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    poll();
    BOOST_TEST(told() == "");
}

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_makes_up_for_missed_calls, telling) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 3s, tell("x"));
    pass(1s);
    BOOST_TEST(told() == "x");
    pass(3s);
    BOOST_TEST(told() == "x");
    elapse(9s);
    poll();
    pass(0s);
    pass(0s);
    BOOST_TEST(told() == "xxx");
    BOOST_TEST((h.remaining() == 3s));
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    pass(1h);
    BOOST_TEST(told() == "");
}

BOOST_FIXTURE_TEST_CASE(a_fixed_delay_begins_when_the_call_returns, telling) {
    const task_handle h = tasks.schedule_with_fixed_delay(1s, 3s, [this] {
        story += "x";
        elapse(500ms); // The call takes so long.
    });
    pass(1s);
    BOOST_TEST(told() == "x");
    BOOST_TEST((h.remaining() == 3s));
    elapse(10s);
    poll();
    BOOST_TEST(told() == "x"); // Once, however late.
    BOOST_TEST((h.remaining() == 3s));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_function_may_say_when_next, telling) {
    int left = 3;
    const time_point start = now();
    std::vector<std::chrono::seconds> previous;
    const task_handle h = tasks.schedule(
        [&](time_point t) -> std::optional<time_point> {
            previous.push_back(std::chrono::round<std::chrono::seconds>(t - start));
            return left-- > 0 ? std::optional(t + 1s * static_cast<int>(previous.size()))
                              : std::nullopt;
        },
        tell("x"));
    for (int i = 0; i < 10; ++i) {
        pass(1s);
    }
    BOOST_TEST(told() == "xxx");
    BOOST_TEST((previous == std::vector<std::chrono::seconds>{0s, 1s, 3s, 6s}));
    BOOST_TEST(h.is_expired());
    const task_handle none =
        tasks.schedule([](time_point) { return std::optional<time_point>(); }, tell("y"));
    BOOST_TEST((none == task_handle()));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_task_may_take_its_handle_and_cancel_itself, telling) {
    int calls = 0;
    tasks.schedule_at_fixed_rate(1s, 1s, [&](const task_handle& h) {
        if (++calls == 3) {
            BOOST_TEST((h.cancel().result == cancel_result::cancelled));
        }
    });
    for (int i = 0; i < 10; ++i) {
        pass(1s);
    }
    BOOST_TEST(calls == 3);
    cancel_result seen = cancel_result::cancelled;
    tasks.schedule_after(1s, [&](const task_handle& h) {
        BOOST_TEST(h.is_expired());
        seen = h.cancel().result;
    });
    pass(1s);
    BOOST_TEST((seen == cancel_result::already_fired));
}

BOOST_FIXTURE_TEST_CASE(what_a_task_throws_is_reported_and_a_repeated_one_goes_on, telling) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, [this] {
        story += "x";
        throw std::runtime_error("oh.");
    });
    tasks.schedule_after(1s, tell("y"));
    pass(1s);
    pass(1s);
    BOOST_TEST(told() == "xyx");
    BOOST_TEST(errors == "oh.oh.");
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(by_default_exceptions_are_logged, virtual_world) {
    std::ostringstream log;
    std::streambuf* const before = std::clog.rdbuf(log.rdbuf());
    {
        scheduler tasks(ctx);
        tasks.schedule_after(0s, [] { throw std::runtime_error("oh."); });
        tasks.schedule_after(0s, [] { throw 1; });
        poll();
    }
    std::clog.rdbuf(before);
    BOOST_TEST(log.str() == "asio_wheel: a task has thrown: oh.\n"
                            "asio_wheel: a task has thrown something\n");
}

BOOST_FIXTURE_TEST_CASE(a_key_replaces_what_was_scheduled_under_it, telling) {
    const task_handle a = tasks.schedule_after("user 1", 10s, tell("a"));
    tasks.schedule_after("user 2", 10s, tell("b"));
    pass(5s);
    tasks.schedule_after("user 1", 10s, tell("c"));
    BOOST_TEST(a.is_cancelled());
    BOOST_TEST(tasks.pending() == 2U);
    pass(5s);
    BOOST_TEST(told() == "b");
    pass(5s);
    BOOST_TEST(told() == "c");
    tasks.schedule_after("user 1", 1s, tell("d")); // The key is free again.
    pass(1s);
    BOOST_TEST(told() == "d");
}

BOOST_FIXTURE_TEST_CASE(stop_returns_what_was_never_called_and_nothing_is_any_more, telling) {
    const task_handle a = tasks.schedule_after(10s, tell("a"));
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 1s, tell("x"));
    pass(1s);
    BOOST_TEST(told() == "x");
    const scheduler::orphans never_called = tasks.stop();
    BOOST_TEST(never_called.size() == 1U);
    BOOST_TEST((never_called.front() == a));
    BOOST_TEST(a.is_cancelled());
    BOOST_TEST(often.is_cancelled());
    BOOST_TEST(tasks.stop().empty()); // twice
    BOOST_TEST(tasks.pending() == 0U);
    pass(1h);
    BOOST_TEST(told() == "");
    const auto refused =
        thrown_by<boost::system::system_error>([&] { tasks.schedule_after(1s, tell("b")); });
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST((refused->code() == asio_wheel::error::scheduler_stopped));
}

BOOST_FIXTURE_TEST_CASE(a_closed_scheduler_takes_no_more_and_finishes_what_it_has, telling) {
    tasks.schedule_after(5s, tell("a"));
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 2s, tell("x"));
    BOOST_TEST(!tasks.closed());
    tasks.close();
    BOOST_TEST(tasks.closed());
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, tell("b")); }) ==
                asio_wheel::error::scheduler_stopped));
    pass_in(5, 1s);
    BOOST_TEST(told().size() == 4U); // Calls of one tick have no order.
    BOOST_TEST(tasks.pending() == 1U);
    often.cancel();
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(tasks.stop().empty());
    BOOST_TEST(tasks.closed());
}

BOOST_FIXTURE_TEST_CASE(a_stopped_scheduler_is_closed, telling) {
    tasks.schedule_after(5s, tell("a"));
    BOOST_TEST(tasks.stop().size() == 1U);
    BOOST_TEST(tasks.closed());
}

BOOST_FIXTURE_TEST_CASE(a_handle_tells_when_its_task_is_and_was_due, telling) {
    const time_point start = now();
    std::vector<time_point> due;
    const task_handle often = tasks.schedule_at_fixed_rate(
        1s, 3s, [&](const task_handle& h) { due.push_back(h.expiry()); });
    const task_handle once = tasks.schedule_after(2s, [] {});
    BOOST_TEST((often.expiry() == start + 1s));
    elapse(5s); // Both are late.
    poll();
    pass(0s);
    BOOST_TEST((due == std::vector{start + 1s, start + 4s}));
    BOOST_TEST((often.expiry() == start + 7s));
    BOOST_TEST((once.expiry() == start + 2s));
    often.cancel();
    BOOST_TEST((often.expiry() == start + 7s));
    BOOST_TEST(often.is_repeated());
    BOOST_TEST(!once.is_repeated());
    BOOST_TEST(!task_handle().is_repeated());
    BOOST_TEST((task_handle().expiry() == time_point()));
}

BOOST_FIXTURE_TEST_CASE(handles_are_keys, telling) {
    std::unordered_map<task_handle, std::string> names;
    names[tasks.schedule_after(1s, [] {})] = "a";
    const task_handle b = tasks.schedule_after(1s, [] {});
    names[b] = "b";
    names[b] = "c";
    names[task_handle()] = "nothing";
    BOOST_TEST(names.size() == 3U);
    BOOST_TEST(names.at(b) == "c");
    BOOST_TEST(names.at(task_handle()) == "nothing");
}

BOOST_FIXTURE_TEST_CASE(a_task_may_stop_its_scheduler, telling) {
    tasks.schedule_at_fixed_rate(1s, 1s, [this] {
        story += "x";
        static_cast<void>(tasks.stop());
    });
    tasks.schedule_after(2s, tell("a"));
    for (int i = 0; i < 5; ++i) {
        pass(1s);
    }
    BOOST_TEST(told() == "x");
}

BOOST_FIXTURE_TEST_CASE(another_scheduler_takes_orphans_over, telling) {
    const task_handle soon = tasks.schedule_after(10s, tell("a"));
    const task_handle later = tasks.schedule_after(20s, tell("b"));
    pass(5s);
    const auto orphans = tasks.stop();
    pass(10s); // One is overdue by now.
    scheduler other(ctx);
    other.adopt(orphans);
    BOOST_TEST(other.pending() == 2U);
    BOOST_TEST((later.remaining() == 5s));
    poll();
    BOOST_TEST(told() == "a");
    BOOST_TEST(soon.is_expired());
    BOOST_TEST((later.cancel().result == cancel_result::cancelled)); // The handle leads there.
    pass(1h);
    BOOST_TEST(told() == "");
}

BOOST_FIXTURE_TEST_CASE(too_many_tasks_are_refused, virtual_world) {
    scheduler tasks(ctx, 2);
    const task_handle a = tasks.schedule_after(1h, [] {});
    tasks.schedule_after(1h, [] {});
    const auto refused =
        thrown_by<boost::system::system_error>([&] { tasks.schedule_after(1h, [] {}); });
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST((refused->code() == asio_wheel::error::too_many_pending));
    BOOST_TEST(tasks.pending() == 2U);
    a.cancel();
    tasks.schedule_after(1h, [] {});
    BOOST_TEST(tasks.pending() == 2U);
}

BOOST_AUTO_TEST_CASE(a_wheel_that_refuses_is_reported) {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.max_pending = 1});
    std::vector<error_code> errors;
    scheduler tasks(ctx, 0, [&](const task_handle&, const std::exception_ptr& e) {
        try {
            std::rethrow_exception(e);
        } catch (const boost::system::system_error& failure) {
            errors.push_back(failure.code());
        }
    });
    const task_handle first = tasks.schedule_after(1h, [] {});
    const task_handle second = tasks.schedule_after(1h, [] {});
    ctx.poll();
    BOOST_TEST_REQUIRE(errors.size() == 1U);
    BOOST_TEST((errors.front() == asio_wheel::error::too_many_pending));
    BOOST_TEST(!first.is_expired());
    BOOST_TEST(second.is_expired());
    BOOST_TEST(tasks.pending() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_group_is_cancelled_with_its_end, telling) {
    std::optional<scheduler::group> session(std::in_place, tasks);
    session->schedule_after(10s, tell("a"));
    session->schedule_at_fixed_rate(1s, 1s, tell("x"));
    session->schedule_after("key", 10s, tell("k"));
    tasks.schedule_after(10s, tell("b"));
    pass(1s);
    BOOST_TEST(told() == "x");
    BOOST_TEST(session->cancel() == 3U);
    BOOST_TEST(session->cancel() == 0U);
    session->schedule_after(5s, tell("c"));
    for (int i = 0; i < 100; ++i) { // Those that are over are forgotten.
        session->schedule_after(0s, [] {});
        poll();
    }
    session.reset();
    pass(10s);
    BOOST_TEST(told() == "b");
}

BOOST_FIXTURE_TEST_CASE(bad_input_is_named, telling) {
    const auto empty = thrown_by<std::invalid_argument>(
        [&] { tasks.schedule_after(1s, std::function<void()>()); });
    BOOST_TEST_REQUIRE(empty.has_value());
    BOOST_TEST(empty->what() == std::string("asio_wheel: the function of a task is empty"));
    const auto zero =
        thrown_by<std::invalid_argument>([&] { tasks.schedule_at_fixed_rate(1s, 0s, [] {}); });
    BOOST_TEST_REQUIRE(zero.has_value());
    BOOST_TEST(zero->what() == std::string("asio_wheel: the period of a task is 0 ns, but must be "
                                           "greater than 0 ns"));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_function_lives_as_long_as_its_task_or_a_handle, telling) {
    const auto count = std::make_shared<int>(0);
    tasks.schedule_after(1s, [count, only = std::make_unique<int>()] {});
    {
        const task_handle cancelled = tasks.schedule_after(1h, [count] {});
        BOOST_TEST(count.use_count() == 3);
        pass(1s);
        BOOST_TEST(count.use_count() == 2);
        cancelled.cancel();
        poll();
        BOOST_TEST(count.use_count() == 2);
    }
    BOOST_TEST(count.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(threads_schedule_cancel_and_stop_at_once) {
    asio::thread_pool pool(2);
    std::atomic<int> called{0}, cancelled{0}, scheduled{0};
    std::atomic<bool> overlapped{false};
    verdict refused;
    {
        scheduler tasks(pool);
        std::atomic<int> inside{0};
        const task_handle often = tasks.schedule_at_fixed_rate(0s, 100us, [&] {
            overlapped = overlapped || ++inside != 1;
            --inside;
        });
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 2'000; ++i) {
                    try {
                        const task_handle h = tasks.schedule_after(
                            std::chrono::microseconds((i % 7) * 300), [&] { ++called; });
                        ++scheduled;
                        if (i % 3 == t) {
                            cancelled += h.cancel().result == cancel_result::cancelled ? 1 : 0;
                        }
                    } catch (const boost::system::system_error& e) {
                        refused.expect(e.code() == asio_wheel::error::scheduler_stopped);
                    }
                }
            });
        }
        std::this_thread::sleep_for(20ms);
        threads[0].join();
        const auto never_called = tasks.stop();
        threads[1].join();
        threads[2].join();
        cancelled += static_cast<int>(never_called.size());
        pool.join();
    }
    BOOST_TEST(!overlapped);
    BOOST_TEST(called + cancelled == scheduled);
}

BOOST_AUTO_TEST_SUITE_END()
