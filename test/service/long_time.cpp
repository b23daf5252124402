// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// timeout: 900

// Long periods: years of mixed timers, millions of ticks of an interval, and clocks and wheels that
// start just below the powers of two at which numbers overflow. Time is virtual.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/tick.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/sanitizers.hpp"
#include "support/seed.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <ostream>
#include <random>
#include <ratio>
#include <set>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::nanoseconds;

constexpr auto years = is_tracked || is_emulated || on_completion_port ? 1 : is_slow ? 2 : 10;
constexpr auto year = 365 * 24h;
constexpr std::size_t ten_million = fewer_on_windows(scaled(10'000'000));
constexpr std::size_t a_million = scaled(1'000'000);

// The number of events that came at a wrong time.
struct punctual {
    virtual_time& world;
    std::size_t events = 0;
    std::size_t wrong = 0;

    void expect(virtual_time::timer::time_point due) {
        ++events;
        wrong += world.now() == due ? 0 : 1;
    }
};

// A wait of a random length, followed by the next one.
class random_waits {
public:
    random_waits(punctual& p, std::mt19937_64& random) : p_(p), random_(random), t_(p.world.ctx) {
        wait();
    }

private:
    void wait() {
        // From a nanosecond to half a year, each magnitude equally likely.
        const auto ns = static_cast<std::int64_t>(random_() >> (8 + random_() % 55));
        t_.expires_after(nanoseconds(std::clamp<std::int64_t>(ns, 1, (year / 2) / 1ns)));
        t_.async_wait([this](const error_code& ec) {
            if (!ec) {
                p_.expect(t_.expiry());
                rest();
            }
        });
    }

    // Short waits alone would never get through the years.
    void rest() {
        t_.expires_after(std::chrono::hours(1 + random_() % (24 * 14)));
        t_.async_wait([this](const error_code& ec) {
            if (!ec) {
                p_.expect(t_.expiry());
                wait();
            }
        });
    }

    punctual& p_;
    std::mt19937_64& random_;
    timer t_;
};

// Ticks at a fixed rate: the n-th is due n periods after the start.
class regular_ticks {
public:
    regular_ticks(punctual& p, nanoseconds period)
        : p_(p), start_(p.world.now()), period_(period), interval_(p.world.ctx, period) {
        wait();
    }

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] nanoseconds period() const { return period_; }
    void stop() { interval_.cancel(); }

private:
    void wait() {
        interval_.async_tick([this](const error_code& ec, std::size_t periods) {
            if (!ec) {
                count_ += static_cast<std::int64_t>(periods);
                p_.expect(start_ + count_ * period_);
                wait();
            }
        });
    }

    punctual& p_;
    timer::time_point start_;
    nanoseconds period_;
    asio_wheel::interval interval_;
    std::int64_t count_ = 0;
};

// Touched for a while, at most a day apart, and then left alone until it expires.
class touched_sometimes {
public:
    touched_sometimes(punctual& p, std::mt19937_64& random)
        : p_(p), random_(random), idle_(p.world.ctx, 36h), again_(p.world.ctx) {
        wait();
        touch();
    }

private:
    void wait() {
        idle_.async_wait([this](const error_code& ec) {
            if (!ec) {
                p_.expect(last_ + 36h);
                idle_.touch();
                wait();
                touch();
            }
        });
    }

    void touch() {
        last_ = p_.world.now();
        idle_.touch();
        if (random_() % 8 != 0) {
            again_.expires_after(std::chrono::minutes(1 + random_() % 1440));
            again_.async_wait([this](const error_code& ec) {
                if (!ec) {
                    touch();
                }
            });
        }
    }

    punctual& p_;
    std::mt19937_64& random_;
    timer::time_point last_;
    asio_wheel::idle_timer idle_;
    timer again_;
};

