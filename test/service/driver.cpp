// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// When the one Asio timer behind a wheel is armed, moved and cancelled: what wakes a context up,
// and what lets run() return.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"
#include "support/sanitizers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;
using clock_type = std::chrono::steady_clock;

} // namespace

BOOST_AUTO_TEST_SUITE(driver, *boost::unit_test::timeout(120))

// drained_context::run() fails unless run() returns. Even an hour would be too long.
BOOST_FIXTURE_TEST_CASE(run_returns_after_the_last_wait_was_cancelled, drained_context,
                        *only_if(counts_only_handlers)) {
    const std::function<void(std::optional<steady_timer>&)> ways[] = {
        [](auto& t) { t->cancel(); },
        [](auto& t) { t->cancel_one(); },
        [](auto& t) { t.reset(); },
        [](auto& t) { t->expires_after(2h); },
        [](auto& t) { t->expires_after(1s); },
        [](auto& t) { t->expires_at(clock_type::time_point::max()); },
        [](auto& t) { *t = steady_timer(t->get_executor()); },
        [&](auto&) { static_cast<void>(use_wheel(ctx).drain()); },
    };
    for (const auto& end_it : ways) {
        std::optional<steady_timer> t(std::in_place, ctx, 1h);
        t->async_wait(ignore);
        // A wake-up of the last round, which was given up.
        BOOST_TEST(ctx.poll() <= (stops_behind_what_is_ready ? 1U : 0U));
        boost::asio::post(ctx, [&] { end_it(t); });
        run();
    }
}

BOOST_FIXTURE_TEST_CASE(run_returns_after_the_last_wait_was_cancelled_by_its_slot,
                        drained_context) {
    boost::asio::cancellation_signal signal;
    steady_timer t(ctx, 1h);
    t.async_wait(boost::asio::bind_cancellation_slot(signal.slot(), ignore));
    boost::asio::post(ctx, [&] { signal.emit(boost::asio::cancellation_type::total); });
    run();
}

BOOST_FIXTURE_TEST_CASE(run_returns_while_timers_nobody_waits_for_have_not_expired,
                        drained_context) {
    steady_timer a(ctx, 1h);
    steady_timer b(ctx, 1h);
    steady_timer c(ctx, 2ms); // real time
    a.async_wait(ignore);
    b.async_wait(ignore);
    c.async_wait([&](const error_code&) {
        a.expires_after(3h);
        b.expires_after(1min);
    });
    run();
    BOOST_TEST(use_wheel(ctx).pending() == 0U);
}

BOOST_AUTO_TEST_CASE(run_returns_after_the_last_cancel_while_time_stands_still) {
    virtual_time world;
    timer t(world.ctx, 1h);
    t.async_wait(ignore);
    boost::asio::post(world.ctx, [&] { t.cancel(); });
    world.run();
    t.expires_after(1min);
    t.async_wait(ignore);
    boost::asio::post(world.ctx, [&] { world.wheel.advance(2min); });
    world.run();
}

// One handler for each wait, and a few of the wheel itself at the end. If the wake-up were armed
// and cancelled each time, its aborted handlers would count twice as many.
BOOST_FIXTURE_TEST_CASE(cancelling_and_waiting_again_in_a_handler_leaves_the_wake_up_alone,
                        drained_context) {
    constexpr std::size_t rounds = fewer_on_windows(1'000'000);
    std::size_t handlers = 0;
    steady_timer t(ctx);
    struct again {
        steady_timer& t;
        std::size_t& handlers;
        void operator()(const error_code&) const {
            if (++handlers <= rounds) {
                t.expires_after(1h);
                t.async_wait(*this);
                t.cancel();
            }
        }
    };
    again{t, handlers}({});
    BOOST_TEST(ctx.run_for(100s) <= rounds + 2);
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(handlers == rounds + 1);
    BOOST_TEST(use_wheel(ctx).stats().wake_ups == 0U);
}

BOOST_FIXTURE_TEST_CASE(cancelling_and_waiting_again_outside_run_leaves_the_wake_up_alone,
                        drained_context) {
    constexpr std::size_t rounds = fewer_on_windows(1'000'000);
    steady_timer t(ctx);
    for (std::size_t i = 0; i < rounds; ++i) {
        t.expires_after(1h);
        t.async_wait(ignore);
        t.cancel();
    }
    BOOST_TEST(ctx.poll() <= rounds + 1);
    BOOST_TEST(ctx.stopped());
}

