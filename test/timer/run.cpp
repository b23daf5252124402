// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Each wait is one handler of its context: for the results of run() and poll(), for stop(), for
// nested calls and for exceptions.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace asio_wheel::test;

// A world whose context can run: creating a world may have stopped it.
template <class World>
struct fresh : World {
    fresh() { this->ctx.restart(); }
};

// Asio counts a handler for each wait. The wheel may add up to `extra` of its own: see
// wheel_service.
template <class World>
constexpr std::size_t extra(std::size_t of_the_wheel) {
    return std::is_same_v<typename World::timer, boost::asio::steady_timer> ? 0 : of_the_wheel;
}

// Waits that log 0, 1, 2 … and that are all due after `d`.
template <class World>
std::vector<typename World::timer> several(World& world, journal& seen, int count,
                                           std::chrono::milliseconds d = 3ms) {
    std::vector<typename World::timer> timers;
    for (int i = 0; i < count; ++i) {
        timers.emplace_back(world.ctx, d + std::chrono::microseconds(i));
        timers.back().async_wait(seen.note(i));
    }
    return timers;
}

// Whether a handler's nested call finds the waits that became due in the handler's turn. With
// public functions of Asio only, it behaves on a context for one thread as it does for functions
// that are posted with Asio: it misses some, and may stop the context.
bool nests(int hint) {
    return !asio_wheel::detail::context_queue::is_public ||
           hint == BOOST_ASIO_CONCURRENCY_HINT_DEFAULT;
}