// Values that leave a queue when they are due. Each one inserts the next.
class through_a_queue {
public:
    through_a_queue(punctual& p, std::mt19937_64& random)
        : p_(p), random_(random), queue_(p.world.ctx) {
        for (int i = 0; i < 50; ++i) {
            push();
        }
        pop();
    }
    void stop() { queue_.cancel(); }

private:
    void push() {
        const auto due = p_.world.now() + std::chrono::seconds(1 + random_() % (3600 * 24 * 90));
        queue_.push_at(due, timer::time_point(due));
    }
    void pop() {
        queue_.async_pop([this](const error_code& ec, timer::time_point due) {
            if (!ec) {
                p_.expect(due);
                push();
                pop();
            }
        });
    }

    punctual& p_;
    std::mt19937_64& random_;
    asio_wheel::delay_queue<timer::time_point> queue_;
};

// --- Clocks and wheels that start near the end of their range. ---

struct shape {
    std::size_t slots;
    unsigned levels;

    friend std::ostream& operator<<(std::ostream& out, const shape& s) {
        return out << s.slots << " slots, " << s.levels << " levels";
    }
};
constexpr shape shapes[] = {{256, 4}, {64, 1}, {2, 64}, {16, 3}, {4096, 5}};

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

// Returns `count` + `more`, or the largest count.
constexpr std::int64_t plus(std::int64_t count, std::int64_t more) {
    return more > 0 && count > largest - more ? largest : count + more;
}

// Edges of number ranges: a count of nanoseconds since the epoch, or of ticks since the origin.
struct edge {
    const char* name;
    std::int64_t origin; // The time of the clock when the wheel is created,
    std::int64_t at;     // and the edge itself, in nanoseconds.
    std::int64_t tick;

    // The last tick of a wheel is 2^64 - 2.
    [[nodiscard]] constexpr bool ticks_end_with_clock() const {
        return tick == 1 && origin == smallest;
    }
};

constexpr std::int64_t two_31 = std::int64_t{1} << 31U;
constexpr std::int64_t two_32 = std::int64_t{1} << 32U;
constexpr std::int64_t ms = 1'000'000;

constexpr edge edges[] = {
    {"2^31 ns", two_31 - 20 * ms, two_31, ms},
    {"2^32 ns", two_32 - 20 * ms, two_32, ms},
    {"2^63 ns", largest - 3'000 * ms, largest - 1'000 * ms, ms},
    {"the end of 63 bits", largest - 20 * ms, largest, ms},
    {"the end of 63 bits, by the nanosecond", largest - 50, largest, 1},
    {"the epoch", -20 * ms, 0, ms},
    {"the beginning of 64 bits", smallest, smallest + 20 * ms, ms},
    {"2^31 ticks of 1 ns", 0, two_31, 1},
    {"2^32 ticks of 1 ns", 0, two_32, 1},
    {"2^31 ticks of 1 ms", 0, two_31* ms, ms},
    {"2^32 ticks of 1 ms", 0, two_32* ms, ms},
    {"2^63 ticks of 1 ns", smallest, 0, 1},
    {"2^64 ticks of 1 ns", smallest, largest, 1},
    {"2^31 ticks of 3 ns", 7, two_31 * 3, 3},
    {"2^32 ticks of 1000 ns", -two_31, two_32 * 1000, 1000},
};

using edge_clock = manual_clock<struct at_an_edge>;
using edge_timer = asio_wheel::basic_waitable_timer<edge_clock, impatient<edge_clock>>;

edge_clock::time_point at(std::int64_t count) {
    return edge_clock::time_point(nanoseconds(count));
}

