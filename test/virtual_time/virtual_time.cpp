// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// virtual_time: the time of whole contexts, moved from deadline to deadline.

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/virtual_time.hpp>

#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <ratio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::system_timer;
using std::chrono::nanoseconds;
using times = std::vector<nanoseconds>;

namespace {

/// A context in virtual time, and the times when its handlers were called.
struct world {
    asio::io_context ctx;
    asio_wheel::virtual_time time{ctx};
    times called;

    auto note() {
        return [this](error_code ec) {
            BOOST_TEST(!ec);
            called.push_back(time.elapsed());
        };
    }
};

/// Returns the message of the exception of run_until(), or an empty string.
template <class Run>
std::string why(Run run) {
    try {
        run();
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "";
}

/// A clock whose unit is a second, as a floating-point number.
template <class Rep, class Period>
struct odd_clock {
    using duration = std::chrono::duration<Rep, Period>;
    using rep = Rep;
    using period = Period;
    using time_point = std::chrono::time_point<odd_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept {
        return time_point(std::chrono::duration_cast<duration>(
            std::chrono::steady_clock::now().time_since_epoch()));
    }
};

/// A clock that counts in seconds with fractions, and stands where it is told to.
struct fractions_at_will {
    using duration = std::chrono::duration<double>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<fractions_at_will>;
    static constexpr bool is_steady = true;
    static inline double seconds = 0;

    static time_point now() noexcept { return time_point(duration(seconds)); }
};

} // namespace

BOOST_FIXTURE_TEST_CASE(sleeps_of_ten_seconds_are_seen_at_10_20_and_30, world) {
    asio::co_spawn(
        ctx,
        [this]() -> asio::awaitable<void> {
            for (;;) {
                co_await asio_wheel::async_sleep_for(ctx, 10s, asio::use_awaitable);
                called.push_back(time.elapsed());
            }
        },
        asio::detached);
    time.advance(30s);
    BOOST_TEST((called == times{10s, 20s, 30s}));
    BOOST_TEST((time.elapsed() == 30s));
    time.advance(29s);
    BOOST_TEST((called == times{10s, 20s, 30s, 40s, 50s}));
}

BOOST_FIXTURE_TEST_CASE(handlers_see_the_time_they_were_waiting_for, world) {
    auto& wheel = asio_wheel::use_wheel(ctx);
    const auto begin = wheel.now();
    std::vector<std::unique_ptr<steady_timer>> timers;
    std::size_t right = 0;
    for (int i = 0; i < 1000; ++i) {
        const nanoseconds due = (i * 7919 % 1000) * 1ms + i * 1ns;
        timers.push_back(std::make_unique<steady_timer>(ctx, begin + due));
        timers.back()->async_wait([&, due](error_code) {
            right += wheel.now() == begin + due && time.elapsed() == due ? 1 : 0;
        });
    }
    time.advance(1s);
    BOOST_TEST(right == 1000U);
}

BOOST_FIXTURE_TEST_CASE(advance_runs_what_is_due_at_its_end_and_nothing_later, world) {
    steady_timer at_end(ctx, 1s), later(ctx, 1s + 1ns);
    at_end.async_wait(note());
    later.async_wait(note());
    time.advance(1s);
    BOOST_TEST((called == times{1s}));
    time.advance(0s);
    time.advance(-1h);
    BOOST_TEST((time.elapsed() == 1s));
    time.advance(1ns);
    BOOST_TEST((called == times{1s, 1s + 1ns}));
    BOOST_CHECK_THROW(
        time.advance(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())),
        std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(what_a_handler_starts_is_due_in_its_turn, world) {
    steady_timer first(ctx, 10s), second(ctx), between(ctx, 12s);
    first.async_wait([&](error_code) {
        called.push_back(time.elapsed());
        second.expires_after(1s); // Before the earlier waits.
        second.async_wait(note());
    });
    between.async_wait(note());
    time.advance(1min);
    BOOST_TEST((called == times{10s, 11s, 12s}));
}

BOOST_FIXTURE_TEST_CASE(all_clocks_of_a_context_move_together, world) {
    using seconds_clock = odd_clock<std::int64_t, std::ratio<1>>;
    using fractions_clock = odd_clock<double, std::ratio<1>>;
    using picoseconds_clock = odd_clock<std::int64_t, std::pico>;
    steady_timer steady(ctx, 1500ms);
    system_timer system(ctx, 2500ms);
    asio_wheel::basic_waitable_timer<seconds_clock> seconds(ctx, 3s);
    asio_wheel::basic_waitable_timer<fractions_clock> fractions(
        ctx, std::chrono::duration<double>(1.0 / 3));
    asio_wheel::basic_waitable_timer<picoseconds_clock> picoseconds(
        ctx, std::chrono::duration<std::int64_t, std::pico>(1));
    steady.async_wait(note());
    system.async_wait(note());
    seconds.async_wait(note());
    fractions.async_wait(note());
    picoseconds.async_wait(note());
    const auto wall = asio_wheel::use_wheel<std::chrono::system_clock>(ctx).now();
    time.run();
    BOOST_TEST_REQUIRE(called.size() == 5U);
    BOOST_TEST((called[0] == 1ns));
    BOOST_TEST((called[1] >= 333'333'333ns && called[1] <= 333'333'335ns));
    BOOST_TEST((called[2] == 1500ms));
    BOOST_TEST((called[3] == 2500ms));
    BOOST_TEST((called[4] == 3s));
    BOOST_TEST((asio_wheel::use_wheel<std::chrono::system_clock>(ctx).now() - wall == 3s));
}

// A fraction of a second rarely is a number of nanoseconds exactly. Rounded down, it was in the
// tick before, and time stood still.
BOOST_AUTO_TEST_CASE(time_moves_on_wherever_a_clock_with_fractions_stands) {
    std::mt19937_64 random(asio_wheel::test::seed());
    for (int i = 0; i < 100; ++i) {
        fractions_at_will::seconds = std::uniform_real_distribution<double>(1, 1e7)(random);
        asio::io_context ctx;
        asio_wheel::virtual_time time(ctx);
        asio_wheel::basic_waitable_timer<fractions_at_will> timer(
            ctx, std::chrono::duration<double>(1.0 / 3));
        bool called = false;
        timer.async_wait([&](error_code) { called = true; });
        time.run();
        BOOST_TEST(called);
    }
}

BOOST_AUTO_TEST_CASE(several_contexts_share_one_time) {
    asio::io_context a, b;
    asio_wheel::virtual_time time(a, b);
    std::string log_text;
    const auto tell = [&](const char* what) {
        log_text += what + std::to_string(time.elapsed() / 1s) + ' ';
    };
    steady_timer in_a(a, 1s), in_b(b, 2s), in_a_again(a);
    in_a.async_wait([&](error_code) { tell("a"); });
    in_b.async_wait([&](error_code) {
        tell("b");
        asio::post(a, [&] { // Runs before time advances.
            tell("posted");
            in_a_again.expires_after(1s);
            in_a_again.async_wait([&](error_code) { tell("again"); });
        });
    });
    time.run();
    BOOST_TEST(log_text == "a1 b2 posted2 again3 ");
}

BOOST_FIXTURE_TEST_CASE(a_wheel_that_is_made_later_stands_still_too, world) {
    time.advance(10s);
    steady_timer t(ctx, 5s); // The first timer of the context.
    t.async_wait(note());
    time.advance(0s);
    BOOST_TEST(called.empty());
    BOOST_TEST(asio_wheel::use_wheel(ctx).paused());
    time.advance(5s);
    BOOST_TEST((called == times{15s}));
}

// The wheel of a second context, or of another clock, may be made when time was moved already.
BOOST_AUTO_TEST_CASE(all_clocks_agree_whenever_their_wheels_are_made) {
    using seconds_clock = odd_clock<std::int64_t, std::ratio<1>>;
    const auto late = [](auto begin, auto now) { return now - begin - 1h; };
    asio::io_context a, b, c;
    const auto begin = asio_wheel::use_wheel(a).now();
    const auto wall_begin = std::chrono::system_clock::now();
    const auto seconds_begin = seconds_clock::now();
    asio_wheel::virtual_time time(a, b, c);
    BOOST_TEST((asio_wheel::use_wheel(b).now() == asio_wheel::use_wheel(a).now()));
    time.advance(1h);
    const auto shown = asio_wheel::use_wheel(a).now();
    BOOST_TEST((asio_wheel::use_wheel(b).now() == shown));
    BOOST_TEST((asio_wheel::use_wheel(c).now() == shown));
    const auto wall = asio_wheel::use_wheel<std::chrono::system_clock>(a).now();
    BOOST_TEST((asio_wheel::use_wheel<std::chrono::system_clock>(b).now() == wall));
    const auto seconds = asio_wheel::use_wheel<seconds_clock>(c).now();
    BOOST_TEST((asio_wheel::use_wheel<seconds_clock>(b).now() == seconds));
    // Real time has passed, too, but not an hour.
    BOOST_TEST((late(begin, shown) >= 0s && late(begin, shown) < 1h));
    BOOST_TEST((late(wall_begin, wall) >= 0s && late(wall_begin, wall) < 1h));
    BOOST_TEST((late(seconds_begin, seconds) >= 0s && late(seconds_begin, seconds) < 1h));

    // A time point of one context is right for another one.
    times called;
    steady_timer in_b(b), in_c(c);
    for (steady_timer* t : {&in_b, &in_c}) {
        t->expires_at(shown + 10s);
        t->async_wait([&](error_code) { called.push_back(time.elapsed()); });
    }
    time.advance(10s - 1ns);
    BOOST_TEST(called.empty());
    time.advance(1ns);
    BOOST_TEST((called == times{1h + 10s, 1h + 10s}));
}

// Time that was moved before does not go back.
BOOST_AUTO_TEST_CASE(a_wheel_made_later_agrees_with_one_whose_time_was_moved_before) {
    for (const nanoseconds moved : {nanoseconds(1h), nanoseconds(0)}) {
        asio::io_context a, b;
        auto& first = asio_wheel::use_wheel(a);
        {
            asio_wheel::virtual_time before(a);
            before.advance(moved);
            while (std::chrono::steady_clock::now() < first.now() - moved + 1ms) {
                // Real time passes, and the wheel's time does not.
            }
        }
        asio_wheel::virtual_time time(a, b);
        time.advance(1min);
        BOOST_TEST((asio_wheel::use_wheel(b).now() == first.now()));
        time.advance(1min);
        BOOST_TEST((asio_wheel::use_wheel(b).now() == first.now()));
    }
}

// Each wheel reads its clock at another time, if it reads it.
BOOST_AUTO_TEST_CASE(wheels_that_agreed_before_agree_when_time_stops) {
    for (int i = 0; i < 100; ++i) {
        asio::io_context a, b, c;
        const auto& of_a = asio_wheel::use_wheel(a);
        const auto& of_b = asio_wheel::use_wheel(b);
        const auto& of_c = asio_wheel::use_wheel(c);
        asio_wheel::virtual_time time(a, b, c);
        BOOST_TEST_REQUIRE((of_a.now() == of_b.now()));
        BOOST_TEST_REQUIRE((of_a.now() == of_c.now()));
    }
}

BOOST_FIXTURE_TEST_CASE(run_goes_on_until_nothing_waits, world) {
    steady_timer a(ctx, 30 * 24h), b(ctx, steady_timer::time_point::max());
    a.async_wait(note());
    b.async_wait([&](error_code ec) { BOOST_TEST(ec == aborted); });
    asio_wheel::interval hourly(ctx, 1h);
    std::function<void(error_code, std::size_t)> tick = [&](error_code, std::size_t) {
        called.push_back(time.elapsed());
        if (called.size() < 3) {
            hourly.async_tick(tick);
        }
    };
    hourly.async_tick(tick);
    time.run();
    BOOST_TEST((called == times{1h, 2h, 3h, 30 * 24h}));
    time.run(); // Waits without an end stay pending.
    BOOST_TEST(asio_wheel::use_wheel(ctx).pending() == 1U);
    b.cancel();
    time.run();
}

BOOST_FIXTURE_TEST_CASE(run_takes_the_utilities_along, world) {
    asio_wheel::delay_queue<std::string> queue(ctx);
    asio_wheel::scheduler tasks(ctx);
    asio_wheel::idle_timer idle(ctx, 10s);
    static_cast<void>(queue.push(1h, "an hour"));
    queue.async_pop([&](error_code ec, const std::string&) { note()(ec); });
    tasks.schedule_after(1min, [&] {
        called.push_back(time.elapsed());
        idle.touch();
    });
    asio::co_spawn(
        ctx,
        [&]() -> asio::awaitable<void> {
            for (int i = 0; i < 3; ++i) {
                co_await asio_wheel::async_sleep_for(ctx, 8s, asio::use_awaitable);
                idle.touch();
            }
            co_await idle.async_wait(asio::use_awaitable);
            called.push_back(time.elapsed());
        },
        asio::detached);
    time.run();
    BOOST_TEST((called == times{34s, 1min, 1h}));
}

BOOST_FIXTURE_TEST_CASE(a_loop_that_waits_for_nothing_throws_and_is_named, world) {
    static constexpr char tag_of_loop[] = "poll";
    steady_timer t(ctx), distant(ctx, 1s);
    bool expired = false;
    distant.async_wait([&](error_code) { expired = true; });
    std::function<void(error_code)> again = [&](error_code) {
        t.expires_after(0s);
        t.async_wait(asio_wheel::tag(tag_of_loop, [&](error_code ec) { again(ec); }));
    };
    again({});
    const auto expect_refusal = [&](auto run) {
        const std::string message = why(run);
        BOOST_TEST(message.starts_with(
            "asio_wheel: virtual time does not move on, because more than 100000 waits have begun "
            "and expired meanwhile. One of them is a timer \"poll\" of "));
        BOOST_TEST(message.find("virtual_time.cpp:") != std::string::npos);
        BOOST_TEST(
            message.ends_with(". Wait for more than 0, or set virtual_time_options::spin_limit"));
    };
    expect_refusal([&] { time.advance(1s); });
    expect_refusal([&] { time.advance(0s); });
    expect_refusal([&] { time.run(); });
    expect_refusal([&] { time.run_until([] { return false; }, 1s); });
    BOOST_TEST((time.elapsed() == 0s));
    BOOST_TEST(!expired);
    t.cancel(); // The loop goes on, because it does not look at the error.
    again = [](error_code) {};
    time.run();
    BOOST_TEST(expired);
}

// In each utility, on strands, and on another context.
BOOST_AUTO_TEST_CASE(whatever_spins_is_named) {
    const auto expect = [](auto run, const std::string& what) {
        const std::string message = why(run);
        BOOST_TEST_INFO_SCOPE(message);
        BOOST_TEST(message.find("One of them is a " + what) != std::string::npos);
    };
    {
        asio::io_context other, ctx; // The end of ctx ends a coroutine, by way of the other one.
        asio_wheel::virtual_time time({.spin_limit = 100}, ctx, other);
        asio::co_spawn(
            asio::make_strand(other),
            [&]() -> asio::awaitable<void> {
                for (;;) {
                    co_await asio_wheel::async_sleep_for(ctx, 0s, asio::use_awaitable);
                }
            },
            asio::detached);
        expect([&] { time.advance(1s); }, "sleep");
    }
    {
        asio::io_context ctx;
        asio_wheel::virtual_time time({.spin_limit = 1}, ctx);
        asio_wheel::scheduler tasks(ctx);
        std::function<void()> again = [&] { tasks.schedule_after(0s, again); };
        again();
        expect([&] { time.run_until([] { return false; }); }, "scheduler");
    }
}

BOOST_FIXTURE_TEST_CASE(very_many_waits_may_expire_at_one_time, world) {
    constexpr int many = 250'000; // More than may begin while time stands still.
    std::size_t called_back = 0;
    std::vector<std::unique_ptr<steady_timer>> timers;
    for (int i = 0; i < many; ++i) {
        timers.push_back(std::make_unique<steady_timer>(ctx, i % 2 == 0 ? 0s : 1s));
        timers.back()->async_wait([&](error_code) { ++called_back; });
    }
    BOOST_TEST(time.advance(1s) >= called_back);
    BOOST_TEST(called_back == std::size_t{many});
    // Or while time moves, be it by a nanosecond.
    steady_timer t(ctx);
    std::size_t left = 150'000;
    std::function<void(error_code)> again = [&](error_code) {
        if (--left != 0) {
            t.expires_after(1ns);
            t.async_wait([&](error_code ec) { again(ec); });
        }
    };
    again({});
    time.run();
    BOOST_TEST(left == 0U);
}

BOOST_AUTO_TEST_CASE(the_limit_of_waits_for_nothing_can_be_set) {
    const auto run = [](std::size_t limit, std::size_t waits) {
        asio::io_context ctx;
        asio_wheel::virtual_time time({.spin_limit = limit}, ctx);
        steady_timer t(ctx);
        std::function<void(error_code)> again = [&](error_code) {
            if (waits-- != 0) {
                t.expires_after(0s);
                t.async_wait([&](error_code ec) { again(ec); });
            }
        };
        again({});
        time.run();
        return ctx.stopped();
    };
    BOOST_CHECK_THROW(run(10, 100), std::runtime_error);
    BOOST_CHECK_NO_THROW(run(10, 10));
    BOOST_CHECK_NO_THROW(run(0, 150'000));
}

BOOST_AUTO_TEST_CASE(the_time_of_an_executor_or_a_context_is_that_of_its_timers) {
    asio::io_context ctx;
    { // In real time.
        const auto before = std::chrono::steady_clock::now();
        const auto shown = asio_wheel::now(ctx.get_executor());
        BOOST_TEST((before <= shown && shown <= std::chrono::steady_clock::now()));
    }
    asio_wheel::virtual_time time(ctx);
    time.advance(30 * 24h);
    auto& wheel = asio_wheel::use_wheel(ctx);
    auto& wall = asio_wheel::use_wheel<std::chrono::system_clock>(ctx);
    BOOST_TEST((asio_wheel::now(ctx) == wheel.now()));
    BOOST_TEST((asio_wheel::now(ctx.get_executor()) == wheel.now()));
    BOOST_TEST((asio_wheel::now(asio::make_strand(ctx)) == wheel.now()));
    BOOST_TEST((asio_wheel::now(asio::any_io_executor(ctx.get_executor())) == wheel.now()));
    BOOST_TEST((asio_wheel::now<std::chrono::system_clock>(ctx) == wall.now()));
    BOOST_TEST((asio_wheel::now<std::chrono::system_clock>(ctx.get_executor()) == wall.now()));
    steady_timer t(ctx, asio_wheel::now(ctx) + 10s);
    BOOST_TEST((t.remaining() == 10s));
}

BOOST_FIXTURE_TEST_CASE(a_timer_that_blocks_the_thread_that_moves_time_throws, world) {
    steady_timer t(ctx, 1s), past(ctx);
    past.wait(); // It has expired.
    BOOST_CHECK_THROW(t.wait(), std::logic_error);
    error_code ec;
    BOOST_CHECK_THROW(t.wait(ec), std::logic_error);
    bool thrown = false;
    asio::post(ctx, [&] {
        try {
            t.wait();
        } catch (const std::logic_error&) {
            thrown = true;
        }
    });
    time.advance(0s);
    BOOST_TEST(thrown);
    // Another thread waits until this one has moved the time. (Threads.)
    std::thread other([&] { t.wait(); });
    time.advance(1s);
    other.join();
    BOOST_TEST((t.remaining() == 0s));
}

BOOST_FIXTURE_TEST_CASE(run_until_returns_right_after_the_handler_that_made_it_true, world) {
    steady_timer a(ctx, 1s), b(ctx, 1s), c(ctx, 2s);
    for (steady_timer* t : {&a, &b, &c}) {
        t->async_wait(note());
    }
    time.run_until([&] { return !called.empty(); });
    BOOST_TEST((called == times{1s}));
    time.run_until([&] { return called.size() == 3; });
    BOOST_TEST((called == times{1s, 1s, 2s}));
    time.run_until([] { return true; }); // The condition is checked first.
    BOOST_TEST((time.elapsed() == 2s));
}

// Nothing waits for time, so there is none to move.
BOOST_FIXTURE_TEST_CASE(run_until_waits_for_peers_also_if_it_may_move_time_by_little, world) {
    bool answered = false;
    std::thread peer([this, &answered] {
        std::this_thread::sleep_for(5ms); // Longer than io_grace.
        asio::post(ctx, [&answered] { answered = true; });
    });
    BOOST_TEST(why([&] { time.run_until([&] { return answered; }, 1s); }) == "");
    BOOST_TEST(answered);
    BOOST_TEST((time.elapsed() == 0s));
    peer.join();
}

BOOST_FIXTURE_TEST_CASE(run_until_moves_time_for_what_an_answer_has_started, world) {
    steady_timer t(ctx, 1h);
    std::thread peer([this, &t] {
        std::this_thread::sleep_for(5ms);
        asio::post(ctx, [this, &t] { t.async_wait(note()); });
    });
    BOOST_TEST(why([&] { time.run_until([&] { return !called.empty(); }); }) == "");
    BOOST_TEST((called == times{1h}));
    peer.join();
}

// The time of the predicate is not that of the sockets.
BOOST_AUTO_TEST_CASE(run_until_waits_for_peers_also_if_its_predicate_is_slow) {
    asio::io_context ctx;
    asio_wheel::virtual_time time({.io_timeout = 200ms}, ctx);
    bool asked = false, answered = false;
    std::thread peer;
    BOOST_CHECK_NO_THROW(time.run_until([&] {
        if (!std::exchange(asked, true)) {
            std::this_thread::sleep_for(300ms);
            peer = std::thread([&] {
                std::this_thread::sleep_for(5ms); // Longer than io_grace.
                asio::post(ctx, [&answered] { answered = true; });
            });
        }
        return answered;
    }));
    peer.join();
}

BOOST_FIXTURE_TEST_CASE(run_until_asks_once_more_when_its_time_is_over, world) {
    steady_timer later(ctx, 2h);
    later.async_wait(note());
    BOOST_TEST(why([&] { time.run_until([&] { return time.elapsed() >= 1h; }, 1h); }) == "");
    BOOST_TEST((time.elapsed() == 1h));
}

BOOST_FIXTURE_TEST_CASE(run_until_says_why_it_gives_up, world) {
    const auto never = [] { return false; };
    {
        asio::io_context other;
        asio_wheel::virtual_time short_of_patience({.io_timeout = 1ms}, other);
        BOOST_TEST(why([&] { short_of_patience.run_until(never); }) ==
                   "asio_wheel: virtual_time::run_until(): the predicate is false, and nothing "
                   "waits for time, and no socket has had news for 1000000 ns");
    }
    steady_timer t(ctx, 1h);
    t.async_wait(note());
    BOOST_TEST(why([&] { time.run_until(never, 59min); }) ==
               "asio_wheel: virtual_time::run_until(): the predicate is false, and the time to run "
               "is over");
    BOOST_TEST((time.elapsed() == 59min));
    steady_timer stops(ctx, 1s);
    stops.async_wait([&](error_code) { ctx.stop(); });
    BOOST_TEST(why([&] { time.run_until(never); }) ==
               "asio_wheel: virtual_time::run_until(): the predicate is false, and a context was "
               "stopped");
    time.run();
    BOOST_TEST((called == times{1h}));
}

// Real sockets.
BOOST_FIXTURE_TEST_CASE(io_happens_before_time_passes, world) {
    using asio::ip::tcp;
    tcp::acceptor acceptor(ctx, {asio::ip::address_v4::loopback(), 0});
    tcp::socket client(ctx), server(ctx);
    steady_timer timeout(ctx, 1ns); // Much shorter than any network delay.
    bool expired = false;
    std::string received(5, ' ');
    std::size_t size = 0;
    acceptor.async_accept(server, [&](error_code) {
        asio::async_write(server, asio::buffer("hello", 5), [](error_code, std::size_t) {});
    });
    client.async_connect(acceptor.local_endpoint(), [&](error_code) {
        asio::async_read(client, asio::buffer(received),
                         [&](error_code, std::size_t n) { size = n; });
    });
    timeout.async_wait([&](error_code ec) { expired = !ec; });
    time.run_until([&] { return size == 5; });
    BOOST_TEST(received == "hello");
    BOOST_TEST(!expired);
    BOOST_TEST((time.elapsed() == 0s));
    time.run_until([&] { return expired; });
    BOOST_TEST((time.elapsed() == 1ns));
}

BOOST_FIXTURE_TEST_CASE(a_stopped_context_ends_advance_and_run_at_once, world) {
    steady_timer stops(ctx, 1s), later(ctx, 2s);
    stops.async_wait([&](error_code) { ctx.stop(); });
    later.async_wait(note());
    time.advance(1h);
    BOOST_TEST((time.elapsed() == 1s));
    BOOST_TEST(called.empty());
    time.run(); // Restarts the context.
    BOOST_TEST((called == times{2s}));
    steady_timer stops_again(ctx, 1s), last(ctx, 2s);
    stops_again.async_wait([&](error_code) { ctx.stop(); });
    last.async_wait(note());
    time.run();
    BOOST_TEST((time.elapsed() == 3s));
    BOOST_TEST((called == times{2s}));
    time.run();
    BOOST_TEST((called == times{2s, 4s}));
}

BOOST_AUTO_TEST_CASE(if_one_of_several_contexts_is_stopped_no_further_handler_runs) {
    asio::io_context a, b;
    asio_wheel::virtual_time time(a, b);
    for (asio::io_context* const stopped : {&a, &b}) {
        int handlers = 0;
        const auto count = [&] { ++handlers; };
        asio::post(a, [&] { stopped->stop(); });
        asio::post(a, count);
        asio::post(b, count);
        BOOST_TEST(time.run() == 1U);
        BOOST_TEST(handlers == 0);
        BOOST_TEST(time.run() == 2U);
        asio::post(a, [&] { stopped->stop(); });
        asio::post(a, count);
        asio::post(b, count);
        BOOST_CHECK_THROW(time.run_until([] { return false; }), std::runtime_error);
        BOOST_TEST(handlers == 2);
        time.run();
        BOOST_TEST(handlers == 4);
    }
}

BOOST_FIXTURE_TEST_CASE(what_a_handler_throws_leaves_and_the_rest_goes_on, world) {
    steady_timer throws(ctx, 1s), later(ctx, 2s);
    throws.async_wait([](error_code) { throw std::out_of_range("mine"); });
    later.async_wait(note());
    BOOST_CHECK_THROW(time.advance(1h), std::out_of_range);
    BOOST_TEST((time.elapsed() == 1s));
    time.run();
    BOOST_TEST((called == times{2s}));
}

BOOST_FIXTURE_TEST_CASE(a_handler_must_not_move_the_time_that_runs_it, world) {
    steady_timer t(ctx, 1s);
    bool refused = false;
    t.async_wait([&](error_code) {
        try {
            time.advance(1s);
        } catch (const std::logic_error&) {
            refused = true;
        }
    });
    time.run();
    BOOST_TEST(refused);
    BOOST_TEST((time.elapsed() == 1s));
}

BOOST_AUTO_TEST_CASE(a_context_has_one_virtual_time) {
    asio::io_context a, b;
    asio_wheel::virtual_time time(b);
    const auto& wheel = asio_wheel::use_wheel(a);
    BOOST_CHECK_THROW(asio_wheel::virtual_time(a, b), std::logic_error);
    BOOST_TEST(!wheel.paused()); // `a` was not changed.
    asio_wheel::virtual_time of_a(a);
    BOOST_TEST(wheel.paused());
}

// In real time.
BOOST_AUTO_TEST_CASE(time_goes_on_from_where_it_stands) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::use_wheel(ctx);
    const auto begin = wheel.now();
    steady_timer t(ctx, 1h);
    bool called = false;
    t.async_wait([&](error_code ec) { called = !ec; });
    {
        asio_wheel::virtual_time time(ctx);
        time.advance(t.expiry() - wheel.now() - 2ms);
        BOOST_TEST(!called);
    }
    BOOST_TEST(!wheel.paused());
    BOOST_TEST((wheel.now() - begin >= 1h - 2ms));
    ctx.restart();
    ctx.run(); // About two milliseconds.
    BOOST_TEST(called);
    {
        asio_wheel::virtual_time once_more(ctx);
        BOOST_TEST(wheel.paused());
    }
}

BOOST_FIXTURE_TEST_CASE(a_seed_repeats_every_jitter, world) {
    const auto draw = [&](std::uint32_t seed) {
        time.seed(seed);
        times drawn;
        asio_wheel::backoff pauses;
        asio_wheel::interval ticks(ctx, 1s, {.jitter = 1});
        const auto begin = time.elapsed();
        for (int i = 0; i < 10; ++i) {
            drawn.push_back(pauses.next());
            drawn.push_back(asio_wheel::random_phase(1h));
            ticks.async_tick(
                [&](error_code, std::size_t) { drawn.push_back(time.elapsed() - begin); });
            time.run();
        }
        return drawn;
    };
    const times first = draw(1);
    BOOST_TEST(first.size() == 30U);
    BOOST_TEST((draw(1) == first));
    BOOST_TEST((draw(2) != first));
}

// Whatever other timers there were before. In real time, too: see timer/expiry.
BOOST_AUTO_TEST_CASE(waits_with_the_same_expiry_complete_in_the_order_of_their_starts) {
    for (int others = 0; others < 40; ++others) {
        BOOST_TEST_INFO_SCOPE(others << " other timers");
        asio::io_context ctx;
        asio_wheel::virtual_time time(ctx);
        std::deque<steady_timer> unrelated;
        for (int i = 0; i < others; ++i) {
            unrelated.emplace_back(ctx, i % 3 * 1ms).async_wait([](error_code) {});
        }
        time.advance(10ms);
        for (int i = 0; i < others; ++i) {
            unrelated[static_cast<std::size_t>(i)].expires_after(1s + i % 2 * 1h);
            unrelated[static_cast<std::size_t>(i)].async_wait([](error_code) {});
        }
        std::vector<int> order;
        std::vector<int> expected;
        std::deque<steady_timer> timers;
        for (int i = 0; i < 1000; ++i) {
            expected.push_back(i);
            timers.emplace_back(ctx, 1s).async_wait(
                [&order, i](error_code) { order.push_back(i); });
        }
        time.advance(1s);
        BOOST_TEST_REQUIRE((order == expected));
        unrelated.clear();
        time.run();
    }
}

BOOST_AUTO_TEST_CASE(the_same_program_does_the_same_a_thousand_times) {
    const auto run = [] {
        asio::io_context ctx, other;
        asio_wheel::virtual_time time(ctx, other);
        time.seed(7);
        std::string trace;
        const auto tell = [&](const std::string& what) {
            trace += what + '@' + std::to_string(time.elapsed().count()) + ' ';
        };
        asio_wheel::interval ticks(ctx, 7s, {.jitter = 0.5});
        std::function<void(error_code, std::size_t)> tick = [&](error_code ec, std::size_t n) {
            tell("tick" + std::to_string(n));
            if (!ec && time.elapsed() < 1min) {
                ticks.async_tick(tick);
            }
        };
        ticks.async_tick(tick);
        asio_wheel::backoff pauses({.initial = 100ms, .max = 10s});
        steady_timer retry(other);
        std::function<void(error_code)> again = [&](error_code) {
            tell("retry");
            if (pauses.attempts() < 10) {
                retry.expires_after(pauses.next());
                retry.async_wait(again);
            }
        };
        again({});
        std::vector<steady_timer> crowd;
        for (int i = 0; i < 20; ++i) { // Due at the same time.
            crowd.emplace_back(i % 2 == 0 ? ctx : other, 5s);
            crowd.back().async_wait([&tell, i](error_code) { tell(std::to_string(i)); });
        }
        time.run();
        return trace;
    };
    const std::string first = run();
    BOOST_TEST(first.size() > 500U);
    for (int i = 1; i < 1000; ++i) {
        BOOST_TEST_REQUIRE(run() == first);
    }
}
