// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// Time that a test moves: pause(), advance(), advance_to_next(), resume(), now(); and wait(), which
// blocks until a time has come.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/seed.hpp"

#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::nanoseconds;
using time_point = timer::time_point;
using clock_type = std::chrono::steady_clock;

} // namespace

BOOST_AUTO_TEST_SUITE(virtual_time_tests)

BOOST_FIXTURE_TEST_CASE(paused_time_stands_still, virtual_time) {
    BOOST_TEST(wheel.paused());
    const time_point start = now();
    timer t(ctx, 1ms);
    t.async_wait(log.note("wait"));
    BOOST_TEST(ctx.run_for(5ms) == 0U); // real time
    BOOST_TEST((now() == start));
    BOOST_TEST((t.remaining() == 1ms));
    BOOST_TEST(!ctx.stopped()); // A pending wait keeps the context running.
    wheel.pause();
    BOOST_TEST((now() == start)); // One call is enough.
    BOOST_TEST(t.cancel() == 1U);
    poll();
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(wheel.stats().wake_ups == 0U);
}

BOOST_FIXTURE_TEST_CASE(input_does_not_move_paused_time, virtual_time) {
    using asio::ip::udp;
    const time_point start = now();
    timer t(ctx, 1ms);
    bool waited = false;
    t.async_wait([&](error_code) { waited = true; });
    udp::socket a(ctx, udp::endpoint(asio::ip::address_v4::loopback(), 0));
    udp::socket b(ctx, udp::endpoint(asio::ip::address_v4::loopback(), 0));
    char sent = 'x', received = 0;
    b.async_receive(asio::buffer(&received, 1), [](error_code, std::size_t) {});
    a.send_to(asio::buffer(&sent, 1), b.local_endpoint());
    BOOST_TEST(ctx.run_one_for(5s) == 1U); // real time
    BOOST_TEST(received == sent);
    BOOST_TEST((now() == start));
    BOOST_TEST(!waited);
    pass(2ms);
    BOOST_TEST(waited);
}

