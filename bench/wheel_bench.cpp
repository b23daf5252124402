// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The wheel alone, without clock, lock or Asio. A tick is called a millisecond where seconds are
// spoken of.
//
// Deadlines are uniform in 1 … 60,000 ticks unless said otherwise; random numbers come from
// splitmix64 with seed 42; entries lie in one array and are filed in its order. Time is the
// thread's processor time; `op` is that of one operation.

#include "support/measure.hpp"
#include "support/report.hpp"

#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

using asio_wheel::tick_t;
using watch = bench::stopwatch<bench::thread_clock>;

constexpr tick_t second = 1'000;

struct alarm : asio_wheel::wheel_entry {
    tick_t wanted = 0; // Its deadline, or how long after each expiry it expires again.
};

// A wheel of the default shape, and n entries with random deadlines for it.
class fixture {
public:
    explicit fixture(std::size_t n, tick_t range = 60 * second)
        : alarms(n), order(bench::random_order(n, random)), due_(options_.budget) {
        for (alarm& a : alarms) {
            a.wanted = 1 + random.below(range);
        }
        restart();
    }

    // An empty wheel at tick 0.
    void restart() { wheel = std::make_unique<asio_wheel::wheel>(options_.slots, options_.levels); }

    void sched_all() {
        for (alarm& a : alarms) {
            wheel->insert(a, a.wanted);
        }
        bench::require(wheel->size() == alarms.size(), "an entry was not filed");
    }

    void cancel_all() {
        for (const std::uint32_t i : order) {
            wheel->erase(alarms[i]);
        }
        bench::require(wheel->empty(), "an entry was left although all were cancelled");
    }

    // Calls expired(alarm&) for what is due at `now`, slice by slice, as the service does; slice()
    // after each of them. Returns how many expired.
    template <class Expired, class Slice>
    std::size_t advance(tick_t now, Expired expired, Slice slice) {
        std::size_t total = 0;
        for (bool more = true; more;) {
            const auto progress = wheel->advance(now, options_.budget, due_);
            for (std::size_t i = 0; i < progress.expired; ++i) {
                expired(static_cast<alarm&>(*due_[i]));
            }
            slice();
            total += progress.expired;
            more = progress.more;
        }
        return total;
    }

    template <class Expired>
    std::size_t advance(tick_t now, Expired expired) {
        return advance(now, expired, [] {});
    }

    bench::splitmix64 random;
    std::vector<alarm> alarms;
    std::vector<std::uint32_t> order;
    std::unique_ptr<asio_wheel::wheel> wheel;

private:
    const asio_wheel::wheel_options options_;
    std::vector<asio_wheel::wheel_entry*> due_;
};

void never(alarm&) {
    bench::require(false, "an entry expired that should not");
}

// Files n entries in an empty wheel.
void sched(benchmark::State& state, std::size_t n) {
    fixture f(n);
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        watch time;
        for (std::size_t round = 0; round < rounds; ++round) {
            time.start();
            f.sched_all();
            time.stop();
            f.cancel_all();
        }
        state.SetIterationTime(time.seconds());
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// Takes n entries out, in random order.
void cancel(benchmark::State& state, std::size_t n) {
    fixture f(n);
    const std::size_t rounds = bench::rounds_of(n);
    for (auto _ : state) {
        watch time;
        for (std::size_t round = 0; round < rounds; ++round) {
            f.sched_all();
            time.start();
            f.cancel_all();
            time.stop();
        }
        state.SetIterationTime(time.seconds());
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// Gives n entries that were just filed, in random order, another random deadline: half of them an
// earlier one.
void re_arm(benchmark::State& state, std::size_t n) {
    fixture f(n);
    const std::size_t rounds = bench::rounds_of(n);
    std::vector<tick_t> others(n);
    for (std::size_t i = 0; i < n; ++i) {
        others[i] = f.alarms[(i + 1) % n].wanted;
    }
    for (auto _ : state) {
        watch time;
        for (std::size_t round = 0; round < rounds; ++round) {
            f.sched_all();
            time.start();
            for (const std::uint32_t i : f.order) {
                f.wheel->reschedule(f.alarms[i], others[i]);
            }
            time.stop();
            f.cancel_all();
        }
        state.SetIterationTime(time.seconds());
    }
    state.counters["op"] = bench::per_operation(n * rounds);
}

// n timeouts of 30 s, each of which is moved once a second, in random order, so that none ever
// expires. Two minutes pass, tick by tick; ticking is included, the first second is not.
void idle_re_arm(benchmark::State& state, std::size_t n) {
    constexpr tick_t timeout = 30 * second;
    constexpr tick_t span = 120 * second;
    fixture f(n);
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
                alarm& a = f.alarms[f.order[next]];
                next = next + 1 == n ? 0 : next + 1;
                if (touched < n) {
                    f.wheel->insert(a, now + timeout);
                } else {
                    f.wheel->reschedule(a, now + timeout);
                }
            }
            f.advance(now, never);
        }
        time.stop();
        state.SetIterationTime(time.seconds());
        bench::require(f.wheel->size() == n, "an entry was lost");
    }
    state.counters["op"] = bench::per_operation((span - second) * n / second);
}

