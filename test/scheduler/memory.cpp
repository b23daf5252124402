// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// Schedulers without memory. operator new is counted, and made to fail.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/scheduler.hpp>

#include "support/context.hpp"
#include "support/empty_pool.hpp"
#include "support/random_episodes.hpp"
#include "support/scheduler_episode.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::task_handle;

// While this exists, allocations are numbered from one instance to the next, and the one with a
// certain number fails.
class counted_down {
public:
    static constexpr bool memory_may_fail = true;

    counted_down() {
        if (depth_++ == 0) {
            heap.faults.mind();
        }
    }
    counted_down(const counted_down&) = delete;
    counted_down& operator=(const counted_down&) = delete;
    ~counted_down() {
        if (--depth_ == 0) {
            heap.faults.ignore();
        }
    }

    static void fail(std::size_t n) {
        heap.faults.watch(n, n + 1);
        heap.faults.ignore();
    }
    [[nodiscard]] static bool has_failed() { return heap.faults.failed() != 0; }

private:
    static inline int depth_ = 0; // They may be nested.
};

// While this exists, one of the next few allocations may fail.
class unlucky {
public:
    static constexpr bool memory_may_fail = true;

    unlucky() {
        ++depth_;
        watch();
    }
    unlucky(const unlucky&) = delete;
    unlucky& operator=(const unlucky&) = delete;
    ~unlucky() {
        if (--depth_ == 0) {
            heap.faults.ignore();
        } else {
            watch();
        }
    }

    static inline std::minstd_rand random;

private:
    static void watch() {
        const std::size_t n = random() % 8;
        heap.faults.watch(n, n + 1);
    }

    static inline int depth_ = 0;
};

// Runs `f` without cached memory, so each allocation uses the heap.
template <class Function>
void with_empty_pools(Function f) {
    std::thread([&] {
        const empty_pool pool;
        f();
    }).join();
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_memory, *boost::unit_test::timeout(240))

// There are tasks of each kind, and one of them was called.
struct busy : virtual_world {
    std::optional<scheduler> tasks{std::in_place, ctx};
    std::optional<scheduler::group> group{std::in_place, *tasks};
    std::vector<task_handle> handles;
    int calls = 0;

    busy() {
        const auto call = [this] { ++calls; };
        for (int i = 0; i != 100; ++i) {
            handles.push_back(tasks->schedule_after(1h, call));
            handles.push_back(tasks->schedule_after("key " + std::to_string(i), 1h, call));
            handles.push_back(tasks->schedule_at_fixed_rate(1h, 1h, call));
            handles.push_back(tasks->schedule_with_fixed_delay(0s, 1h, call));
            handles.push_back(group->schedule_after(1h, call));
        }
        poll();
        BOOST_TEST(calls == 100);
    }

    // The remaining tasks are never called.
    void nothing_more() {
        calls = 0;
        pass(1h);
        pass(1h);
        BOOST_TEST(calls == 0);
    }
};

BOOST_FIXTURE_TEST_CASE(stop_needs_no_memory_and_always_stops, busy) {
    scheduler::orphans never_called;
    std::size_t allocated = 0;
    {
        const fail_after none(0);
        allocated = allocations_of([&] { never_called = tasks->stop(); });
    }
    BOOST_TEST(allocated == 0U);
    BOOST_TEST(never_called.size() == 400U);
    BOOST_TEST(tasks->pending() == 0U);
    nothing_more();
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_scheduler_needs_no_memory, busy) {
    std::size_t allocated = 0;
    {
        const fail_after none(0);
        allocated = allocations_of([&] {
            group.reset();
            tasks.reset();
        });
    }
    BOOST_TEST(allocated == 0U);
    for (const task_handle& h : handles) {
        BOOST_TEST_REQUIRE(h.is_cancelled());
    }
    nothing_more();
}

