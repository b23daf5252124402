// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The worst cases of the wheel alone, compared with other queues of deadlines: the longest tick,
// the longest slice of a tick, the longest search for the next expiry, and a stall of one day. The
// conditions are those of wheel_bench.cpp.
//
// Time is that of the steady clock, which is the cheapest to read. To exclude other activity on the
// machine, the same work is done several times, and the minimum of each piece counts.

#include "support/measure.hpp"
#include "support/queue_fixture.hpp"
#include "support/queues.hpp"
#include "support/report.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using bench::no_tick;
using bench::queue_fixture;
using bench::second;
using bench::tick_t;
using watch = bench::stopwatch<std::chrono::steady_clock>;

constexpr int runs = 3;

double us(watch::duration d) {
    return bench::seconds(d) * 1e6;
}

/// The shortest time of each piece of work over several runs. Each run does the same pieces in the
/// same order.
class minima {
public:
    void restart() { next_ = 0; }

    void add(watch::duration spent) {
        if (next_ == pieces_.size()) {
            pieces_.push_back(spent);
        }
        pieces_[next_] = std::min(pieces_[next_], spent);
        ++next_;
    }

    [[nodiscard]] watch::duration worst() const {
        return *std::max_element(pieces_.begin(), pieces_.end());
    }
    [[nodiscard]] double mean_ns() const {
        watch::duration sum{};
        for (const watch::duration d : pieces_) {
            sum += d;
        }
        return static_cast<double>(sum.count()) / static_cast<double>(pieces_.size());
    }

private:
    std::vector<watch::duration> pieces_;
    std::size_t next_ = 0;
};

// Expires n entries over `range` ticks, tick by tick: the longest tick, and the longest slice.
template <class Queue>
void worst_tick(benchmark::State& state, std::size_t n, tick_t range) {
    queue_fixture<Queue> f(n, range);
    minima ticks;
    minima slices;
    for (auto _ : state) {
        watch total;
        total.start();
        for (int run = 0; run < runs; ++run) {
            f.restart();
            f.schedule_all();
            ticks.restart();
            slices.restart();
            std::size_t expired = 0;
            for (tick_t now = 1; now <= range; ++now) {
                watch time;
                time.start();
                expired += f.queue->advance(
                    now, [](auto&) {},
                    [&] {
                        slices.add(time.stop());
                        time.start();
                    });
                ticks.add(time.total());
            }
            bench::require(expired == n, "not every entry expired");
        }
        total.stop();
        state.SetIterationTime(total.seconds());
    }
    state.counters["tick_us"] = us(ticks.worst());
    state.counters["slice_us"] = us(slices.worst());
}

// Advances by a day at once, with n entries whose deadlines lie in the first minute: the time to
// catch up per entry, and the longest slice.
template <class Queue>
void one_day_stall(benchmark::State& state, std::size_t n) {
    queue_fixture<Queue> f(n);
    minima slices;
    for (auto _ : state) {
        watch total;
        for (int run = 0; run < runs; ++run) {
            f.restart();
            f.schedule_all();
            slices.restart();
            watch time;
            total.start();
            time.start();
            const std::size_t expired = f.queue->advance(
                86'400 * second, [](auto&) {},
                [&] {
                    slices.add(time.stop());
                    time.start();
                });
            total.stop();
            bench::require(expired == n, "not every entry expired");
        }
        state.SetIterationTime(total.seconds());
    }
    state.counters["op"] = bench::per_operation(n * runs);
    state.counters["slice_us"] = us(slices.worst());
}

// Queries the next expiry while nothing changes: the most frequent case in a service.
template <class Queue>
void next_expiry(benchmark::State& state, std::size_t n) {
    constexpr std::size_t queries = 1'000'000;
    queue_fixture<Queue> f(n);
    f.schedule_all();
    tick_t first = 0;
    for (auto _ : state) {
        watch time;
        time.start();
        for (std::size_t i = 0; i < queries; ++i) {
            benchmark::DoNotOptimize(first = f.queue->next_expiry());
            benchmark::ClobberMemory();
        }
        time.stop();
        state.SetIterationTime(time.seconds());
    }
    tick_t earliest = no_tick;
    for (const auto& e : f.entries) {
        earliest = std::min(earliest, e.wanted);
    }
    bench::require(first == earliest, "the next expiry is not the earliest deadline");
    state.counters["op"] = bench::per_operation(queries);
}

// Inserts an entry before all others, in a slot of its own; queries the next expiry; erases the
// entry; queries again. An operation is all four.
template <class Queue>
void next_expiry_changed(benchmark::State& state, std::size_t n) {
    constexpr std::size_t rounds = 1'000'000;
    queue_fixture<Queue> f(n);
    for (auto& e : f.entries) {
        e.wanted += 1'024;
    }
    f.schedule_all();
    const tick_t first = f.queue->next_expiry();
    typename Queue::entry first_entry;
    std::size_t wrong = 0;
    for (auto _ : state) {
        watch time;
        time.start();
        for (std::size_t i = 0; i < rounds; ++i) {
            f.queue->insert(first_entry, 1 + i % second);
            wrong += f.queue->next_expiry() != 1 + i % second ? 1 : 0;
            f.queue->erase(first_entry);
            wrong += f.queue->next_expiry() != first ? 1 : 0;
        }
        time.stop();
        state.SetIterationTime(time.seconds());
    }
    bench::require(wrong == 0, "the next expiry is wrong");
    state.counters["op"] = bench::per_operation(rounds);
}

// Queries the next expiry after each tick of a minute in which n entries expire: mean and maximum.
template <class Queue>
void next_expiry_after_tick(benchmark::State& state, std::size_t n) {
    queue_fixture<Queue> f(n);
    minima queries;
    for (auto _ : state) {
        watch total;
        total.start();
        for (int run = 0; run < runs; ++run) {
            f.restart();
            f.schedule_all();
            queries.restart();
            std::size_t wrong = 0;
            for (tick_t now = 1; now <= 60 * second; ++now) {
                f.advance(now, [](auto&) {});
                watch time;
                time.start();
                const tick_t next = f.queue->next_expiry();
                queries.add(time.stop());
                wrong += next <= now ? 1 : 0;
            }
            bench::require(wrong == 0, "the next expiry is in the past");
        }
        total.stop();
        state.SetIterationTime(total.seconds());
    }
    state.counters["mean_ns"] = queries.mean_ns();
    state.counters["worst_ns"] = us(queries.worst()) * 1e3;
}

template <class Queue>
void add(std::size_t n) {
    const auto add = [n](const char* workload, auto run) {
        bench::add(std::string("wheel/") + workload, Queue::name, n, run)->Iterations(1);
    };
    add("worst_tick", [n](auto& state) { worst_tick<Queue>(state, n, 60 * second); });
    add("worst_tick_10min", [n](auto& state) { worst_tick<Queue>(state, n, 600 * second); });
    add("one_day_stall", [n](auto& state) { one_day_stall<Queue>(state, n); });
    add("next_expiry", [n](auto& state) { next_expiry<Queue>(state, n); });
    add("next_expiry_changed", [n](auto& state) { next_expiry_changed<Queue>(state, n); });
    add("next_expiry_after_tick", [n](auto& state) { next_expiry_after_tick<Queue>(state, n); });
}

} // namespace

int main(int argc, char** argv) {
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U, 10'000'000U}) {
        add<bench::asio_queue>(n);
        if (n <= 1'000'000) { // Ten million take minutes, and show nothing new.
            add<bench::multimap_queue>(n);
        }
        add<bench::wheel_queue>(n);
    }
    return bench::run_benchmarks(argc, argv);
}
