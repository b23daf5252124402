// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// boost::asio::steady_timer and asio_wheel::steady_timer do the same work in one run of one
// program. Compare the ratios in the table at the end.
//
//  - Timers have the default executor and lie in one array. Handlers capture a pointer.
//  - A timeout is 30 s (five minutes for more than a million timers). In the workloads named
//    `varied` it is a random one from 30 to 90 s.
//  - Random numbers come from splitmix64 with seed 42.
//  - The io_context has the default options. A second thread sleeps all the time.
//  - Time is the processor time of the process. `op` is the time of one operation in nanoseconds.
//  - Operations on timers happen in handlers, inside run().
//
//     bench_api_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true

#include "support/concurrent_timers.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/short_lived.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace {

namespace asio = boost::asio;
using bench::iterations;
using bench::process_clock;
using bench::seconds;

// Calls expires_after() and async_wait() on timers without a wait, in order of address. The context
// is new, so the price includes the memory that it allocates.
template <class Timer, class Timeouts = bench::fixed_timeouts>
void arm(benchmark::State& state, std::size_t n) {
    using workload = bench::timer_workload<Timer, bench::cancel_one, Timeouts>;
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        process_clock::duration time{};
        for (std::size_t round = 0; round < rounds; ++round) {
            time += std::make_unique<workload>(n, 1)->arm_all();
        }
        state.SetIterationTime(seconds(time));
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// The same on timers with a pending wait, in random order, in bursts. The aborted handler is
// called.
template <class Timer, class Timeouts = bench::fixed_timeouts>
void re_arm(benchmark::State& state, std::size_t n, std::size_t burst) {
    const std::size_t count = bench::operations_on(n);
    bench::timer_workload<Timer, bench::re_arm_one, Timeouts> workload(n, burst);
    workload.arm_all();
    for (auto _ : state) {
        state.SetIterationTime(seconds(workload.apply(count)));
    }
    state.counters["op"] = bench::per_operation(count);
}

// Moves asio_wheel::steady_timer to a new expiry without calling the handler.
template <class Timer, class Timeouts = bench::fixed_timeouts>
void postpone(benchmark::State& state, std::size_t n) {
    const std::size_t count = bench::operations_on(n);
    bench::timer_workload<Timer, bench::cancel_one, Timeouts> workload(n, 1);
    workload.arm_all();
    for (auto _ : state) {
        std::size_t moved = 0;
        const auto time = workload.apply_without_abort(
            count, [&](Timer& timer) { moved += timer.postpone(workload.next_timeout()); });
        bench::require(moved == count, "a wait was not postponed");
        state.SetIterationTime(seconds(time));
    }
    state.counters["op"] = bench::per_operation(count);
}

// Calls cancel(), at random or in order of address, until no wait is left. The aborted handlers are
// called.
template <class Timer, class Timeouts = bench::fixed_timeouts>
void cancel(benchmark::State& state, std::size_t n, std::size_t burst,
            bench::visit_order order = bench::visit_order::at_random) {
    const std::size_t rounds = bench::rounds_of(n);
    bench::timer_workload<Timer, bench::cancel_one, Timeouts> workload(n, burst, order);
    for (auto _ : state) {
        process_clock::duration time{};
        for (std::size_t round = 0; round < rounds; ++round) {
            workload.arm_all();
            time += workload.apply(n);
        }
        state.SetIterationTime(seconds(time));
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// Timeouts of short operations while n other waits are pending: a timer is constructed and armed,
// the operation completes, the wait is cancelled, its handler is called, the timer is destroyed.
template <class Timer>
void short_lived(benchmark::State& state, std::size_t n) {
    constexpr std::size_t count = 100'000;
    bench::short_lived<Timer> requests(n, bench::in_flight);
    for (auto _ : state) {
        state.SetIterationTime(seconds(requests.run(count)));
    }
    state.counters["op"] = bench::per_operation(count);
}

// n coroutines wait 20 times for 1 ms each. `op` is one wait.
template <class Timer>
void await_chain(benchmark::State& state, std::size_t n) {
    constexpr std::size_t waits = 20;
    for (auto _ : state) {
        state.SetIterationTime(
            seconds(bench::await_chain<Timer>(n, waits, std::chrono::milliseconds(1))));
    }
    state.counters["op"] = bench::per_operation(n * waits);
}

// n coroutines wait again and again for an expiry in the past.
template <class Timer>
void await_expired(benchmark::State& state, std::size_t n) {
    const std::size_t waits = std::size_t{100'000} / n;
    for (auto _ : state) {
        state.SetIterationTime(
            seconds(bench::await_chain<Timer>(n, waits, -std::chrono::seconds(1))));
    }
    state.counters["op"] = bench::per_operation(n * waits);
}

// Reports the processor time and the wall-clock time per operation of a workload that measures
// both.
template <class Make>
void measure_cpu_and_wall_clock(benchmark::State& state, std::size_t operations, Make make) {
    double wall = 0;
    for (auto _ : state) {
        auto work = make();
        work->run();
        state.SetIterationTime(work->cpu());
        wall += work->wall();
    }
    state.counters["op"] = bench::per_operation(operations);
    state.counters["wall_ns"] = benchmark::Counter(wall * 1e9 / static_cast<double>(operations),
                                                   benchmark::Counter::kAvgIterations);
}

// re_arm() on two threads concurrently.
template <class Timer>
void two_threads(benchmark::State& state, std::size_t n, std::size_t burst) {
    constexpr std::size_t count = 200'000;
    measure_cpu_and_wall_clock(state, 2 * count, [n, burst, count] {
        return std::make_unique<bench::concurrent_re_arm<Timer>>(n, count, burst);
    });
}

// postpone() on several threads concurrently.
void postpone_by_threads(benchmark::State& state, std::size_t n, std::size_t threads) {
    constexpr std::size_t count = 1'000'000;
    measure_cpu_and_wall_clock(state, threads * count, [n, threads, count] {
        return std::make_unique<bench::concurrent_postpone>(n, count, threads);
    });
}

// Calls touch() on a random one of n idle timers with pending waits.
void touch(benchmark::State& state, std::size_t n) {
    const std::size_t count = bench::operations_on(n);
    bench::splitmix64 random;
    const auto order = bench::random_order(n, random);
    asio::io_context context;
    std::vector<asio_wheel::idle_timer> timers;
    timers.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        timers.emplace_back(context, bench::timeout_of(n));
        timers.back().async_wait(
            [](const bench::error_code&) { bench::require(false, "a wait ended"); });
    }
    for (auto _ : state) {
        std::size_t next = 0;
        state.SetIterationTime(seconds(bench::run(context, [&] {
            for (std::size_t i = 0; i < count; ++i) {
                timers[order[next]].touch();
                next = next + 1 == n ? 0 : next + 1;
            }
            context.stop();
        })));
    }
    state.counters["op"] = bench::per_operation(count);
    context.stop(); // The context destroys the pending waits.
}

// Visits n waits by for_each_pending().
void visit(benchmark::State& state, std::size_t n) {
    asio::io_context context;
    auto& wheel = asio_wheel::use_wheel(context);
    std::vector<asio_wheel::steady_timer> timers;
    timers.reserve(n);
    bench::varied_timeouts timeout(n);
    for (std::size_t i = 0; i < n; ++i) {
        timers.emplace_back(context, timeout());
        timers.back().async_wait([](const bench::error_code&) {});
    }
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        std::size_t visited = 0;
        const auto start = process_clock::now();
        for (std::size_t round = 0; round < rounds; ++round) {
            wheel.for_each_pending([&](const asio_wheel::pending_wait&) { ++visited; });
        }
        state.SetIterationTime(seconds(process_clock::now() - start));
        bench::require(visited == n * rounds, "each wait is visited");
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

void add_operations(std::size_t n) {
    const auto pair = [n](const char* workload, auto run) {
        bench::add_pair(workload, n, iterations::automatic, run);
    };
    pair("api/arm", [n]<class Timer>(auto& state) { arm<Timer>(state, n); });
    pair("api/re_arm",
         [n]<class Timer>(auto& state) { re_arm<Timer>(state, n, bench::in_flight); });
    if (n <= 1'000'000) {
        pair("api/re_arm_one_at_a_time",
             [n]<class Timer>(auto& state) { re_arm<Timer>(state, n, 1); });
    }
    pair("api/cancel",
         [n]<class Timer>(auto& state) { cancel<Timer>(state, n, bench::in_flight); });
    if (n <= 1'000'000) {
        pair("api/cancel_in_order", [n]<class Timer>(auto& state) {
            cancel<Timer>(state, n, bench::in_flight, bench::visit_order::in_order);
        });
    }
    pair("api/short_lived", [n]<class Timer>(auto& state) { short_lived<Timer>(state, n); });
    // Asio's timer cannot be postponed, so it is re-armed.
    bench::add("api/postpone", "asio", n,
               [n](auto& state) { re_arm<asio::steady_timer>(state, n, bench::in_flight); });
    bench::add("api/postpone", bench::ours, n,
               [n](auto& state) { postpone<asio_wheel::steady_timer>(state, n); });
    // The same for touch().
    bench::add("api/touch", "asio", n,
               [n](auto& state) { re_arm<asio::steady_timer>(state, n, bench::in_flight); });
    bench::add("api/touch", bench::ours, n, [n](auto& state) { touch(state, n); });
    bench::add("api/visit", bench::ours, n, [n](auto& state) { visit(state, n); });
}

// The same with varied timeouts, for which a heap has to move entries.
void add_varied(std::size_t n) {
    using varied = bench::varied_timeouts;
    using bench::in_flight;
    const auto pair = [n](const char* workload, auto run) {
        bench::add_pair(workload, n, iterations::automatic, run);
    };
    pair("api/arm_varied", [n]<class Timer>(auto& state) { arm<Timer, varied>(state, n); });
    pair("api/re_arm_varied",
         [n]<class Timer>(auto& state) { re_arm<Timer, varied>(state, n, in_flight); });
    pair("api/cancel_varied",
         [n]<class Timer>(auto& state) { cancel<Timer, varied>(state, n, in_flight); });
    pair("api/cancel_in_order_varied", [n]<class Timer>(auto& state) {
        cancel<Timer, varied>(state, n, in_flight, bench::visit_order::in_order);
    });
    bench::add("api/postpone_varied", "asio", n,
               [n](auto& state) { re_arm<asio::steady_timer, varied>(state, n, in_flight); });
    bench::add("api/postpone_varied", bench::ours, n,
               [n](auto& state) { postpone<asio_wheel::steady_timer, varied>(state, n); });
}

// Two threads run one context, each with n timers of its own.
void add_threads(std::size_t n) {
    bench::add_pair("api/two_threads", n, iterations::automatic, [n]<class Timer>(auto& state) {
        two_threads<Timer>(state, n, bench::in_flight);
    });
    bench::add_pair("api/two_threads_batched", n, iterations::automatic,
                    [n]<class Timer>(auto& state) { two_threads<Timer>(state, n, n); });
    // Asio's timer cannot be postponed, so it is re-armed.
    bench::add("api/two_threads_postpone", "asio", n,
               [n](auto& state) { two_threads<asio::steady_timer>(state, n, bench::in_flight); });
    bench::add("api/two_threads_postpone", "one_thread", n,
               [n](auto& state) { postpone_by_threads(state, n, 1); });
    bench::add("api/two_threads_postpone", bench::ours, n,
               [n](auto& state) { postpone_by_threads(state, n, 2); });
}

// Our timer on a wheel without a lock, for contexts that only one thread uses.
class unlocked_timer : public asio_wheel::steady_timer {
public:
    using asio_wheel::steady_timer::steady_timer;

    static void prepare(asio::io_context& context) {
        asio_wheel::make_wheel(context, {.locking = false});
    }
};

void add_unlocked(std::size_t n) {
    const auto add = [n](const char* workload, auto run) {
        bench::add(workload, "unlocked", n, run);
    };
    add("api/arm", [n](auto& state) { arm<unlocked_timer>(state, n); });
    add("api/re_arm", [n](auto& state) { re_arm<unlocked_timer>(state, n, bench::in_flight); });
    add("api/cancel", [n](auto& state) { cancel<unlocked_timer>(state, n, bench::in_flight); });
    add("api/short_lived", [n](auto& state) { short_lived<unlocked_timer>(state, n); });
    add("api/postpone", [n](auto& state) { postpone<unlocked_timer>(state, n); });
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;

    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U, 10'000'000U}) {
        add_operations(n);
    }
    for (const std::size_t n : {1'000U, 1'000'000U}) {
        add_varied(n);
        add_unlocked(n);
    }
    for (const std::size_t n : {1U, 1'000U}) {
        bench::add_pair("api/await_expired", n, iterations::automatic,
                        [n]<class Timer>(auto& state) { await_expired<Timer>(state, n); });
    }
    for (const std::size_t n : {1U, 1'000U, 100'000U}) {
        bench::add_pair("api/await_chain", n, iterations::once,
                        [n]<class Timer>(auto& state) { await_chain<Timer>(state, n); });
    }
    add_threads(10'000);
    return bench::run_benchmarks(argc, argv);
}
