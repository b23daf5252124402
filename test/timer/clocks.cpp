// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// User-defined clocks: clocks that can be set, coarse clocks, and clocks with any origin.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/system_timer.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <limits>
#include <random>
#include <ratio>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::nanoseconds;

// A wall clock that the test sets. It counts in `Duration`s.
template <class Duration>
struct settable_clock {
    using duration = Duration;
    using rep = typename duration::rep;
    using period = typename duration::period;
    using time_point = std::chrono::time_point<settable_clock>;
    static constexpr bool is_steady = false;

    static inline time_point current{};
    static time_point now() noexcept { return current; }
    static void step(duration d) { current += d; }
};

using wall_clock = settable_clock<nanoseconds>;
using wall_timer = asio_wheel::basic_waitable_timer<wall_clock, impatient<wall_clock>>;
using asio_wall_timer = asio::basic_waitable_timer<wall_clock, impatient<wall_clock>>;
using wall_timers = std::tuple<wall_timer, asio_wall_timer>;

// As in Asio's examples.
struct time_t_clock {
    using duration = std::chrono::duration<std::time_t>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<time_t_clock>;
    static constexpr bool is_steady = false;

    static inline std::time_t ahead = 0; // Offset from std::time().
    static time_point now() noexcept { return time_point() + duration(std::time(nullptr) + ahead); }
};

struct time_t_wait_traits {
    static inline std::size_t asked = 0;
    static time_t_clock::duration to_wait_duration(const time_t_clock::duration& d) {
        ++asked;
        return d > 1s ? time_t_clock::duration(1) : d > 0s ? d : time_t_clock::duration(0);
    }
    static time_t_clock::duration to_wait_duration(const time_t_clock::time_point& t) {
        return to_wait_duration(t - time_t_clock::now());
    }
};

// Its range ends in 68 years.
struct seconds_clock {
    using duration = std::chrono::duration<std::int32_t>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<seconds_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept {
        return time_point(std::chrono::duration_cast<duration>(
            std::chrono::steady_clock::now().time_since_epoch()));
    }
};

// A context whose clock is set, not paused. poll() reads the clock.
template <class Timer>
struct set_time : drained_context {
    explicit set_time(typename Timer::time_point start = typename Timer::time_point(1'000'000h)) {
        Timer::clock_type::current = start;
    }

    void pass(typename Timer::duration d) {
        Timer::clock_type::step(d);
        look();
    }
    std::string log_after(typename Timer::duration d, journal& j) {
        pass(d);
        return j.take();
    }

    // One turn for the driver to notice the time, and the turns that follow from it.
    void look() {
        for (int i = 0; i < 4; ++i) {
            poll();
        }
    }