// A typical server: an operation completes, and its handler moves the timeout. The aborted handler
// runs later, when the next wait has been started already.
BOOST_FIXTURE_TEST_CASE(moving_a_timeout_again_and_again_leaves_the_wake_up_alone,
                        drained_context) {
    constexpr std::size_t rounds = fewer_on_windows(100'000);
    std::size_t posted = 0;
    steady_timer t(ctx);
    std::function<void()> on_message = [&] {
        t.expires_after(1h);
        t.async_wait(ignore);
        if (++posted < rounds) {
            boost::asio::post(ctx, on_message);
        } else {
            t.cancel();
        }
    };
    boost::asio::post(ctx, on_message);
    BOOST_TEST(ctx.run_for(100s) <= 2 * rounds + 2); // A message and an aborted wait each.
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(use_wheel(ctx).stats().wake_ups == 0U);
}

// The completion of the wait starts the next operation, as in a coroutine that waits for one of
// two.
BOOST_FIXTURE_TEST_CASE(a_chain_of_timeouts_leaves_the_wake_up_alone, drained_context) {
    constexpr std::size_t rounds = fewer_on_windows(100'000);
    std::size_t aborted_waits = 0;
    steady_timer t(ctx);
    std::function<void()> operation = [&] {
        t.expires_after(1h);
        t.async_wait([&](const error_code&) {
            if (++aborted_waits < rounds) {
                operation();
            }
        });
        boost::asio::post(ctx, [&] { t.cancel(); });
    };
    operation();
    BOOST_TEST(ctx.run_for(100s) <= 2 * rounds + 2);
    BOOST_TEST(ctx.stopped());
}

BOOST_FIXTURE_TEST_CASE(a_far_wait_does_not_wake_the_context, drained_context,
                        *only_if(counts_only_handlers)) {
    steady_timer t(ctx, 1h);
    t.async_wait(ignore);
    BOOST_TEST(ctx.run_for(300ms) == 0U); // real time
    BOOST_TEST(use_wheel(ctx).stats().wake_ups == 0U);
    t.cancel();
}

BOOST_FIXTURE_TEST_CASE(an_empty_wheel_does_not_wake_the_context, drained_context) {
    std::vector<steady_timer> burst;
    for (int i = 0; i < 10'000; ++i) {
        burst.emplace_back(ctx, i * 500ns); // real time
        burst.back().async_wait(ignore);
    }
    run();
    const std::uint64_t wake_ups = use_wheel(ctx).stats().wake_ups;
    const auto work = boost::asio::make_work_guard(ctx);
    ctx.restart();
    BOOST_TEST(ctx.run_for(200ms) == 0U);
    BOOST_TEST(use_wheel(ctx).stats().wake_ups == wake_ups);
}

// 300 ticks away, on a wheel with levels of four ticks, sixteen, sixty-four …
BOOST_FIXTURE_TEST_CASE(a_lone_wait_costs_one_wake_up_however_far, drained_context,
                        *only_if(counts_only_handlers)) {
    const auto& wheel = asio_wheel::make_wheel(ctx, {.slots = 4, .levels = 6});
    steady_timer t(ctx, 300ms); // real time
    t.async_wait(ignore);
    BOOST_TEST(ctx.run_for(20s) == 1U);
    BOOST_TEST(wheel.stats().fired == 1U);
    BOOST_TEST(wheel.stats().wake_ups == 1U);
    BOOST_TEST(wheel.stats().spurious_wake_ups == 0U);
}

BOOST_FIXTURE_TEST_CASE(postponing_costs_one_wake_up_however_often, drained_context,
                        *only_if(counts_only_handlers)) {
    steady_timer t(ctx, 5ms); // real time
    t.async_wait(ignore);
    for (int i = 0; i < 1000; ++i) {
        static_cast<void>(t.postpone(5ms + i * 50us));
    }
    BOOST_TEST(ctx.run_for(20s) <= 2U);
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(use_wheel(ctx).stats().fired == 1U);
    BOOST_TEST(use_wheel(ctx).stats().wake_ups <= 2U);
}

// A cancelled timer stays filed until its tick comes. Real time.
BOOST_FIXTURE_TEST_CASE(cancelled_waits_cost_one_wake_up_for_each_slot_beside_a_far_one,
                        drained_context) {
    auto& wheel = asio_wheel::make_wheel(ctx, {.tick = 5ms});
    steady_timer distant(ctx, 1h);
    distant.async_wait(ignore);
    constexpr int count = fewer_on_windows(1000);
    std::vector<steady_timer> timers;
    timers.reserve(count);
    const auto start = wheel.now() + 50ms;
    for (int i = 0; i < count; ++i) { // In 20 ticks, and one or two.
        timers.emplace_back(ctx, start + i * (100'000us / count)).async_wait(ignore);
        timers.back().cancel();
    }
    ctx.run_for(300ms);
    const std::uint64_t wake_ups = wheel.stats().wake_ups;
    BOOST_TEST(wake_ups >= 1U);
    BOOST_TEST(wake_ups <= 22U);
    ctx.run_for(200ms);
    BOOST_TEST(wheel.stats().wake_ups == wake_ups); // They are gone.
    BOOST_TEST(wheel.stats().fired == 0U);
    BOOST_TEST(wheel.pending() == 1U);
    distant.cancel();
}

BOOST_FIXTURE_TEST_CASE(cancelled_waits_cost_no_wake_up_when_nobody_waits, drained_context) {
    auto& wheel = use_wheel(ctx);
    const auto work = boost::asio::make_work_guard(ctx);
    std::vector<steady_timer> timers;
    timers.reserve(1000);
    for (int i = 0; i < 1000; ++i) {
        timers.emplace_back(ctx, 300ms + i * 50us).async_wait(ignore);
    }
    for (auto& t : timers) {
        t.cancel();
    }
    ctx.run_for(500ms); // real time
    BOOST_TEST(wheel.stats().wake_ups == 0U);
    // A filed timer can still be reused.
    timers.front().expires_after(1ms);
    timers.front().async_wait(ignore);
    timers.back().async_wait(ignore);
    ctx.run_for(100ms);
    BOOST_TEST(wheel.stats().fired == 2U);
}

// Waits are ended by other threads than those that started them, so no single thread sees that none
// is left.
BOOST_FIXTURE_TEST_CASE(cancelled_waits_cost_one_wake_up_when_other_threads_have_started_them,
                        drained_context) {
    auto& wheel = use_wheel(ctx);
    const auto work = boost::asio::make_work_guard(ctx);
    std::vector<steady_timer> timers;
    timers.reserve(1000);
    std::thread([&] {
        for (int i = 0; i < 1000; ++i) {
            timers.emplace_back(ctx, 50ms + i * 50us).async_wait(ignore);
        }
    }).join();
    for (auto& t : timers) {
        t.cancel();
    }
    ctx.run_for(250ms); // real time
    BOOST_TEST(wheel.stats().wake_ups <= 1U);
    BOOST_TEST(wheel.pending() == 0U);
}

// An earlier wait, even one that was postponed to an earlier time, must not sleep as long as others
// may.
BOOST_FIXTURE_TEST_CASE(an_earlier_wait_moves_the_wake_up_at_once, drained_context,
                        *only_if(counts_only_handlers)) {
    journal seen;
    steady_timer late(ctx, 1h);
    late.async_wait(seen.note("late"));
    BOOST_TEST(ctx.poll() == 0U);
    steady_timer early(ctx, 3ms); // real time
    early.async_wait(seen.note("early"));
    steady_timer pulled(ctx, 2h);
    pulled.async_wait(seen.note("pulled"));
    static_cast<void>(pulled.postpone(5ms));
    const auto give_up = clock_type::now() + 20s;
    while (seen.size() < 2 && clock_type::now() < give_up) {
        ctx.run_one_until(give_up);
    }
    BOOST_TEST(seen.take() == "early pulled");
    late.cancel();
    run();
    BOOST_TEST(seen.take() == "late!");
}

BOOST_FIXTURE_TEST_CASE(a_million_waits_for_now_one_after_the_other_all_complete, drained_context) {
    constexpr int count = fewer_on_windows(1'000'000);
    int completed = 0;
    steady_timer t(ctx);
    struct again {
        steady_timer& t;
        int& completed;
        void operator()(const error_code& ec) const {
            if (!ec && ++completed < count) {
                t.expires_after(0s);
                t.async_wait(*this);
            }
        }
    };
    t.async_wait(again{t, completed});
    ctx.run_for(100s);
    BOOST_TEST(completed == count);
}

BOOST_FIXTURE_TEST_CASE(a_hundred_thousand_timers_complete_and_none_is_early, drained_context) {
    std::vector<steady_timer> timers;
    timers.reserve(fewer_on_windows(100'000));
    std::size_t completed = 0;
    std::size_t early = 0;
    for (std::size_t i = 0; i < timers.capacity(); ++i) {
        steady_timer& t = timers.emplace_back(ctx, 50ms + i * 100ns); // real time
        t.async_wait([&](const error_code& ec) {
            completed += ec ? 0U : 1U;
            early += clock_type::now() < t.expiry() ? 1U : 0U;
        });
    }
    ctx.run_for(60s);
    BOOST_TEST(completed == timers.size());
    BOOST_TEST(early == 0U);
    // The wake-ups are those of ticks, not of timers.
    BOOST_TEST(use_wheel(ctx).stats().wake_ups <= 200U);
}

// A tick with very many waits is taken in slices: a handler that posts itself again and again has
// its turn after no more than a few slices. Time stands still meanwhile: on a machine that is busy
// with something else, a turn may take more slices.
using slow_clock = manual_clock<struct slices>;
using slow_timer = asio_wheel::basic_waitable_timer<slow_clock, impatient<slow_clock>>;

BOOST_FIXTURE_TEST_CASE(other_handlers_run_between_the_slices_of_a_tick, drained_context) {
    constexpr std::size_t count = fewer_on_windows(100'000);
    constexpr std::size_t budget = fewer_on_windows(1000);
    auto& wheel = asio_wheel::make_wheel<slow_clock, impatient<slow_clock>>(
        ctx, {.stall = 0ns, .budget = budget});
    std::vector<slow_timer> timers;
    timers.reserve(count);
    std::size_t completed = 0;
    for (std::size_t i = 0; i < count; ++i) {
        timers.emplace_back(ctx, 5ms).async_wait([&](const error_code&) { ++completed; });
    }
    slow_clock::advance(5ms);
    std::size_t before = 0;
    std::size_t longest = 0;
    std::function<void()> probe = [&] {
        longest = std::max(longest, completed - std::exchange(before, completed));
        if (completed < count) {
            boost::asio::post(ctx, probe);
        }
    };
    boost::asio::post(ctx, probe);
    ctx.run_for(60s);
    BOOST_TEST(completed == count);
    BOOST_TEST(longest > 0U);
    BOOST_TEST(longest <= 3 * budget);
    BOOST_TEST(wheel.stats().wake_ups <= 2U);
}

// Postponed waits are filed again when their old slot comes. Nothing becomes due, and yet each
// slice is a turn.
BOOST_FIXTURE_TEST_CASE(other_handlers_run_between_the_slices_of_a_cascade, drained_context) {
    constexpr std::size_t count = 50'000;
    constexpr std::size_t budget = 100;
    auto& wheel = asio_wheel::make_wheel<slow_clock, impatient<slow_clock>>(
        ctx, {.stall = 0ns, .budget = budget});
    std::vector<slow_timer> timers;
    timers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        timers.emplace_back(ctx, 5ms).async_wait(ignore);
        static_cast<void>(timers.back().postpone(1h));
    }
    slow_clock::advance(5ms);
    std::uint64_t before = 0;
    std::uint64_t longest = 0;
    std::function<void()> probe = [&] {
        const std::uint64_t cascaded = wheel.stats().cascaded;
        longest = std::max(longest, cascaded - std::exchange(before, cascaded));
        if (cascaded < count) {
            boost::asio::post(ctx, probe);
        } else {
            timers.clear();
        }
    };
    boost::asio::post(ctx, probe);
    ctx.run_for(60s);
    BOOST_TEST(ctx.stopped());
    BOOST_TEST(longest > 0U);
    BOOST_TEST(longest <= 2 * budget);
}

// A wait that is due when it starts makes the wheel advance by way of the queue. The wake-up that
// was set before is late: it is queued already, before the waits that become due. It must not
// deliver later expiries first. With slices of two, the advance is not complete when it comes; with
// slices of four it is. The last time is that of the wake-up itself.
BOOST_AUTO_TEST_CASE(a_wake_up_that_comes_late_overtakes_nothing) {
    using clock = manual_clock<struct late_wake_up>;
    using timer = asio_wheel::basic_waitable_timer<clock, impatient<clock>>;
    struct late {
        std::size_t budget;
        std::chrono::milliseconds now;
        std::chrono::milliseconds meanwhile; // The duration of the first handler.
    };
    for (const late l : {late{2, 45ms, 0ms}, late{4, 35ms, 10ms}, late{4, 10ms, 35ms}}) {
        clock::set(clock::time_point(1h));
        drained_context world;
        asio_wheel::make_wheel<clock, impatient<clock>>(world.ctx, {.budget = l.budget});
        std::vector<int> called;
        std::vector<timer> timers;
        const auto wait = [&](int ms) {
            const auto expiry = clock::time_point(1h + ms * 1ms);
            timers.emplace_back(world.ctx, expiry).async_wait([&called, ms, l](error_code) {
                called.push_back(ms);
                if (ms == 5) {
                    clock::advance(l.meanwhile);
                }
            });
        };
        for (const int ms : {10, 20, 30, 40}) {
            wait(ms);
        }
        clock::advance(l.now);
        wait(5);
        look(world.ctx);
        const int in_order[] = {5, 10, 20, 30, 40};
        BOOST_TEST(called == in_order, boost::test_tools::per_element());
    }
}

// Handlers that run while a tick has not finished its slot start waits for that slot, for a past
// one, and for the next one. None is lost, and none waits for a turn of the wheel.
BOOST_AUTO_TEST_CASE(waits_started_in_the_middle_of_a_tick_are_due_in_time) {
    for (const unsigned levels : {1U, 4U}) {
        asio::io_context c;
        auto& wheel = asio_wheel::make_wheel(c, {.slots = 16, .levels = levels, .budget = 2});
        wheel.pause();
        std::vector<steady_timer> timers;
        std::vector<steady_timer> more;
        more.reserve(300);
        std::size_t completed = 0;
        const auto expiry = wheel.now() + 5ms;
        for (int i = 0; i < 100; ++i) {
            timers.emplace_back(c, expiry).async_wait([&](const error_code& ec) {
                completed += ec ? 0U : 1U;
                for (const auto later : {0ms, -3ms, 1ms}) {
                    more.emplace_back(c, expiry + later).async_wait([&](const error_code& e) {
                        completed += e ? 0U : 1U;
                    });
                }
            });
        }
        wheel.resume(); // real time
        const auto start = clock_type::now();
        c.run_for(20s);
        BOOST_TEST(completed == 400U);
        BOOST_TEST(c.stopped());
        BOOST_TEST((clock_type::now() - start < 10s));
        BOOST_TEST(wheel.stats().wake_ups <= 4U);
    }
}

// The handler of a wait for the present starts another one, over and over. A socket and a later
// wait are still served.
BOOST_AUTO_TEST_CASE_TEMPLATE(waits_for_now_without_end_starve_nothing, World, real_worlds) {
    using tcp = asio::ip::tcp;
    World world;
    tcp::acceptor acceptor(world.ctx, {asio::ip::address_v4::loopback(), 0});
    tcp::socket client(world.ctx);
    client.connect(acceptor.local_endpoint());
    tcp::socket server = acceptor.accept();
    bool expired = false;
    bool received = false;
    typename World::timer busy(world.ctx);
    std::function<void(const error_code&)> again = [&](const error_code&) {
        if (!expired || !received) {
            busy.expires_after(0s);
            busy.async_wait(again);
        }
    };
    again({});
    std::array<char, 5> text{};
    asio::async_read(server, asio::buffer(text),
                     [&](const error_code& ec, std::size_t) { received = !ec; });
    typename World::timer later(world.ctx, 5ms);
    later.async_wait([&](const error_code&) {
        expired = true;
        asio::write(client, asio::buffer("hello", 5));
    });
    world.run();
    BOOST_TEST(expired);
    BOOST_TEST(received);
}

BOOST_AUTO_TEST_SUITE_END()
