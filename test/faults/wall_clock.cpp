// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// A wall clock that is stepped, even while there is no memory. No wait is early, none is lost, and
// the context does not run out of work while one is pending. programs/stepped_clock.cpp does the
// same with the clock of a real program.

// Makes the driver's wake-ups use the heap each time.
#define BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING 1

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/empty_pool.hpp"
#include "support/manual_clock.hpp"
#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <new>
#include <random>

namespace {

using namespace asio_wheel::test;

using wall_clock = manual_clock<struct wall, std::chrono::nanoseconds, false>;
using wall_timer = asio_wheel::basic_waitable_timer<wall_clock, impatient<wall_clock>>;

// A wait that checks that it is delivered once, and not early by the clock.
struct checked_wait {
    checked_wait(boost::asio::io_context& ctx, wall_clock::duration d) : timer(ctx, d) {}

    // May throw. Then no wait is pending.
    void start() {
        timer.async_wait([this](const error_code& ec) {
            BOOST_TEST((ec || wall_clock::now() >= timer.expiry()), "a wait is early");
            delivered += ec ? 100 : 1;
        });
        started = true;
    }

    wall_timer timer;
    bool started = false;
    int delivered = 0;
};

constexpr std::chrono::minutes steps[] = {-2h, -30min, 0h, 30min};

struct stepped : drained_context {
    stepped() { wall_clock::set(wall_clock::time_point(1'000'000h)); }

    // Steps the clock, and lets the context notice it.
    void step(wall_clock::duration d) {
        wall_clock::advance(d);
        look(ctx);
    }

    // Keeps run() from returning.
    [[nodiscard]] bool has_work() {
        look(ctx);
        return !ctx.stopped();
    }
};

// Operations just after a step of the clock, which must arm the driver again. `soon` and `later`
// are pending already, unless the operation starts one.
struct action {
    const char* name;
    std::function<void(checked_wait& soon, checked_wait& later)> run;
};

const action actions[] = {
    {"a wait is started", [](auto& soon, auto&) { soon.start(); }},
    {"a wait is brought forward",
     [](auto&, auto& later) { static_cast<void>(later.timer.postpone(5min)); }},
    {"the context looks at the clock",
     [](auto&, auto& later) {
         auto& ctx = static_cast<boost::asio::io_context&>(
             boost::asio::query(later.timer.get_executor(), boost::asio::execution::context));
         look(ctx);
     }},
};

} // namespace

BOOST_AUTO_TEST_SUITE(fault_wall_clock)

// Each allocation fails in turn.
BOOST_AUTO_TEST_CASE(a_clock_that_is_stepped_without_memory_loses_no_wait) {
    for (const auto d : steps) {
        for (const action& a : actions) {
            bool failed = true;
            for (std::size_t n = 0; failed; ++n) {
                BOOST_TEST_REQUIRE(n < 100U);
                BOOST_TEST_INFO_SCOPE(a.name << " after a step of " << d / 1min
                                             << " min, allocation " << n << " fails");
                stepped world;
                checked_wait soon(world.ctx, 10min + d);
                checked_wait later(world.ctx, 1h);
                later.start();
                look(world.ctx);
                wall_clock::advance(d);
                failed = false;
                try {
                    const empty_pool none;
                    const fail_after some(n);
                    a.run(soon, later);
                    failed = some.has_failed();
                } catch (const std::bad_alloc&) {
                    failed = true;
                }
                BOOST_TEST(world.has_work(), "run() returns though a wait is pending");
                world.step(11min);
                BOOST_TEST(soon.delivered == (soon.started ? 1 : 0));
                world.step(4h);
                BOOST_TEST(later.delivered == 1);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_stepped_while_there_is_no_memory_loses_no_wait) {
    for (const auto d : steps) {
        for (const action& a : actions) {
            BOOST_TEST_INFO_SCOPE(a.name << " after a step of " << d / 1min << " min");
            stepped world;
            checked_wait soon(world.ctx, 10min + d);
            checked_wait later(world.ctx, 1h);
            later.start();
            look(world.ctx);
            wall_clock::advance(d);
            {
                const empty_pool none;
                const out_of_memory at_all;
                try {
                    a.run(soon, later);
                } catch (const std::bad_alloc&) {
                }
                for (int i = 0; i < 100; ++i) { // It may try again and again.
                    world.ctx.restart();
                    world.ctx.poll_one();
                }
            }
            BOOST_TEST(world.has_work(), "run() returns though a wait is pending");
            world.step(11min);
            BOOST_TEST(soon.delivered == (soon.started ? 1 : 0));
            world.step(4h);
            BOOST_TEST(later.delivered == 1);
        }
    }
}

// Steps of seconds to days, forwards and backwards, between starts, cancellations and turns.
BOOST_AUTO_TEST_CASE(a_clock_that_is_stepped_at_random_fires_nothing_early_and_loses_nothing) {
    std::mt19937_64 random(seed());
    const auto up_to = [&](std::chrono::seconds most) {
        return std::chrono::seconds(
            std::uniform_int_distribution<std::int64_t>(0, most.count())(random));
    };
    for (int round = 0; round < 200; ++round) {
        stepped world;
        std::deque<checked_wait> waits;
        int cancelled = 0;
        auto latest = wall_clock::now();
        for (int i = 0; i < 60; ++i) {
            switch (random() % 6) {
            case 0:
            case 1:
                waits.emplace_back(world.ctx, up_to(48h)).start();
                latest = std::max(latest, waits.back().timer.expiry());
                break;
            case 2:
                if (!waits.empty()) {
                    checked_wait& w = waits[random() % waits.size()];
                    cancelled += static_cast<int>(w.timer.cancel());
                }
                break;
            case 3:
                world.step(-up_to(random() % 2 == 0 ? 60s : 86400s));
                break;
            case 4:
                world.step(up_to(random() % 2 == 0 ? 60s : 86400s));
                break;
            default:
                wall_clock::advance(up_to(1h) - 30min); // Unnoticed.
            }
        }
        wall_clock::set(latest);
        look(world.ctx);
        int delivered = 0;
        int aborts = 0;
        for (const checked_wait& w : waits) {
            BOOST_TEST_REQUIRE((w.delivered == 1 || w.delivered == 100));
            ++(w.delivered == 1 ? delivered : aborts);
        }
        BOOST_TEST(aborts == cancelled);
        BOOST_TEST(delivered + aborts == static_cast<int>(waits.size()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
