// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Everything that ends a wait early: cancel(), cancel_one(), expires_at(), expires_after() and
// destruction. The counts that these return match what the handlers see.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::milliseconds;

// A wait that is due can still be cancelled until its handler is called.
template <class Timer>
constexpr bool cancels_until_called = std::same_as<Timer, timer>;

} // namespace

BOOST_AUTO_TEST_SUITE(timer_cancel)

BOOST_AUTO_TEST_CASE_TEMPLATE(setting_the_expiry_aborts_all_pending_waits_and_counts_them, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h);
    const auto wait = [&] {
        for (int i = 0; i < 3; ++i) {
            t.async_wait(log.note(i));
        }
    };
    wait();
    BOOST_TEST(t.expires_after(2h) == 3U);
    wait();
    BOOST_TEST(t.expires_at(world.now() + 3h) == 3U);
    wait();
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(world.log_now(log) == "0! 1! 2! 0! 1! 2!");
    BOOST_TEST(t.expires_after(-1h) == 3U);
    wait();
    BOOST_TEST(world.log_now(log) == "0! 1! 2! 0 1 2");
    BOOST_TEST(t.expires_after(1h) == 0U);
    BOOST_TEST(t.expires_at(world.now()) == 0U);
}

// A timer may have very many waits. They are aborted in slices, but all in one call.
BOOST_AUTO_TEST_CASE(any_number_of_waits_on_one_timer_is_aborted_and_counted) {
    virtual_time world({.budget = 4});
    timer t(world.ctx, 1h);
    std::size_t aborts = 0;
    const auto start = [&] {
        for (int i = 0; i < 1001; ++i) {
            t.async_wait([&](const error_code& ec) { aborts += ec == aborted ? 1U : 0U; });
        }
    };
    start();
    BOOST_TEST(t.cancel() == 1001U);
    start();
    BOOST_TEST(t.expires_after(2h) == 1001U);
    start();
    BOOST_TEST(world.wheel.drain().size() == 1001U);
    world.poll();
    BOOST_TEST(aborts == 3003U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_leaves_the_expiry_as_it_is, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 5ms);
    const auto expiry = t.expiry();
    t.async_wait(log.note(1));
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST((t.expiry() == expiry));
    t.async_wait([&](error_code ec) {
        BOOST_TEST((world.now() >= expiry));
        log.add("2", ec);
    });
    BOOST_TEST(t.cancel_one() == 1U);
    t.async_wait(log.note(3));
    BOOST_TEST((t.expiry() == expiry));
    BOOST_TEST(world.log_after(5ms, log) == "1! 2! 3");
    BOOST_TEST((t.expiry() == expiry));
    t.async_wait(log.note(4)); // It has expired.
    BOOST_TEST(world.log_now(log) == "4");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_one_aborts_the_oldest_wait, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h);
    for (int i = 0; i < 4; ++i) {
        t.async_wait(log.note(i));
    }
    const std::array<std::size_t, 5> counts{t.cancel_one(), t.cancel_one(), t.cancel(), t.cancel(),
                                            t.cancel_one()};
    BOOST_TEST(counts == (std::array<std::size_t, 5>{1, 1, 2, 0, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(world.log_now(log) == "0! 1! 2! 3!");
    t.async_wait(log.note(4));
    t.async_wait(log.note(5));
    BOOST_TEST(t.cancel_one() == 1U);
    BOOST_TEST(world.log_now(log) == "4!");
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "5!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_reports_what_it_can_still_abort, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 1h);
    BOOST_TEST(t.cancel() == 0U);
    t.async_wait(log.note("wait"));
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(t.cancel() == 0U); // A second time.
    BOOST_TEST(world.log_now(log) == "wait!");
    BOOST_TEST(t.cancel() == 0U); // After the wait has ended.
    t.expires_after(1ms);
    t.async_wait(log.note("wait"));
    BOOST_TEST(world.log_after(1ms, log) == "wait");
    BOOST_TEST(t.cancel() == 0U); // After it has expired.
    BOOST_TEST(t.cancel_one() == 0U);
    BOOST_TEST(world.log_now(log) == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_that_is_overdue_can_be_cancelled_if_nobody_ran_the_context,
                              World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T a(world.ctx, 1ms), b(world.ctx, 1ms), c(world.ctx, -1h);
    std::optional<T> d(std::in_place, world.ctx, 1ms);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    c.async_wait(log.note("c"));
    d->async_wait(log.note("d"));
    world.elapse(1ms);
    BOOST_TEST(a.cancel() == 1U);
    BOOST_TEST(b.expires_after(1h) == 1U);
    BOOST_TEST(c.cancel_one() == 1U);
    d.reset();
    world.poll();
    for (const int expected : {4, 0}) {
        BOOST_TEST(log.size() == static_cast<std::size_t>(expected));
        const std::string seen = log.take();
        BOOST_TEST(std::count(seen.begin(), seen.end(), '!') == expected);
        world.poll();
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_a_handler_cancels_sees_what_cancel_counted, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T a(world.ctx, 1ms), b(world.ctx, 1ms + 1us);
    std::size_t counted = 0;
    a.async_wait([&](error_code ec) {
        log.add("a", ec);
        counted = b.cancel();
    });
    b.async_wait(log.note("b"));
    world.elapse(1ms);
    world.pass(1ms);
    BOOST_TEST(log.take() == (counted == 1 ? "a b!" : "a b"));
    BOOST_TEST(counted == (cancels_until_called<T> ? 1U : 0U));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_a_handler_moves_completes_once_and_then_at_its_new_time, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T a(world.ctx, 1ms), b(world.ctx, 1ms + 1us);
    std::size_t counted = 0;
    a.async_wait([&](error_code ec) {
        log.add("a", ec);
        counted = b.expires_after(3ms);
        const auto expiry = b.expiry();
        b.async_wait([&log, &world, expiry](error_code second) {
            BOOST_TEST((world.now() >= expiry));
            log.add("second", second);
        });
    });
    b.async_wait(log.note("first"));
    world.elapse(1ms);
    world.pass(1ms);
    world.pass(3ms);
    BOOST_TEST(log.take() == (counted == 1 ? "a first! second" : "a first second"));
    BOOST_TEST(counted == (cancels_until_called<T> ? 1U : 0U));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_a_handler_destroys_completes_once, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T a(world.ctx, 1ms);
    std::optional<T> b(std::in_place, world.ctx, 1ms + 1us);
    a.async_wait([&](error_code ec) {
        log.add("a", ec);
        b.reset();
    });
    b->async_wait(log.note("b"));
    world.elapse(1ms);
    BOOST_TEST(world.log_after(1ms, log) == (cancels_until_called<T> ? "a b!" : "a b"));
}

BOOST_FIXTURE_TEST_CASE(the_first_of_a_tick_can_cancel_all_others, virtual_world) {
    std::deque<timer> timers;
    std::size_t counted = 0;
    for (int i = 0; i < 10; ++i) {
        timers.emplace_back(ctx, 10ms + i * 1ns).async_wait([&, i](error_code ec) {
            log.add(std::to_string(i), ec);
            if (i == 0) {
                for (timer& other : timers) {
                    counted += other.cancel();
                }
                BOOST_TEST(wheel.pending() == 0U);
            }
        });
    }
    BOOST_TEST(pass(11ms) == 10U);
    BOOST_TEST(counted == 9U);
    BOOST_TEST(log.take() == "0 1! 2! 3! 4! 5! 6! 7! 8! 9!");
    pass(1h);
    BOOST_TEST(log.size() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_first_of_a_tick_can_destroy_all_timers_itself_included, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    std::deque<T> timers;
    std::size_t called = 0;
    for (int i = 0; i < 100; ++i) {
        timers.emplace_back(world.ctx, 2ms).async_wait([&](error_code) {
            ++called;
            timers.clear();
        });
    }
    world.pass(2ms);
    BOOST_TEST(timers.empty());
    BOOST_TEST(called == 100U);
}

// The cancelled operation is queued: its memory and its place must not be reused.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_cancelled_wait_is_not_mixed_up_with_later_ones, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    std::optional<T> t(std::in_place, world.ctx, 1ms);
    t->async_wait(log.note("due"));
    world.elapse(1ms);
    BOOST_TEST(t->cancel() == 1U);
    t.emplace(world.ctx, 1h);
    t->async_wait(log.note("new"));
    BOOST_TEST(t->cancel() == 1U);
    t->expires_after(-1h);
    t->async_wait(log.note("last"));
    BOOST_TEST(world.log_now(log) == "due! new! last");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(handlers_of_aborted_waits_are_posted_and_may_do_anything, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    std::optional<T> t(std::in_place, world.ctx, 1h), other(std::in_place, world.ctx, 1h);
    bool inside = false;
    other->async_wait(log.note("other"));
    t->async_wait([&](error_code ec) {
        BOOST_TEST(!inside);
        log.add("first", ec);
        t->expires_after(1h);
        t->async_wait([&](error_code again) {
            BOOST_TEST(!inside);
            log.add("second", again);
            T third(world.ctx, 1h);
            third.async_wait(log.note("third"));
            other.reset();
        });
        inside = true;
        BOOST_TEST(t->cancel() == 1U);
        inside = false;
        t.reset();
        BOOST_TEST(other->cancel_one() == 1U);
        other->async_wait(log.note("again"));
    });
    asio::post(world.ctx, log.note("posted"));
    inside = true;
    BOOST_TEST(t->cancel() == 1U);
    inside = false;
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(world.log_now(log) == "posted first! second! other! again! third!");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_wait_never_succeeds_afterwards, virtual_time) {
    timer t(ctx, 10ms);
    t.async_wait(log.note("wait"));
    pass(9ms);
    BOOST_TEST(t.cancel() == 1U);
    BOOST_TEST(log_after(10ms) == "wait!");
    pass(1h);
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(wheel.stats().cancelled == 1U);
    BOOST_TEST(wheel.stats().fired == 0U);
}

BOOST_FIXTURE_TEST_CASE(what_was_left_of_a_cancelled_wait_is_known, virtual_time) {
    for (const milliseconds d :
         {10ms, 1000ms, milliseconds(std::int64_t{1} << 31),
          milliseconds((std::int64_t{1} << 31) + 1), milliseconds(std::int64_t{1} << 33)}) {
        timer t(ctx, d);
        t.async_wait(log.note("wait"));
        pass(4ms);
        BOOST_TEST(t.cancel() == 1U);
        BOOST_TEST((t.remaining() == d - 4ms));
        BOOST_TEST(log_now() == "wait!");
        BOOST_TEST((t.expiry() > now())); // Cancelled, not expired.
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_a_cancelled_handler_holds_is_freed_without_time_passing, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    T t(world.ctx, 1h);
    const auto held = std::make_shared<int>();
    t.async_wait([copy = held](error_code) {});
    BOOST_TEST(held.use_count() == 2);
    t.cancel();
    world.poll();
    BOOST_TEST(held.use_count() == 1);
    t.async_wait([copy = held](error_code) {});
    t.expires_after(-1h);
    world.poll();
    BOOST_TEST(held.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_wait_on_a_strand_can_be_cancelled_until_its_handler_is_called,
                        virtual_world) {
    const auto strand = asio::make_strand(ctx);
    timer t(strand, 1ms), other(ctx, 1ms);
    t.async_wait(log.note("on strand"));
    other.async_wait(asio::bind_executor(strand, log.note("bound")));
    BOOST_TEST(wheel.advance(1ms) == 2U);
    asio::post(strand, [&] {
        // The two are in the strand's queue, behind this function.
        BOOST_TEST(wheel.pending() == 2U);
        BOOST_TEST(t.cancel() == 1U);
        BOOST_TEST(other.expires_after(1h) == 1U);
    });
    BOOST_TEST(log_now() == "on strand! bound!");
}

// Arms, moves, cancels and destroys timers at random, also in handlers, and adds up the returned
// counts.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_sum_of_what_was_counted_is_what_was_aborted, World, worlds) {
    using T = typename World::timer;
    std::mt19937_64 random(asio_wheel::test::seed());
    World world;
    std::vector<std::unique_ptr<T>> timers;
    for (int i = 0; i < 20; ++i) {
        timers.push_back(std::make_unique<T>(world.ctx));
    }
    std::size_t counted = 0, seen_aborted = 0, started = 0, called = 0;
    const auto act = [&](auto&& self) -> void {
        T& t = *timers[random() % timers.size()];
        const auto soon = std::chrono::microseconds(random() % 2000);
        switch (random() % 8) {
        case 0:
            counted += t.cancel();
            break;
        case 1:
            counted += t.cancel_one();
            break;
        case 2:
            counted += t.expires_at(world.now() + soon);
            break;
        case 3:
            counted += t.expires_after(soon);
            break;
        case 4:
            counted += t.cancel(); // Assignment cancels too, but does not return the count.
            t = T(world.ctx, soon);
            break;
        default:
            ++started;
            t.async_wait([&, once = std::make_unique<int>(1)](error_code ec) {
                BOOST_TEST_REQUIRE(--*once == 0);
                ++called;
                seen_aborted += ec == aborted;
                if (started < 20'000 && random() % 2 == 0) {
                    self(self);
                }
            });
        }
    };
    for (int i = 0; i < 10'000; ++i) {
        act(act);
        if (i % 16 == 0) {
            world.poll();
        }
        if (i % 1000 == 0) {
            world.pass(500us);
        }
    }
    while (called < started) { // Their handlers start new ones.
        for (const auto& t : timers) {
            counted += t->cancel();
        }
        world.poll();
    }
    BOOST_TEST(called == started);
    BOOST_TEST(seen_aborted == counted);
    // Where polls are slow, more waits expire before they are cancelled.
    BOOST_TEST(counted > (polls_are_slow ? 100U : 1000U));
}

BOOST_AUTO_TEST_SUITE_END()
