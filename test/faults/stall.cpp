// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A context that does not run for many turns of the wheel, because its thread is blocked or the
// machine sleeps. When it runs again, everything that is due is delivered once and in order. The
// cost depends on the number of waits, not on the elapsed time.

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/context.hpp"
#include "support/manual_clock.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <ostream>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace asio_wheel::test;

using steady = manual_clock<struct stall, std::chrono::nanoseconds, true>;
using settable = manual_clock<struct stall, std::chrono::nanoseconds, false>;
using clocks = std::tuple<steady, settable>;

struct shape {
    std::size_t slots;
    unsigned levels;
    std::size_t budget;

    // The duration of one turn of the wheel, in ticks of 1 ms.
    [[nodiscard]] std::chrono::milliseconds turn() const {
        std::chrono::milliseconds result = 1ms;
        for (unsigned i = 0; i < levels; ++i) {
            result *= static_cast<std::int64_t>(slots);
        }
        return result;
    }

    friend std::ostream& operator<<(std::ostream& out, const shape& s) {
        return out << s.slots << " slots, " << s.levels << " levels, budget " << s.budget;
    }
};

// The default, the classic wheel, those in the documentation, and small ones.
constexpr shape shapes[] = {{256, 4, 256}, {256, 4, 1}, {512, 1, 256}, {4096, 1, 256},
                            {64, 1, 7},    {2, 1, 256}, {16, 4, 16},   {2, 8, 3}};

template <class Clock>
struct stalled {
    using timer = asio_wheel::basic_waitable_timer<Clock, impatient<Clock>>;

    explicit stalled(const shape& s) : start(reset()) {
        asio_wheel::make_wheel<Clock, impatient<Clock>>(
            world.ctx, {.slots = s.slots, .levels = s.levels, .stall = 0ns, .budget = s.budget});
    }

    static typename Clock::time_point reset() {
        Clock::set(typename Clock::time_point(1h));
        return Clock::now();
    }

    void wait(typename Clock::duration d) {
        timer& t = timers.emplace_back(world.ctx, start + d);
        t.async_wait([this, d](const error_code& ec) {
            if (ec == aborted) {
                return; // Its time had not come when the test ended.
            }
            BOOST_TEST(ec == success);
            BOOST_TEST((Clock::now() >= start + d));
            delivered.push_back(d);
        });
    }

    // How often the clock is read after time has stood still for `d`.
    std::size_t reads_after(typename Clock::duration d) {
        Clock::set(start + d);
        const std::size_t before = Clock::reads;
        look(world.ctx);
        return Clock::reads - before;
    }

    [[nodiscard]] asio_wheel::wheel_stats stats() {
        return asio_wheel::use_wheel<Clock, impatient<Clock>>(world.ctx).stats();
    }

    drained_context world;
    typename Clock::time_point start;
    std::deque<timer> timers;
    std::vector<typename Clock::duration> delivered;
};

} // namespace

BOOST_AUTO_TEST_SUITE(fault_stall)

BOOST_AUTO_TEST_CASE_TEMPLATE(after_ten_turns_everything_due_is_delivered_once_and_in_order, Clock,
                              clocks) {
    using duration = typename Clock::duration;
    std::mt19937_64 random(seed());
    for (const shape& s : shapes) {
        BOOST_TEST_CONTEXT(s) {
            stalled<Clock> f(s);
            const duration turns = 10 * s.turn();
            std::vector<duration> due;
            std::size_t later = 0;
            for (int i = 0; i < 3000; ++i) {
                // From the next tick to two turns after the end of the stall, in whole ticks:
                // waits of one tick are in order only within a slice.
                const auto ms =
                    std::uniform_int_distribution<std::int64_t>(1, 12 * s.turn() / 1ms)(random);
                const duration d = std::chrono::milliseconds(ms);
                f.wait(d);
                if (d <= turns) {
                    due.push_back(d);
                } else {
                    ++later;
                }
            }
            std::ranges::sort(due);
            const std::size_t reads = f.reads_after(turns);
            BOOST_TEST((f.delivered == due));
            BOOST_TEST(f.stats().pending == later);
            // Some reads for each delivered wait, and for each slice.
            BOOST_TEST(reads <= 100 + 4 * due.size() + 4 * 3000 / s.budget);
            f.delivered.clear();
            f.reads_after(3 * turns);
            BOOST_TEST(f.delivered.size() == later);
            BOOST_TEST(std::ranges::is_sorted(f.delivered));
        }
    }
}

