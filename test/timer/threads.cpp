// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Several threads on one wheel: what they may do concurrently, and what each can rely on.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/latch.hpp"
#include "support/names.hpp"
#include "support/threads.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;
using clock_type = std::chrono::steady_clock;

} // namespace

BOOST_AUTO_TEST_SUITE(timer_threads, *boost::unit_test::timeout(200))

// Whether they expired in one tick or were cancelled at once.
BOOST_AUTO_TEST_CASE_TEMPLATE(handlers_of_one_pass_run_on_several_threads, Timer, timers) {
    for (const bool cancelled : {false, true}) {
        thread_checks all;
        drained_context world;
        signal_flag second_ran;
        Timer a(world.ctx, cancelled ? 1h : 2ms);
        Timer b(world.ctx, a.expiry());
        a.async_wait([&](const error_code&) { all.expect(second_ran.wait()); });
        b.async_wait([&](const error_code&) { second_ran.set(); });
        if (cancelled) {
            asio::post(world.ctx, [&] {
                a.cancel();
                b.cancel();
            });
        }
        const runners both(world.ctx, 2);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_earlier_wait_of_another_thread_wakes_the_context, Timer, timers) {
    for (const int hint : {BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, 1}) {
        drained_context world(hint);
        Timer late(world.ctx, 1h);
        late.async_wait(ignore);
        const runners sleeper(world.ctx, 1);
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(1ms); // real time: lets the other thread fall asleep
            signal_flag called;
            Timer early(world.ctx, 2ms);
            early.async_wait([&](const error_code&) { called.set(); });
            BOOST_TEST(called.wait());
        }
        late.cancel();
    }
}

BOOST_AUTO_TEST_CASE(a_cancel_of_another_thread_lets_the_context_end) {
    drained_context world;
    steady_timer t(world.ctx, 1h);
    t.async_wait(ignore);
    const runners sleeper(world.ctx, 1);
    std::this_thread::sleep_for(1ms); // real time
    BOOST_TEST(t.cancel() == 1U);
}

BOOST_AUTO_TEST_CASE(waits_started_without_end_starve_no_due_wait) {
    std::atomic<bool> stop = false;
    // More of them than the threads can handle would starve everything else.
    std::atomic<int> open = 0;
    int rounds = 0;
    drained_context world; // Its destructor runs the last handlers, which use these variables.
    steady_timer t(world.ctx, 1ms);
    std::function<void(const error_code&)> again = [&](const error_code&) {
        if (++rounds < 20) {
            t.expires_after(1ms); // real time
            t.async_wait(again);
        } else {
            stop = true;
        }
    };
    t.async_wait(again);
    {
        const std::jthread arming([&] {
            std::deque<steady_timer> timers;
            const auto give_up = clock_type::now() + 20s;
            for (int i = 0; !stop && clock_type::now() < give_up; ++i) {
                ++open;
                timers.emplace_back(world.ctx, (i % 7) * 300us).async_wait([&](const error_code&) {
                    --open;
                });
                if (timers.size() > 1000) {
                    timers.pop_front();
                }
                while (open > 2000 && clock_type::now() < give_up) {
                    std::this_thread::yield();
                }
            }
        });
        const runners both(world.ctx, 2);
    }
    BOOST_TEST(stop);
    BOOST_TEST(rounds == 20);
}

// A chain of waits without gaps is work all the time, whatever other threads start and cancel in
// the meantime, and however long that takes.
BOOST_AUTO_TEST_CASE_TEMPLATE(waits_of_other_threads_do_not_make_run_return, Timer, timers) {
    drained_context world;
    std::atomic<bool> stop = false;
    int rounds = 0;
    int returned_early = 0;
    Timer t(world.ctx, 100us);
    std::function<void(const error_code&)> again = [&](const error_code&) {
        if (++rounds < 1000) {
            t.expires_after(100us); // real time
            t.async_wait(again);
        } else {
            stop = true;
        }
    };
    t.async_wait(again);
    {
        std::vector<std::jthread> others;
        for (int i = 0; i < 4; ++i) {
            others.emplace_back([&, i] {
                while (!stop) {
                    std::atomic<bool> done = false;
                    Timer other(world.ctx, i % 2 == 0 ? 0s : 1h);
                    other.async_wait([&](const error_code&) { done = true; });
                    if (i % 2 != 0) {
                        other.cancel();
                    }
                    while (!done) {
                        std::this_thread::yield();
                    }
                }
            });
        }
        while (!stop) {
            world.ctx.run_for(20s);
            returned_early += stop ? 0 : 1;
            world.ctx.restart();
        }
        // The pending operations of the others still need a thread to run them.
        std::jthread last([&](const std::stop_token& enough) {
            while (!enough.stop_requested()) {
                world.ctx.restart();
                world.ctx.poll();
            }
        });
        others.clear();
    }
    BOOST_TEST(returned_early == 0);
    BOOST_TEST(rounds == 1000);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(exceptions_on_several_threads_lose_no_wait, Timer, timers) {
    drained_context world;
    constexpr int count = 2000;
    std::atomic<int> called = 0;
    std::atomic<int> caught = 0;
    std::deque<Timer> timers;
    for (int i = 0; i < count; ++i) {
        timers.emplace_back(world.ctx, i * 2us).async_wait([&, i](const error_code&) {
            ++called;
            if (i % 3 == 0) {
                throw std::runtime_error("third");
            }
        });
    }
    const auto run = [&] {
        for (bool more = true; more;) {
            try {
                world.ctx.run_for(20s);
                more = false;
            } catch (const std::runtime_error&) {
                ++caught;
            }
        }
    };
    {
        const std::jthread other(run);
        run();
    }
    BOOST_TEST(called == count);
    BOOST_TEST(caught == (count + 2) / 3);
}

BOOST_AUTO_TEST_CASE(threads_that_need_the_first_wheel_at_once_get_the_same) {
    constexpr std::ptrdiff_t count = 8;
    for (int i = 0; i < 100; ++i) {
        drained_context world;
        barrier start(count);
        std::vector<void*> wheels(count);
        std::atomic<int> called = 0;
        {
            std::vector<std::jthread> threads;
            for (void*& mine : wheels) {
                threads.emplace_back([&] {
                    start.arrive_and_wait();
                    steady_timer t(world.ctx);
                    t.async_wait([&](const error_code&) { ++called; });
                    mine = &use_wheel(world.ctx);
                });
            }
        }
        BOOST_TEST((wheels == std::vector<void*>(count, wheels[0])));
        world.run();
        BOOST_TEST(called == count);
    }
}

BOOST_AUTO_TEST_CASE(each_thread_may_have_a_context_and_a_wheel_of_its_own) {
    std::atomic<int> called = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                asio::io_context ctx(1);
                asio_wheel::make_wheel(ctx, {.tick = 100us, .locking = false});
                std::deque<steady_timer> timers;
                for (int k = 0; k < 500; ++k) {
                    timers.emplace_back(ctx, k * 10us).async_wait([&](const error_code&) {
                        ++called;
                    });
                }
                ctx.run_for(20s);
            });
        }
    }
    BOOST_TEST(called == 4 * 500);
}

