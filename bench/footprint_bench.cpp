// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory of a wait, and the allocations and system calls of operations. The workloads are those
// of api_bench.cpp. Nothing is timed.

#include "support/counted_calls.hpp"
#include "support/expiries.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/short_lived.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <chrono>
#include <cstddef>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Calls work(), which does `count` operations, and reports the calls per operation.
template <class Work>
void count_calls(benchmark::State& state, std::size_t count, Work work) {
    bench::call_counts calls;
    for (auto _ : state) {
        const bench::call_counts before = bench::counted_calls();
        work();
        calls = bench::counted_calls() - before;
        state.SetIterationTime(1e-9 * static_cast<double>(count)); // Nothing was timed.
    }
    const auto each = [count](std::uint64_t total) {
        return static_cast<double>(total) / static_cast<double>(count);
    };
    state.counters["allocations"] = each(calls.allocations);
    if (bench::counts_system_calls) {
        state.counters["syscalls"] = each(calls.system_calls);
    }
}

template <class Timer>
void arm(benchmark::State& state, std::size_t n) {
    bench::timer_workload<Timer, bench::cancel_one> workload(n, 1);
    count_calls(state, n, [&] { workload.arm_all(); });
}

template <class Timer>
void re_arm(benchmark::State& state, std::size_t n) {
    bench::timer_workload<Timer, bench::re_arm_one> workload(n, bench::in_flight);
    workload.arm_all();
    workload.apply(n); // Warms up: allocates the memory that later operations reuse.
    count_calls(state, n, [&] { workload.apply(n); });
}

void postpone(benchmark::State& state, std::size_t n) {
    bench::timer_workload<asio_wheel::steady_timer, bench::cancel_one> workload(n, 1);
    workload.arm_all();
    count_calls(state, n, [&] {
        workload.apply_without_abort(n, [](asio_wheel::steady_timer& timer) {
            static_cast<void>(timer.postpone(bench::timeout));
        });
    });
}

template <class Timer>
void cancel(benchmark::State& state, std::size_t n) {
    bench::timer_workload<Timer, bench::cancel_one> workload(n, bench::in_flight);
    workload.arm_all();
    count_calls(state, n, [&] { workload.apply(n); });
}

template <class Timer>
void short_lived(benchmark::State& state, std::size_t n) {
    bench::short_lived<Timer> requests(n, bench::in_flight);
    requests.run(n);
    count_calls(state, n, [&] { requests.run(n); });
}

template <class Timer>
void expire(benchmark::State& state, std::size_t n, const bench::spread& how) {
    bench::splitmix64 random;
    bench::expiries<Timer> waits(n, how, bench::index_order(n));
    count_calls(state, n, [&] { waits.run(); });
}

#ifdef __GLIBC__
// Returns the bytes of the heap in use, malloc's own overhead included.
std::size_t heap_in_use() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

// The memory of a pending wait: its timer, its operation, and its share of what grows with their
// number. `fixed` is the memory for the first timer on a context.
template <class Timer>
void bytes(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        asio::io_context context;
        const std::size_t nothing = heap_in_use();
        const Timer first(context);
        const std::size_t before = heap_in_use();
        std::vector<Timer> timers = bench::make_timers<Timer>(context, n);
        std::size_t completed = 0;
        for (Timer& timer : timers) {
            timer.expires_after(bench::timeout);
            timer.async_wait([&completed](const bench::error_code&) { ++completed; });
        }
        const std::size_t after = heap_in_use();
        state.SetIterationTime(1e-9 * static_cast<double>(n)); // Nothing was timed.
        state.counters["bytes"] = static_cast<double>(after - before) / static_cast<double>(n);
        state.counters["fixed"] = static_cast<double>(before - nothing);
        timers.clear();
        context.run();
        bench::require(completed == n, "a wait was not completed");
        // What stays allocated for later waits after all of these have ended.
        state.counters["kept"] =
            static_cast<double>(heap_in_use() - before) / static_cast<double>(n);
    }
}

void add_bytes(std::size_t n) {
    bench::add_pair("footprint/bytes", n, bench::iterations::once,
                    [n]<class Timer>(auto& state) { bytes<Timer>(state, n); });
}
#else
void add_bytes(std::size_t) {}
#endif

void add(std::size_t n) {
    const auto pair = [n](const char* workload, auto run) {
        bench::add_pair(workload, n, bench::iterations::once, run);
    };
    pair("footprint/arm", [n]<class Timer>(auto& state) { arm<Timer>(state, n); });
    pair("footprint/re_arm", [n]<class Timer>(auto& state) { re_arm<Timer>(state, n); });
    pair("footprint/cancel", [n]<class Timer>(auto& state) { cancel<Timer>(state, n); });
    pair("footprint/short_lived", [n]<class Timer>(auto& state) { short_lived<Timer>(state, n); });
    pair("footprint/expire_over_1s", [n]<class Timer>(auto& state) {
        expire<Timer>(state, n, {1s, bench::order::by_deadline, bench::clock::duration(1)});
    });
    // Asio's timer cannot be postponed, so it is re-armed.
    bench::add("footprint/postpone", "asio", n, [n](auto& state) {
        re_arm<asio::steady_timer>(state, n);
    })->Iterations(1);
    bench::add("footprint/postpone", bench::ours, n, [n](auto& state) {
        postpone(state, n);
    })->Iterations(1);
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;

    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
        add_bytes(n);
        add(n);
    }
    return bench::run_benchmarks(argc, argv);
}