    [[nodiscard]] auto now() const { return Timer::clock_type::now(); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_clocks)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_clock_set_forward_makes_waits_due, T, wall_timers) {
    set_time<T> world;
    journal log;
    T a(world.ctx, 1h), b(world.ctx, 2h), c(world.ctx, 25h);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    c.async_wait(log.note("c"));
    world.look();
    BOOST_TEST(log.take() == "");
    BOOST_TEST(world.log_after(1h, log) == "a");
    BOOST_TEST(world.log_after(23h, log) == "b");
    BOOST_TEST(world.log_after(1h, log) == "c");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_clock_set_back_fires_nothing_and_loses_nothing, T, wall_timers) {
    set_time<T> world;
    journal log;
    T a(world.ctx, 10ms), b(world.ctx, 2h);
    a.async_wait(log.note("a"));
    b.async_wait(log.note("b"));
    world.pass(9ms);
    BOOST_TEST(world.log_after(-1h, log) == "");
    BOOST_TEST(world.log_after(1h, log) == "");
    BOOST_TEST(world.log_after(1ms, log) == "a");
    world.pass(-1h);
    BOOST_TEST(world.log_after(1h, log) == "");
    BOOST_TEST(world.log_after(2h - 10ms, log) == "b");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_started_after_the_clock_was_set_back_is_on_time, T,
                              wall_timers) {
    for (const nanoseconds lived : {nanoseconds(0), nanoseconds(10ms), nanoseconds(3h)}) {
        for (const nanoseconds back : {nanoseconds(1ms), nanoseconds(1h), nanoseconds(1000h)}) {
            BOOST_TEST_INFO_SCOPE("set back by " << back.count() << " ns after " << lived.count());
            set_time<T> world;
            journal log;
            T first(world.ctx), distant(world.ctx, 2000h), t(world.ctx);
            distant.async_wait(log.note("far"));
            for (nanoseconds passed{0}; passed < lived; passed += lived / 2) {
                first.expires_after(lived / 2);
                first.async_wait(log.note("first"));
                BOOST_TEST(world.log_after(lived / 2, log) == "first");
            }
            world.pass(-back);
            for (int i = 0; i < 3; ++i) {
                t.expires_after(5ms);
                t.async_wait(log.note("wait"));
                BOOST_TEST(world.log_after(4ms, log) == "");
                BOOST_TEST(world.log_after(2ms, log) == "wait");
            }
            BOOST_TEST(distant.cancel() == 1U);
            world.look();
            BOOST_TEST(log.take() == "far!");
        }
    }
}

// A wait is due, and has not had its turn yet, when the clock is set back and a second one starts.
BOOST_AUTO_TEST_CASE_TEMPLATE(
    a_wait_that_starts_on_a_due_timer_is_not_early_if_the_clock_was_set_back, T, wall_timers) {
    set_time<T> world;
    journal log;
    T first(world.ctx, 10ms), t(world.ctx, 10ms);
    first.async_wait([&](error_code) {
        T::clock_type::step(-1h);
        t.async_wait(log.note("second"));
    });
    t.async_wait(ignore);
    BOOST_TEST(world.log_after(20ms, log) == "");
    BOOST_TEST(world.log_after(59min, log) == "");
    BOOST_TEST(world.log_after(1min, log) == "second");
}