// One thread uses the context and the timers. But on the way to its handler, each wait uses the
// wheel on the thread of the handler's executor.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_context_without_locks_may_have_handlers_on_another_thread, Timer,
                              timers) { // real time
    constexpr int rounds = 300;
    std::atomic<int> called{0};
    asio::thread_pool pool(1);
    drained_context world(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    std::deque<Timer> elsewhere;
    Timer here(world.ctx);
    std::function<void(const error_code&)> next = [&](const error_code&) {
        if (elsewhere.size() != rounds) {
            elsewhere.emplace_back(world.ctx, 1ms);
            elsewhere.back().async_wait(
                asio::bind_executor(pool, [&](const error_code&) { ++called; }));
            here.expires_after(1ms);
            here.async_wait(next);
        }
    };
    next({});
    world.ctx.run();
    pool.join();
    BOOST_TEST(called == rounds);
}

BOOST_AUTO_TEST_CASE(a_stopped_pool_with_busy_timers_ends_cleanly) {
    for (int i = 0; i < 20; ++i) {
        const auto alive = std::make_shared<int>();
        std::atomic<int> called = 0;
        {
            asio::thread_pool pool(3);
            struct chain {
                std::shared_ptr<steady_timer> t;
                std::shared_ptr<int> alive;
                std::atomic<int>& called;
                void operator()(const error_code&) {
                    ++called;
                    steady_timer& waiting = *t;
                    waiting.expires_after(called % 3 * 100us);
                    waiting.async_wait(std::move(*this));
                }
            };
            for (int k = 0; k < 10; ++k) {
                chain({std::make_shared<steady_timer>(pool), alive, called})({});
            }
            for (const auto give_up = clock_type::now() + 20s;
                 called < 200 && clock_type::now() < give_up;) {
                std::this_thread::yield();
            }
            pool.stop();
            pool.join();
        }
        BOOST_TEST(called >= 200);
        BOOST_TEST(alive.use_count() == 1);
    }
}

BOOST_AUTO_TEST_CASE(paused_time_does_not_go_back_when_another_thread_pauses_it_again) {
    asio::io_context ctx;
    auto& wheel = use_wheel(ctx);
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) {
            wheel.pause();
        }
    });
    int back = 0;
    for (int i = 0; i < 20'000; ++i) {
        wheel.pause();
        wheel.advance(1h);
        const auto seen = wheel.now();
        wheel.resume();
        back += wheel.now() < seen ? 1 : 0;
    }
    done = true;
    other.join();
    BOOST_TEST(back == 0);
}

// Every function of the service may be called while others run, wait and cancel.
BOOST_AUTO_TEST_CASE(the_service_may_be_used_by_any_thread) {
    thread_checks all;
    drained_context world;
    auto& wheel = use_wheel(world.ctx);
    wheel.pause();
    std::atomic<std::size_t> fired = 0;
    std::atomic<std::size_t> cancelled = 0;
    constexpr std::size_t waits = 5000;
    auto work = std::make_optional(asio::make_work_guard(world.ctx));
    std::vector<clock_type::time_point> never;
    {
        const runners both(world.ctx, 2);
        {
            std::vector<std::jthread> threads;
            for (int n = 0; n < 2; ++n) {
                threads.emplace_back([&] {
                    std::deque<steady_timer> timers;
                    for (std::size_t i = 0; i < waits / 2; ++i) {
                        timers.emplace_back(world.ctx, i % 1000 * 1ms)
                            .async_wait([&](const error_code& ec) { ++(ec ? cancelled : fired); });
                        if (timers.size() > 100) {
                            timers.pop_front();
                        }
                    }
                });
            }
            threads.emplace_back([&] {
                for (int i = 0; i < 300; ++i) {
                    wheel.advance(1ms);
                    wheel.advance_to_next();
                    const asio_wheel::wheel_stats stats = wheel.stats();
                    all.expect(stats.scheduled >= stats.fired + stats.cancelled);
                    all.expect(wheel.pending() <= waits);
                }
            });
        }
        wheel.resume();
        wheel.pause();
        never = wheel.drain();
        work.reset();
    }
    BOOST_TEST(fired + cancelled == waits);
    BOOST_TEST(wheel.stats().fired == fired);
    BOOST_TEST(wheel.stats().cancelled == cancelled);
}

BOOST_AUTO_TEST_SUITE_END()
