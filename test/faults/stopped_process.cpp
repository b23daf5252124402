// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A process that is stopped for seconds, by Ctrl-Z, a debugger, or the migration of the machine.
// When it continues, everything that fell due is delivered once, in order, and nothing early.
//
// Real time. Each child does the same with a wheel of another shape, or with Asio's timers, and all
// of them are stopped at once.

#include <asio_wheel/interval.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/child_process.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/seed.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using std::chrono::steady_clock;

constexpr auto stop = 2s;

// The exit status of a child says which check failed; 0 means none.
enum finding { all_well, not_all_delivered, delivered_early, out_of_order, wrong_periods };

// 1000 waits in the next 1.5 seconds. Most of them fall due while the process is stopped.
template <class Timer>
int waits_in_child(const starting_line& line, std::optional<asio_wheel::wheel_options> options,
                   std::size_t threads, std::uint64_t seed) {
    asio::io_context ctx;
    if (options) {
        asio_wheel::make_wheel(ctx, *options);
    }
    std::vector<int> order(1000);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    std::deque<Timer> timers;
    std::vector<std::atomic<int>> called(order.size());
    std::atomic<bool> early = false;
    std::atomic<bool> unordered = false;
    // Waits of one tick may be divided by the end of a slice.
    const std::chrono::nanoseconds within = options ? options->tick : 1ns;
    auto last = steady_clock::time_point(); // Of one thread.
    const auto start = steady_clock::now();
    auto begun = start; // When all of them had started.
    for (const int i : order) {
        Timer& t = timers.emplace_back(ctx, start + i * 1500us);
        t.async_wait([&, i, expiry = t.expiry()](const error_code& ec) {
            called[static_cast<std::size_t>(i)] += ec ? 100 : 1;
            early = early || steady_clock::now() < expiry;
            // Waits that were due when they started did not have to wait for others.
            if (threads == 1 && expiry > begun) {
                unordered = unordered || expiry <= last - within;
                last = std::max(last, expiry);
            }
        });
    }
    begun = steady_clock::now();
    line.ready();
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads; ++i) {
            others.emplace_back([&ctx] { ctx.run(); });
        }
        ctx.run();
    }
    if (!std::ranges::all_of(called, [](int n) { return n == 1; })) {
        return not_all_delivered;
    }
    return early ? delivered_early : unordered ? out_of_order : all_well;
}

// Intervals of 10 ms, for at least a second after the stop, and the number of missed periods.
int intervals_in_child(const starting_line& line) {
    using asio_wheel::missed;
    asio::io_context ctx;
    struct ticks {
        ticks(asio::io_context& ctx, missed rule)
            : interval(ctx, 10ms, {.missed = rule}), first(interval.expiry()) {}

        void wait() {
            interval.async_tick([this](const error_code& ec, std::size_t n) {
                const auto now = steady_clock::now();
                calls += 1;
                periods += n;
                // A tick counts only periods that have ended.
                early = early || ec || now < first + (periods - 1) * 10ms;
                if (now < first + stop + 1s) {
                    wait();
                }
            });
        }

        asio_wheel::interval interval;
        steady_clock::time_point first;
        std::size_t calls = 0;
        std::size_t periods = 0;
        bool early = false;
    };
    ticks one(ctx, missed::coalesce);
    ticks all(ctx, missed::catch_up);
    one.wait();
    all.wait();
    line.ready();
    ctx.run();
    if (one.early || all.early) {
        return delivered_early;
    }
    // None was lost: 3 s of periods. If one call counts many periods, there are fewer calls.
    const bool right = one.periods >= 300 && all.periods >= 300 && all.calls == all.periods &&
                       one.calls < one.periods - 100;
    return right ? all_well : wrong_periods;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_stopped_process)

BOOST_AUTO_TEST_CASE(what_fell_due_while_the_process_was_stopped_is_delivered_once_and_in_order) {
    const std::uint64_t seed = asio_wheel::test::seed();
    const starting_line line;
    struct named_child {
        std::string name;
        std::function<int()> run;
    };
    using asio_wheel::steady_timer;
    const auto on_wheel = [&](asio_wheel::wheel_options options, std::size_t threads = 1) {
        return [&, options, threads] {
            return waits_in_child<steady_timer>(line, options, threads, seed);
        };
    };
    const named_child children[] = {
        {"the default wheel", on_wheel({})},
        {"one level, thirty turns of which go by", on_wheel({.slots = 64, .levels = 1})},
        {"two levels of eight", on_wheel({.slots = 8, .levels = 2})},
        {"slices of one", on_wheel({.budget = 1})},
        {"ticks of 10 ms", on_wheel({.tick = 10ms})},
        {"three threads", on_wheel({}, 3)},
        {"intervals", [&] { return intervals_in_child(line); }},
        {"Asio's timers",
         [&] { return waits_in_child<asio::steady_timer>(line, std::nullopt, 1, seed); }},
    };
    std::deque<child_process> running;
    for (const auto& child : children) {
        running.emplace_back(child.run, 60U);
        line.wait();
    }
    std::this_thread::sleep_for(50ms); // So that some are delivered before.
    for (auto& child : running) {
        child.signal(SIGSTOP);
        BOOST_TEST(child.wait_until_stopped());
    }
    std::this_thread::sleep_for(stop);
    for (auto& child : running) {
        child.signal(SIGCONT);
    }
    for (std::size_t i = 0; i < running.size(); ++i) {
        BOOST_TEST_CONTEXT(children[i].name) {
            BOOST_TEST(running[i].wait() == exited_well);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