// n entries, each of which expires after 1 … 100 ticks and is filed again, for a second. An
// operation is one expiry.
void short_fire(benchmark::State& state, std::size_t n) {
    constexpr tick_t longest = 100;
    fixture f(n, longest);
    f.sched_all();
    tick_t now = 0;
    std::size_t fired = 0;
    const auto again = [&](alarm& a) { f.wheel->insert(a, now + a.wanted); };
    const auto pass = [&](tick_t span) {
        std::size_t count = 0;
        for (const tick_t end = now + span; now < end;) {
            ++now;
            count += f.advance(now, again);
        }
        return count;
    };
    pass(second); // Until the deadlines are where they would always have been.
    for (auto _ : state) {
        watch time;
        time.start();
        const std::size_t count = pass(second);
        time.stop();
        state.SetIterationTime(time.seconds());
        bench::require(count > 5 * n, "too few expiries");
        fired += count;
    }
    bench::require(f.wheel->size() == n, "an entry was lost");
    state.counters["op"] = benchmark::Counter(
        static_cast<double>(fired),
        benchmark::Counter::Flags(benchmark::Counter::kIsRate | benchmark::Counter::kInvert));
}

// Lets a minute pass, tick by tick, until each of n entries has expired; calls tick(now) each time.
template <class Tick>
void pass_a_minute(fixture& f, Tick tick) {
    std::size_t expired = 0;
    for (tick_t now = 1; now <= 60 * second; ++now) {
        expired += tick(now);
    }
    bench::require(expired == f.alarms.size(), "not every entry expired");
}

void expire(benchmark::State& state, std::size_t n) {
    fixture f(n);
    for (auto _ : state) {
        f.restart();
        f.sched_all();
        std::uint64_t early = 0;
        watch time;
        time.start();
        pass_a_minute(f, [&](tick_t now) {
            return f.advance(now, [&](alarm& a) { early += a.deadline() > now ? 1 : 0; });
        });
        time.stop();
        state.SetIterationTime(time.seconds());
        bench::require(early == 0, "an entry expired early");
    }
    state.counters["op"] = bench::per_operation(n);
}

// The same; the worst tick, and the worst slice of one, in seconds. What else happened on the
// machine is kept out by running it several times, and taking the least of each tick.
void worst_tick(benchmark::State& state, std::size_t n) {
    fixture f(n);
    std::vector<watch::duration> ticks(60 * second + 1, watch::duration::max());
    std::vector<watch::duration> slices;
    for (auto _ : state) {
        watch total;
        total.start();
        for (int run = 0; run < 5; ++run) {
            f.restart();
            f.sched_all();
            std::size_t slice = 0;
            pass_a_minute(f, [&](tick_t now) {
                watch time;
                time.start();
                const std::size_t expired = f.advance(
                    now, [](alarm&) {},
                    [&] {
                        const auto spent = time.stop();
                        if (slice == slices.size()) {
                            slices.push_back(spent);
                        }
                        slices[slice] = std::min(slices[slice], spent);
                        ++slice;
                        time.start();
                    });
                ticks[now] = std::min(ticks[now], time.total());
                return expired;
            });
        }
        total.stop();
        state.SetIterationTime(total.seconds());
    }
    const auto seconds = [](watch::duration d) { return std::chrono::duration<double>(d).count(); };
    state.counters["tick"] = seconds(*std::max_element(ticks.begin() + 1, ticks.end()));
    state.counters["slice"] = seconds(*std::max_element(slices.begin(), slices.end()));
}

// Asks for the next expiry while nothing changes: what a service does most.
void next_expiry(benchmark::State& state, std::size_t n) {
    constexpr std::size_t questions = 1'000'000;
    fixture f(n);
    f.sched_all();
    tick_t first = 0;
    for (auto _ : state) {
        watch time;
        time.start();
        for (std::size_t i = 0; i < questions; ++i) {
            benchmark::DoNotOptimize(first = f.wheel->next_expiry());
            benchmark::ClobberMemory();
        }
        time.stop();
        state.SetIterationTime(time.seconds());
    }
    tick_t earliest = asio_wheel::no_tick;
    for (const alarm& a : f.alarms) {
        earliest = std::min(earliest, a.wanted);
    }
    bench::require(first == earliest, "the next expiry is not the earliest deadline");
    state.counters["op"] = bench::per_operation(questions);
}

// Files an entry before all others, in a slot of its own, asks for the next expiry, takes it out,
// asks again. An operation is all four.
void next_expiry_changed(benchmark::State& state, std::size_t n) {
    constexpr std::size_t rounds = 1'000'000;
    fixture f(n);
    for (alarm& a : f.alarms) {
        a.wanted += 1'024;
    }
    f.sched_all();
    const tick_t first = f.wheel->next_expiry();
    alarm probe;
    std::size_t wrong = 0;
    for (auto _ : state) {
        watch time;
        time.start();
        for (std::size_t i = 0; i < rounds; ++i) {
            f.wheel->insert(probe, 1 + i % second);
            wrong += f.wheel->next_expiry() != 1 + i % second ? 1 : 0;
            f.wheel->erase(probe);
            wrong += f.wheel->next_expiry() != first ? 1 : 0;
        }
        time.stop();
        state.SetIterationTime(time.seconds());
    }
    bench::require(wrong == 0, "the next expiry is wrong");
    state.counters["op"] = bench::per_operation(rounds);
}

void add(const char* name, void (*workload)(benchmark::State&, std::size_t)) {
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U}) {
        benchmark::RegisterBenchmark(
            ("wheel/" + std::string(name) + '/' + std::to_string(n)).c_str(), workload, n)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
    }
}

} // namespace

int main(int argc, char** argv) {
    add("sched", sched);
    add("cancel", cancel);
    add("re_arm", re_arm);
    add("idle_re_arm", idle_re_arm);
    add("short_fire", short_fire);
    add("expire", expire);
    add("worst_tick", worst_tick);
    add("next_expiry", next_expiry);
    add("next_expiry_changed", next_expiry_changed);
    return bench::run_benchmarks(argc, argv);
}
