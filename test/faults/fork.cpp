// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 600

// fork() at any time, from any thread: the child can use contexts of its own, whatever the other
// threads of the parent were doing. A context that both processes continue to use is notified by
// Asio's notify_fork(). The tests also apply to Asio's timers.

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/child_process.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;

// More than a thread caches memory for.
constexpr std::size_t many = is_tracked ? 500 : 2000;

// Waits that are aborted and waits that expire, more than a thread caches memory for. Returns
// whether each was delivered.
template <class Timer>
bool use_timers() {
    asio::io_context ctx;
    std::size_t expired = 0;
    std::size_t cancelled = 0;
    std::deque<Timer> timers;
    for (std::size_t i = 0; i < many; ++i) {
        timers.emplace_back(ctx, i % 2 == 0 ? -1s : 1h).async_wait([&](const error_code& ec) {
            ++(ec ? cancelled : expired);
        });
    }
    for (std::size_t i = 1; i < many; i += 2) {
        timers[i].cancel();
    }
    ctx.run();
    return expired == many / 2 && cancelled == many / 2;
}

// Threads that use timers all the time. There are none with Asio's handler tracking: that has a
// mutex, and a child waits for ever if another thread had locked it.
template <class Timer>
class busy_threads {
public:
    explicit busy_threads(std::size_t count) {
        for (std::size_t i = 0; i < count && !is_tracked; ++i) {
            threads_.emplace_back([this] {
                while (!stop_) {
                    all_well_ = use_timers<Timer>() && all_well_;
                    ++rounds_;
                }
            });
        }
    }
    ~busy_threads() {
        stop_ = true;
        threads_.clear();
        BOOST_TEST(all_well_);
    }
    busy_threads(const busy_threads&) = delete;
    busy_threads& operator=(const busy_threads&) = delete;

    // The number of rounds of all threads.
    [[nodiscard]] std::size_t rounds() const { return rounds_; }

private:
    std::atomic<bool> stop_ = false;
    std::atomic<bool> all_well_ = true;
    std::atomic<std::size_t> rounds_ = 0;
    std::vector<std::jthread> threads_;
};

constexpr int forks = is_tracked ? 10 : is_sanitized ? 60 : 300;
constexpr unsigned limit = 20; // Seconds, for a child that needs milliseconds.

template <class Timer>
int child_with_timers() {
    return use_timers<Timer>() ? 0 : 1;
}

// All kinds of pending operations on a context that is forked.
template <class Timer>
class mixture {
public:
    mixture() {
        for (int i = 0; i < 200; ++i) {
            wait(std::chrono::milliseconds(i % 40));
        }
        for (int i = 0; i < 20; ++i) {
            wait(-1s);
            wait(1h);
            timers_.back().cancel();
        }
        ctx.poll_one(); // Some are due, but have not been called.
        wait(1h);
        far_ = &timers_.back();
        wait(60ms, [this] { far_->cancel(); });
    }

    // Runs until there is no work. Returns whether everything was delivered once, and nothing
    // early.
    bool finish() {
        ctx.restart();
        ctx.run_for(20s);
        return ctx.stopped() && expired_ == 221 && aborted_ == 21 && early_ == 0;
    }

    asio::io_context ctx;

private:
    void wait(std::chrono::nanoseconds d, std::function<void()> then = nullptr) {
        Timer& t = timers_.emplace_back(ctx, d);
        t.async_wait([this, expiry = t.expiry(), then](const error_code& ec) {
            ++(ec ? aborted_ : expired_);
            early_ += !ec && Timer::clock_type::now() < expiry ? 1 : 0;
            if (then) {
                then();
            }
        });
    }

    std::deque<Timer> timers_;
    Timer* far_ = nullptr;
    int expired_ = 0;
    int aborted_ = 0;
    int early_ = 0;
};

// Forks the process. Returns 0 if both processes found everything correct.
template <class Timer>
int divide(mixture<Timer>& m, int generations) {
    if (generations == 0) {
        return m.finish() ? 0 : 1;
    }
    m.ctx.notify_fork(asio::execution_context::fork_prepare);
    child_process child(
        [&] {
            m.ctx.notify_fork(asio::execution_context::fork_child);
            return divide(m, generations - 1);
        },
        2 * limit);
    m.ctx.notify_fork(asio::execution_context::fork_parent);
    const bool well = m.finish();
    return well && child.wait() == exited_well ? 0 : 1;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_fork)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_child_goes_on_whatever_other_threads_were_doing, Timer, timers) {
    const busy_threads<Timer> others(3);
    for (int i = 0; i < forks; ++i) {
        BOOST_TEST_INFO_SCOPE("fork " << i);
        BOOST_TEST_REQUIRE(outcome_in_child(child_with_timers<Timer>, limit) == exited_well);
    }
    BOOST_TEST((others.rounds() > 0U || is_tracked));
}

// From a thread that is not the main thread, while it uses timers itself.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_may_fork, Timer, timers) {
    const busy_threads<Timer> others(2);
    std::vector<std::string> outcomes;
    std::thread([&] {
        asio::io_context ctx;
        Timer t(ctx);
        int left = forks / 10;
        std::function<void(const error_code&)> next = [&](const error_code&) {
            outcomes.push_back(outcome_in_child(child_with_timers<Timer>, limit));
            if (--left > 0) {
                t.async_wait(next);
            }
        };
        t.async_wait(next);
        ctx.run();
    }).join();
    BOOST_TEST(outcomes == std::vector<std::string>(forks / 10, exited_well),
               boost::test_tools::per_element());
}