// Waits for times around an edge, on a clock that crosses it in small steps. None is early, none is
// more than a tick late, and each is delivered once.
void go_over(const edge& e, const shape& s, bool paused) {
    edge_clock::set(at(e.origin));
    drained_context world;
    auto& wheel = asio_wheel::make_wheel<edge_clock, impatient<edge_clock>>(
        world.ctx, {.tick = nanoseconds(e.tick), .slots = s.slots, .levels = s.levels});
    if (paused) {
        wheel.pause();
    }
    const auto now = [&] { return wheel.now().time_since_epoch().count(); };
    const auto go_to = [&](std::int64_t count) {
        if (paused) { // In two steps if a duration cannot represent the distance.
            if (now() < 0 && count > 0) {
                wheel.advance(nanoseconds(-std::max<std::int64_t>(now(), smallest + 1)));
                wheel.advance(nanoseconds(-now()));
            }
            wheel.advance(nanoseconds(count - now()));
        } else {
            edge_clock::set(at(count));
        }
        look(world.ctx);
    };
    const std::int64_t begin =
        std::max(e.origin, e.at < smallest + 10 * e.tick ? smallest : e.at - 10 * e.tick);
    if (begin > e.origin) {
        go_to(begin);
    }

    std::set<std::int64_t> expiries;
    for (const std::int64_t tick : {-9, -2, -1, 0, 1, 2, 3, 9, 40, 1000}) {
        for (const std::int64_t off : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}}) {
            const std::int64_t distance = tick * e.tick + off;
            expiries.insert(distance < 0 && e.at < smallest - distance ? smallest
                                                                       : plus(e.at, distance));
        }
    }
    std::deque<edge_timer> timers;
    std::vector<int> delivered(expiries.size());
    std::vector<std::int64_t> steps;
    bool early = false;
    std::size_t i = 0;
    for (const std::int64_t expiry : expiries) {
        timers.emplace_back(world.ctx, at(expiry))
            .async_wait([&, expiry, mine = &delivered[i]](const error_code& ec) {
                if (!ec) {
                    ++*mine;
                    early = early || now() < expiry;
                }
            });
        steps.push_back(expiry);
        steps.push_back(plus(expiry, e.tick));
        if (expiry != smallest) {
            steps.push_back(expiry - 1);
        }
        ++i;
    }
    std::ranges::sort(steps);
    for (std::int64_t step : steps) {
        // At the end of its clock or of its ticks, a wheel has no later time to wake up at.
        step = paused ? step : std::min(step, e.ticks_end_with_clock() ? largest - 2 : largest - 1);
        if (step < now()) {
            continue;
        }
        go_to(step);
        i = 0;
        for (const std::int64_t expiry : expiries) {
            const int count = delivered[i];
            ++i;
            BOOST_TEST_REQUIRE(count <= 1);
            if (expiry == largest) { // The end of time never comes.
                BOOST_TEST_REQUIRE(count == 0);
                continue;
            }
            BOOST_TEST_REQUIRE((count == 0 || expiry <= step));
            // If the clock ends within a tick, there is no next tick to wait for.
            const std::int64_t late = paused ? 0 : e.tick;
            if (expiry <= step - late && plus(expiry, late) != largest) {
                BOOST_TEST_REQUIRE(count == 1, "the wait for " << expiry << " is late at " << step);
            }
        }
    }
    BOOST_TEST(!early);
    for (edge_timer& t : timers) {
        t.cancel();
    }
    look(world.ctx);
}

// A clock of few bits.
template <class Rep, class Period>
using few_bits = manual_clock<struct few, std::chrono::duration<Rep, Period>>;

} // namespace

BOOST_AUTO_TEST_SUITE(long_time)

