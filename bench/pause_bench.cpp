// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How long other work is held up while n waits expire at once, are filed again, or end with their
// context. Other work is another handler of the context, or another thread that starts a wait.
//
// `pause_us` is the longest pause in wall-clock time, and `cpu_us` the longest in processor time.
// On a busy machine, see the minimum of several repetitions, and `cpu_us`. `op` of `context_end` is
// the processor time per wait of the thread that destroys the context.

#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/pauses.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>

namespace {

using bench::seconds;

template <class Scenario>
void report(benchmark::State& state, const Scenario& scenario) {
    state.counters["pause_us"] = seconds(scenario.pause()) * 1e6;
    state.counters["cpu_us"] = seconds(scenario.cpu()) * 1e6;
}

template <class Scenario>
void pause(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        Scenario scenario(n);
        scenario.run();
        state.SetIterationTime(seconds(scenario.pause()));
        report(state, scenario);
    }
}

template <class Timer>
void context_end(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        bench::context_end_pause<Timer> scenario(n);
        scenario.run();
        state.SetIterationTime(scenario.time());
        report(state, scenario);
    }
    state.counters["op"] = bench::per_operation(n);
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;

    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U, 10'000'000U}) {
        bench::add_pair(
            "pause/posted_handler", n, bench::iterations::once,
            [n]<class Timer>(auto& state) { pause<bench::posted_handler_pause<Timer>>(state, n); });
        bench::add_pair(
            "pause/foreign_async_wait", n, bench::iterations::once,
            [n]<class Timer>(auto& state) { pause<bench::foreign_wait_pause<Timer>>(state, n); });
        bench::add_pair(
            "pause/postponed", n, bench::iterations::once,
            [n]<class Timer>(auto& state) { pause<bench::refiling_pause<Timer>>(state, n); });
        bench::add_pair("pause/context_end", n, bench::iterations::once,
                        [n]<class Timer>(auto& state) { context_end<Timer>(state, n); });
    }
    return bench::run_benchmarks(argc, argv);
}