// Sets the clock forward and back at random. Nothing is early, and nothing that is due stays
// pending.
BOOST_AUTO_TEST_CASE_TEMPLATE(whatever_the_clock_does_waits_are_due_when_it_says_so, T,
                              wall_timers) {
    std::mt19937_64 random(asio_wheel::test::seed());
    const auto up_to = [&random](nanoseconds most) {
        return nanoseconds(random() % static_cast<std::uint64_t>(most.count()));
    };
    constexpr nanoseconds tick = 1ms;
    for (int round = 0; round < (polls_are_slow ? 2 : 20); ++round) {
        BOOST_TEST_INFO_SCOPE("round " << round);
        set_time<T> world;
        T first(world.ctx, -1h);
        first.async_wait([](error_code) {});
        world.pass(round % 2 == 0 ? 100'000h : 0h); // If 0, times before the wheel's origin occur.
        std::deque<T> timers;
        std::vector<bool> waiting;
        for (int i = 0; i < 30; ++i) {
            timers.emplace_back(world.ctx);
            waiting.push_back(false);
        }
        std::size_t early = 0;
        for (int step = 0; step < (polls_are_slow ? 50 : 200); ++step) {
            for (std::size_t i = 0; i < timers.size(); ++i) {
                if (!waiting[i] && random() % 4 == 0) {
                    waiting[i] = true;
                    timers[i].expires_after(up_to(random() % 2 == 0 ? 50ms : 10h));
                    timers[i].async_wait([&, i](error_code ec) {
                        waiting[i] = false;
                        early += !ec && world.now() < timers[i].expiry();
                    });
                }
            }
            const nanoseconds size = random() % 4 == 0 ? up_to(5h) : up_to(20ms);
            world.pass(random() % 3 == 0 ? -size : size);
            for (std::size_t i = 0; i < timers.size(); ++i) {
                BOOST_TEST_REQUIRE((!waiting[i] || timers[i].expiry() + tick > world.now()));
            }
            BOOST_TEST_REQUIRE(early == 0U);
        }
        timers.clear();
        world.poll();
    }
}

BOOST_AUTO_TEST_CASE(a_paused_wall_clock_can_be_advanced_too) {
    virtual_time_on<std::chrono::system_clock> world;
    journal log;
    asio_wheel::system_timer t(world.ctx, 30 * 24h);
    t.async_wait(log.note("month"));
    BOOST_TEST(world.log_after(30 * 24h - 2ms, log) == "");
    BOOST_TEST(world.log_after(3ms, log) == "month");
}

// Any origin: around all powers of two, from the clock's first point of time to its last.
BOOST_AUTO_TEST_CASE(a_clock_may_begin_anywhere) {
    using timer_type = asio_wheel::basic_waitable_timer<wall_clock>;
    using time_point = wall_clock::time_point;
    std::vector<std::int64_t> origins{std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()};
    for (unsigned power = 0; power < 63; power += polls_are_slow ? 8 : 1) {
        for (const int off : {-1, 0, 1}) {
            const auto edge = static_cast<std::int64_t>(std::uint64_t{1} << power);
            origins.insert(origins.end(), {edge + off, -edge + off});
        }
    }
    for (const std::int64_t origin : origins) {
        for (const asio_wheel::wheel_options& shape :
             {asio_wheel::wheel_options{}, {.slots = 16, .levels = 1}, {.slots = 4, .levels = 8}}) {
            BOOST_TEST_INFO_SCOPE("origin " << origin << ", " << shape.levels << " levels");
            wall_clock::current = time_point(nanoseconds(origin));
            virtual_time_on<wall_clock> world(shape);
            std::deque<timer_type> timers;
            std::size_t early = 0, late = 0, fired = 0, expected = 0;
            for (const nanoseconds d : {nanoseconds(1ms), nanoseconds(5ms), nanoseconds(10ms),
                                        nanoseconds(64ms), nanoseconds(255ms), nanoseconds(256ms),
                                        nanoseconds(1000ms), nanoseconds(66s), nanoseconds(5h)}) {
                timer_type& t = timers.emplace_back(world.ctx, d);
                t.async_wait([&](error_code ec) {
                    if (ec) {
                        return; // Its timer is destroyed.
                    }
                    ++fired;
                    early += world.now() < t.expiry();
                    late += world.now() - t.expiry() >= 1ms;
                });
                // The wait ends where the clock ends.
                const bool fits =
                    time_point::max() - d - 1ms >= world.now() || world.now() < time_point();
                expected += fits;
                BOOST_TEST((!fits || t.remaining() == d));
            }
            while (world.wheel.advance_to_next() != 0) {
                world.poll();
            }
            BOOST_TEST(fired >= expected);
            BOOST_TEST(early == 0U);
            BOOST_TEST(late == 0U);
            timers.clear();
            world.poll();
        }
    }
}

// real time: whole seconds
BOOST_AUTO_TEST_CASE(a_clock_of_the_users_asks_its_wait_traits) {
    using timer_type = asio_wheel::basic_waitable_timer<time_t_clock, time_t_wait_traits>;
    static_assert(std::is_same_v<timer_type::traits_type, time_t_wait_traits>);
    static_assert(std::is_same_v<timer_type::duration, time_t_clock::duration>);
    drained_context world;
    journal log;
    timer_type t(world.ctx, time_t_clock::duration(3600)), past(world.ctx);
    past.async_wait(log.note("past"));
    BOOST_TEST(world.log_now(log) == "past");
    t.async_wait(log.note("hour"));
    BOOST_TEST(world.log_now(log) == "");
    BOOST_TEST((t.remaining() > time_t_clock::duration(3590)));
    time_t_clock::ahead += 3600;
    // The clock was set without notice. The traits make the driver notice within a second.
    world.run();
    BOOST_TEST(log.take() == "hour");
    BOOST_TEST(time_t_wait_traits::asked > 0U);
    BOOST_TEST((t.remaining() == time_t_clock::duration(0)));
    t.expires_after(time_t_clock::duration(1));
    t.wait();
    BOOST_TEST((time_t_clock::now() >= t.expiry()));
}

BOOST_AUTO_TEST_CASE(a_coarse_clock_makes_a_coarse_tick) {
    using clock = settable_clock<std::chrono::seconds>;
    clock::current = clock::time_point(1000s);
    virtual_time_on<clock> world;
    using timer_type = decltype(world)::timer;
    journal log;
    timer_type t(world.ctx), never(world.ctx, clock::duration::max());
    never.async_wait(log.note("never"));
    for (const std::chrono::seconds d : {0s, 1s, 2s, 255s, 256s, 257s, 100'000s}) {
        t.expires_after(d);
        t.async_wait(log.note("wait"));
        if (d > 0s) {
            BOOST_TEST(world.log_after(d - 1s, log) == "");
            world.pass(1s);
        }
        BOOST_TEST(world.log_now(log) == "wait");
    }
    t.expires_at(clock::time_point::min());
    t.async_wait(log.note("wait"));
    BOOST_TEST(world.log_now(log) == "wait");
    BOOST_TEST(world.wheel.advance_to_next() == 0U);
    BOOST_TEST(never.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "never!");
}

// "At most one tick late" holds for the tick that was asked for.
BOOST_AUTO_TEST_CASE(a_tick_is_no_longer_than_asked_for_unless_it_is_one_unit) {
    const auto check = []<class Clock>(Clock, nanoseconds asked, nanoseconds expected) {
        BOOST_TEST_INFO_SCOPE(asked.count() << " ns, a unit is " << Clock::period::num << '/'
                                            << Clock::period::den << " s");
        using duration = typename Clock::duration;
        using traits = impatient<Clock>;
        Clock::current = typename Clock::time_point(duration(1000));
        drained_context world;
        auto& wheel = asio_wheel::make_wheel<Clock, traits>(world.ctx, {.tick = asked});
        BOOST_TEST((wheel.options().tick == expected));
        std::deque<asio_wheel::basic_waitable_timer<Clock, traits>> timers;
        int called = 0;
        for (int i = 1; i <= 50; ++i) {
            timers.emplace_back(world.ctx, duration(i)).async_wait([&called](error_code) {
                ++called;
            });
        }
        for (int i = 1; i <= 50; ++i) {
            Clock::step(duration(1));
            for (int turn = 0; turn < 4; ++turn) {
                world.poll();
            }
            BOOST_TEST(called <= i);
            // Late by less than a tick.
            BOOST_TEST(called * duration(1) + wheel.options().tick > i * duration(1));
        }
        timers.clear();
        world.poll();
    };
    using std::chrono::duration;
    check(settable_clock<duration<std::int64_t, std::ratio<1, 1024>>>(), 1ms, 976'563ns);
    check(settable_clock<duration<std::int64_t, std::ratio<1, 1024>>>(), 5ms, 4'882'813ns);
    check(settable_clock<duration<std::int64_t, std::ratio<1, 300>>>(), 10ms, 10ms);
    check(settable_clock<duration<std::int64_t, std::ratio<1, 300>>>(), 9ms, 6'666'667ns);
    check(settable_clock<duration<std::int64_t, std::milli>>(), 1ns, 1ms);
    check(settable_clock<duration<std::int64_t, std::milli>>(), 1'999'999ns, 1ms);
}

BOOST_AUTO_TEST_CASE(a_clock_may_count_in_fractions) {
    using clock = settable_clock<std::chrono::duration<double>>;
    using span = clock::duration;
    clock::current = clock::time_point(span(1e6));
    virtual_time_on<clock> world;
    decltype(world)::timer t(world.ctx), never(world.ctx, span::max());
    std::size_t fired = 0, early = 0;
    never.async_wait([&](error_code ec) { early += !ec; });
    for (const double seconds : {-1e9, 0.0, 1e-4, 0.5, 1.25, 1e6}) {
        t.expires_after(span(seconds));
        t.async_wait([&](error_code ec) {
            fired += !ec;
            early += world.now() < t.expiry();
        });
        if (seconds > 0) {
            world.poll();
            BOOST_TEST((t.remaining() <= span(seconds) && t.remaining() > span(seconds * 0.99)));
            BOOST_TEST(world.pass(span(seconds * 0.99)) == 0U);
            world.pass(span(seconds * 0.01 + 0.002));
        }
        world.poll();
    }
    BOOST_TEST(fired == 6U);
    BOOST_TEST(early == 0U);
    BOOST_TEST(world.wheel.advance_to_next() == 0U);
    BOOST_TEST(never.cancel() == 1U);
    world.poll();
    BOOST_TEST(early == 0U);
}

// It is not a whole unit later.
BOOST_AUTO_TEST_CASE(a_duration_in_other_units_is_exact_on_a_clock_that_counts_in_fractions) {
    using clock = settable_clock<std::chrono::duration<double>>;
    using span = clock::duration;
    clock::current = clock::time_point(span(1e6));
    virtual_time_on<clock> world;
    decltype(world)::timer t(world.ctx);
    for (int i = 1; i < 2'000; ++i) {
        t.expires_after(std::chrono::milliseconds(i));
        BOOST_TEST((t.expiry() - clock::current).count() == i * 1e-3,
                   boost::test_tools::tolerance(1e-6));
        t.expires_after(std::chrono::microseconds(i));
        BOOST_TEST((t.expiry() - clock::current - span(i * 1e-6)).count() < 1e-8);
    }
}

BOOST_AUTO_TEST_CASE(clocks_on_one_context_do_not_mix) {
    virtual_time steady;
    auto& wall = asio_wheel::use_wheel<std::chrono::system_clock>(steady.ctx);
    journal log;
    timer t(steady.ctx, 1ms);
    asio_wheel::system_timer s(steady.ctx, 1h);
    t.async_wait(log.note("steady"));
    s.async_wait(log.note("system"));
    BOOST_TEST(steady.wheel.pending() == 1U);
    BOOST_TEST(wall.pending() == 1U);
    BOOST_TEST(!wall.paused());
    wall.pause();
    BOOST_TEST(steady.log_after(2h, log) == "steady");
    wall.advance(2h);
    BOOST_TEST(steady.log_now(log) == "system");
}

BOOST_AUTO_TEST_CASE(a_clock_of_seconds_in_32_bits_causes_one_wake_up_for_a_wait) {
    drained_context world;
    asio_wheel::basic_waitable_timer<seconds_clock> t(world.ctx, seconds_clock::duration(1));
    bool called = false;
    t.async_wait([&](error_code ec) { called = !ec; });
    world.ctx.run_for(20s); // real time
    BOOST_TEST(called);
    const auto stats = asio_wheel::use_wheel<seconds_clock>(world.ctx).stats();
    BOOST_TEST(stats.wake_ups <=
               3U); // With so coarse a clock, Asio's timer may wake up slightly early.
    auto& wheel = asio_wheel::use_wheel<seconds_clock>(world.ctx);
    wheel.pause();
    t.expires_after(seconds_clock::duration(1));
    t.async_wait([](error_code) {});
    const std::size_t handlers = world.poll();
    if (counts_only_handlers) {
        BOOST_TEST(handlers == 0U);
    }
    t.cancel();
}

BOOST_AUTO_TEST_SUITE_END()
