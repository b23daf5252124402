// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Tasks and their handles.

#include <asio_wheel/scheduler.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/logged_scheduler.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"
#include "support/threads.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
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

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;
using time_point = std::chrono::steady_clock::time_point;

// How an executor handles functions. Its tests may change that.
struct behaviour {
    bool fails = false; // It fails to track work, and throws.
    bool drops = false; // Functions are destroyed without being called.
};

// An executor of `ctx` that behaves accordingly.
struct unreliable_executor {
    asio::io_context* ctx;
    std::shared_ptr<behaviour> now;

    template <class Function>
    void execute(Function&& f) const {
        if (!now->drops) {
            ctx->get_executor().execute(std::forward<Function>(f));
        }
    }
    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return *ctx;
    }
    [[nodiscard]] unreliable_executor
    require(asio::execution::outstanding_work_t::tracked_t) const {
        if (now->fails) {
            throw std::runtime_error("no executor");
        }
        return *this;
    }
    [[nodiscard]] static constexpr asio::execution::blocking_t
    query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    friend bool operator==(const unreliable_executor&,
                           const unreliable_executor&) noexcept = default;
};

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_task_is_called_once_in_time, logged_scheduler) {
    tasks.schedule_after(10s, note("a"));
    tasks.schedule_at(now() + 5s, note("b"));
    tasks.schedule_after(-1s, note("c"));
    BOOST_TEST(tasks.pending() == 3U);
    BOOST_TEST(take_log() == ""); // Not inside the call.
    BOOST_TEST(log_now() == "c");
    BOOST_TEST(log_after(5s) == "b");
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "a");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_handle_tells_how_a_task_stands, logged_scheduler) {
    const task_handle h = tasks.schedule_after(10s, note("a"));
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

BOOST_FIXTURE_TEST_CASE(cancel_says_what_it_came_to, logged_scheduler) {
    const task_handle a = tasks.schedule_after(10s, note("a"));
    const task_handle b = tasks.schedule_after(10s, note("b"));
    pass(4s);
    const auto outcome = a.cancel();
    BOOST_TEST((outcome.result == cancel_result::cancelled));
    BOOST_TEST((outcome.remaining == 6s));
    BOOST_TEST(a.is_cancelled());
    BOOST_TEST(!a.is_expired());
    BOOST_TEST(tasks.pending() == 1U);
    BOOST_TEST((a.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST(log_after(6s) == "b");
    BOOST_TEST((b.cancel().result == cancel_result::already_fired));
    BOOST_TEST(!b.is_cancelled());
}

BOOST_FIXTURE_TEST_CASE(a_task_that_is_due_can_be_cancelled_until_it_is_called, logged_scheduler) {
    const task_handle h = tasks.schedule_after(1s, note("a"));
    elapse(1s);
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    BOOST_TEST(log_now() == "");
}

BOOST_FIXTURE_TEST_CASE(a_fixed_rate_may_catch_up_on_missed_calls, logged_scheduler) {
    const task_handle h =
        tasks.schedule_at_fixed_rate(1s, 3s, note("x"), asio_wheel::missed::catch_up);
    BOOST_TEST(log_after(1s) == "x");
    BOOST_TEST(log_after(3s) == "x");
    elapse(9s);
    poll();
    pass(0s);
    BOOST_TEST(log_after(0s) == "xxx");
    BOOST_TEST((h.remaining() == 3s));
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
    BOOST_TEST(log_after(1h) == "");
}

BOOST_FIXTURE_TEST_CASE(a_fixed_delay_begins_when_the_call_returns, logged_scheduler) {
    const task_handle h = tasks.schedule_with_fixed_delay(1s, 3s, [this] {
        log.text += "x";
        elapse(500ms); // The duration of the call.
    });
    BOOST_TEST(log_after(1s) == "x");
    BOOST_TEST((h.remaining() == 3s));
    elapse(10s);
    BOOST_TEST(log_now() == "x"); // Once, however late.
    BOOST_TEST((h.remaining() == 3s));
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(a_function_may_say_when_next, logged_scheduler) {
    int left = 3;
    const time_point start = now();
    std::vector<std::chrono::seconds> previous;
    const task_handle h = tasks.schedule(
        [&](time_point t) -> std::optional<time_point> {
            previous.push_back(std::chrono::round<std::chrono::seconds>(t - start));
            return left-- > 0 ? std::optional(t + 1s * static_cast<int>(previous.size()))
                              : std::nullopt;
        },
        note("x"));
    for (int i = 0; i < 10; ++i) {
        pass(1s);
    }
    BOOST_TEST(take_log() == "xxx");
    BOOST_TEST((previous == std::vector<std::chrono::seconds>{0s, 1s, 3s, 6s}));
    BOOST_TEST(h.is_expired());
    const task_handle none =
        tasks.schedule([](time_point) { return std::optional<time_point>(); }, note("y"));
    BOOST_TEST((none == task_handle()));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_task_may_take_its_handle_and_cancel_itself, logged_scheduler) {
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

BOOST_FIXTURE_TEST_CASE(what_a_task_throws_is_reported_and_a_repeated_one_goes_on,
                        logged_scheduler) {
    const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, [this] {
        log.text += "x";
        throw std::runtime_error("oh.");
    });
    tasks.schedule_after(1s, note("y"));
    pass(1s);
    BOOST_TEST(log_after(1s) == "xyx");
    BOOST_TEST(errors == "oh.oh.");
    h.cancel();
}

BOOST_FIXTURE_TEST_CASE(by_default_exceptions_are_logged, virtual_world) {
    std::ostringstream written;
    std::streambuf* const before = std::clog.rdbuf(written.rdbuf());
    {
        scheduler tasks(ctx);
        tasks.schedule_after(0s, [] { throw std::runtime_error("oh."); });
        tasks.schedule_after(0s, [] { throw 1; });
        poll();
    }
    std::clog.rdbuf(before);
    BOOST_TEST(written.str() == "asio_wheel: a task has thrown: oh.\n"
                                "asio_wheel: a task has thrown an unknown exception\n");
}

BOOST_FIXTURE_TEST_CASE(an_error_handler_that_throws_is_logged_and_disturbs_nothing,
                        virtual_world) {
    std::ostringstream written;
    std::streambuf* const before = std::clog.rdbuf(written.rdbuf());
    int calls = 0;
    {
        scheduler tasks(ctx, {.on_error = [](const task_handle&, const std::exception_ptr& e) {
                            std::rethrow_exception(e);
                        }});
        const task_handle often = tasks.schedule_at_fixed_rate(0s, 1s, [&] {
            ++calls;
            throw std::runtime_error("oh.");
        });
        tasks.schedule_after(0s, [] { throw 1; });
        poll();
        const auto exceptions = std::clog.exceptions();
        std::clog.rdbuf(nullptr); // A log that throws, too.
        try {
            std::clog.exceptions(std::ios::badbit);
        } catch (const std::ios::failure&) {
        }
        pass(1s);
        std::clog.exceptions(exceptions);
        std::clog.rdbuf(written.rdbuf());
        pass(1s);
        BOOST_TEST(tasks.pending() == 1U);
        often.cancel();
    }
    std::clog.rdbuf(before);
    BOOST_TEST(calls == 3);
    const std::string text = written.str();
    BOOST_TEST(text.find("asio_wheel: on_error has thrown: oh.\n") != std::string::npos);
    BOOST_TEST(text.find("asio_wheel: on_error has thrown an unknown exception\n") !=
               std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_key_replaces_what_was_scheduled_under_it, logged_scheduler) {
    const task_handle a = tasks.schedule_after("user 1", 10s, note("a"));
    tasks.schedule_after("user 2", 10s, note("b"));
    pass(5s);
    tasks.schedule_after("user 1", 10s, note("c"));
    BOOST_TEST(a.is_cancelled());
    BOOST_TEST(tasks.pending() == 2U);
    BOOST_TEST(log_after(5s) == "b");
    BOOST_TEST(log_after(5s) == "c");
    tasks.schedule_after("user 1", 1s, note("d")); // The key is free again.
    BOOST_TEST(log_after(1s) == "d");
}

BOOST_FIXTURE_TEST_CASE(a_key_needs_one_place_also_while_it_is_taken_over, virtual_world) {
    scheduler tasks(ctx, {.max_pending = 1});
    int called = 0;
    const task_handle first = tasks.schedule_after("key", 1s, [&] { called += 1; });
    const task_handle second = tasks.schedule_after("key", 1s, [&] { called += 10; });
    BOOST_TEST(first.is_cancelled());
    BOOST_TEST(tasks.pending() == 1U);
    BOOST_CHECK_THROW(tasks.schedule_after("other", 1s, [] {}), boost::system::system_error);
    pass(1s);
    BOOST_TEST(called == 10);
    BOOST_TEST(tasks.pending() == 0U);
    tasks.schedule_after("", 1h, [] {}); // The empty key is a key like any other.
    tasks.schedule_after("", 1h, [] {});
    BOOST_TEST(tasks.pending() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_task_may_schedule_itself_again_under_its_key_though_all_places_are_taken,
                        virtual_world) {
    scheduler tasks(ctx, {.max_pending = 1});
    int called = 0;
    std::function<void()> f = [&] {
        if (++called != 3) {
            tasks.schedule_after("key", 1s, f);
        }
        BOOST_CHECK_THROW(tasks.schedule_after("other", 1s, [] {}), boost::system::system_error);
    };
    tasks.schedule_after("key", 1s, f);
    for (int i = 0; i != 5; ++i) {
        pass(1s);
        BOOST_TEST(tasks.pending() == (i < 2 ? 1U : 0U));
    }
    BOOST_TEST(called == 3);
}

BOOST_FIXTURE_TEST_CASE(any_number_of_keys_lead_to_the_last_that_was_scheduled_under_them,
                        logged_scheduler) {
    constexpr int keys = 1000;
    std::vector<int> calls(keys);
    std::vector<task_handle> handles;
    for (int round = 0; round != 3; ++round) {
        for (int i = 0; i != keys; ++i) {
            handles.push_back(tasks.schedule_after("key " + std::to_string(i), 1s * (round + 1),
                                                   [&calls, i, round] { calls[i] += 1 << round; }));
        }
        BOOST_TEST(tasks.pending() == static_cast<std::size_t>(keys));
    }
    for (int i = 0; i != keys; i += 2) {
        handles[2 * keys + i].cancel();
    }
    BOOST_TEST(tasks.pending() == static_cast<std::size_t>(keys / 2));
    pass_in(3, 1s);
    for (int i = 0; i != keys; ++i) {
        BOOST_TEST_REQUIRE(calls[i] == (i % 2 == 0 ? 0 : 4));
    }
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(stop_returns_what_was_never_called_and_nothing_is_any_more,
                        logged_scheduler) {
    const task_handle a = tasks.schedule_after(10s, note("a"));
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 1s, note("x"));
    BOOST_TEST(log_after(1s) == "x");
    const scheduler::orphans never_called = tasks.stop();
    BOOST_TEST(never_called.size() == 1U);
    BOOST_TEST((never_called.front() == a));
    BOOST_TEST(a.is_cancelled());
    BOOST_TEST(often.is_cancelled());
    BOOST_TEST(tasks.stop().empty()); // A second time.
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(log_after(1h) == "");
    const auto refused =
        thrown_by<boost::system::system_error>([&] { tasks.schedule_after(1s, note("b")); });
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST((refused->code() == asio_wheel::error::scheduler_stopped));
}

BOOST_FIXTURE_TEST_CASE(a_closed_scheduler_takes_no_more_and_finishes_what_it_has,
                        logged_scheduler) {
    tasks.schedule_after(5s, note("a"));
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 2s, note("x"));
    BOOST_TEST(!tasks.closed());
    tasks.close();
    BOOST_TEST(tasks.closed());
    BOOST_TEST((refusal_of([&] { tasks.schedule_after(1s, note("b")); }) ==
                asio_wheel::error::scheduler_stopped));
    pass_in(5, 1s);
    BOOST_TEST(take_log().size() == 4U); // Calls of one tick have no order.
    BOOST_TEST(tasks.pending() == 1U);
    often.cancel();
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(tasks.stop().empty());
    BOOST_TEST(tasks.closed());
}

BOOST_FIXTURE_TEST_CASE(a_stopped_scheduler_is_closed, logged_scheduler) {
    tasks.schedule_after(5s, note("a"));
    BOOST_TEST(tasks.stop().size() == 1U);
    BOOST_TEST(tasks.closed());
}

BOOST_FIXTURE_TEST_CASE(a_handle_tells_when_its_task_is_and_was_due, logged_scheduler) {
    const time_point start = now();
    std::vector<time_point> due;
    const task_handle often = tasks.schedule_at_fixed_rate(
        1s, 3s, [&](const task_handle& h) { due.push_back(h.expiry()); },
        asio_wheel::missed::catch_up);
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

BOOST_FIXTURE_TEST_CASE(handles_are_keys, logged_scheduler) {
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

// Records the number of tasks when it is destroyed.
struct counts_at_its_end {
    scheduler* tasks;
    std::size_t* count;

    counts_at_its_end(scheduler& s, std::size_t& n) : tasks(&s), count(&n) {}
    counts_at_its_end(const counts_at_its_end&) = delete;
    counts_at_its_end& operator=(const counts_at_its_end&) = delete;
    ~counts_at_its_end() { *count = tasks->pending(); }
};

BOOST_FIXTURE_TEST_CASE(a_task_is_pending_until_its_last_call_has_returned, logged_scheduler) {
    std::size_t at_its_end = 0;
    const auto pending_in = [&](auto schedule, auto in_the_call) {
        std::size_t inside = 0;
        at_its_end = 0;
        scheduler one(ctx);
        const task_handle h = schedule(one, [&, counter = std::make_shared<counts_at_its_end>(
                                                    one, at_its_end)](const task_handle& self) {
            in_the_call(one, self);
            inside = one.pending();
        });
        pass(1s);
        BOOST_TEST(one.pending() == 0U);
        return inside;
    };
    const auto once = [](scheduler& one, auto f) { return one.schedule_after(1s, f); };
    const auto often = [](scheduler& one, auto f) { return one.schedule_at_fixed_rate(1s, 1s, f); };
    const auto nothing = [](scheduler&, const task_handle&) {};
    const auto cancel = [](scheduler&, const task_handle& self) { self.cancel(); };
    const auto stop = [](scheduler& one, const task_handle&) { static_cast<void>(one.stop()); };
    BOOST_TEST(pending_in(once, nothing) == 1U);
    BOOST_TEST(at_its_end == 1U); // The function is destroyed before its task is no longer counted.
    BOOST_TEST(pending_in(once, cancel) == 1U);
    BOOST_TEST(at_its_end == 1U);
    BOOST_TEST(pending_in(once, stop) == 1U);
    BOOST_TEST(at_its_end == 1U);
    BOOST_TEST(pending_in(often, cancel) == 1U);
    BOOST_TEST(at_its_end == 1U);
    BOOST_TEST(pending_in(often, stop) == 1U);
    BOOST_TEST(at_its_end == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_call_that_a_stop_finds_under_way_is_the_last_and_counts_as_one,
                        logged_scheduler) {
    const auto stop = [this] { BOOST_TEST(tasks.stop().empty()); };
    const task_handle once = tasks.schedule_after(1s, [&] {
        log.text += "o";
        stop();
        BOOST_TEST(once.is_expired());
        BOOST_TEST(!once.is_cancelled());
    });
    BOOST_TEST(log_after(1s) == "o");
    BOOST_TEST(once.is_expired()); // Its call has returned.
    BOOST_TEST(!once.is_cancelled());
    scheduler other(ctx);
    const task_handle often = other.schedule_at_fixed_rate(1s, 1s, [&] {
        log.text += "r";
        BOOST_TEST(other.stop().empty());
        BOOST_TEST(often.is_cancelled());
        BOOST_TEST((often.cancel().result == cancel_result::already_cancelled));
    });
    pass_in(5, 1s);
    BOOST_TEST(take_log() == "r");
    BOOST_TEST(often.is_cancelled());
    BOOST_TEST(!often.is_expired());
}

BOOST_FIXTURE_TEST_CASE(a_task_may_stop_its_scheduler, logged_scheduler) {
    tasks.schedule_at_fixed_rate(1s, 1s, [this] {
        log.text += "x";
        static_cast<void>(tasks.stop());
    });
    tasks.schedule_after(2s, note("a"));
    for (int i = 0; i < 5; ++i) {
        pass(1s);
    }
    BOOST_TEST(take_log() == "x");
}

BOOST_FIXTURE_TEST_CASE(another_scheduler_takes_orphans_over, logged_scheduler) {
    const task_handle soon = tasks.schedule_after(10s, note("a"));
    const task_handle later = tasks.schedule_after(20s, note("b"));
    pass(5s);
    const auto orphans = tasks.stop();
    pass(10s); // One is overdue by now.
    scheduler other(ctx);
    other.adopt(orphans);
    BOOST_TEST(other.pending() == 2U);
    BOOST_TEST((later.remaining() == 5s));
    BOOST_TEST(log_now() == "a");
    BOOST_TEST(soon.is_expired());
    BOOST_TEST((later.cancel().result == cancel_result::cancelled)); // Adopted.
    BOOST_TEST(log_after(1h) == "");
}

BOOST_FIXTURE_TEST_CASE(only_orphans_are_taken_over_and_only_once, logged_scheduler) {
    const task_handle a = tasks.schedule_after("key", 10s, note("a"));
    tasks.schedule_after(0s, note("b"));
    elapse(10s); // Both are due,
    const auto orphans = tasks.stop();
    scheduler other(ctx), third(ctx, {.max_pending = 1});
    third.schedule_after(1h, [] {});
    BOOST_CHECK_THROW(third.adopt(orphans), boost::system::system_error);
    other.adopt(orphans);
    other.adopt(orphans);
    third.adopt(orphans);
    BOOST_TEST(other.pending() == 2U);
    BOOST_TEST(third.pending() == 1U);
    poll();
    BOOST_TEST((log.text == "ab" || log.text == "ba")); // and are called once.
    other.adopt(orphans);
    other.adopt({task_handle()});
    poll();
    BOOST_TEST(take_log().size() == 2U);
    BOOST_TEST(a.is_expired());
    BOOST_TEST(other.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(too_many_tasks_are_refused, virtual_world) {
    scheduler tasks(ctx, {.max_pending = 2});
    const task_handle a = tasks.schedule_after(1h, [] {});
    tasks.schedule_after(1h, [] {});
    const auto refused =
        thrown_by<boost::system::system_error>([&] { tasks.schedule_after(1h, [] {}); });
    BOOST_TEST_REQUIRE(refused.has_value());
    BOOST_TEST((refused->code() == asio_wheel::error::scheduler_full));
    BOOST_TEST(tasks.pending() == 2U);
    a.cancel();
    tasks.schedule_after(1h, [] {});
    BOOST_TEST(tasks.pending() == 2U);
}

BOOST_AUTO_TEST_CASE(a_wheel_that_refuses_is_reported) {
    asio::io_context ctx;
    asio_wheel::make_wheel(ctx, {.max_pending = 1});
    std::vector<error_code> errors;
    scheduler tasks(ctx, {.on_error = [&](const task_handle&, const std::exception_ptr& e) {
                        try {
                            std::rethrow_exception(e);
                        } catch (const boost::system::system_error& failure) {
                            errors.push_back(failure.code());
                        }
                    }});
    const task_handle first = tasks.schedule_after(1h, [] {});
    const task_handle second = tasks.schedule_after(1h, [] {});
    ctx.poll();
    BOOST_TEST_REQUIRE(errors.size() == 1U);
    BOOST_TEST((errors.front() == asio_wheel::error::too_many_pending));
    BOOST_TEST(!first.is_expired());
    BOOST_TEST(second.is_expired());
    BOOST_TEST(tasks.pending() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_wheel_that_is_drained_is_reported, logged_scheduler) {
    const task_handle once = tasks.schedule_after(1h, note("a"));
    const task_handle often = tasks.schedule_at_fixed_rate(1h, 1s, note("x"));
    static_cast<void>(wheel.drain());
    BOOST_TEST(log_now() == "");
    BOOST_TEST(errors.find("drained") != errors.rfind("drained")); // Both errors are reported.
    BOOST_TEST(once.is_expired());
    BOOST_TEST(often.is_expired());
    BOOST_TEST(tasks.pending() == 0U);
    tasks.schedule_after(0s, note("b"));
    BOOST_TEST(log_now() == "");
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_cannot_wait_again_is_over_before_that_is_reported, virtual_world) {
    const auto executor = std::make_shared<behaviour>();
    const auto held = std::make_shared<int>();
    std::vector<cancel_result> cancelled;
    std::size_t pending = 0;
    bool expired = false;
    std::optional<scheduler> tasks;
    const auto report = [&](const task_handle& h, const std::exception_ptr&) {
        expired = h.is_expired();
        cancelled.push_back(h.cancel().result);
        pending = tasks->pending();
    };
    tasks.emplace(unreliable_executor{&ctx, executor},
                  asio_wheel::scheduler_options{.on_error = report});
    int calls = 0;
    const task_handle h = tasks->schedule_at_fixed_rate(1s, 1s, [&, held] {
        ++calls;
        executor->fails = calls == 2;
    });
    pass(1s);
    BOOST_TEST(cancelled.empty());
    pass(1s);
    BOOST_TEST_REQUIRE(cancelled.size() == 1U);
    BOOST_TEST((cancelled.front() == cancel_result::already_fired));
    BOOST_TEST(expired);
    BOOST_TEST(pending == 1U);
    BOOST_TEST(tasks->pending() == 0U);
    BOOST_TEST(h.is_expired());
    BOOST_TEST(held.use_count() == 1);
    pass(1h);
    BOOST_TEST(calls == 2);
    BOOST_CHECK_THROW(tasks->schedule_after("key", 1s, [held] {}), std::runtime_error);
    BOOST_TEST(tasks->pending() == 0U);
    BOOST_TEST(held.use_count() == 1);
    executor->fails = false;
    tasks->schedule_after("key", 1s, [&] { calls = 10; });
    pass(1s);
    BOOST_TEST(calls == 10);
}

BOOST_FIXTURE_TEST_CASE(what_takes_a_key_over_and_fails_leaves_it_where_it_was, virtual_world) {
    const auto executor = std::make_shared<behaviour>();
    scheduler tasks(unreliable_executor{&ctx, executor}, {.max_pending = 1});
    int called = 0;
    const task_handle first = tasks.schedule_after("key", 1s, [&] { called += 1; });
    executor->fails = true;
    BOOST_CHECK_THROW(tasks.schedule_after("key", 2s, [&] { called += 10; }), std::runtime_error);
    BOOST_TEST(!first.is_cancelled());
    BOOST_TEST(tasks.pending() == 1U);
    executor->fails = false;
    const task_handle second = tasks.schedule_after("key", 3s, [&] { called += 100; });
    BOOST_TEST(first.is_cancelled());
    pass(3s);
    BOOST_TEST(called == 100);
}

BOOST_FIXTURE_TEST_CASE(what_its_executor_drops_is_over, logged_scheduler) {
    const auto executor = std::make_shared<behaviour>();
    const auto held = std::make_shared<int>();
    scheduler one(unreliable_executor{&ctx, executor});
    executor->drops = true;
    const task_handle a = one.schedule_after("key", 1s, [held] {});
    const task_handle b = one.schedule_at_fixed_rate(1s, 1s, [held] {});
    BOOST_TEST(one.pending() == 2U);
    pass(1s);
    BOOST_TEST(one.pending() == 0U);
    BOOST_TEST(held.use_count() == 1);
    BOOST_TEST((a.is_cancelled() && b.is_cancelled()));
    executor->drops = false;
    one.schedule_after("key", 1s, note("c"));
    BOOST_TEST(log_after(1s) == "c");
}

BOOST_FIXTURE_TEST_CASE(a_group_is_cancelled_with_its_end, logged_scheduler) {
    std::optional<scheduler::group> session(std::in_place, tasks);
    session->schedule_after(10s, note("a"));
    session->schedule_at_fixed_rate(1s, 1s, note("x"));
    session->schedule_after("key", 10s, note("k"));
    tasks.schedule_after(10s, note("b"));
    BOOST_TEST(log_after(1s) == "x");
    BOOST_TEST(session->cancel() == 3U);
    BOOST_TEST(session->cancel() == 0U);
    session->schedule_after(5s, note("c"));
    for (int i = 0; i < 100; ++i) { // Tasks that have ended are removed.
        session->schedule_after(0s, [] {});
        poll();
    }
    BOOST_TEST((session->schedule([](time_point) { return std::optional<time_point>(); }, [] {}) ==
                task_handle()));
    session.reset();
    BOOST_TEST(log_after(10s) == "b");
}

BOOST_FIXTURE_TEST_CASE(a_group_keeps_what_was_adopted_and_forgets_what_is_over, logged_scheduler) {
    const auto held = std::make_shared<int>();
    std::optional<scheduler> second(std::in_place, ctx);
    {
        scheduler::group session(tasks);
        session.schedule_after(1h, [this, held] { log.text += "a"; });
        second->adopt(tasks.stop());
        BOOST_TEST(second->pending() == 1U);
    }
    BOOST_TEST(second->pending() == 0U);
    BOOST_TEST(held.use_count() == 1);
    scheduler::group other(*second);
    other.schedule_after(1h, note("b"));
    for (int i = 0; i != 1000; ++i) {
        other.schedule_after(0s, [] {});
        poll();
    }
    BOOST_TEST(other.cancel() == 1U);
    BOOST_TEST(log_after(1h) == "");
}

BOOST_FIXTURE_TEST_CASE(bad_input_is_named, logged_scheduler) {
    const auto empty = thrown_by<std::invalid_argument>(
        [&] { tasks.schedule_after(1s, std::function<void()>()); });
    BOOST_TEST_REQUIRE(empty.has_value());
    BOOST_TEST(empty->what() == std::string("asio_wheel: the function of a task is empty"));
    BOOST_CHECK_THROW(tasks.schedule_at_fixed_rate(1s, 1s, static_cast<void (*)()>(nullptr)),
                      std::invalid_argument);
    BOOST_CHECK_THROW(
        tasks.schedule(std::function<std::optional<time_point>(time_point)>(), note("x")),
        std::invalid_argument);
    BOOST_CHECK_THROW(tasks.schedule_with_fixed_delay(1s, -1s, [] {}), std::invalid_argument);
    const auto zero =
        thrown_by<std::invalid_argument>([&] { tasks.schedule_at_fixed_rate(1s, 0s, [] {}); });
    BOOST_TEST_REQUIRE(zero.has_value());
    BOOST_TEST(zero->what() == std::string("asio_wheel: the period of a task is 0 ns, but must be "
                                           "greater than 0 ns"));
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_function_ends_with_its_task_whoever_has_a_handle, logged_scheduler) {
    const auto count = std::make_shared<int>(0);
    const auto task = [count, only = std::make_shared<int>()] {};
    const long none = count.use_count();
    const task_handle once = tasks.schedule_after(1s, task);
    const task_handle cancelled = tasks.schedule_after(1h, task);
    const task_handle often = tasks.schedule_at_fixed_rate(1s, 1s, task);
    const task_handle orphan = tasks.schedule_after(1h, task);
    BOOST_TEST(count.use_count() == none + 4);
    pass(1s);
    BOOST_TEST(count.use_count() == none + 3);
    cancelled.cancel();
    BOOST_TEST(count.use_count() == none + 2);
    {
        const auto orphans = tasks.stop();
        BOOST_TEST(count.use_count() == none + 1); // It may still be called,
        scheduler other(ctx);
        other.adopt(orphans);
        pass(1h);
    }
    BOOST_TEST(count.use_count() == none); // and was called.
    BOOST_TEST(orphan.is_expired());
}

BOOST_FIXTURE_TEST_CASE(a_task_that_holds_its_own_handle_ends, logged_scheduler) {
    const auto self = std::make_shared<task_handle>();
    int calls = 0;
    *self = tasks.schedule_at_fixed_rate(1s, 1s, [self, &calls, text = std::string(100, 'x')] {
        if (++calls == 2) {
            self->cancel();
            BOOST_TEST(text.size() == 100U); // It exists until it returns.
        }
    });
    for (int i = 0; i < 3; ++i) {
        pass(1s);
    }
    BOOST_TEST(calls == 2);
    BOOST_TEST(self.use_count() == 1);
}

// Tasks that are never called are destroyed in each possible way, even if they hold their own
// handle:
BOOST_AUTO_TEST_CASE(a_task_that_holds_its_own_handle_ends_when_it_is_never_called) {
    const auto alive = std::make_shared<int>();
    const auto hold_itself = [&alive](scheduler& tasks, auto schedule) {
        const auto self = std::make_shared<task_handle>();
        *self = schedule(tasks, [self, alive] {});
        BOOST_TEST(alive.use_count() == 2);
        return std::weak_ptr<task_handle>(self);
    };
    const auto once = [](scheduler& tasks, auto f) { return tasks.schedule_after(1h, f); };
    const auto often = [](scheduler& tasks, auto f) {
        return tasks.schedule_at_fixed_rate(1h, 1h, f);
    };
    const auto under_a_key = [](scheduler& tasks, auto f) {
        return tasks.schedule_after("key", 1h, f);
    };
    const auto ends = [&](auto schedule) {
        { // With the context,
            std::optional<asio::io_context> ctx(std::in_place);
            scheduler tasks(*ctx);
            const auto self = hold_itself(tasks, schedule);
            ctx.reset();
            BOOST_TEST(self.expired());
            BOOST_TEST(alive.use_count() == 1);
        }
        { // with the scheduler,
            asio::io_context ctx;
            std::optional<scheduler> tasks(std::in_place, ctx);
            const auto self = hold_itself(*tasks, schedule);
            tasks.reset();
            BOOST_TEST(self.expired());
            BOOST_TEST(alive.use_count() == 1);
        }
        { // or when the orphan is cancelled.
            asio::io_context ctx;
            scheduler tasks(ctx);
            const auto self = hold_itself(tasks, schedule);
            for (const task_handle& h : tasks.stop()) {
                BOOST_TEST((h.cancel().result == cancel_result::already_cancelled));
            }
            BOOST_TEST(self.expired());
            BOOST_TEST(alive.use_count() == 1);
        }
    };
    ends(once);
    ends(often);
    ends(under_a_key);
}

BOOST_FIXTURE_TEST_CASE(an_orphan_that_is_cancelled_is_not_adopted, logged_scheduler) {
    const auto held = std::make_shared<int>();
    const task_handle a = tasks.schedule_after(1s, [this, held] { log.text += "a"; });
    const task_handle b = tasks.schedule_after(1s, note("b"));
    const auto orphans = tasks.stop();
    BOOST_TEST(held.use_count() == 2);
    BOOST_TEST((a.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST(held.use_count() == 1);
    scheduler other(ctx);
    other.adopt(orphans);
    BOOST_TEST(other.pending() == 1U);
    BOOST_TEST(log_after(1s) == "b");
    BOOST_TEST(a.is_cancelled());
}

BOOST_FIXTURE_TEST_CASE(what_the_end_of_a_scheduler_leaves_is_not_adopted, logged_scheduler) {
    std::optional<scheduler> one(std::in_place, ctx);
    const task_handle h = one->schedule_after(1s, note("a"));
    one.reset();
    tasks.adopt({h});
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(log_after(1h) == "");
    BOOST_TEST(h.is_cancelled());
}

void plain_function() {}

BOOST_AUTO_TEST_CASE(tasks_are_called_on_the_executor_of_their_scheduler) {
    asio::thread_pool pool(2);
    const auto strand = asio::make_strand(pool);
    std::atomic<int> there{0}, elsewhere{0};
    {
        scheduler tasks(strand);
        for (int i = 0; i < 100; ++i) {
            tasks.schedule_after(std::chrono::microseconds(i * 10),
                                 [&] { ++(strand.running_in_this_thread() ? there : elsewhere); });
        }
        pool.join();
    }
    BOOST_TEST(there == 100);
    BOOST_TEST(elsewhere == 0);
}

BOOST_FIXTURE_TEST_CASE(functions_of_all_kinds, logged_scheduler) {
    tasks.schedule_after(0s, plain_function);
    tasks.schedule_after(0s, &plain_function);
    tasks.schedule_after(0s, [this, only = std::make_unique<int>(1)]() mutable {
        log.text += std::to_string((*only)++);
        return 5;
    });
    const std::function<void(const task_handle&)> with_handle = [this](const task_handle& h) {
        log.text += h.is_expired() ? "e" : "";
    };
    tasks.schedule_after(0s, with_handle);
    poll();
    BOOST_TEST(take_log().size() == 2U);
    BOOST_TEST(tasks.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_longest_times_never_come, logged_scheduler) {
    using clock = std::chrono::steady_clock;
    tasks.schedule_after(clock::duration::max(), note("a"));
    tasks.schedule_at(clock::time_point::max(), note("b"));
    tasks.schedule_at_fixed_rate(1s, clock::duration::max(), note("c"));
    tasks.schedule_with_fixed_delay(1s, clock::duration::max(), note("d"));
    tasks.schedule_at(clock::time_point::min(), note("e"));
    pass(1s);
    BOOST_TEST(take_log().size() == 3U);
    BOOST_TEST(log_after(24h * 365 * 100) == "");
    BOOST_TEST(tasks.stop().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_scheduler_may_outlive_its_context) {
    const auto alive = std::make_shared<int>();
    std::optional<asio::io_context> ctx(std::in_place);
    scheduler tasks(*ctx);
    tasks.schedule_after("key", 1h, [alive] {});
    tasks.schedule_at_fixed_rate(0s, 1h, [alive] {});
    const task_handle h = tasks.schedule_after(1h, [alive] {});
    poll_with_timers(*ctx);
    BOOST_TEST(tasks.pending() == 3U);
    ctx.reset();
    BOOST_TEST(alive.use_count() == 1); // Also of the task with a handle.
    BOOST_TEST(tasks.pending() == 0U);
    BOOST_TEST(!h.is_expired());
    BOOST_TEST(h.is_cancelled());
    BOOST_TEST((h.remaining() == 0s));
    BOOST_TEST((h.cancel().result == cancel_result::already_cancelled));
    BOOST_TEST(tasks.stop().empty());
    const auto stopped = [](const boost::system::system_error& e) {
        return e.code() == asio_wheel::error::scheduler_stopped;
    };
    BOOST_CHECK_EXCEPTION(tasks.schedule_after(1h, [] {}), boost::system::system_error, stopped);
    BOOST_CHECK_EXCEPTION(tasks.schedule_at_fixed_rate(1h, 1h, [] {}), boost::system::system_error,
                          stopped);
}

BOOST_AUTO_TEST_CASE(handles_may_outlive_the_context_of_a_strand) {
    std::optional<asio::io_context> ctx(std::in_place);
    std::vector<task_handle> handles;
    {
        scheduler tasks(asio::make_strand(*ctx));
        handles.push_back(tasks.schedule_after(0s, [] {}));
        handles.push_back(tasks.schedule_after(1h, [] {}));
        handles.push_back(tasks.schedule_at_fixed_rate(0s, 1h, [] {}));
        poll_with_timers(*ctx);
        const auto orphans = tasks.stop();
        BOOST_TEST(orphans.size() == 1U);
        handles.insert(handles.end(), orphans.begin(), orphans.end());
        scheduler other(asio::make_strand(*ctx));
        other.adopt(orphans);
        handles.push_back(other.schedule_after("key", 1h, [] {}));
    }
    ctx.reset();
    for (const task_handle& h : handles) {
        BOOST_TEST((h.is_expired() || h.is_cancelled()));
        BOOST_TEST((h.remaining() == 0s));
        BOOST_TEST((h.cancel().result != cancel_result::cancelled));
    }
}

BOOST_AUTO_TEST_CASE(a_task_that_owns_its_scheduler_ends_with_the_context) {
    struct session : std::enable_shared_from_this<session> {
        explicit session(asio::io_context& ctx) : tasks(ctx) {}
        void start() {
            tasks.schedule_after("key", 1h, [self = shared_from_this()] {});
            tasks.schedule_at_fixed_rate(1h, 1h, [self = shared_from_this()] {});
        }
        scheduler tasks;
    };
    std::weak_ptr<session> seen;
    {
        asio::io_context ctx;
        const auto one = std::make_shared<session>(ctx);
        seen = one;
        one->start();
        ctx.poll();
    }
    BOOST_TEST(seen.expired());
}

BOOST_FIXTURE_TEST_CASE(a_task_may_end_its_scheduler, virtual_world) {
    std::optional<scheduler> tasks(std::in_place, ctx);
    int called = 0;
    tasks->schedule_at_fixed_rate(0s, 1s, [&] {
        ++called;
        tasks.reset();
    });
    tasks->schedule_after(0s, [&] { called += 10; });
    poll();
    pass(1h);
    BOOST_TEST((called == 1 || called == 11));
}

// Every key is released by its task, in any order.
BOOST_AUTO_TEST_CASE(threads_take_keys_over_from_each_other) {
    asio::thread_pool pool(2);
    const auto alive = std::make_shared<int>();
    std::atomic<int> ended{0};
    {
        scheduler tasks(pool, {.max_pending = 4});
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&, alive] {
                for (int i = 0; i < 2'000; ++i) {
                    try {
                        tasks.schedule_after(std::to_string(i % 2),
                                             std::chrono::microseconds(i % 3),
                                             [&ended, alive] { ++ended; });
                    } catch (const boost::system::system_error&) {
                        ++ended;
                    }
                }
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
        pool.join();
        BOOST_TEST(tasks.pending() == 0U);
        BOOST_TEST(alive.use_count() == 1);
    }
    BOOST_TEST(ended > 0);
}

BOOST_AUTO_TEST_CASE(threads_schedule_cancel_and_stop_at_once) {
    asio::thread_pool pool(2);
    std::atomic<int> called{0}, cancelled{0}, scheduled{0};
    std::atomic<bool> overlapped{false};
    thread_checks refused;
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
        while (called == 0) {
            std::this_thread::yield();
        }
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

// ThreadSanitizer checks that remaining() reads the wheel of one scheduler.
BOOST_AUTO_TEST_CASE(a_thread_may_ask_what_remains_while_a_task_is_adopted) {
    asio::io_context contexts[2];
    auto tasks = std::make_unique<scheduler>(contexts[0]);
    const task_handle h = tasks->schedule_after(1h, [] {});
    std::atomic<bool> done{false};
    std::atomic<int> asked{0}, wrong{0};
    std::thread asking([&] {
        for (; !done; ++asked) {
            const auto left = h.remaining(); // Zero for an orphan.
            wrong += left == 0s || (left > 50min && left <= 1h) ? 0 : 1;
        }
    });
    for (int i = 1; i < 500 || asked < 500; ++i) {
        auto next = std::make_unique<scheduler>(contexts[i % 2]);
        next->adopt(tasks->stop());
        tasks = std::move(next);
    }
    done = true;
    asking.join();
    BOOST_TEST(wrong == 0);
    BOOST_TEST((h.cancel().result == cancel_result::cancelled));
}

BOOST_AUTO_TEST_SUITE_END()
