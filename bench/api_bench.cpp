// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// boost::asio::steady_timer and asio_wheel::steady_timer, doing the same work in one run of one
// program. Compare ratios: the table at the end gives them.
//
// Timers have the default executor and lie in one array; handlers capture a pointer; a timeout is
// 30 s, always; random order is that of splitmix64 with seed 42; the io_context is the default one,
// and a second thread is alive, asleep. Time is the processor time of the process, by the system's
// account; `op` is that of one operation, in nanoseconds. Operations on timers happen in handlers,
// within run(); only what is going to expire is armed before.
//
//     bench_api_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true

#include "support/duel.hpp"
#include "support/expiries.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/waits.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using bench::error_code;
using bench::process_clock;
using clock = std::chrono::steady_clock;

// How many aborted handlers are on their way at once, unless said otherwise. With one alone an
// io_context asks the system for events after each, which costs more than any timer.
constexpr std::size_t in_flight = 64;

using bench::seconds;

struct re_arm_one {
    template <class Stream, class Timer>
    void operator()(Stream& stream, Timer& timer) const {
        stream.arm(timer);
    }
};

struct cancel_one {
    template <class Stream, class Timer>
    void operator()(Stream&, Timer& timer) const {
        timer.cancel();
    }
};

// expires_after() and async_wait(), of timers nobody waits for, in the order of memory: a new context
// fills up, and what memory it takes is part of the price.
template <class Timer>
void arm(benchmark::State& state, std::size_t n) {
    using stream = bench::stream<Timer, cancel_one>;
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        process_clock::duration time{};
        for (std::size_t round = 0; round < rounds; ++round) {
            time += std::make_unique<stream>(n, 1)->arm_all();
        }
        state.SetIterationTime(seconds(time));
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// The same, of timers that are waited for, in random order; the aborted handler is called. `burst`
// of them at once.
template <class Timer>
void re_arm(benchmark::State& state, std::size_t n, std::size_t burst) {
    const std::size_t count = n * bench::rounds_of(n);
    bench::stream<Timer, re_arm_one> stream(n, burst);
    stream.arm_all();
    for (auto _ : state) {
        state.SetIterationTime(seconds(stream.apply(count)));
    }
    state.counters["op"] = bench::per_operation(count);
}

// What does the same for asio_wheel::steady_timer, if the handler need not be called.
void postpone(benchmark::State& state, std::size_t n) {
    const std::size_t count = n * bench::rounds_of(n);
    bench::stream<asio_wheel::steady_timer, cancel_one> stream(n, 1);
    stream.arm_all();
    for (auto _ : state) {
        std::size_t moved = 0;
        const auto time = stream.apply_quietly(count, [&moved](asio_wheel::steady_timer& timer) {
            moved += timer.postpone(bench::timeout);
        });
        bench::require(moved == count, "a wait was not postponed");
        state.SetIterationTime(seconds(time));
    }
    state.counters["op"] = bench::per_operation(count);
}

// cancel(), in random order, until no wait is left; the aborted handlers are called.
template <class Timer>
void cancel(benchmark::State& state, std::size_t n, std::size_t burst) {
    const std::size_t rounds = bench::rounds_of(n);
    bench::stream<Timer, cancel_one> stream(n, burst);
    for (auto _ : state) {
        process_clock::duration time{};
        for (std::size_t round = 0; round < rounds; ++round) {
            stream.arm_all();
            time += stream.apply(n);
        }
        state.SetIterationTime(seconds(time));
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// What it costs to expire n waits: all of run(), in which nothing else happens.
template <class Timer>
void expire(benchmark::State& state, std::size_t n, const bench::spread& how) {
    bench::splitmix64 random;
    const auto ranks =
        how.armed == bench::order::random ? bench::random_order(n, random) : bench::index_order(n);
    for (auto _ : state) {
        state.SetIterationTime(bench::expiries<Timer>(n, how, ranks).run());
    }
    state.counters["op"] = bench::per_operation(n);
}

// What expiring n waits at once means for another handler of the same thread.
template <class Timer>
void mass_expiry(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        bench::probe<Timer> p(n);
        p.run();
        state.SetIterationTime(seconds(p.pause()));
        state.counters["pause_us"] = seconds(p.pause()) * 1e6;
        state.counters["cpu_us"] = seconds(p.cpu()) * 1e6;
    }
}

// Bytes of the heap in use, with what malloc needs itself.
std::size_t heap_in_use() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

// What a pending wait takes: its timer, its operation, and its share of what grows with them.
// `fixed` is what the first timer on a context takes.
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
            timer.async_wait([&completed](const error_code&) { ++completed; });
        }
        const std::size_t after = heap_in_use();
        state.SetIterationTime(1e-9 * static_cast<double>(n)); // Nothing was timed.
        state.counters["bytes"] = static_cast<double>(after - before) / static_cast<double>(n);
        state.counters["fixed"] = static_cast<double>(before - nothing);
        timers.clear();
        context.run();
        bench::require(completed == n, "a wait was not completed");
    }
}

