// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: off

// Schedulers while each allocation and each move of a function fails once.

#include "support/failing.hpp"
#include "support/names.hpp"

#include <asio_wheel/error.hpp>
#include <asio_wheel/scheduler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using enum failing;

using scheduler = asio_wheel::basic_scheduler<world_clock>;
using task = scheduler::handle;

// A function that is called `times` times, and then cancels its task.
class job {
public:
    job(handler&& h, int times) : handler_(std::move(h)), left_(times) {}

    void operator()(const task& self) {
        handler_();
        if (--left_ == 0) {
            self.cancel();
        }
    }

private:
    handler handler_;
    int left_;
};

// A task that schedule(function) schedules, and that should be called `times` times.
template <class Schedule>
outcome& begin(world& w, int times, Schedule schedule) {
    outcome& o = w.expect();
    o.times = times;
    w.start(o, [&](auto h) {
        if (times == 1) {
            schedule(std::move(h));
        } else {
            schedule(job(std::move(h), times));
        }
    });
    return o;
}

// A task that is called once.
outcome& once(world& w, scheduler& s, std::chrono::nanoseconds d, task* t = nullptr) {
    return begin(w, 1, [&](auto f) {
        task scheduled = s.schedule_after(d, std::move(f));
        if (t != nullptr) {
            *t = scheduled;
        }
    });
}

// The task is not called any more.
void is_over(outcome& o) {
    o.times = o.calls;
}

// A key whose copies allocate.
struct heavy_key {
    std::string text;
    friend bool operator==(const heavy_key&, const heavy_key&) = default;
};

} // namespace

template <>
struct std::hash<heavy_key> {
    std::size_t operator()(const heavy_key& k) const { return std::hash<std::string>()(k.text); }
};

BOOST_AUTO_TEST_SUITE(failing_scheduler)

