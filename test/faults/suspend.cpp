// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// A machine is suspended and resumed: see support/sleeping_machine.hpp. Waits of boottime_timer
// whose deadline has passed complete right after the resume, and those of steady_timer do not.
//
// Real time, because the tests are of what wakes a sleeping context up.

#include "support/sleeping_machine.hpp"

#include <asio_wheel/boottime_clock.hpp>
#include <asio_wheel/boottime_timer.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/child_process.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

namespace {

// As long as this is set, epoll cannot wait for one more descriptor.
std::atomic<bool> reactor_is_full{false};

} // namespace

#if !ASIO_WHEEL_TEST_THREAD_SANITIZER // It has its own, and learns from it what follows what.
extern "C" int epoll_ctl(int epoll, int operation, int fd, ::epoll_event* event) noexcept {
    if (operation == EPOLL_CTL_MOD && reactor_is_full) {
        errno = ENOMEM;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}
#endif

namespace {

using namespace asio_wheel::test;
using asio_wheel::boottime_clock;
using asio_wheel::boottime_timer;
using asio_wheel::steady_timer;

constexpr auto limit = 20s; // For what takes milliseconds.

// A context that sleeps in a thread of its own, and has a lease of an hour.
struct sleeping_context : drained_context {
    // Returns when the context is most likely asleep. (If it is not yet, the test checks less.)
    void fall_asleep() {
        std::promise<void> running;
        boost::asio::post(ctx, [&] { running.set_value(); });
        thread_ = std::jthread([this] { run(); });
        running.get_future().wait();
        std::this_thread::sleep_for(5ms);
    }

    void join() { thread_.join(); }

    asio_wheel::wheel_service<boottime_clock>& wheel = asio_wheel::use_wheel<boottime_clock>(ctx);

private:
    std::jthread thread_;
};

// A wait whose context is forked. `expired` is 1 when it has expired, and 100 when it was aborted.
struct forked_wait {
    explicit forked_wait(boottime_clock::duration d) : t(world.ctx, d) {
        t.async_wait([this](const error_code& ec) { expired += ec ? 100 : 1; });
        world.poll();
    }

    // Forks, and waits until f() has returned 0 in the child.
    template <class Function>
    void fork(Function f) {
        world.ctx.notify_fork(asio::execution_context::fork_prepare);
        child_process child(
            [&] {
                world.ctx.notify_fork(asio::execution_context::fork_child);
                return f();
            },
            30);
        world.ctx.notify_fork(asio::execution_context::fork_parent);
        BOOST_TEST(child.wait() == exited_well);
    }

    drained_context world;
    boottime_timer t;
    int expired = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(fault_suspend)

BOOST_AUTO_TEST_CASE(the_boot_time_passes_during_a_suspend_and_the_steady_time_does_not) {
    BOOST_TEST(boottime_clock::includes_suspend);
    const auto steady = std::chrono::steady_clock::now();
    const auto boot = boottime_clock::now();
    sleeping_machine::suspend(8h);
    BOOST_TEST((boottime_clock::now() - boot >= 8h));
    BOOST_TEST((std::chrono::steady_clock::now() - steady < 8h));
}

// One wake-up: no later look at the clock is needed.
BOOST_AUTO_TEST_CASE(a_sleeping_context_wakes_up_right_after_the_resume) {
    sleeping_context world;
    journal log;
    steady_timer steady(world.ctx, 1h);
    boottime_timer lease(world.ctx, 1h);
    boottime_timer later(world.ctx, 9h);
    steady.async_wait(log.note("steady"));
    later.async_wait(log.note("later"));
    lease.async_wait([&](const error_code& ec) {
        BOOST_TEST((boottime_clock::now() >= lease.expiry()));
        log.add("lease", ec);
        steady.cancel();
        later.cancel();
    });
    world.fall_asleep();
    sleeping_machine::suspend(8h);
    world.join();
    BOOST_TEST(log.take() == "lease steady! later!");
    const auto stats = world.wheel.stats();
    BOOST_TEST(stats.wake_ups == 1U);
    BOOST_TEST(stats.spurious_wake_ups == 0U);
}

BOOST_AUTO_TEST_CASE(a_wait_is_neither_early_nor_forgotten_after_a_suspend_that_is_too_short) {
    sleeping_context world;
    bool early = true;
    boottime_timer lease(world.ctx, 1h);
    lease.async_wait(
        [&](const error_code& ec) { early = ec || boottime_clock::now() < lease.expiry(); });
    world.fall_asleep();
    sleeping_machine::suspend(1h - 100ms);
    world.join();
    BOOST_TEST(!early);
    BOOST_TEST(world.wheel.stats().wake_ups == 1U);
}

BOOST_AUTO_TEST_CASE(a_wait_can_be_moved_and_started_anew_across_suspends) {
    sleeping_context world;
    int expired = 0;
    boottime_timer t(world.ctx, 1h);
    std::function<void(const error_code&)> again = [&](const error_code& ec) {
        BOOST_TEST(!ec);
        BOOST_TEST((boottime_clock::now() >= t.expiry()));
        if (++expired < 3) {
            t.expires_after(1h);
            t.async_wait(again);
            std::thread([] { sleeping_machine::suspend(2h); }).join();
        }
    };
    t.async_wait(again);
    BOOST_TEST(t.postpone(5h) == 1U);
    BOOST_TEST(t.postpone(2h) == 1U);
    world.fall_asleep();
    sleeping_machine::suspend(2h);
    world.join();
    BOOST_TEST(expired == 3);
}

// Peers could not be heard while the machine slept.
BOOST_AUTO_TEST_CASE(a_suspend_counts_as_a_stall) {
    sleeping_context world;
    boottime_timer lease(world.ctx, 1h);
    lease.async_wait(ignore);
    world.fall_asleep();
    sleeping_machine::suspend(8h);
    world.join();
    BOOST_TEST(world.wheel.stats().stalls == 1U);
    BOOST_TEST((world.wheel.stats().stalled >= 6h));
}

BOOST_AUTO_TEST_CASE(without_timerfd_the_context_looks_at_the_clock_each_second) {
    const sleeping_machine::without_timerfd none;
    sleeping_context world;
    bool early = true;
    boottime_timer lease(world.ctx, 1h);
    lease.async_wait(
        [&](const error_code& ec) { early = ec || boottime_clock::now() < lease.expiry(); });
    world.fall_asleep();
    sleeping_machine::suspend(8h);
    world.join(); // A timer that sleeps for an hour would fail in run().
    BOOST_TEST(!early);
}

// The wheel tries again on each turn of the context.
BOOST_AUTO_TEST_CASE(a_wait_for_which_the_reactor_has_no_memory_is_not_lost) {
    drained_context world;
    boottime_timer t(world.ctx, 20ms);
    bool early = true;
    bool over = false;
    reactor_is_full = true;
    t.async_wait([&](const error_code& ec) {
        early = ec || boottime_clock::now() < t.expiry();
        over = true;
    });
    for (int i = 0; i < 100; ++i) {
        world.ctx.restart();
        world.ctx.poll_one();
    }
    BOOST_TEST((over || !world.ctx.stopped()));
    reactor_is_full = false;
    world.run();
    BOOST_TEST(over);
    BOOST_TEST(!early);
}

BOOST_AUTO_TEST_CASE(a_thread_that_blocks_looks_at_the_clock_each_second) {
    drained_context world;
    boottime_timer lease(world.ctx, 1h);
    std::future<void> over = std::async(std::launch::async, [&] { lease.wait(); });
    std::this_thread::sleep_for(5ms); // Most likely, it sleeps.
    sleeping_machine::suspend(8h);
    BOOST_TEST((over.wait_for(limit) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(a_pool_wakes_up_too) {
    boost::asio::thread_pool pool(2);
    boottime_timer lease(pool, 1h);
    std::future<void> done = lease.async_wait(boost::asio::use_future);
    sleeping_machine::suspend(2h);
    BOOST_TEST_REQUIRE((done.wait_for(limit) == std::future_status::ready));
    done.get();
}

BOOST_AUTO_TEST_CASE(idle_timers_may_have_the_boot_time) {
    sleeping_context world;
    asio_wheel::basic_idle_timer<boottime_clock> session(world.ctx, 8h);
    bool ended = false;
    session.async_wait([&](const error_code& ec) { ended = !ec; });
    world.fall_asleep();
    sleeping_machine::suspend(9h);
    world.join();
    BOOST_TEST(ended);
}

// Parent and child would otherwise share one timerfd: the child would disarm its parent's.
BOOST_AUTO_TEST_CASE(a_child_leaves_the_waits_of_its_parent_alone) {
    forked_wait w(300ms);
    w.fork([&] {
        w.t.cancel();
        w.world.run();
        return w.expired == 100 ? 0 : 1;
    });
    w.world.run();
    BOOST_TEST(w.expired == 1);
}

BOOST_AUTO_TEST_CASE(a_wait_goes_on_in_the_child) {
    forked_wait w(1h);
    w.fork([&] {
        std::jthread sleeper([] {
            std::this_thread::sleep_for(5ms);
            sleeping_machine::suspend(2h);
        });
        w.world.run();
        return w.expired == 1 ? 0 : 1;
    });
    w.t.cancel();
    w.world.run();
    BOOST_TEST(w.expired == 100);
}

// The timer that polls in its place ends with the wheel, and before its service in Asio.
BOOST_AUTO_TEST_CASE(the_context_of_a_child_without_timerfd_ends) {
    auto ctx = std::make_unique<asio::io_context>();
    auto lease = std::make_shared<boottime_timer>(*ctx, 1h);
    lease->async_wait([lease](const error_code&) {}); // Until the context ends.
    lease.reset();
    ctx->poll();
    const sleeping_machine::without_timerfd none;
    ctx->notify_fork(asio::execution_context::fork_prepare);
    child_process child(
        [&] {
            ctx->notify_fork(asio::execution_context::fork_child);
            ctx->poll();
            ctx.reset();
            return 0;
        },
        30);
    ctx->notify_fork(asio::execution_context::fork_parent);
    BOOST_TEST(child.wait() == exited_well);
}

BOOST_AUTO_TEST_SUITE_END()
