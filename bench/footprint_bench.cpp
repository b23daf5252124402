// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a wait takes of memory, what operations ask of the heap and of the kernel, and what a wheel
// costs that is new. The workloads are those of api_bench.cpp; nothing is timed but a new wheel.

#include "support/counted_calls.hpp"
#include "support/expiries.hpp"
#include "support/measure.hpp"
#include "support/memory.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/short_lived.hpp"
#include "support/waits.hpp"

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Does work() and reports what it asked for, for each of `count` operations.
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
    bench::stream<Timer, bench::cancel_one> stream(n, 1);
    count_calls(state, n, [&] { stream.arm_all(); });
}

template <class Timer>
void re_arm(benchmark::State& state, std::size_t n) {
    bench::stream<Timer, bench::re_arm_one> stream(n, bench::in_flight);
    stream.arm_all();
    stream.apply(n); // Memory that is used again and again is there by now.
    count_calls(state, n, [&] { stream.apply(n); });
}

void postpone(benchmark::State& state, std::size_t n) {
    bench::stream<asio_wheel::steady_timer, bench::cancel_one> stream(n, 1);
    stream.arm_all();
    count_calls(state, n, [&] {
        stream.apply_quietly(
            n, [](asio_wheel::steady_timer& timer) { timer.postpone(bench::timeout); });
    });
}

template <class Timer>
void cancel(benchmark::State& state, std::size_t n) {
    bench::stream<Timer, bench::cancel_one> stream(n, bench::in_flight);
    stream.arm_all();
    count_calls(state, n, [&] { stream.apply(n); });
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
            timer.async_wait([&completed](const bench::error_code&) { ++completed; });
        }
        const std::size_t after = heap_in_use();
        state.SetIterationTime(1e-9 * static_cast<double>(n)); // Nothing was timed.
        state.counters["bytes"] = static_cast<double>(after - before) / static_cast<double>(n);
        state.counters["fixed"] = static_cast<double>(before - nothing);
        timers.clear();
        context.run();
        bench::require(completed == n, "a wait was not completed");
        // What is kept for the next waits once all of these are gone.
        state.counters["kept"] =
            static_cast<double>(heap_in_use() - before) / static_cast<double>(n);
    }
}

void add_bytes(std::size_t n) {
    bench::add_pair("footprint/bytes", n, bench::how_often::once,
                    [n]<class Timer>(auto& state) { bytes<Timer>(state, n); });
}
#else
void add_bytes(std::size_t) {}
#endif

// The first timer of a context, which makes the wheel that it has, or Asio's queue of timers.
void make_first(std::vector<asio::steady_timer>& timers, asio::io_context& context) {
    timers.emplace_back(context);
}
void make_first(std::vector<asio_wheel::steady_timer>&, asio::io_context& context) {
    asio_wheel::make_wheel(context);
}

// What that costs, and n waits after it. `resident_kb` is the memory that the process gets of the
// system for it, `make_us` the processor time it takes, each for one of many contexts that exist at
// once.
template <class Timer>
class fresh_contexts {
public:
    explicit fresh_contexts(std::size_t n) : n_(n), timers_(count) {
        bench::give_memory_back();
        for (auto& t : timers_) {
            t.reserve(std::max<std::size_t>(n_, 1));
        }
    }
    fresh_contexts(const fresh_contexts&) = delete;
    fresh_contexts& operator=(const fresh_contexts&) = delete;
    ~fresh_contexts() {
        for (asio::io_context& context : contexts_) {
            context.stop(); // The waits end with the context, uncalled.
        }
        sockets_.clear();
        timers_.clear();
    }

    void make_contexts() {
        while (contexts_.size() != count) {
            contexts_.emplace_back();
        }
    }

    // What asks the kernel for events is made by a context's first timer or socket.
    void make_sockets() {
        for (asio::io_context& context : contexts_) {
            sockets_.emplace_back(context);
        }
    }

    void make_waits() {
        for (std::size_t i = 0; i < count; ++i) {
            make_first(timers_[i], contexts_[i]);
            while (timers_[i].size() < n_) {
                timers_[i].emplace_back(contexts_[i]);
            }
            for (std::size_t k = 0; k < n_; ++k) {
                timers_[i][k].expires_after(bench::timeout);
                timers_[i][k].async_wait(
                    [](const bench::error_code&) { bench::require(false, "a wait ended"); });
            }
        }
    }

    template <class Work>
    void measure(benchmark::State& state, Work work) {
        bench::stopwatch<bench::process_clock> making;
        const std::size_t before = bench::resident_memory();
        making.start();
        work();
        making.stop();
        const std::size_t after = bench::resident_memory();
        state.SetIterationTime(making.seconds());
        state.counters["make_us"] = making.seconds() / count * 1e6;
        if (after != 0) {
            state.counters["resident_kb"] =
                (static_cast<double>(after) - static_cast<double>(before)) / 1024 / count;
        }
    }

private:
    static constexpr std::size_t count = 100;

    const std::size_t n_;
    std::deque<asio::io_context> contexts_; // They cannot be moved.
    std::vector<asio::ip::tcp::socket> sockets_;
    std::vector<std::vector<Timer>> timers_;
};

// On a context that has a socket already.
template <class Timer>
void fresh_wheel(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        fresh_contexts<Timer> contexts(n);
        contexts.make_contexts();
        contexts.make_sockets();
        contexts.measure(state, [&] { contexts.make_waits(); });
    }
}

// With the context itself, and what it takes to ask for events.
template <class Timer>
void fresh_context(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        fresh_contexts<Timer> contexts(n);
        contexts.measure(state, [&] {
            contexts.make_contexts();
            contexts.make_waits();
        });
    }
}

void add_fresh(std::size_t n) {
    bench::add_pair("footprint/fresh_wheel", n, bench::how_often::once,
                    [n]<class Timer>(auto& state) { fresh_wheel<Timer>(state, n); });
    bench::add_pair("footprint/fresh_context", n, bench::how_often::once,
                    [n]<class Timer>(auto& state) { fresh_context<Timer>(state, n); });
}

void add(std::size_t n) {
    const auto pair = [n](const char* workload, auto run) {
        bench::add_pair(workload, n, bench::how_often::once, run);
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
    const bench::bystander second_thread;

    for (const std::size_t n : {0U, 10U}) {
        add_fresh(n);
    }
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
        add_bytes(n);
        add(n);
    }
    return bench::run_benchmarks(argc, argv);
}