BOOST_FIXTURE_TEST_CASE(advance_moves_time_exactly_and_counts_what_is_due, virtual_time) {
    const time_point start = now();
    timer a(ctx, 10ms), b(ctx, 20ms);
    a.async_wait(log.note(1));
    a.async_wait(log.note(2));
    b.async_wait(log.note(3));
    BOOST_TEST(wheel.advance(51us + 592ns) == 0U);
    BOOST_TEST((now() == start + 51'592ns));
    BOOST_TEST(wheel.advance(0ns) == 0U);
    BOOST_TEST(wheel.advance(-1h) == 0U);
    BOOST_TEST(wheel.advance(nanoseconds::min()) == 0U);
    BOOST_TEST((now() == start + 51'592ns));
    BOOST_TEST(wheel.advance(12ms) == 2U);
    BOOST_TEST((now() == start + 12ms + 51'592ns));
    BOOST_TEST(log.size() == 0U); // The context calls the handlers.
    BOOST_TEST(wheel.advance(12ms) == 1U);
    BOOST_TEST(log_now() == "1 2 3");
    BOOST_TEST(wheel.advance(nanoseconds::max()) == 0U);
    BOOST_TEST((now() == time_point::max()));
    BOOST_TEST(wheel.advance(1h) == 0U);
    BOOST_TEST((now() == time_point::max()));
}

// Its tick has come, so the wheel holds it back. Then its wait is started again for a later time.
BOOST_AUTO_TEST_CASE(advance_to_next_passes_by_what_was_held_back_and_waits_for_later_now) {
    drained_context world;
    auto& wheel = asio_wheel::make_wheel(world.ctx, {.tick = 7ms});
    wheel.pause();
    const time_point start = wheel.now();
    journal log;
    timer moved(world.ctx, start + 1ms);
    timer next(world.ctx, start + 8ms);
    moved.async_wait(log.note("early"));
    next.async_wait(log.note("next"));
    BOOST_TEST(wheel.advance(0ms) == 0U);
    moved.expires_at(start + 20ms);
    moved.async_wait(log.note("late"));
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST((wheel.now() == start + 8ms));
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST((wheel.now() == start + 20ms));
    world.ctx.poll();
    BOOST_TEST(log.take() == "early! next late");
}

BOOST_FIXTURE_TEST_CASE(advance_to_next_jumps_to_the_next_wait_that_is_due, virtual_world) {
    const time_point start = now();
    timer a(ctx, 30 * 24h), b(ctx, 10ms), c(ctx, 10ms), postponed(ctx, 5ms), cancelled(ctx, 4ms);
    timer never(ctx, timer::duration::max()), between(ctx, 20ms + 1ns);
    for (timer* const t : {&a, &b, &c, &postponed, &cancelled, &never, &between}) {
        t->async_wait(log.note(""));
    }
    cancelled.cancel();
    static_cast<void>(postponed.postpone(15ms));
    BOOST_TEST(log_now() == "!");
    BOOST_TEST(wheel.advance_to_next() == 2U);
    BOOST_TEST((now() == start + 10ms));
    BOOST_TEST(log.size() == 0U);
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST((now() == start + 15ms));
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST((now() == start + 20ms + 1ns)); // Exactly, not at the end of a tick.
    BOOST_TEST(wheel.advance_to_next() == 1U);
    BOOST_TEST((now() == start + 30 * 24h));
    BOOST_TEST(wheel.advance_to_next() == 0U);
    BOOST_TEST((now() == start + 30 * 24h));
    poll();
    BOOST_TEST(log.size() == 5U);
    BOOST_TEST(never.cancel() == 1U);
    poll();
    BOOST_TEST(wheel.advance_to_next() == 0U);
}

BOOST_FIXTURE_TEST_CASE(time_stands_where_it_was_if_no_wait_will_ever_be_due, virtual_world) {
    const time_point start = now();
    timer t(ctx, 10s);
    t.async_wait([](error_code) {});
    static_cast<void>(t.postpone_until(time_point::max()));
    BOOST_TEST(wheel.advance_to_next() == 0U);
    BOOST_TEST((now() == start));
    t.cancel();
    poll();
    BOOST_TEST(wheel.advance_to_next() == 0U);
    BOOST_TEST((now() == start));
}

// As the comment of advance() says, from any position within a tick.
BOOST_AUTO_TEST_CASE(
    advancing_by_a_waits_duration_makes_it_due_wherever_in_a_tick_time_was_paused) {
    for (const auto tick : {1ms, 10ms}) {
        for (int i = 0; i < 100; ++i) {
            drained_context world;
            auto& wheel = asio_wheel::make_wheel(world.ctx, {.tick = tick});
            wheel.pause();
            wheel.advance(i * (tick / 100) + 7ns);
            int called = 0;
            timer t(world.ctx);
            t.expires_after(30 * 24h);
            t.async_wait([&](error_code ec) { called += ec ? 0 : 1; });
            BOOST_TEST(wheel.advance(30 * 24h - 1ns) == 0U);
            world.poll();
            BOOST_TEST(called == 0);
            BOOST_TEST(wheel.advance(1ns) == 1U);
            world.poll();
            BOOST_TEST(called == 1);
        }
    }
}

// Many waits in one tick: those whose time has come are due. The others stay in order, and can
// still be cancelled, postponed and moved.
BOOST_AUTO_TEST_CASE(paused_time_is_compared_exactly_within_a_tick) {
    std::mt19937_64 random(seed());
    for (const std::size_t budget : {1U, 7U, 256U}) {
        virtual_time world({.tick = 10ms, .budget = budget});
        const time_point start = world.now();
        constexpr std::size_t count = 300;
        std::deque<timer> timers;
        std::vector<bool> waits(count, true);
        for (std::size_t i = 0; i < count; ++i) {
            timer& t = timers.emplace_back(world.ctx, start + nanoseconds(random() % 30'000'000));
            t.async_wait([&waits, i](error_code) { waits[i] = false; });
        }
        while (world.now() < start + 31ms) {
            const std::size_t i = random() % count;
            timer& some = timers[i];
            switch (random() % 4) {
            case 0:
                some.cancel();
                break;
            case 1:
                static_cast<void>(
                    some.postpone_until(world.now() + nanoseconds(random() % 5'000'000)));
                break;
            case 2: {
                timer moved(std::move(some));
                some = std::move(moved);
                break;
            }
            default:
                break;
            }
            world.poll();
            const time_point until = world.now() + nanoseconds(random() % 1'000'000);
            std::size_t expected = 0;
            for (std::size_t k = 0; k < count; ++k) {
                expected += waits[k] && timers[k].expiry() <= until ? 1U : 0U;
            }
            const auto pending = std::count(waits.begin(), waits.end(), true);
            BOOST_TEST(world.wheel.advance(until - world.now()) == expected);
            world.poll();
            BOOST_TEST(std::count(waits.begin(), waits.end(), true) ==
                       pending - static_cast<std::ptrdiff_t>(expected));
        }
        for (timer& t : timers) {
            t.cancel();
        }
        world.poll();
    }
}

BOOST_FIXTURE_TEST_CASE(time_that_goes_on_fires_nothing_early_that_stood_within_its_tick,
                        drained_context) {
    auto& own = asio_wheel::make_wheel(ctx, {.tick = 50ms});
    own.pause();
    timer t(ctx, 40ms);
    bool early = false, called = false;
    t.async_wait([&](error_code) {
        called = true;
        early = own.now() < t.expiry();
    });
    own.advance(20ms); // The tick of its expiry has been visited.
    own.resume();
    ctx.run_for(20s); // real time
    BOOST_TEST(called);
    BOOST_TEST(!early);
    BOOST_TEST(own.stats().wake_ups == 1U);
}

BOOST_AUTO_TEST_CASE(only_paused_time_can_be_moved) {
    drained_context world;
    auto& wheel = asio_wheel::use_wheel(world.ctx);
    BOOST_TEST(!wheel.paused());
    BOOST_CHECK_THROW(wheel.advance(1ms), std::logic_error);
    BOOST_CHECK_THROW(wheel.advance_to_next(), std::logic_error);
    timer t(world.ctx, 1h);
    t.async_wait([](error_code) {});
    BOOST_CHECK_THROW(wheel.advance(1ms), std::logic_error);
    BOOST_CHECK_THROW(wheel.advance_to_next(), std::logic_error);
    wheel.resume(); // Has no effect.
    BOOST_CHECK_THROW(wheel.advance(1ms), std::logic_error);
    wheel.pause();
    BOOST_TEST(wheel.advance(1ms) == 0U);
    wheel.resume();
    BOOST_TEST(!wheel.paused());
    BOOST_CHECK_THROW(wheel.advance(1ms), std::logic_error);
    BOOST_TEST(t.cancel() == 1U);
}

// real time
BOOST_AUTO_TEST_CASE(resumed_time_goes_on_from_where_it_stood) {
    virtual_world world;
    journal log;
    timer t(world.ctx, 1000h + 5ms), distant(world.ctx, 2000h);
    t.async_wait(log.note("wait"));
    distant.async_wait(log.note("far"));
    world.pass(1000h);
    const time_point stood = world.now();
    world.wheel.resume();
    BOOST_TEST((world.now() >= stood));
    BOOST_TEST((world.now() > clock_type::now() + 999h));
    while (log.size() == 0) {
        BOOST_TEST_REQUIRE(world.ctx.run_one_for(10s) != 0U);
    }
    BOOST_TEST((world.now() >= t.expiry()));
    BOOST_TEST(log.take() == "wait");
    timer next(world.ctx, 2ms);
    next.async_wait(log.note("next"));
    while (log.size() == 0) {
        BOOST_TEST_REQUIRE(world.ctx.run_one_for(10s) != 0U);
    }
    BOOST_TEST((world.now() >= next.expiry()));
    next.expires_after(1ms);
    next.wait();
    BOOST_TEST((world.now() >= next.expiry()));
    BOOST_TEST(log.take() == "next");
    world.wheel.pause(); // Again.
    BOOST_TEST((distant.remaining() < 1000h));
    BOOST_TEST(world.wheel.advance(1000h) == 1U);
    BOOST_TEST(world.log_now(log) == "far");
    world.wheel.resume();
    world.wheel.pause();
    BOOST_TEST((world.now() > stood + 1000h));
}

// real time
BOOST_AUTO_TEST_CASE(a_wait_that_is_overdue_when_time_is_paused_completes) {
    real_time<timer> world;
    journal log;
    timer t(world.ctx, 1ms), distant(world.ctx, 1h);
    t.async_wait(log.note("overdue"));
    distant.async_wait(log.note("far"));
    world.elapse(1ms);
    auto& wheel = asio_wheel::use_wheel(world.ctx);
    wheel.pause();
    BOOST_TEST((t.remaining() == 0ns));
    BOOST_TEST(world.log_now(log) == "overdue");
    BOOST_TEST(distant.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "far!");
}

// Time that a test has moved is no time for which others were busy.
BOOST_AUTO_TEST_CASE(moved_time_is_no_stall_after_it_was_resumed) {
    drained_context world;
    auto& wheel = asio_wheel::use_wheel(world.ctx);
    wheel.pause();
    timer overdue(world.ctx), second(world.ctx);
    bool called = false;
    overdue.async_wait([&](const error_code&) { // In a turn that was queued before the hour.
        wheel.pause();
        second.async_wait([&](const error_code& ec) { called = ec == success; });
    });
    BOOST_TEST(wheel.advance(1h) == 1U);
    wheel.resume();
    world.poll();
    BOOST_TEST(called);
}

// What the wheel has held back is delivered, by the turn that pause() queues.
BOOST_AUTO_TEST_CASE(a_stall_ends_when_time_is_paused, *only_if(!polls_are_slow)) {
    using stalled_clock = manual_clock<struct stalled_before_a_pause>;
    using traits = impatient<stalled_clock>;
    stalled_clock::set(stalled_clock::time_point(1h));
    drained_context world;
    auto& wheel = asio_wheel::use_wheel<stalled_clock, traits>(world.ctx);
    asio_wheel::basic_waitable_timer<stalled_clock, traits> late(world.ctx, 1ms);
    bool called = false;
    late.async_wait([&](const error_code& ec) { called = ec == success; });
    stalled_clock::advance(1min);
    for (int i = 0; i < 1000 && wheel.stats().stalls == 0; ++i) {
        world.ctx.poll_one();
    }
    BOOST_TEST(!called);
    wheel.pause();
    world.ctx.poll();
    BOOST_TEST(called);
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_wait_again_or_move_time_itself, virtual_world) {
    const time_point start = now();
    timer t(ctx, 10ms), other(ctx, 25ms);
    std::function<void(error_code)> again = [&](error_code ec) {
        log.add(std::to_string((now() - start) / 1ms), ec);
        if (!ec && log.size() < 20) {
            t.expires_at(t.expiry() + 10ms);
            t.async_wait([&](error_code e) { again(e); });
        }
    };
    t.async_wait([&](error_code e) { again(e); });
    other.async_wait([&](error_code) {
        log.add("other");
        BOOST_TEST(wheel.advance(7ms) == 1U); // That of t.
    });
    // Everything that is due in one step is due at its end.
    BOOST_TEST(log_after(15ms) == "15");
    BOOST_TEST(log_after(10ms) == "25 other 32");
    BOOST_TEST(log_after(100ms) == "132 132 132 132 132 132 132 132 132 132");
    BOOST_TEST(t.cancel() == 1U);
    poll();
}

// Under virtual time, results depend only on the program.
BOOST_AUTO_TEST_CASE(the_same_program_gives_the_same_trace) {
    const std::uint64_t seed = asio_wheel::test::seed();
    const auto trace = [seed] {
        std::mt19937_64 random(seed);
        virtual_world world;
        const time_point start = world.now();
        std::string text;
        std::deque<timer> timers;
        std::size_t left = 2000;
        const auto act = [&](auto&& self) -> void {
            if (left == 0) {
                return;
            }
            --left;
            const std::size_t i = random() % timers.size();
            timer& t = timers[i];
            if (random() % 8 == 0) {
                text += std::to_string(t.cancel()) + "c ";
            } else if (random() % 4 == 0) {
                text += std::to_string(t.postpone(nanoseconds(random() % 1'000'000'000))) + "p ";
            } else {
                t.expires_after(nanoseconds(random() % 1'000'000'000));
                t.async_wait([&, i](error_code ec) {
                    text += std::to_string(i) + (ec ? "!" : "@") +
                            std::to_string((world.now() - start).count()) + " ";
                    self(self);
                    self(self);
                });
            }
        };
        for (int i = 0; i < 50; ++i) {
            timers.emplace_back(world.ctx);
        }
        for (int i = 0; i < 50; ++i) {
            act(act);
        }
        do {
            world.poll();
        } while (world.wheel.advance_to_next() != 0);
        return text;
    };
    const std::string first = trace();
    BOOST_TEST(first.size() > 2000U);
    BOOST_TEST(trace() == first);
}

// wait(), in paused and in real time.

BOOST_AUTO_TEST_CASE_TEMPLATE(wait_blocks_until_the_expiry_and_no_pending_wait_minds, World,
                              real_worlds) { // real time
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx, 3ms), other(world.ctx, 1h);
    t.async_wait(log.note(1));
    other.async_wait(log.note(2));
    t.wait();
    BOOST_TEST((world.now() >= t.expiry()));
    error_code ec = boost::asio::error::eof;
    t.expires_at(t.expiry() + 2ms);
    t.async_wait(log.note(3));
    t.wait(ec);
    BOOST_TEST(ec == success);
    BOOST_TEST((world.now() >= t.expiry()));
    BOOST_TEST(log.size() == 0U); // The context was not run.
    BOOST_TEST(world.log_after(0ms, log) == "1! 3");
    BOOST_TEST(other.cancel() == 1U);
    BOOST_TEST(world.log_after(0ms, log) == "2!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(wait_works_inside_a_handler, World, real_worlds) { // real time
    using T = typename World::timer;
    World world;
    journal log;
    T t(world.ctx), inner(world.ctx);
    t.async_wait([&](error_code ec) {
        inner.expires_after(1ms);
        inner.async_wait(log.note("inner"));
        inner.wait();
        BOOST_TEST((world.now() >= inner.expiry()));
        log.add("outer", ec);
    });
    world.run();
    BOOST_TEST(log.take() == "outer inner");
}

// Regardless of what a slice of the tick has visited and held back because its exact time had not
// come.
BOOST_AUTO_TEST_CASE(a_handler_can_bring_forward_a_wait_of_the_same_tick) {
    for (const std::size_t budget : {1U, 2U, 3U}) {
        for (std::size_t later = 0; later < 4; ++later) {
            for (const bool wait_again : {false, true}) {
                std::size_t fired = 0;
                const auto count = [&fired](error_code ec) { fired += !ec; };
                virtual_time world({.tick = 1s, .budget = budget});
                std::vector<timer> timers;
                for (std::size_t i = 0; i < 4; ++i) {
                    timers.emplace_back(world.ctx, world.now() + (i == later ? 1ns : 0ns));
                }
                const auto bring_forward = [&](error_code ec) {
                    if (++fired == 1) {
                        BOOST_TEST(!ec);
                        if (wait_again) {
                            timers[later].expires_at(world.now());
                            timers[later].async_wait(count);
                        } else {
                            static_cast<void>(timers[later].postpone_until(world.now()));
                        }
                    }
                };
                for (std::size_t i = 0; i < 4; ++i) {
                    i == later ? timers[i].async_wait(count) : timers[i].async_wait(bring_forward);
                }
                world.poll();
                BOOST_TEST(fired == 4U);
                BOOST_TEST(world.ctx.stopped());
            }
        }
    }
}

// Slices of the tick have been visited already. What they have held back still counts.
BOOST_AUTO_TEST_CASE(a_handler_can_move_time_within_the_tick_whose_slice_it_belongs_to) {
    for (const std::size_t budget : {1U, 2U, 3U}) {
        for (std::size_t earliest = 0; earliest < 4; ++earliest) {
            for (const bool to_next : {false, true}) {
                std::size_t fired = 0;
                virtual_time world({.tick = 1s, .budget = budget});
                const time_point start = world.now();
                std::vector<timer> timers;
                for (std::size_t i = 0; i < 4; ++i) {
                    timers.emplace_back(world.ctx, start + (i + 4 - earliest) % 4 * 1ns);
                }
                for (std::size_t i = 0; i < 4; ++i) {
                    timers[i].async_wait([&, i](error_code) {
                        ++fired;
                        if (i != earliest) {
                            return;
                        }
                        if (to_next) {
                            BOOST_TEST(world.wheel.advance_to_next() == 1U);
                            BOOST_TEST((world.now() == start + 1ns));
                        } else {
                            BOOST_TEST(world.wheel.advance(3ns) == 3U);
                        }
                    });
                }
                world.poll();
                BOOST_TEST(fired == (to_next ? 2U : 4U));
            }
        }
    }
}

// real time, because another thread moves the paused time
BOOST_AUTO_TEST_CASE(wait_returns_when_another_thread_has_moved_paused_time) {
    virtual_time world;
    timer t(world.ctx, 1h);
    std::atomic<bool> returned{false};
    std::thread waiting([&] {
        t.wait();
        returned = world.now() >= t.expiry();
    });
    std::this_thread::sleep_for(5ms);
    BOOST_TEST(!returned);
    world.wheel.advance(1h);
    waiting.join();
    BOOST_TEST(returned);
}

BOOST_AUTO_TEST_CASE(time_can_be_moved_and_asked_by_any_thread) {
    asio::thread_pool pool(2);
    auto& wheel = asio_wheel::use_wheel(pool);
    wheel.pause();
    const time_point start = wheel.now();
    std::deque<timer> timers;
    std::atomic<std::size_t> fired{0}, early{0};
    for (int i = 0; i < 1000; ++i) {
        timers.emplace_back(pool, i * 1ms).async_wait([&, i](error_code ec) {
            early += wheel.now() < start + i * 1ms;
            fired += !ec;
        });
    }
    std::deque<std::thread> threads;
    std::atomic<std::size_t> due{0}, backward{0};
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            time_point last = wheel.now();
            for (int step = 0; step < 400; ++step) {
                due += wheel.advance(1ms);
                const time_point current = wheel.now();
                backward += current < last;
                last = current;
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    const time_point stepped = wheel.now();
    due += wheel.advance(1s); // Steps at once overlap, so they may be less than the waits' second.
    pool.join();
    BOOST_TEST(fired == 1000U);
    BOOST_TEST(early == 0U);
    BOOST_TEST(backward == 0U);
    BOOST_TEST(due <= 1000U);
    BOOST_TEST((stepped >= start + 400ms));
    BOOST_TEST((stepped <= start + 1200ms));
}

BOOST_AUTO_TEST_SUITE_END()