BOOST_AUTO_TEST_CASE(years_of_mixed_timers_are_exact) {
    std::mt19937_64 random(seed());
    virtual_time world;
    punctual p{world};
    const auto start = world.now();
    const auto end = start + years * year;
    std::deque<regular_ticks> ticks;
    for (const nanoseconds period :
         {nanoseconds(10min), nanoseconds(1h), nanoseconds(86'399'999'999'999),
          nanoseconds(7 * 24h), nanoseconds(30 * 24h + 1ns), nanoseconds(year)}) {
        ticks.emplace_back(p, period);
    }
    std::deque<random_waits> waits;
    std::deque<touched_sometimes> touched;
    for (int i = 0; i < 200; ++i) {
        waits.emplace_back(p, random);
    }
    for (int i = 0; i < 10; ++i) {
        touched.emplace_back(p, random);
    }
    through_a_queue queue(p, random);
    asio_wheel::basic_scheduler<std::chrono::steady_clock> scheduler(world.ctx);
    std::int64_t calls = 0;
    scheduler.schedule_at_fixed_rate(6h, 6h, [&] { p.expect(start + ++calls * 6h); });
    timer distant(world.ctx, end);
    bool over = false;
    distant.async_wait([&](const error_code& ec) { over = !ec; });

    while (!over) {
        BOOST_TEST_REQUIRE(world.wheel.advance_to_next() != 0U);
        world.poll();
    }
    BOOST_TEST((world.now() == end));
    BOOST_TEST(p.events > 10'000U);
    BOOST_TEST(p.wrong == 0U, p.wrong << " of " << p.events << " were not at their time");
    for (regular_ticks& t : ticks) {
        // A tick due at the very end may still be ready.
        const auto due = (end - start) / t.period();
        BOOST_TEST((t.count() == due || t.count() == due - 1));
        t.stop();
    }
    BOOST_TEST((calls >= (end - start) / 6h - 1));
    static_cast<void>(scheduler.stop());
    queue.stop();
    waits.clear();
    touched.clear();
    world.poll();
}

BOOST_AUTO_TEST_CASE(ten_million_ticks_of_an_interval_do_not_drift) {
    virtual_time world;
    constexpr nanoseconds period = 1'000'001ns; // Not a whole number of ticks of the wheel.
    const auto start = world.now();
    asio_wheel::interval ticks(world.ctx, period);
    std::size_t count = 0;
    std::size_t wrong = 0;
    std::function<void(const error_code&, std::size_t)> tick = [&](const error_code& ec,
                                                                   std::size_t periods) {
        if (ec) {
            return;
        }
        ++count;
        const auto due = start + static_cast<std::int64_t>(count) * period;
        wrong += periods == 1 && world.now() == due && ticks.expiry() == due + period ? 0 : 1;
        ticks.async_tick(std::ref(tick));
    };
    ticks.async_tick(std::ref(tick));
    for (std::size_t i = 0; i < ten_million; ++i) {
        world.wheel.advance(period);
        world.ctx.poll();
    }
    BOOST_TEST(count == ten_million);
    BOOST_TEST(wrong == 0U);
    ticks.cancel();
    world.poll();
}

// The periods add up, in whatever steps time passes.
BOOST_AUTO_TEST_CASE(a_million_periods_are_counted_however_many_are_missed_at_once) {
    std::mt19937_64 random(seed());
    using asio_wheel::missed;
    for (const missed rule : {missed::coalesce, missed::catch_up}) {
        virtual_time world;
        constexpr nanoseconds period = 999'983ns;
        const auto start = world.now();
        asio_wheel::interval ticks(world.ctx, period, {.missed = rule});
        std::size_t periods = 0;
        std::function<void(const error_code&, std::size_t)> tick = [&](const error_code& ec,
                                                                       std::size_t n) {
            if (!ec) {
                periods += n;
                ticks.async_tick(std::ref(tick));
            }
        };
        ticks.async_tick(std::ref(tick));
        const auto end = start + static_cast<std::int64_t>(a_million) * period;
        while (world.now() < end) {
            const auto step = nanoseconds(random() % (1'000'000U * 20'000U));
            world.wheel.advance(std::min<nanoseconds>(step, end - world.now()));
            world.poll();
            const auto passed = (world.now() - start) / period;
            BOOST_TEST_REQUIRE(periods == static_cast<std::size_t>(passed));
        }
        BOOST_TEST(periods == a_million);
        BOOST_TEST((ticks.expiry() == end + period));
        ticks.cancel();
        world.poll();
    }
}

BOOST_AUTO_TEST_CASE(clocks_and_wheels_go_over_the_edges_of_numbers) {
    for (const edge& e : edges) {
        for (const shape& s : shapes) {
            for (const bool paused : {false, true}) {
                if (on_completion_port && !paused && s.levels != 4) {
                    continue; // It takes a second there: four polls for each of the steps.
                }
                BOOST_TEST_INFO_SCOPE(e.name << ", " << s << (paused ? ", paused" : ""));
                go_over(e, s, paused);
            }
        }
    }
}

// At the end of a clock's range, nothing becomes due any more, and nothing overflows.
BOOST_AUTO_TEST_CASE(waits_beyond_the_end_of_a_clock_never_end) {
    for (const shape& s : shapes) {
        BOOST_TEST_INFO_SCOPE(s);
        edge_clock::set(at(largest - 1'000 * ms));
        drained_context world;
        auto& wheel = asio_wheel::make_wheel<edge_clock, impatient<edge_clock>>(
            world.ctx, {.slots = s.slots, .levels = s.levels});
        int delivered = 0;
        std::deque<edge_timer> timers;
        for (const nanoseconds d : {nanoseconds(1s), nanoseconds(1h), nanoseconds::max()}) {
            timers.emplace_back(world.ctx, d).async_wait([&](const error_code& ec) {
                delivered += ec ? 0 : 1;
            });
            BOOST_TEST((timers.back().expiry() == edge_clock::time_point::max()));
        }
        timers.emplace_back(world.ctx, 999ms).async_wait([&](const error_code& ec) {
            delivered += ec ? 0 : 10;
        });
        edge_clock::set(edge_clock::time_point::max() - 1ns);
        look(world.ctx);
        BOOST_TEST(delivered == 10);
        BOOST_TEST(wheel.pending() == 3U);
        timers.clear();
        look(world.ctx);
    }
}

// One unit before a clock's end, the midpoint to the end is now. The driver must not wake up for
// that.
BOOST_AUTO_TEST_CASE(nothing_wakes_up_again_and_again_just_before_the_end_of_a_clock) {
    using clock = few_bits<std::int32_t, std::ratio<60>>;
    for (const int before : {3, 2, 1}) {
        BOOST_TEST_INFO_SCOPE(before << " minutes before the end");
        clock::set(clock::time_point::max() - std::chrono::minutes(before));
        drained_context world;
        auto& wheel = asio_wheel::use_wheel<clock>(world.ctx);
        asio_wheel::basic_waitable_timer<clock> never(world.ctx, clock::duration::max());
        bool called = false;
        never.async_wait([&](const error_code& ec) { called = !ec; });
        for (int i = 0; i < 100; ++i) {
            world.ctx.poll_one();
        }
        BOOST_TEST(wheel.stats().wake_ups == 0U);
        BOOST_TEST(!called);
        never.cancel();
        world.poll();
    }
}

// Asio's timers convert times for the reactor. For clocks of few bits, that must not overflow.
BOOST_AUTO_TEST_CASE(clocks_of_few_bits_wake_up_once_and_not_early) {
    const auto check = []<class Clock>(Clock, const char* name) {
        BOOST_TEST_INFO_SCOPE(name);
        using timer_type = asio_wheel::basic_waitable_timer<Clock>;
        using duration = typename Clock::duration;
        using rep = typename Clock::rep;
        constexpr rep most = std::numeric_limits<rep>::max();
        for (const rep start : {rep(0), rep(most / 2), rep(most - 100)}) {
            BOOST_TEST_INFO_SCOPE("from " << start);
            Clock::set(typename Clock::time_point(duration(start)));
            drained_context world;
            auto& wheel = asio_wheel::use_wheel<Clock>(world.ctx);
            int delivered = 0;
            timer_type soon(world.ctx, duration(20));
            timer_type never(world.ctx, duration::max());
            soon.async_wait([&](const error_code& ec) { delivered += ec ? 100 : 1; });
            never.async_wait([&](const error_code& ec) { delivered += ec == aborted ? 10 : 100; });
            // Time stands still, so there is nothing to wake up for.
            for (int i = 0; i < 100; ++i) {
                world.ctx.poll_one();
            }
            BOOST_TEST(wheel.stats().wake_ups <= 1U);
            BOOST_TEST(delivered == 0);
            Clock::advance(duration(20));
            // The driver sleeps by another clock. A wait for now makes it read this one.
            timer_type now(world.ctx, duration(0));
            now.async_wait([](const error_code&) {});
            look(world.ctx);
            BOOST_TEST(delivered == 1);
            never.cancel();
            look(world.ctx);
            BOOST_TEST(delivered == 11);
        }
    };
    check(few_bits<std::int32_t, std::ratio<1>>(), "32-bit seconds");
    check(few_bits<std::int32_t, std::ratio<60>>(), "32-bit minutes");
    check(few_bits<std::int32_t, std::milli>(), "32-bit milliseconds");
    check(few_bits<std::int64_t, std::ratio<1>>(), "64-bit seconds");
    check(few_bits<std::int64_t, std::ratio<3600>>(), "64-bit hours");
}

// The tick in which the clock ends would end beyond it. Its time must not wrap to the past, where
// the driver would wake up again and again.
BOOST_AUTO_TEST_CASE(a_tick_that_ends_beyond_a_clock_of_few_bits_never_comes) {
    const auto check = []<class Clock>(Clock, const char* name) {
        BOOST_TEST_INFO_SCOPE(name);
        using duration = typename Clock::duration;
        using rep = typename Clock::rep;
        constexpr rep most = std::numeric_limits<rep>::max();
        for (const rep tick : {rep(2), rep(7), rep(100), rep(10'000)}) {
            for (const rep before : {rep(most / 2), rep(99), rep(5), rep(2), rep(1), rep(0)}) {
                BOOST_TEST_INFO_SCOPE("tick " << tick << ", " << before << " units before the end");
                Clock::set(typename Clock::time_point(duration(most - before)));
                drained_context world;
                auto& wheel = asio_wheel::make_wheel<Clock>(
                    world.ctx, {.tick = asio_wheel::detail::to_nanoseconds(duration(tick))});
                using timer_type = asio_wheel::basic_waitable_timer<Clock>;
                timer_type never(world.ctx, duration::max()), last(world.ctx, duration::max());
                int delivered = 0;
                last.expires_at(Clock::time_point::max() - duration(1));
                never.async_wait([&](const error_code& ec) { delivered += ec ? 0 : 1; });
                last.async_wait([&](const error_code& ec) { delivered += ec ? 0 : 10; });
                for (int i = 0; i < 100; ++i) {
                    world.ctx.poll_one();
                }
                BOOST_TEST(wheel.stats().wake_ups <= 1U);
                world.ctx.poll(); // It returns.
                BOOST_TEST(delivered == (before < 2 ? 10 : 0));
                wheel.pause();
                wheel.advance(duration(before));
                world.ctx.poll();
                BOOST_TEST(delivered == 10);
                never.cancel();
                last.cancel();
                world.poll();
            }
        }
    };
    check(few_bits<std::int32_t, std::ratio<1>>(), "32-bit seconds");
    check(few_bits<std::int32_t, std::milli>(), "32-bit milliseconds");
    check(few_bits<std::uint32_t, std::milli>(), "unsigned 32-bit milliseconds");
    check(few_bits<std::int16_t, std::milli>(), "16-bit milliseconds");
}

BOOST_AUTO_TEST_CASE(times_beyond_what_a_wheel_counts_are_its_end) {
    const auto check = []<class Clock>(Clock, const char* name) {
        BOOST_TEST_INFO_SCOPE(name);
        using duration = typename Clock::duration;
        Clock::set(typename Clock::time_point(duration(1000)));
        bool called = false;
        drained_context world;
        auto& wheel = asio_wheel::use_wheel<Clock>(world.ctx);
        wheel.pause();
        asio_wheel::basic_waitable_timer<Clock> never(world.ctx, duration::max());
        never.async_wait([&](const error_code& ec) { called = !ec; });
        BOOST_TEST(wheel.advance_to_next() == 0U);
        BOOST_TEST(wheel.advance(std::chrono::hours(1)) == 0U);
        world.poll();
        BOOST_TEST(!called);
        BOOST_TEST((wheel.now() == typename Clock::time_point(duration(1000)) + 1h));
    };
    check(few_bits<std::uint64_t, std::nano>(), "unsigned nanoseconds");
    check(few_bits<std::uint32_t, std::milli>(), "unsigned 32-bit milliseconds");
}

// Also where the product that std::chrono::ceil() makes first is out of range.
BOOST_AUTO_TEST_CASE(durations_of_any_unit_are_converted_or_end_where_nanoseconds_do) {
    using wide = boost::multiprecision::int128_t;
    std::mt19937_64 random(seed());
    const auto check = [&]<class Period>(Period) {
        using std::chrono::nanoseconds;
        using unit = std::chrono::duration<std::int64_t, Period>;
        using ratio = std::ratio_divide<Period, std::nano>;
        int wrong = 0;
        for (int i = 0; i < 10'000; ++i) {
            const auto n = static_cast<std::int64_t>(random()) >> (random() % 64);
            const wide product = wide(n) * ratio::num;
            wide down = product / ratio::den; // Towards zero.
            down -= product % ratio::den < 0 ? 1 : 0;
            const wide up = down + (product % ratio::den != 0 ? 1 : 0);
            const auto in_range = [](const wide& exact) {
                const wide most = nanoseconds::max().count();
                return static_cast<std::int64_t>(std::clamp<wide>(exact, -most - 1, most));
            };
            const auto ceil = asio_wheel::detail::ceil_saturating<nanoseconds>(unit(n));
            const auto floor = asio_wheel::detail::floor_saturating<nanoseconds>(unit(n));
            wrong += ceil.count() == in_range(up) ? 0 : 1;
            wrong += floor.count() == in_range(down) ? 0 : 1;
        }
        BOOST_TEST(wrong == 0, Period::num << "/" << Period::den << ": " << wrong);
    };
    check(std::ratio<1, 44'100>());
    check(std::ratio<1, 32'768>());
    check(std::ratio<1, 1 << 30>());
    check(std::ratio<1, 2'399'999'000>());
    check(std::ratio<1, std::int64_t(1) << 32>());
    check(std::ratio<1'001, 30'000>());
    check(std::pico());
    check(std::nano());
    check(std::milli());
    check(std::ratio<3'600>());
}

BOOST_AUTO_TEST_CASE(sums_and_differences_of_times_end_where_their_clock_does) {
    using clock = manual_clock<struct tiny, std::chrono::duration<std::int8_t>>;
    using duration = clock::duration;
    using time_point = clock::time_point;
    const auto ended = [](int exact) { return std::clamp(exact, -128, 127); };
    int wrong = 0;
    for (int a = -128; a <= 127; ++a) {
        for (int b = -128; b <= 127; ++b) {
            const duration from(static_cast<std::int8_t>(a));
            const duration d(static_cast<std::int8_t>(b));
            const auto sum = asio_wheel::detail::add_saturating(time_point(from), d);
            const auto difference =
                asio_wheel::detail::until_saturating(time_point(from), time_point(d));
            wrong += sum.time_since_epoch().count() == ended(a + b) ? 0 : 1;
            wrong += difference.count() == ended(b - a) ? 0 : 1;
            if (b >= 0) {
                const duration end = asio_wheel::detail::add_saturating(from, d);
                wrong += end.count() == ended(a + b) ? 0 : 1;
            }
        }
    }
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