// In the child, other threads vanish: only what they cached is lost.
BOOST_AUTO_TEST_CASE(children_may_have_threads_of_their_own) {
    const busy_threads<steady_timer> others(2);
    for (int i = 0; i < forks / 10; ++i) {
        BOOST_TEST_REQUIRE(outcome_in_child(
                               [] {
                                   auto there =
                                       std::async(std::launch::async, use_timers<steady_timer>);
                                   const bool here = use_timers<steady_timer>();
                                   return there.get() && here ? 0 : 1;
                               },
                               limit) == exited_well);
    }
}

// Real time.
BOOST_TEST_DECORATOR(*only_if(!on_io_uring)) // There, no timer of Asio's does.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_context_that_is_told_goes_on_on_both_sides, Timer, timers) {
    const busy_threads<steady_timer> others(1); // They have contexts of their own.
    for (int generations = 0; generations <= 3; ++generations) {
        mixture<Timer> m;
        BOOST_TEST(divide(m, generations) == 0);
    }
}

// As an inspector does, which is destroyed in neither process. The child ends the context, too.
BOOST_AUTO_TEST_CASE(a_context_may_be_forked_while_its_wheel_is_read, *only_if(!on_io_uring)) {
    auto ctx = std::make_unique<asio::io_context>();
    std::deque<steady_timer> pending;
    for (std::size_t i = 0; i < many; ++i) {
        pending.emplace_back(*ctx, 1h).async_wait(ignore);
    }
    const auto wheel = asio_wheel::use_wheel(*ctx).watched();
    const std::jthread reader([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            static_cast<void>(wheel->report());
        }
    });
    for (int i = 0; i < forks / 10; ++i) {
        ctx->notify_fork(asio::execution_context::fork_prepare);
        child_process child(
            [&] {
                ctx->notify_fork(asio::execution_context::fork_child);
                pending.clear();
                ctx->run();
                ctx.reset();
                return 0;
            },
            limit);
        ctx->notify_fork(asio::execution_context::fork_parent);
        BOOST_TEST_REQUIRE(child.wait() == exited_well);
    }
    BOOST_TEST(wheel->report()->waits() == many);
}

// Operations that are based on waits continue too. Real time.
BOOST_AUTO_TEST_CASE(what_is_made_of_waits_goes_on_on_both_sides, *only_if(!on_io_uring)) {
    drained_context world;
    asio_wheel::interval ticks(world.ctx, 5ms);
    asio_wheel::idle_timer idle(world.ctx, 40ms);
    asio_wheel::delay_queue<int> queue(world.ctx);
    std::size_t periods = 0;
    int popped = 0;
    int ended = 0;
    std::function<void(error_code, std::size_t)> tick = [&](error_code ec, std::size_t n) {
        periods += n;
        if (!ec && periods < 6) {
            ticks.async_tick(tick);
        }
    };
    ticks.async_tick(tick);
    idle.async_wait([&](const error_code& ec) { ended += ec ? 0 : 1; });
    queue.push(20ms, 7);
    queue.async_pop([&](const error_code& ec, int value) { popped += ec ? 0 : value; });
    queue.async_pop([&](const error_code& ec, int) { ended += ec ? 10 : 0; });
    steady_timer last(world.ctx, 60ms);
    last.async_wait([&](const error_code&) { queue.close(); });
    const auto finish = [&] {
        world.ctx.run_for(20s);
        return world.ctx.stopped() && periods >= 6 && popped == 7 && ended == 11 ? 0 : 1;
    };
    world.ctx.notify_fork(asio::execution_context::fork_prepare);
    child_process child(
        [&] {
            world.ctx.notify_fork(asio::execution_context::fork_child);
            return finish();
        },
        limit);
    world.ctx.notify_fork(asio::execution_context::fork_parent);
    BOOST_TEST(finish() == 0);
    BOOST_TEST(child.wait() == exited_well);
}

// Those that failed together do not try again together.
BOOST_AUTO_TEST_CASE(children_draw_pauses_of_their_own) {
    const auto draw = [] { return asio_wheel::backoff({.initial = 1h, .max = 1h}).next(); };
    static_cast<void>(draw()); // From now on, there is something to inherit.
    const auto drawn_by_child = [&] {
        std::array<int, 2> ends{};
        BOOST_TEST_REQUIRE(::pipe(ends.data()) == 0);
        child_process child(
            [&] {
                const auto pause = draw();
                return ::write(ends[1], &pause, sizeof(pause)) == sizeof(pause) ? 0 : 1;
            },
            limit);
        std::chrono::nanoseconds pause{};
        BOOST_TEST(::read(ends[0], &pause, sizeof(pause)) == ssize_t(sizeof(pause)));
        BOOST_TEST(child.wait() == exited_well);
        ::close(ends[0]);
        ::close(ends[1]);
        return pause;
    };
    BOOST_TEST((drawn_by_child() != drawn_by_child()));
}

BOOST_AUTO_TEST_SUITE_END()