void poll_several_times(drained_context& world) {
    for (int i = 0; i < 10; ++i) {
        world.poll();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(timer_run, *boost::unit_test::timeout(60))

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(a_pending_wait_is_work, World, worlds) {
    fresh<World> world;
    typename World::timer t(world.ctx, 1h);
    t.async_wait([](const error_code&) {});
    BOOST_TEST(world.ctx.poll() == 0U);
    BOOST_TEST(!world.ctx.stopped());
    BOOST_TEST(world.ctx.run_for(10ms) == 0U); // real time
    BOOST_TEST(!world.ctx.stopped());
    BOOST_TEST(world.ctx.run_one_for(1ms) == 0U); // real time
    BOOST_TEST(!world.ctx.stopped());
    t.cancel();
}

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(run_returns_when_the_last_wait_has_completed, World, worlds) {
    fresh<World> world;
    journal seen;
    const auto timers = several(world, seen, 3);
    if constexpr (std::is_same_v<World, virtual_world>) {
        world.elapse(5ms);
    }
    const std::size_t handlers = world.ctx.run_for(20s);
    BOOST_TEST(world.ctx.stopped());
    BOOST_TEST(seen.take() == "0 1 2");
    // Waits that expire in the same tick share a wake-up. Here there may be three.
    BOOST_TEST(handlers >= 3U);
    BOOST_TEST(handlers <= 3U + extra<World>(2));
}

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(poll_counts_the_waits, World, worlds) {
    fresh<World> world;
    journal seen;
    const auto timers = several(world, seen, 3);
    world.elapse(5ms);
    const std::size_t handlers = world.ctx.poll();
    BOOST_TEST(seen.take() == "0 1 2");
    BOOST_TEST(handlers >= 3U);
    BOOST_TEST(handlers <= 3U + extra<World>(1));
    BOOST_TEST(world.ctx.stopped());
}

// The deviation that wheel_service documents.
BOOST_AUTO_TEST_CASE(moving_the_wake_up_earlier_and_giving_it_up_are_handlers_too,
                     *only_if(counts_only_handlers)) {
    using world = real_time<asio_wheel::steady_timer>;
    world w;
    world::timer late(w.ctx, 3h);
    world::timer middle(w.ctx, 2h);
    world::timer early(w.ctx, 1h);
    late.async_wait([](const error_code&) {});
    middle.async_wait([](const error_code&) {});
    early.async_wait([](const error_code&) {});
    BOOST_TEST(w.ctx.poll() == 2U);
    late.cancel();
    middle.cancel();
    BOOST_TEST(w.ctx.poll() == 2U);
    early.cancel();
    const std::size_t given_up = stops_behind_what_is_ready ? 1 : 0;
    BOOST_TEST(w.ctx.poll() == 1U + given_up); // A wake-up that is given up is not work.
    BOOST_TEST(w.ctx.stopped());
    w.ctx.restart();
    early.async_wait([](const error_code&) {});
    BOOST_TEST(w.ctx.poll() == 1U - given_up); // Here it is.
}

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(run_one_runs_exactly_one_handler, World, worlds) {
    fresh<World> world;
    journal seen;
    const auto timers = several(world, seen, 3);
    world.elapse(5ms);
    BOOST_TEST(world.ctx.run_one() == 1U);
    BOOST_TEST(seen.take() == "0");
    BOOST_TEST(world.ctx.poll_one() == 1U);
    BOOST_TEST(seen.take() == "1");
    BOOST_TEST(world.ctx.run_for(20s) >= 1U);
    BOOST_TEST(seen.take() == "2");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(poll_delivers_what_became_due_since_the_last_one, World, worlds) {
    fresh<World> world;
    journal seen;
    typename World::timer t(world.ctx, 1ms);
    t.async_wait(seen.note("late"));
    world.elapse(3ms);
    world.ctx.poll();
    BOOST_TEST(seen.take() == "late");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(waits_for_the_past_started_by_handlers_share_one_poll, World,
                              worlds) {
    fresh<World> world;
    journal seen;
    typename World::timer t(world.ctx, -1ms);
    struct again {
        typename World::timer& t;
        journal& seen;
        int left;
        void operator()(const error_code& ec) const {
            seen.add(std::to_string(left), ec);
            if (left > 1) {
                t.expires_after(-1ms);
                t.async_wait(again{t, seen, left - 1});
            }
        }
    };
    t.async_wait(again{t, seen, 5});
    poll_with_timers(world.ctx);
    BOOST_TEST(seen.take() == "5 4 3 2 1");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(stop_leaves_other_due_waits_to_the_next_run, World, worlds) {
    fresh<World> world;
    journal seen;
    typename World::timer a(world.ctx, 1ms);
    typename World::timer b(world.ctx, 2ms);
    a.async_wait([&](const error_code& ec) {
        seen.add("a", ec);
        world.ctx.stop();
    });
    b.async_wait(seen.note("b"));
    world.elapse(3ms);
    world.ctx.run_for(20s);
    BOOST_TEST(seen.take() == (stops_behind_what_is_ready ? "a b" : "a"));
    BOOST_TEST(world.ctx.stopped());
    BOOST_TEST(world.ctx.poll() == 0U);
    BOOST_TEST(seen.take() == "");
    world.ctx.restart();
    world.ctx.run_for(20s);
    BOOST_TEST(seen.take() == (stops_behind_what_is_ready ? "" : "b"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_expires_while_stopped_is_delivered_after_restart, World,
                              worlds) {
    fresh<World> world;
    journal seen;
    typename World::timer t(world.ctx, 2ms);
    t.async_wait(seen.note("t"));
    world.ctx.stop();
    BOOST_TEST(world.ctx.run() == 0U);
    world.elapse(5ms);
    BOOST_TEST(world.ctx.run() == 0U);
    BOOST_TEST(seen.take() == "");
    world.ctx.restart();
    world.ctx.run_for(20s);
    BOOST_TEST(seen.take() == "t");
}

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(a_nested_call_delivers_other_due_waits, World, worlds) {
    fresh<World> world;
    journal seen;
    typename World::timer a(world.ctx, 1ms);
    a.async_wait([&](const error_code&) {
        seen.add("(");
        world.ctx.run_one_for(20s);
        seen.add("|");
        world.ctx.poll();
        seen.add(")");
    });
    std::vector<typename World::timer> others;
    for (int i = 0; i < 3; ++i) {
        others.emplace_back(world.ctx, 1100us);
        others.back().async_wait(seen.note("b"));
    }
    world.elapse(3ms);
    world.ctx.poll();
    BOOST_TEST(seen.take() == "( b | b b )");
}

// A single-threaded context keeps functions that are posted inside a handler in a private queue
// until the handler has returned. With a budget of 2, the following slices must be found, too.
BOOST_AUTO_TEST_CASE(a_nested_call_delivers_other_due_waits_with_every_concurrency_hint) {
    constexpr int hints[] = {BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, 1,
                             BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO,
                             BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    for (const int hint : hints) {
        const bool found = nests(hint);
        for (const std::size_t budget : {2U, 256U}) {
            BOOST_TEST_CONTEXT("hint " << hint << ", budget " << budget) {
                drained_context world(hint);
                asio_wheel::make_wheel(world.ctx, {.budget = budget});
                journal seen;
                std::vector<asio_wheel::steady_timer> timers;
                for (int i = 0; i < 6; ++i) {
                    timers.emplace_back(world.ctx).async_wait([&](const error_code&) {
                        if (seen.size() != 0) {
                            return seen.add("b");
                        }
                        seen.add("(");
                        const std::size_t ran = world.ctx.run_one_for(found ? 20s : 0s);
                        if (found) {
                            BOOST_TEST(ran == 1U);
                        }
                        seen.add("|");
                        world.ctx.poll();
                        seen.add(")");
                    });
                }
                world.poll();
                if (found) {
                    BOOST_TEST(seen.take() == "( b | b b b b )");
                } else { // They are called later, but none is lost.
                    poll_several_times(world);
                    const std::string order = seen.take();
                    BOOST_TEST(std::count(order.begin(), order.end(), 'b') == 5, order);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(what_an_advance_in_a_handler_makes_due_is_found_by_a_nested_call) {
    for (const int hint : {BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, 1}) {
        drained_context world(hint);
        auto& wheel = asio_wheel::use_wheel(world.ctx);
        wheel.pause();
        int called = 0;
        asio_wheel::steady_timer a(world.ctx, 1s), b(world.ctx, 1s);
        a.async_wait([&](const error_code&) { ++called; });
        b.async_wait([&](const error_code&) { ++called; });
        boost::asio::post(world.ctx, [&] {
            BOOST_TEST(wheel.advance(1s) == 2U);
            world.ctx.poll();
            if (nests(hint)) {
                BOOST_TEST(called == 2);
            }
        });
        poll_several_times(world);
        BOOST_TEST(called == 2);
    }
}

// A timer that is re-armed into the past: its old wait is aborted, and its new one is due.
BOOST_AUTO_TEST_CASE_TEMPLATE(an_aborted_wait_comes_before_the_next_one_of_its_timer, Timer,
                              timers) {
    for (const int hint :
         {BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, 1, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO,
          BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}) {
        for (const bool in_a_handler : {true, false}) {
            for (const bool another_is_due : {true, false}) {
                BOOST_TEST_CONTEXT("hint " << hint << ", in a handler: " << in_a_handler
                                           << ", another one is due: " << another_is_due) {
                    boost::asio::io_context ctx(hint);
                    journal seen;
                    Timer t(ctx, 1h), other(ctx, -1s);
                    t.async_wait(seen.note("a"));
                    const auto re_arm = [&] {
                        if (another_is_due) {
                            other.async_wait(ignore);
                        }
                        BOOST_TEST(t.expires_after(-2s) == 1U);
                        t.async_wait(seen.note("b"));
                    };
                    if (in_a_handler) {
                        boost::asio::post(ctx, re_arm);
                    } else {
                        re_arm();
                    }
                    ctx.run_for(20s);
                    BOOST_TEST(seen.take() == "a! b");
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_nested_call_delivers_waits_that_a_handler_cancelled, World,
                              worlds) {
    fresh<World> world;
    journal seen;
    typename World::timer t(world.ctx, 1h);
    t.async_wait(seen.note("b"));
    boost::asio::post(world.ctx, [&] {
        BOOST_TEST(t.cancel() == 1U);
        seen.add("(");
        world.ctx.poll();
        seen.add(")");
    });
    world.ctx.run_for(20s);
    BOOST_TEST(seen.take() == "( b! )");
}

// A running handler is work, and so is a pending wait.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_nested_call_never_runs_out_of_work, Timer, timers) {
    for (const int hint :
         {BOOST_ASIO_CONCURRENCY_HINT_DEFAULT, 1, BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO,
          BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}) {
        if (!std::is_same_v<Timer, boost::asio::steady_timer> && !nests(hint)) {
            continue;
        }
        BOOST_TEST_CONTEXT("hint " << hint) {
            drained_context world(hint);
            journal seen;
            Timer t(world.ctx, 1h), later(world.ctx, 1h);
            for (int i = 0; i < 5; ++i) {
                t.async_wait(seen.note("b"));
            }
            later.async_wait(ignore);
            boost::asio::post(world.ctx, [&] {
                BOOST_TEST(t.cancel() == 5U);
                world.ctx.poll();
                BOOST_TEST(seen.take() == "b! b! b! b! b!");
                BOOST_TEST(!world.ctx.stopped());
            });
            world.poll();
            BOOST_TEST(!world.ctx.stopped());
            later.cancel();
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_exception_leaves_run_and_loses_no_wait, World, worlds) {
    fresh<World> world;
    journal seen;
    auto timers = several(world, seen, 5);
    timers[2].cancel();
    timers[2].expires_after(3ms);
    timers[2].async_wait([&](const error_code& ec) {
        seen.add("thrown", ec);
        throw std::runtime_error("thrown");
    });
    typename World::timer later(world.ctx, 6ms);
    later.async_wait(seen.note("later"));
    world.elapse(5ms);
    BOOST_CHECK_EXCEPTION(world.ctx.run_for(20s), std::runtime_error,
                          [](const auto& e) { return std::string(e.what()) == "thrown"; });
    // Without restart(), run() continues where it was, and so does the wheel.
    world.elapse(6ms);
    world.ctx.run_for(20s);
    BOOST_TEST(world.ctx.stopped());
    BOOST_TEST(seen.size() == 7U);
    const std::string all = seen.take();
    for (const char* one : {"0", "1", "2!", "3", "4", "thrown", "later"}) {
        BOOST_TEST(all.find(one) != std::string::npos, one << " is missing in " << all);
    }
}

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(each_exception_leaves_run_by_itself, World, worlds) {
    fresh<World> world;
    typename World::timer a(world.ctx, 1ms);
    typename World::timer b(world.ctx, 1ms);
    a.async_wait([](const error_code&) { throw std::logic_error("a"); });
    b.async_wait([](const error_code&) { throw 42; });
    world.elapse(3ms);
    std::string caught;
    for (int i = 0; i < 2; ++i) {
        try {
            world.ctx.run_for(20s);
        } catch (const std::logic_error& e) {
            caught += e.what();
        } catch (int number) {
            caught += std::to_string(number);
        }
    }
    BOOST_TEST((caught == "a42" || caught == "42a"), caught);
    BOOST_TEST(world.ctx.poll() <= extra<World>(1));
    BOOST_TEST(world.ctx.stopped());
}

// The handler that the wake-up itself calls, with more of the tick to come.
BOOST_AUTO_TEST_CASE(an_exception_out_of_the_wake_up_does_not_stop_the_tick) {
    drained_context world;
    asio_wheel::make_wheel(world.ctx, {.budget = 4});
    std::size_t thrown = 0;
    std::vector<asio_wheel::steady_timer> timers;
    const auto expiry = std::chrono::steady_clock::now() + 2ms; // real time
    for (int i = 0; i < 30; ++i) {
        timers.emplace_back(world.ctx, expiry);
        timers.back().async_wait([](const error_code&) { throw std::runtime_error("each"); });
    }
    while (!world.ctx.stopped()) {
        try {
            world.ctx.run_for(20s);
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    BOOST_TEST(thrown == 30U);
    timers[0].expires_after(1ms);
    journal seen;
    timers[0].async_wait(seen.note("again"));
    world.run();
    BOOST_TEST(seen.take() == "again");
}

BOOST_TEST_DECORATOR(*only_if(counts_only_handlers))
BOOST_AUTO_TEST_CASE_TEMPLATE(every_kind_of_run_delivers, World, worlds) {
    fresh<World> world;
    journal seen;
    const auto timers = several(world, seen, 4);
    world.elapse(5ms);
    const auto end = std::chrono::steady_clock::now() + 20s;
    BOOST_TEST(world.ctx.run_one_for(20s) == 1U);
    BOOST_TEST(world.ctx.run_one_until(end) == 1U);
    BOOST_TEST(world.ctx.run_one() == 1U);
    BOOST_TEST(seen.take() == "0 1 2");
    world.ctx.run_until(end);
    BOOST_TEST(seen.take() == "3");
}

// The context does not run while the wheel turns ten times.
BOOST_AUTO_TEST_CASE(a_wheel_that_was_not_run_for_many_rounds_catches_up_at_once) {
    for (const unsigned levels : {1U, 3U}) {
        drained_context world;
        const auto& wheel =
            asio_wheel::make_wheel(world.ctx, {.tick = 100us, .slots = 16, .levels = levels});
        std::vector<asio_wheel::steady_timer> timers;
        std::vector<int> calls(200);
        const auto start = std::chrono::steady_clock::now(); // real time
        for (std::size_t i = 0; i < calls.size(); ++i) {
            timers.emplace_back(world.ctx, start + i * 80us);
            timers.back().async_wait([&calls, i](const error_code& ec) {
                BOOST_TEST(!ec);
                ++calls[i];
            });
        }
        std::this_thread::sleep_until(start + 20ms);
        world.ctx.poll();
        BOOST_TEST(calls == std::vector<int>(calls.size(), 1), boost::test_tools::per_element());
        BOOST_TEST(world.ctx.stopped());
        BOOST_TEST(wheel.stats().wake_ups <= 1U);
        BOOST_TEST(wheel.stats().spurious_wake_ups == 0U);
    }
}

// After a long stall or a suspend, one pass delivers everything in order.
BOOST_AUTO_TEST_CASE_TEMPLATE(one_pass_after_a_stall_delivers_all_in_order_of_expiry, World,
                              worlds) {
    fresh<World> world;
    journal seen;
    std::vector<typename World::timer> timers;
    std::string expected;
    constexpr int count = 100;
    const auto start = world.now();
    for (int i = 0; i < count; ++i) {
        const int turn = i * 37 % count; // All of them, in another order.
        timers.emplace_back(world.ctx, start + turn * 110us);
        timers.back().async_wait(seen.note(turn));
        expected += (i == 0 ? "" : " ") + std::to_string(i);
    }
    world.elapse(12ms);
    world.ctx.poll();
    BOOST_TEST(seen.take() == expected);
}

BOOST_AUTO_TEST_SUITE_END()
