// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 300

// Threads that start, cancel, move and postpone waits at random while other threads run the
// context. The counts that calls return match what the handlers see, and each handler is called
// once.

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/handler_counts.hpp"
#include "support/names.hpp"
#include "support/sanitizers.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

template <class Timer>
constexpr bool is_wheels = std::is_same_v<Timer, asio_wheel::steady_timer>;

// For all threads together. ThreadSanitizer makes each of them ten times slower.
constexpr int operations = has_thread_sanitizer ? 100'000 : 1'000'000;

// The operations of one thread on timers of its own.
template <class Timer, class Context>
class worker {
public:
    worker(Context& ctx, handler_counts& t, std::uint64_t seed)
        : ctx_(ctx), tally_(t), strand_(asio::make_strand(ctx)), random_(seed) {
        for (auto& t1 : timers_) {
            t1.emplace(ctx);
        }
    }

    void run(int count) {
        for (int i = 0; i < count; ++i) {
            step(*timers_[pick(timers_.size())]);
            // No more than the context can handle: long queues test nothing new.
            while (tally_.pending() > 20'000) {
                std::this_thread::yield();
            }
        }
        for (auto& t : timers_) {
            tally_.counted += t->cancel();
        }
    }

private:
    [[nodiscard]] std::size_t pick(std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
    }

    // On all levels of a small wheel, and at the moments when time reaches their slots.
    [[nodiscard]] std::chrono::microseconds pick_duration() {
        return (1U << pick(14)) * 100us / 16 + pick(3) * 50us;
    }

    void start(Timer& t) {
        checked_handler<typename Timer::time_point> handler(tally_, t.expiry());
        if (pick(4) == 0) {
            t.async_wait(asio::bind_executor(strand_, std::move(handler)));
        } else {
            t.async_wait(std::move(handler));
        }
    }

    void step(Timer& t) {
        switch (pick(8)) {
        case 0:
            tally_.counted += t.cancel();
            break;
        case 1:
            tally_.counted += t.cancel_one();
            break;
        case 2: {
            Timer moved(std::move(t));
            start(moved);
            t = std::move(moved);
            break;
        }
        case 3:
            if constexpr (requires { t.postpone_until(t.expiry()); }) {
                static_cast<void>(t.postpone_until(t.expiry() + pick_duration()));
                break;
            }
            [[fallthrough]];
        case 4:
            start(t);
            break;
        default:
            tally_.counted += t.expires_after(pick_duration());
            start(t);
        }
    }

    Context& ctx_;
    handler_counts& tally_;
    asio::strand<typename Context::executor_type> strand_;
    std::mt19937_64 random_;
    std::array<std::optional<Timer>, 32> timers_;
};

template <class Timer, class Context>
void stress(Context& ctx, handler_counts& t, std::size_t threads, int count) {
    const std::uint64_t seed = asio_wheel::test::seed();
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < threads; ++i) {
        all.emplace_back([&ctx, &t, seed, i, each = count / static_cast<int>(threads)] {
            worker<Timer, Context>(ctx, t, seed + i).run(each);
        });
    }
}

// Waits on all levels of a small wheel, cancelled when time reaches one of them.
template <class Timer>
class cancel_race {
public:
    cancel_race(asio::io_context& ctx, std::uint64_t seed) : random_(seed) {
        for (racer& r : racers_) {
            r.timer.emplace(ctx);
        }
    }

    void run(int count) {
        for (int i = 0; i < count; i += static_cast<int>(racers_.size())) {
            once();
        }
    }

    [[nodiscard]] int expired() const { return expired_; }
    [[nodiscard]] int aborted() const { return aborted_; }
    [[nodiscard]] int faults() const { return faults_; }

private:
    enum class result { none, expired, aborted, wrong };

    struct racer {
        std::optional<Timer> timer;
        std::atomic<result> seen{result::none};
        std::size_t cancelled = 0;
    };

    void once() {
        const auto start = Timer::clock_type::now() + 20us;
        for (racer& r : racers_) {
            r.seen = result::none;
            r.timer->expires_at(start + std::uniform_int_distribution(0, 16)(random_) * 20us);
            r.timer->async_wait([&r](const error_code& ec) {
                const result now = !ec                               ? result::expired
                                   : ec == asio_wheel::test::aborted ? result::aborted
                                                                     : result::wrong;
                r.seen = r.seen == result::none ? now : result::wrong;
            });
        }
        const auto instant = start + std::uniform_int_distribution(0, 16)(random_) * 20us;
        while (Timer::clock_type::now() < instant) {
        }
        for (racer& r : racers_) {
            r.cancelled = r.timer->cancel();
        }
        for (racer& r : racers_) {
            while (r.seen == result::none) {
                std::this_thread::yield();
            }
            const bool counted = r.cancelled == 1;
            faults_ += r.seen == (counted ? result::aborted : result::expired) ? 0 : 1;
            ++(counted ? aborted_ : expired_);
        }
    }