BOOST_FIXTURE_TEST_CASE(close_and_cancel_need_no_memory, busy) {
    std::size_t cancelled = 0;
    std::size_t allocated = 0;
    {
        const fail_after none(0);
        allocated = allocations_of([&] {
            cancelled = group->cancel();
            tasks->close();
            for (const task_handle& h : handles) {
                cancelled += h.cancel().result == cancel_result::cancelled ? 1 : 0;
            }
        });
    }
    BOOST_TEST(allocated == 0U);
    BOOST_TEST(cancelled == 500U);
    BOOST_TEST(tasks->pending() == 0U);
    nothing_more();
}

BOOST_FIXTURE_TEST_CASE(waits_that_have_begun_need_no_memory_to_end, busy) {
    int ended = 0, aborted = 0;
    boost::asio::cancellation_signal cancel;
    const auto end = [&](const boost::system::error_code& ec) { ++(ec ? aborted : ended); };
    tasks->async_wait_idle(end);
    group->async_wait_idle(end);
    handles.front().async_wait_idle(boost::asio::bind_executor(ctx, end));
    tasks->async_wait_idle(boost::asio::bind_cancellation_slot(cancel.slot(), end));
    std::size_t allocated = 0;
    {
        const fail_after none(0);
        allocated = allocations_of([&] {
            cancel.emit(boost::asio::cancellation_type::terminal);
            group->cancel();
            for (const task_handle& h : handles) {
                h.cancel();
            }
            poll();
        });
    }
    BOOST_TEST(allocated == 0U);
    BOOST_TEST(ended == 3);
    BOOST_TEST(aborted == 1);
    BOOST_TEST(tasks->pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(on_cancel_and_missed_calls_need_no_memory, virtual_world) {
    scheduler tasks(ctx);
    int told = 0, calls = 0;
    const auto call = [&] { ++calls; };
    const auto tell = [&] { ++told; };
    std::vector<task_handle> handles;
    for (const auto rule : {asio_wheel::missed::coalesce, asio_wheel::missed::skip}) {
        for (int i = 0; i != 50; ++i) {
            handles.push_back(
                tasks.schedule_at_fixed_rate(1s, 1s, asio_wheel::on_cancel(call, tell), rule));
        }
    }
    std::size_t allocated = 0;
    for (int i = 0; i != 10; ++i) {
        elapse(1h);
        allocated += allocations_of([&] { poll(); });
    }
    BOOST_TEST(allocated == 0U);
    BOOST_TEST(calls == 500);
    allocated = allocations_of([&] {
        for (const task_handle& h : handles) {
            h.cancel();
        }
    });
    BOOST_TEST(allocated == 0U);
    BOOST_TEST(told == 100);
}

// A repeated task has the memory that it needs, even if its function takes all other memory: its
// waits reuse the same block.
BOOST_FIXTURE_TEST_CASE(a_repeated_task_goes_on_without_memory, virtual_world) {
    int calls = 0;
    std::vector<std::unique_ptr<empty_pool>> taken;
    taken.reserve(100);
    std::optional<out_of_memory> none;
    const auto call = [&] {
        none.reset();
        ++calls;
        taken.push_back(std::make_unique<empty_pool>()); // Also the memory that the wait has freed.
        none.emplace();
    };
    scheduler tasks(ctx, {.on_error = [](const task_handle&, const std::exception_ptr&) {
                        BOOST_TEST(false, "a task has no memory");
                    }});
    std::vector<task_handle> handles;
    handles.push_back(tasks.schedule_at_fixed_rate(1s, 1s, call));
    handles.push_back(tasks.schedule_with_fixed_delay(1500ms, 1s, call));
    handles.push_back(tasks.schedule([](auto t) { return std::optional(t + 1s); }, call));
    for (int i = 0; i != 10; ++i) {
        wheel.advance(500ms);
        ctx.restart();
        ctx.poll();
        none.reset();
    }
    BOOST_TEST(calls == 14);
    for (const task_handle& h : handles) {
        h.cancel();
    }
}

BOOST_FIXTURE_TEST_CASE(what_is_scheduled_through_a_group_is_in_it_or_not_scheduled,
                        virtual_world) {
    scheduler tasks(ctx);
    int calls = 0;
    std::size_t refused = 0;
    bool failed = true;
    for (std::size_t n = 0; failed; ++n) {
        scheduler::group group(tasks);
        with_empty_pools([&] {
            // A thread's first wait on any wheel may need memory that it can do without.
            asio_wheel::steady_timer(ctx, 1h).async_wait([](const error_code&) {});
            const fail_after failure(n);
            try {
                group.schedule_after(1s, [&] { ++calls; });
            } catch (const std::bad_alloc&) {
                ++refused;
            }
            failed = failure.has_failed();
        });
        BOOST_TEST(tasks.pending() == (failed ? 0U : 1U));
        BOOST_TEST(group.cancel() == (failed ? 0U : 1U));
        BOOST_TEST(tasks.pending() == 0U);
    }
    BOOST_TEST(refused >= 2U);
    pass(1s);
    BOOST_TEST(calls == 0);
}

// A coroutine takes memory for each call. If there is none, the call ends, and the task goes on.
// But if Asio's own part of its end fails, the coroutine is destroyed, and the task with it.
BOOST_FIXTURE_TEST_CASE(a_coroutine_without_memory_ends_its_call_or_its_task, virtual_world) {
    bool failed = true;
    std::size_t reported = 0, called = 0;
    for (std::size_t n = 0; failed; ++n) {
        int calls = 0, errors = 0;
        bool thrown = false;
        scheduler tasks(
            ctx, {.on_error = [&](const task_handle&, const std::exception_ptr&) { ++errors; }});
        const task_handle h = tasks.schedule_at_fixed_rate(1s, 1s, [&]() -> asio::awaitable<void> {
            ++calls;
            co_return;
        });
        wheel.advance(1s);
        with_empty_pools([&] {
            ctx.restart();
            const fail_after failure(n);
            try {
                ctx.poll();
            } catch (const std::bad_alloc&) {
                thrown = true;
            }
            failed = failure.has_failed();
        });
        poll();
        BOOST_TEST(calls + errors + (thrown ? 1 : 0) >= 1);
        BOOST_TEST((thrown || tasks.pending() == 1U));
        BOOST_TEST(tasks.pending() == (h.is_cancelled() ? 0U : 1U));
        reported += errors != 0 ? 1U : 0U;
        const int before = calls;
        pass(1s);
        called += calls > before ? 1U : 0U;
        BOOST_TEST(calls - before == (h.is_cancelled() ? 0 : 1));
        h.cancel();
        poll();
        BOOST_TEST(tasks.pending() == 0U);
    }
    BOOST_TEST(reported >= 3U); // Of the call, of the coroutine, and of what spawns it.
    BOOST_TEST(called > reported);
}

// The n-th allocation of a program fails, for each n. Nothing is lost, and nothing is called twice.
BOOST_AUTO_TEST_CASE(any_one_allocation_of_a_random_program_may_fail) {
    std::mt19937_64 random(seed());
    const std::vector<std::uint8_t> data = random_bytes(random, 400);
    bool failed = true;
    std::size_t n = 0;
    for (; failed; ++n) {
        with_empty_pools([&] {
            bytes input(data, bytes_for_the_end);
            scheduler_episode<counted_down> episode(input);
            counted_down::fail(n);
            while (!input.empty()) {
                episode.step();
            }
            failed = counted_down::has_failed();
            heap.faults.fail(0, 0); // No more failures.
            episode.finish();
        });
    }
    BOOST_TEST(n > 20U); // Some random programs allocate little.
}

// Many allocations fail.
BOOST_AUTO_TEST_CASE(many_allocations_of_a_random_program_may_fail) {
    std::mt19937_64 seeds(seed());
    unlucky::random.seed(static_cast<std::minstd_rand::result_type>(seeds()));
    with_empty_pools([] { run_random_episodes<scheduler_episode<unlucky>>(200); });
}

BOOST_AUTO_TEST_SUITE_END()