FAILING_TEST_CASE(tasks_that_are_called_once) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    once(w, s, 3ms);
    once(w, s, -3ms);
    begin(w, 1, [&](auto f) { s.schedule_at(world_clock::now() + 5ms, std::move(f)); });
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(tasks_that_are_called_again) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    begin(w, 3, [&](auto f) { s.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
    begin(w, 3, [&](auto f) { s.schedule_with_fixed_delay(1ms, 2ms, std::move(f)); });
    begin(w, 3, [&](auto f) {
        const auto next = [](world_clock::time_point t) { return std::optional(t + 2ms); };
        s.schedule(next, std::move(f));
    });
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(tasks_that_come_to_an_end) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    begin(w, 1, [&](auto f) {
        const auto next = [left = 1](world_clock::time_point t) mutable {
            return left-- > 0 ? std::optional(t + 2ms) : std::nullopt;
        };
        s.schedule(next, std::move(f));
    });
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(tasks_on_a_strand) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.prepare([&] { return asio::make_strand(w.ctx()); });
    scheduler s = w.call([&] { return scheduler(strand); });
    begin(w, 3, [&](auto f) { s.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
    w.run();
}

BOOST_AUTO_TEST_CASE(tasks_on_a_pool) {
    const auto scenario = [](world& w) {
        scheduler s = w.call([&] { return scheduler(w.pool()); });
        outcome& o = begin(w, 3, [&](auto f) { s.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
        o.is_work = false; // Of ctx().
        w.run();
    };
    if (on_completion_port) {
        // The library does not queue operations in a pool there: see a_timer_on_an_unknown_executor
        // in timers.cpp.
        each_failure(scenario, {failing::allocations_until_done});
    } else {
        each_failure(scenario);
    }
}

// ---- Keys, handles and groups

FAILING_TEST_CASE(a_task_in_the_place_of_another) {
    const std::string key = w.prepare([] { return std::string(100, 'k'); });
    scheduler s = w.call([&] { return scheduler(w.ctx(), {.max_pending = 1}); });
    const auto keyed = [&](auto f) { s.schedule_after(key, 3ms, std::move(f)); };
    outcome& first = begin(w, 1, keyed);
    if (begin(w, 1, keyed).accepted) {
        is_over(first);
    }
    w.check(first.live == (first.waits() ? 1 : 0), "what was replaced is kept");
    w.run();
}

FAILING_TEST_CASE(cancelling_tasks) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    task a, b;
    outcome& first = once(w, s, 3ms, &a);
    once(w, s, 5ms);
    outcome& again =
        begin(w, 9, [&](auto f) { b = s.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
    w.pass(2);
    a.cancel();
    is_over(first);
    w.check(first.live == 0, "what is cancelled is kept");
    b.cancel();
    is_over(again);
    w.check(again.live == 0, "what is cancelled is kept");
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(groups) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    std::array<outcome*, 6> all{};
    {
        const std::string key = w.prepare([] { return std::string(100, 'k'); });
        scheduler::group g = w.call([&] { return scheduler::group(s); });
        all[0] = &begin(w, 1, [&](auto f) { g.schedule_after(30ms, std::move(f)); });
        all[1] =
            &begin(w, 1, [&](auto f) { g.schedule_at(world_clock::now() + 30ms, std::move(f)); });
        w.pass(1);
        g.cancel();
        is_over(*all[0]);
        is_over(*all[1]);
        all[2] = &begin(w, 9, [&](auto f) { g.schedule_at_fixed_rate(30ms, 30ms, std::move(f)); });
        all[3] =
            &begin(w, 9, [&](auto f) { g.schedule_with_fixed_delay(30ms, 30ms, std::move(f)); });
        all[4] = &begin(w, 9, [&](auto f) {
            const auto next = [](world_clock::time_point t) { return std::optional(t + 30ms); };
            g.schedule(next, std::move(f));
        });
        all[5] = &begin(w, 1, [&](auto f) { g.schedule_after(key, 30ms, std::move(f)); });
        w.pass(1);
    }
    for (outcome* const o : all) {
        is_over(*o);
        w.check(o->live == 0, "what is cancelled is kept");
    }
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

// ---- Keys of any type, and on_cancel

FAILING_TEST_CASE(keys_of_several_types) {
    const heavy_key key = w.prepare([] { return heavy_key{std::string(100, 'k')}; });
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    std::array<outcome*, 4> all{};
    all[0] = &begin(w, 9, [&](auto f) { s.schedule_at_fixed_rate(key, 1ms, 2ms, std::move(f)); });
    all[1] = &begin(w, 9, [&](auto f) { s.schedule_with_fixed_delay(7, 1ms, 2ms, std::move(f)); });
    all[2] = &begin(w, 9, [&](auto f) {
        const auto next = [](world_clock::time_point t) { return std::optional(t + 2ms); };
        s.schedule(7L, next, std::move(f));
    });
    all[3] = &begin(
        w, 1, [&](auto f) { s.schedule_at(key.text, world_clock::now() + 9ms, std::move(f)); });
    w.pass(3);
    w.check(s.is_pending(key) == all[0]->accepted, "a key leads to its task");
    w.check(s.is_pending(7) == all[1]->accepted, "a key leads to its task");
    s.cancel(key);
    s.cancel(7);
    s.cancel(7L);
    s.cancel(key.text);
    for (outcome* const o : all) {
        is_over(*o);
        w.check(o->live == 0, "what is cancelled is kept");
    }
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

// The handler is called when the task is cancelled.
FAILING_TEST_CASE(tasks_that_are_told_of_their_cancellation) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    task t;
    outcome& o = w.expect();
    w.start(o,
            [&](auto h) { t = s.schedule_after(1h, asio_wheel::on_cancel([] {}, std::move(h))); });
    w.pass(1);
    t.cancel();
    w.check(o.calls == (o.accepted ? 1 : 0), "a cancelled task is told");
    w.check(o.live == 0, "what is cancelled is kept");
    w.run();
}

// ---- Waiting until idle

FAILING_TEST_CASE(waits_for_schedulers_groups_and_tasks) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    scheduler::group g = w.call([&] { return scheduler::group(s); });
    task t;
    begin(w, 1, [&](auto f) { t = g.schedule_after(3ms, std::move(f)); });
    w.start(w.expect(), [&](auto h) { s.async_wait_idle(std::move(h)); });
    w.start(w.expect(), [&](auto h) { g.async_wait_idle(std::move(h)); });
    w.start(w.expect(),
            [&](auto h) { t.async_wait_idle(asio::bind_executor(w.ctx(), std::move(h))); });
    w.run();
    w.start(w.expect(), [&](auto h) { s.async_wait_idle(std::move(h)); });
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(waits_on_strands_and_other_contexts) {
    w.ends_without_memory = false; // A strand needs some.
    const auto strand = w.strand();
    const auto hidden =
        w.prepare([&] { return asio::any_io_executor(asio::make_strand(w.ctx())); });
    asio::io_context& other = w.other();
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    begin(w, 1, [&](auto f) { s.schedule_after(3ms, std::move(f)); });
    w.start(w.expect(),
            [&](auto h) { s.async_wait_idle(asio::bind_executor(strand, std::move(h))); });
    w.start(w.expect(),
            [&](auto h) { s.async_wait_idle(asio::bind_executor(hidden, std::move(h))); });
    outcome& o = w.expect();
    o.is_work = false; // Of ctx().
    w.start(o, [&](auto h) { s.async_wait_idle(asio::bind_executor(other, std::move(h))); });
    w.run();
}

FAILING_TEST_CASE(stopping_a_group) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    scheduler::group g = w.call([&] { return scheduler::group(s); });
    outcome& o = begin(w, 9, [&](auto f) { g.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
    w.pass(2);
    if (w.start(w.expect(), [&](auto h) { g.async_stop(std::move(h)); })) {
        is_over(o);
        w.check(o.live == 0, "what is cancelled is kept");
    } else {
        w.check(s.pending() == (o.accepted ? 1U : 0U), "nothing is cancelled without memory");
        g.cancel();
        is_over(o);
    }
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(aborting_waits) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    asio::cancellation_signal cancel;
    task t;
    outcome& o = once(w, s, 1h, &t);
    w.start(w.expect(asio::error::operation_aborted), [&](auto h) {
        s.async_wait_idle(asio::bind_cancellation_slot(cancel.slot(), std::move(h)));
    });
    w.pass(1);
    cancel.emit(asio::cancellation_type::terminal);
    w.pass(1);
    t.cancel();
    is_over(o);
    w.run();
}

FAILING_TEST_CASE(waits_when_the_context_ends) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    once(w, s, 1h);
    w.start(w.expect(), [&](auto h) { s.async_wait_idle(std::move(h)); });
    w.pass(1);
    w.end_context();
}

// ---- The end of schedulers

FAILING_TEST_CASE(stopping) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    outcome& first = once(w, s, 30ms);
    outcome& second = once(w, s, 40ms);
    outcome& again = begin(w, 9, [&](auto f) { s.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
    w.pass(2);
    {
        const auto orphans = s.stop();
        const std::size_t never_called = (first.accepted ? 1U : 0U) + (second.accepted ? 1U : 0U) +
                                         (again.accepted && again.calls == 0 ? 1U : 0U);
        w.check(orphans.size() == never_called, "stop() miscounts");
    }
    for (outcome* const o : {&first, &second, &again}) {
        is_over(*o);
    }
    w.check(s.pending() == 0, "a task is counted that is over");
    w.poll();
    for (const outcome* const o : {&first, &second, &again}) {
        w.check(o->live == 0, "what is stopped is kept");
    }
}

FAILING_TEST_CASE(adopting) {
    auto& other = w.other();
    const std::string key = w.prepare([] { return std::string(100, 'k'); });
    scheduler from = w.call([&] { return scheduler(w.ctx()); });
    scheduler to = w.call([&] { return scheduler(other); });
    std::array<outcome*, 3> all{&once(w, from, 5ms), &once(w, from, 6ms), &begin(w, 1, [&](auto f) {
                                    from.schedule_after(key, 7ms, std::move(f));
                                })};
    w.pass(1);
    const auto orphans = from.stop();
    for (outcome* const o : all) {
        o->is_work = false; // Of ctx().
    }
    std::size_t adopted = 0;
    try {
        w.call([&] { to.adopt(orphans); });
        adopted = orphans.size();
    } catch (const std::bad_alloc&) { // There is no memory left: some tasks may have been adopted.
        adopted = to.pending();
        w.prepare([&] { to.adopt(orphans); });
    }
    w.check(to.pending() == orphans.size(), "adopt() loses tasks");
    w.check(adopted <= orphans.size(), "adopt() miscounts");
    w.run();
    w.check(to.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(closing) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    once(w, s, 3ms);
    s.close();
    const error_code refusal = w.call([&]() -> error_code {
        try {
            s.schedule_after(1ms, [] {});
        } catch (const boost::system::system_error& e) {
            return e.code();
        }
        return success;
    });
    w.check(refusal == asio_wheel::error::scheduler_stopped, "a closed scheduler takes a task");
    w.run();
    w.check(s.pending() == 0, "a task is counted that is over");
}

FAILING_TEST_CASE(destroying_a_scheduler) {
    std::array<outcome*, 3> all{};
    {
        scheduler s = w.call([&] { return scheduler(w.ctx()); });
        all[0] = &once(w, s, 30ms);
        all[1] = &once(w, s, 40ms);
        all[2] = &begin(w, 9, [&](auto f) { s.schedule_at_fixed_rate(1ms, 2ms, std::move(f)); });
        w.pass(2);
    }
    for (outcome* const o : all) {
        is_over(*o);
    }
    w.poll();
    for (const outcome* const o : all) {
        w.check(o->live == 0, "what is stopped is kept");
    }
}

FAILING_TEST_CASE(tasks_when_the_context_ends) {
    scheduler s = w.call([&] { return scheduler(w.ctx()); });
    const std::array all{&once(w, s, 30ms), &begin(w, 9, [&](auto f) {
                             s.schedule_at_fixed_rate(1ms, 2ms, std::move(f));
                         })};
    w.pass(2);
    w.end_context();
    for (outcome* const o : all) {
        is_over(*o);
    }
}

// ---- Errors

FAILING_TEST_CASE(tasks_that_throw) {
    int told = 0;
    scheduler s = w.call([&] {
        return scheduler(w.ctx(),
                         {.on_error = [&told](const task&, const std::exception_ptr&) { ++told; }});
    });
    outcome& o = w.expect();
    o.times = 3;
    w.start(o, [&](auto h) {
        job f(std::move(h), 3);
        s.schedule_at_fixed_rate(1ms, 2ms, [f = std::move(f)](const task& t) mutable {
            f(t);
            throw 1;
        });
    });
    w.run();
    w.check(told == o.calls, "what a task has thrown is not told");
}

FAILING_TEST_CASE(tasks_when_the_wheel_is_drained) {
    int told = 0;
    scheduler s = w.call([&] {
        return scheduler(w.ctx(),
                         {.on_error = [&told](const task&, const std::exception_ptr&) { ++told; }});
    });
    outcome& o = once(w, s, 30ms);
    w.pass(1);
    w.prepare([&] { return asio_wheel::use_wheel<world_clock>(w.ctx()).drain(); });
    w.poll();
    w.check(told == (o.accepted ? 1 : 0), "a task ends, and nobody is told");
    is_over(o);
    w.check(s.pending() == 0, "a task is counted that is over");
}

BOOST_AUTO_TEST_CASE(refusing_tasks) {
    each_failure(
        [](world& w) {
            scheduler s = w.call([&] { return scheduler(w.ctx(), {.max_pending = 1}); });
            w.call([&] { return s.schedule_after(3ms, [] {}); });
            w.also_waits = [&] { return s.pending() != 0; };
            const auto refusal = [&](auto f) {
                return w.call([&]() -> error_code {
                    try {
                        f();
                    } catch (const boost::system::system_error& e) {
                        return e.code();
                    } catch (const std::invalid_argument&) {
                        return boost::system::errc::make_error_code(
                            boost::system::errc::invalid_argument);
                    }
                    return success;
                });
            };
            w.check(refusal([&] { s.schedule_after(1ms, [] {}); }) ==
                        asio_wheel::error::scheduler_full,
                    "a full scheduler takes a task");
            const std::function<void()> empty;
            w.check(refusal([&] { s.schedule_after(1ms, empty); }) ==
                        boost::system::errc::invalid_argument,
                    "an empty function is taken");
            w.check(refusal([&] { s.schedule_at_fixed_rate(1ms, 0ms, [] {}); }) ==
                        boost::system::errc::invalid_argument,
                    "a period of zero is taken");
            w.check(s.pending() == 1, "a task is counted that was refused");
            w.pass(5);
        },
        {one_move});
}

BOOST_AUTO_TEST_SUITE_END()