    std::array<racer, 32> racers_;
    std::mt19937_64 random_;
    int expired_ = 0;
    int aborted_ = 0;
    int faults_ = 0;
};

void check(const handler_counts& t) {
    t.check_calls();
    BOOST_TEST(t.counted == t.aborted);
}

template <class Timer>
void stress_io_context(
    asio::io_context& ctx, handler_counts& t, std::size_t threads, int count,
    const std::function<void()>& at_the_end = [] {}) {
    auto work = std::make_optional(asio::make_work_guard(ctx));
    std::vector<std::jthread> runners;
    for (int i = 0; i < 2; ++i) {
        runners.emplace_back([&ctx] { ctx.run_for(200s); });
    }
    stress<Timer>(ctx, t, threads, count);
    at_the_end();
    work.reset();
    runners.clear();
    BOOST_TEST(ctx.stopped());
    check(t);
}

} // namespace

BOOST_AUTO_TEST_SUITE(timer_stress, *boost::unit_test::timeout(280))

BOOST_AUTO_TEST_CASE(four_threads_and_two_that_run_the_context) {
    drained_context world;
    auto& wheel =
        asio_wheel::make_wheel(world.ctx, {.tick = 100us, .slots = 4, .levels = 8, .budget = 16});
    handler_counts t;
    stress_io_context<asio_wheel::steady_timer>(world.ctx, t, 4, operations);
    const asio_wheel::wheel_stats stats = wheel.stats();
    BOOST_TEST(stats.pending == 0U);
    BOOST_TEST(stats.scheduled == t.started);
    BOOST_TEST(stats.fired == t.expired);
    BOOST_TEST(stats.cancelled == t.aborted);
    BOOST_TEST(stats.cascaded > 0U);
    BOOST_TEST(stats.lateness.count() >= stats.fired);
}

// With very many, operations are aborted in another way.
BOOST_AUTO_TEST_CASE(four_threads_among_very_many_waits) {
    drained_context world;
    auto& wheel = asio_wheel::make_wheel(world.ctx, {.tick = 100us});
    std::deque<asio_wheel::steady_timer> others;
    constexpr std::size_t count = 20'000;
    for (std::size_t i = 0; i < count; ++i) {
        others.emplace_back(world.ctx, 1h).async_wait([](const error_code&) {});
    }
    handler_counts t;
    stress_io_context<asio_wheel::steady_timer>(world.ctx, t, 4, operations / 2,
                                                [&] { others.clear(); });
    const asio_wheel::wheel_stats stats = wheel.stats();
    BOOST_TEST(stats.pending == 0U);
    BOOST_TEST(stats.scheduled == t.started + count);
    BOOST_TEST(stats.fired == t.expired);
    BOOST_TEST(stats.cancelled == t.aborted + count);
}

BOOST_AUTO_TEST_CASE(asios_timers_pass_the_same_test) {
    drained_context world;
    handler_counts t;
    stress_io_context<asio::steady_timer>(world.ctx, t, 4, operations / 20);
}

// Each one separately, because sums could match by chance. None succeeds after it was counted as
// cancelled.
BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_counted_as_cancelled_is_aborted_and_nothing_else_is, Timer,
                              timers) {
    const std::uint64_t seed = asio_wheel::test::seed();
    drained_context world;
    auto& wheel =
        asio_wheel::make_wheel(world.ctx, {.tick = 20us, .slots = 4, .levels = 8, .budget = 4});
    cancel_race<Timer> one(world.ctx, seed);
    cancel_race<Timer> two(world.ctx, seed + 1);
    {
        auto work = std::make_optional(asio::make_work_guard(world.ctx));
        const std::jthread runner([&] { world.ctx.run_for(200s); });
        {
            const std::jthread other([&] { two.run(operations / 10); });
            one.run(operations / 10);
        }
        work.reset();
    }
    BOOST_TEST(one.faults() + two.faults() == 0);
    BOOST_TEST(one.expired() + two.expired() > 0);
    BOOST_TEST(one.aborted() + two.aborted() > 0);
    BOOST_TEST((wheel.stats().cascaded > 0U) == is_wheels<Timer>);
}

BOOST_AUTO_TEST_CASE(a_limit_never_leaks) {
    drained_context world;
    auto& wheel = asio_wheel::make_wheel(world.ctx, {.tick = 100us, .max_pending = 30});
    handler_counts t;
    stress_io_context<asio_wheel::steady_timer>(world.ctx, t, 3, operations / 5);
    BOOST_TEST(t.refused > 0U);
    BOOST_TEST(wheel.stats().rejected == t.refused);
    BOOST_TEST(wheel.stats().peak_pending <= 30U);
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_AUTO_TEST_CASE(eight_threads_on_a_pool) {
    handler_counts t;
    {
        asio::thread_pool pool(3);
        asio_wheel::make_wheel(pool, {.tick = 50us});
        stress<asio_wheel::steady_timer>(pool, t, 8, operations / 5);
        pool.join();
    }
    check(t);
}

BOOST_AUTO_TEST_SUITE_END()