// The cost of a stall with one wait, and without a due wait.
// After a stall, each handler saves one connection, whichever way it moves the deadline.
// real time
BOOST_AUTO_TEST_CASE(deadlines_that_are_moved_after_a_stall_do_not_expire) {
    using timer = asio_wheel::steady_timer;
    for (const bool postpone : {true, false}) {
        BOOST_TEST_CONTEXT((postpone ? "postpone()" : "expires_after()")) {
            asio::io_context ctx;
            std::deque<timer> timers;
            int expired = 0;
            const auto count = [&](const error_code& ec) { expired += ec ? 0 : 1; };
            for (int i = 0; i < 40; ++i) {
                timers.emplace_back(ctx, 20ms).async_wait(count);
            }
            auto next = timers.begin();
            std::function<void()> data_arrives = [&] {
                std::this_thread::sleep_for(1ms);
                if (postpone) {
                    static_cast<void>(next->postpone(1h));
                } else {
                    next->expires_after(1h);
                    next->async_wait(count);
                }
                if (++next != timers.end()) {
                    asio::post(ctx, [&] { data_arrives(); });
                } else {
                    ctx.stop();
                }
            };
            asio::post(ctx, [&] {
                std::this_thread::sleep_for(300ms);
                asio::post(ctx, [&] { data_arrives(); });
            });
            ctx.run();
            BOOST_TEST(expired == 0);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(catching_up_costs_the_same_however_long_it_took, Clock, clocks) {
    for (const shape& s : shapes) {
        for (const bool due : {true, false}) {
            BOOST_TEST_INFO_SCOPE(s << (due ? ", one wait is due" : ", no wait is due"));
            std::vector<std::size_t> reads;
            std::vector<std::uint64_t> cascaded;
            std::vector<std::uint64_t> wake_ups;
            for (const int turns : {1, 10, 1000}) {
                stalled<Clock> f(s);
                f.wait(due ? s.turn() : 2000 * s.turn());
                look(f.world.ctx);
                reads.push_back(f.reads_after(turns * s.turn()));
                BOOST_TEST(f.delivered.size() == (due ? 1U : 0U));
                cascaded.push_back(f.stats().cascaded);
                wake_ups.push_back(f.stats().wake_ups);
            }
            BOOST_TEST(reads[1] <= reads[0] + 4);
            BOOST_TEST(reads[2] <= reads[0] + 4);
            BOOST_TEST(*std::ranges::max_element(cascaded) <= s.levels + 1);
            BOOST_TEST(*std::ranges::max_element(wake_ups) <= 2U);
        }
    }
}

// The waits of later turns are visited once, and not once for each missed turn.
BOOST_AUTO_TEST_CASE_TEMPLATE(waits_of_later_rounds_are_looked_at_once, Clock, clocks) {
    for (const shape& s : shapes) {
        BOOST_TEST_INFO_SCOPE(s);
        constexpr std::uint64_t waits = 500;
        stalled<Clock> f(s);
        for (std::uint64_t i = 0; i < waits; ++i) {
            f.wait(1000 * s.turn() + std::chrono::milliseconds(i));
        }
        f.wait(s.turn());
        look(f.world.ctx);
        f.reads_after(100 * s.turn());
        BOOST_TEST(f.delivered.size() == 1U);
        BOOST_TEST(f.stats().cascaded <= waits * s.levels + s.levels);
        BOOST_TEST(f.stats().wake_ups <= 2U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
