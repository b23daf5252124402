// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How often a context wakes up, and how late its handlers are. A wake-up is the end of a system
// call that waits for events (a voluntary context switch, where those calls cannot be counted).
// Lateness is the time from the expiry to the start of the handler.
//
// 1,000 timers wait again and again for a random time from 50 to 150 ms: some 10,000 expiries a
// second. The number at the end of a name is the wheel's tick in microseconds; Asio has none.

#include "support/counted_calls.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/stats.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using bench::process_clock;
using clock = std::chrono::steady_clock;

std::uint64_t wake_ups() {
    if (bench::counts_system_calls) {
        return bench::counted_calls().sleeps;
    }
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_nvcsw);
}

double us(std::chrono::nanoseconds d) {
    return bench::seconds(d) * 1e6;
}

template <class Timer>
class recurring {
public:
    recurring(std::size_t n, std::chrono::nanoseconds tick) {
        if constexpr (std::is_same_v<Timer, asio_wheel::steady_timer>) {
            asio_wheel::make_wheel(context_, {.tick = tick});
        }
        timers_ = bench::make_timers<Timer>(context_, n);
        for (Timer& timer : timers_) {
            arm(timer);
        }
    }

    void run_for(clock::duration d) { context_.run_for(d); }

    /// Discards the lateness recorded so far.
    void restart() { lateness_ = {}; }
    [[nodiscard]] const asio_wheel::lateness_histogram& lateness() const { return lateness_; }

private:
    void arm(Timer& timer) {
        timer.expires_after(50ms + std::chrono::nanoseconds(random_.below(100'000'000)));
        timer.async_wait([this, &timer](const bench::error_code& ec) {
            if (!ec) {
                lateness_.add(clock::now() - timer.expiry());
                arm(timer);
            }
        });
    }

    bench::splitmix64 random_;
    asio_wheel::lateness_histogram lateness_;
    asio::io_context context_;
    std::vector<Timer> timers_;
};

template <class Timer>
void against_tick(benchmark::State& state, std::chrono::microseconds tick) {
    recurring<Timer> timers(1'000, tick);
    timers.run_for(200ms);
    for (auto _ : state) {
        timers.restart();
        const auto begin = clock::now();
        const std::uint64_t before = wake_ups();
        const auto used = process_clock::now();
        timers.run_for(1s);
        const auto cpu = process_clock::now() - used;
        const std::uint64_t woken = wake_ups() - before;
        const double passed = bench::seconds(clock::now() - begin);
        const auto& late = timers.lateness();
        bench::require(late.count() > 0, "nothing expired");
        state.SetIterationTime(bench::seconds(cpu));
        state.counters["per_second"] = static_cast<double>(woken) / passed;
        state.counters["cpu_ns"] = bench::seconds(cpu) * 1e9 / static_cast<double>(late.count());
        state.counters["late_us_p1"] = us(late.quantile(.01));
        state.counters["late_us_p10"] = us(late.quantile(.1));
        state.counters["late_us_p25"] = us(late.quantile(.25));
        state.counters["late_us_p50"] = us(late.quantile(.5));
        state.counters["late_us_p75"] = us(late.quantile(.75));
        state.counters["late_us_p90"] = us(late.quantile(.9));
        state.counters["late_us_p99"] = us(late.quantile(.99));
        state.counters["late_us_p99.9"] = us(late.quantile(.999));
        state.counters["late_us_p100"] = us(late.max());
    }
}

// Warms up a context: without any wait it would not poll for events, and the first wait costs an
// extra wake-up for the reactor.
template <class Timer>
void wait_once(asio::io_context& context, clock::duration d) {
    Timer timer(context);
    timer.expires_after(d);
    timer.async_wait([](const bench::error_code&) {});
    context.run_one();
    context.restart();
}

// Counts the wake-ups in the next second. The one that ends the second is left out.
void count_for_a_second(benchmark::State& state, asio::io_context& context) {
    const std::uint64_t before = wake_ups();
    context.run_for(1s);
    const std::uint64_t woken = wake_ups() - before;
    state.SetIterationTime(1);
    state.counters["wake_ups"] = static_cast<double>(woken) - 1;
}

// A second in which nothing is due while n waits of one hour are pending.
template <class Timer>
void idle(benchmark::State& state, std::size_t n) {
    asio::io_context context;
    const auto work = asio::make_work_guard(context);
    wait_once<Timer>(context, 1ms);
    std::vector<Timer> timers = bench::make_timers<Timer>(context, n);
    for (Timer& timer : timers) {
        timer.expires_after(1h);
        timer.async_wait([](const bench::error_code&) {});
    }
    context.poll();
    for (auto _ : state) {
        count_for_a_second(state, context);
    }
}

// A second in which n waits would have expired evenly, had they not been cancelled before.
template <class Timer>
void cancelled(benchmark::State& state, std::size_t n) {
    asio::io_context context;
    const auto work = asio::make_work_guard(context);
    wait_once<Timer>(context, 1ms);
    std::vector<Timer> timers = bench::make_timers<Timer>(context, n);
    for (auto _ : state) {
        const auto begin = clock::now() + 2 * bench::arming_time(n);
        std::size_t aborted = 0;
        for (std::size_t i = 0; i < n; ++i) {
            timers[i].expires_at(begin + i * clock::duration(1s) / n);
            timers[i].async_wait([&aborted](const bench::error_code& ec) {
                aborted += ec == asio::error::operation_aborted ? 1 : 0;
            });
        }
        for (Timer& timer : timers) {
            timer.cancel();
        }
        context.run_until(begin);
        bench::require(aborted == n, "an aborted wait was not completed");
        count_for_a_second(state, context);
    }
}

// Counts the wake-ups for a single wait of `distance` milliseconds.
template <class Timer>
void single_wait(benchmark::State& state, std::size_t distance) {
    asio::io_context context;
    wait_once<Timer>(context, 1ms);
    for (auto _ : state) {
        const std::uint64_t before = wake_ups();
        wait_once<Timer>(context, std::chrono::milliseconds(distance));
        const std::uint64_t woken = wake_ups() - before;
        state.SetIterationTime(1e-3 * static_cast<double>(distance));
        state.counters["wake_ups"] = static_cast<double>(woken);
    }
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;
    constexpr auto once = bench::iterations::once;

    for (const std::size_t tick : {100U, 1'000U, 10'000U, 100'000U}) {
        bench::add_pair("wake_up/tick_us", tick, once, [tick]<class Timer>(auto& state) {
            against_tick<Timer>(state, std::chrono::microseconds(tick));
        });
    }
    for (const std::size_t n : {0U, 1'000'000U}) {
        bench::add_pair("wake_up/idle", n, once,
                        [n]<class Timer>(auto& state) { idle<Timer>(state, n); });
    }
    bench::add_pair("wake_up/cancelled", 1'000'000, once,
                    []<class Timer>(auto& state) { cancelled<Timer>(state, 1'000'000); });
    for (const std::size_t distance : {10U, 300U, 3'000U}) {
        bench::add_pair(
            "wake_up/single_wait_ms", distance, once,
            [distance]<class Timer>(auto& state) { single_wait<Timer>(state, distance); });
    }
    return bench::run_benchmarks(argc, argv);
}