// re_arm() by two threads at once.
template <class Timer>
void two_threads(benchmark::State& state, std::size_t n) {
    constexpr std::size_t count = 200'000;
    double wall = 0;
    for (auto _ : state) {
        bench::duel<Timer> d(n, count);
        d.run();
        state.SetIterationTime(d.cpu());
        wall += d.wall();
    }
    state.counters["op"] = bench::per_operation(2 * count);
    state.counters["wall_ns"] =
        benchmark::Counter(wall * 1e9 / (2 * count), benchmark::Counter::kAvgIterations);
}

template <class Workload>
benchmark::internal::Benchmark* add(const std::string& workload, const std::string& who,
                                    std::size_t n, Workload run) {
    return benchmark::RegisterBenchmark(
               ("api/" + workload + '/' + who + '/' + std::to_string(n)).c_str(), run)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

// Registers a workload for both kinds of timer: run(tag<Timer>, state).
template <class Timer>
struct tag {
    using type = Timer;
};

template <class Workload>
void add_pair(const std::string& workload, std::size_t n, Workload run, bool once = false) {
    const auto side = [&](const std::string& who, auto timer) {
        auto* const added =
            add(workload, who, n, [run, timer](benchmark::State& state) { run(timer, state); });
        if (once) {
            added->Iterations(1);
        }
    };
    side("asio", tag<asio::steady_timer>());
    side("asio_wheel", tag<asio_wheel::steady_timer>());
}

void add_operations(std::size_t n) {
    add_pair("arm", n,
             [n](auto timer, auto& state) { arm<typename decltype(timer)::type>(state, n); });
    add_pair("re_arm", n, [n](auto timer, auto& state) {
        re_arm<typename decltype(timer)::type>(state, n, in_flight);
    });
    add_pair("re_arm_alone", n,
             [n](auto timer, auto& state) { re_arm<typename decltype(timer)::type>(state, n, 1); });
    add_pair("cancel", n, [n](auto timer, auto& state) {
        cancel<typename decltype(timer)::type>(state, n, in_flight);
    });
    // Asio's timer cannot be postponed, so it is re-armed.
    add("postpone", "asio", n,
        [n](auto& state) { re_arm<asio::steady_timer>(state, n, in_flight); });
    add("postpone", "asio_wheel", n, [n](auto& state) { postpone(state, n); });
}

void add_expiry(const std::string& workload, std::size_t n, const bench::spread& how) {
    add_pair(
        workload, n,
        [=](auto timer, auto& state) { expire<typename decltype(timer)::type>(state, n, how); },
        true);
}

} // namespace

int main(int argc, char** argv) {
    const bench::bystander second_thread;

    constexpr clock::duration exact(1);
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
        add_operations(n);
    }
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
        add_expiry("expire_ordered", n, {1s, bench::order::by_deadline, exact});
        add_expiry("expire_ordered_ms", n, {1s, bench::order::by_deadline, 1ms});
        add_expiry("expire_random", n, {1s, bench::order::random, exact});
        add_expiry("expire_random_ms", n, {1s, bench::order::random, 1ms});
    }
    add_expiry("expire_over_100ms", 10'000, {100ms, bench::order::by_deadline, exact});
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
        add_pair(
            "mass_expiry", n,
            [n](auto timer, auto& state) { mass_expiry<typename decltype(timer)::type>(state, n); },
            true);
        add_pair(
            "bytes", n,
            [n](auto timer, auto& state) { bytes<typename decltype(timer)::type>(state, n); },
            true);
    }
    add_pair("two_threads", 10'000, [](auto timer, auto& state) {
        two_threads<typename decltype(timer)::type>(state, 10'000);
    });
    return bench::run_benchmarks(argc, argv);
}
