// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The wheel alone, without clock, lock or Asio, compared with other queues of deadlines: the heap
// of Asio's timers, std::multimap and, for some workloads, libuv's and libevent's timers.
//
// Unless a workload says otherwise, deadlines are uniformly distributed in 1 … 60,000 ticks. Random
// numbers come from splitmix64 with seed 42. Entries lie in one array and are inserted in that
// order. Time is the processor time of the thread; `op` is the time of one operation.

#include "support/foreign_queues.hpp"
#include "support/measure.hpp"
#include "support/queue_fixture.hpp"
#include "support/queues.hpp"
#include "support/report.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using bench::no_tick;
using bench::queue_fixture;
using bench::second;
using bench::tick_t;
using watch = bench::stopwatch<bench::thread_clock>;

constexpr std::size_t million = 1'000'000;

const auto never = [](auto&) { bench::require(false, "an entry expired that should not"); };

// Inserts n entries into an empty queue that held as many before, so it has its memory already.
template <class Queue>
void schedule(benchmark::State& state, std::size_t n) {
    queue_fixture<Queue> f(n);
    f.schedule_all();
    f.cancel_all(f.order);
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        watch time;
        for (std::size_t round = 0; round < rounds; ++round) {
            time.start();
            f.schedule_all();
            time.stop();
            f.cancel_all(f.order);
        }
        state.SetIterationTime(time.seconds());
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// Erases n entries, in order of address or at random.
template <class Queue>
void cancel(benchmark::State& state, std::size_t n, bool random) {
    queue_fixture<Queue> f(n);
    const auto order = random ? f.order : bench::index_order(n);
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        watch time;
        for (std::size_t round = 0; round < rounds; ++round) {
            f.schedule_all();
            time.start();
            f.cancel_all(order);
            time.stop();
        }
        state.SetIterationTime(time.seconds());
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// Gives n entries that were just inserted another random deadline, in random order. Half of the new
// deadlines are earlier.
template <class Queue>
void re_arm(benchmark::State& state, std::size_t n) {
    queue_fixture<Queue> f(n);
    const std::size_t rounds = bench::rounds_of(n);
    std::vector<tick_t> others(n);
    for (std::size_t i = 0; i < n; ++i) {
        others[i] = f.entries[(i + 1) % n].wanted;
    }
    for (auto _ : state) {
        watch time;
        for (std::size_t round = 0; round < rounds; ++round) {
            f.schedule_all();
            time.start();
            for (const std::uint32_t i : f.order) {
                f.queue->reschedule(f.entries[i], others[i]);
            }
            time.stop();
            f.cancel_all(f.order);
        }
        state.SetIterationTime(time.seconds());
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// n timeouts of 30 s, each moved once a second in random order, so that none ever expires. Time
// advances tick by tick and is included; the first second is not. A lazy queue does much of its
// work when the old deadlines come, so it runs for longer. The others do the same work each second.
template <class Queue>
void idle_re_arm(benchmark::State& state, std::size_t n) {
    constexpr tick_t timeout = 30 * second;
    const tick_t span = (!Queue::lazy ? 4 : n > million ? 45 : 120) * second;
    queue_fixture<Queue> f(n);
    for (auto _ : state) {
        f.restart();
        std::size_t touched = 0;
        std::size_t next = 0;
        watch time;
        for (tick_t now = 0; now < span; ++now) {
            if (now == second) {
                time.start();
            }
            for (; touched < (now + 1) * n / second; ++touched) {
                auto& e = f.entries[f.order[next]];
                next = next + 1 == n ? 0 : next + 1;
                if (touched < n) {
                    f.queue->insert(e, now + timeout);
                } else {
                    f.queue->reschedule(e, now + timeout);
                }
            }
            f.advance(now, never);
        }
        time.stop();
        state.SetIterationTime(time.seconds());
        bench::require(f.queue->size() == n, "an entry was lost");
    }
    state.counters["op"] = bench::per_operation((span - second) * n / second);
}

// n entries that expire after 1 … 100 ticks each and are inserted again, for a second (a tenth of a
// second for more than a million). An operation is one expiry.
template <class Queue>
void recurring(benchmark::State& state, std::size_t n) {
    constexpr tick_t longest = 100;
    const tick_t span = n > million ? second / 10 : second;
    queue_fixture<Queue> f(n, longest);
    f.schedule_all();
    tick_t now = 0;
    std::size_t fired = 0;
    const auto again = [&](auto& e) { f.queue->insert(e, now + e.wanted); };
    const auto pass = [&](tick_t ticks) {
        std::size_t count = 0;
        for (const tick_t end = now + ticks; now < end;) {
            ++now;
            count += f.advance(now, again);
        }
        return count;
    };
    pass(span); // Warms up, until the deadlines have their steady distribution.
    for (auto _ : state) {
        watch time;
        time.start();
        const std::size_t count = pass(span);
        time.stop();
        state.SetIterationTime(time.seconds());
        bench::require(count > 5 * n * span / second, "too few expiries");
        fired += count;
    }
    bench::require(f.queue->size() == n, "an entry was lost");
    state.counters["op"] = benchmark::Counter(
        static_cast<double>(fired),
        benchmark::Counter::Flags(benchmark::Counter::kIsRate | benchmark::Counter::kInvert));
}

// Advances a minute until all n entries have expired: tick by tick, or from deadline to deadline.
template <class Queue>
void expire(benchmark::State& state, std::size_t n, bool tickless) {
    queue_fixture<Queue> f(n);
    for (auto _ : state) {
        f.restart();
        f.schedule_all();
        std::uint64_t early = 0;
        std::size_t expired = 0;
        tick_t now = 0;
        const auto check = [&](auto& e) { early += e.wanted > now ? 1 : 0; };
        watch time;
        time.start();
        if (tickless) {
            while ((now = f.queue->next_expiry()) != no_tick) {
                expired += f.advance(now, check);
            }
        } else {
            while (++now <= 60 * second) {
                expired += f.advance(now, check);
            }
        }
        time.stop();
        state.SetIterationTime(time.seconds());
        bench::require(expired == n, "not every entry expired");
        bench::require(early == 0, "an entry expired early");
    }
    state.counters["op"] = bench::per_operation(n);
}

template <class Queue>
void add(std::size_t n) {
    const auto name = [](const char* workload) { return std::string("wheel/") + workload; };
    bench::add(name("schedule"), Queue::name, n, [n](auto& state) { schedule<Queue>(state, n); });
    bench::add(name("cancel"), Queue::name, n, [n](auto& state) { cancel<Queue>(state, n, true); });
    bench::add(name("cancel_in_order"), Queue::name, n,
               [n](auto& state) { cancel<Queue>(state, n, false); });
    bench::add(name("re_arm"), Queue::name, n, [n](auto& state) { re_arm<Queue>(state, n); });
    if constexpr (Queue::timed) {
        bench::add(name("expire"), Queue::name, n,
                   [n](auto& state) { expire<Queue>(state, n, false); });
        bench::add(name("expire_tickless"), Queue::name, n,
                   [n](auto& state) { expire<Queue>(state, n, true); });
        if (Queue::lazy || n <= million) { // The others would take minutes.
            bench::add(name("idle_re_arm"), Queue::name, n,
                       [n](auto& state) { idle_re_arm<Queue>(state, n); });
            bench::add(name("recurring"), Queue::name, n,
                       [n](auto& state) { recurring<Queue>(state, n); });
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    for (const std::size_t n : {1'000UL, 100'000UL, million, 10 * million}) {
        add<bench::asio_queue>(n);
        if (n <= million) { // Ten million would take minutes each.
            add<bench::multimap_queue>(n);
#if BENCH_WITH_LIBUV
            add<bench::libuv_queue>(n);
#endif
#if BENCH_WITH_LIBEVENT
            add<bench::libevent_queue>(n);
#endif
        }
        add<bench::wheel_queue>(n);
    }
    return bench::run_benchmarks(argc, argv);
}
