// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The cost of the utilities: a timeout for an operation, compared with Boost's own (since 1.86);
// sleeps, compared with the waits of a timer; a delay queue, compared with the bare wheel.
//
// Time is the processor time of the process. A second thread sleeps all the time. `op` is the time
// of one operation in nanoseconds.
//
//  - cancel_after: the extra cost of a deadline of 30 s for a request, which is one turn of the
//    context's queue. Requests come one after the other, or 64 at once (concurrent). A thousand
//    other waits are pending: for 10 s, or for 60 s (earliest), so that each deadline is the
//    earliest one.
//  - sleep: chains of waits whose expiry has passed, to measure everything but the waiting.
//  - queue: a million values with delays of up to a minute. The elements of the bare wheel are
//    allocated by new and destroyed by delete.

#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/requests.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#define BENCH_HAS_CANCEL_AFTER 1
#else
#define BENCH_HAS_CANCEL_AFTER 0
#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using bench::process_clock;
using bench::seconds;

struct our_cancel_after {
    template <class Handler>
    auto operator()(Handler&& handler) const {
        return asio_wheel::cancel_after(bench::timeout, std::forward<Handler>(handler));
    }
};

struct our_timeout {
    template <class Handler>
    auto operator()(Handler&& handler) const {
        return asio_wheel::timeout(bench::timeout, std::forward<Handler>(handler));
    }
};

#if BENCH_HAS_CANCEL_AFTER
struct their_cancel_after {
    template <class Handler>
    auto operator()(Handler&& handler) const {
        return asio::cancel_after(bench::timeout, std::forward<Handler>(handler));
    }
};
#endif

// The other pending waits, and the number of concurrent requests.
struct scenario {
    std::size_t n;
    std::chrono::nanoseconds others;
    std::size_t at_once;
};

template <class Timer, class Deadline>
void deadline(benchmark::State& state, const scenario& s) {
    constexpr std::size_t count = 100'000;
    bench::requests<Timer, Deadline> requests(s.n, s.others, s.at_once);
    for (auto _ : state) {
        state.SetIterationTime(seconds(requests.run(count)));
    }
    state.counters["op"] = bench::per_operation(count);
}

void add_deadlines(const char* workload, const scenario& s) {
    using ours = asio_wheel::steady_timer;
    bench::add(workload, bench::ours, s.n,
               [s](auto& state) { deadline<ours, our_cancel_after>(state, s); });
    bench::add(workload, "timeout", s.n,
               [s](auto& state) { deadline<ours, our_timeout>(state, s); });
#if BENCH_HAS_CANCEL_AFTER
    using theirs = asio::steady_timer;
    bench::add(workload, "asio", s.n,
               [s](auto& state) { deadline<theirs, their_cancel_after>(state, s); });
#endif
}

// A chain of waits.
struct sleeper {
    void operator()(const bench::error_code& ec = {}) {
        bench::require(!ec, "a sleep ended early");
        if (*left != 0) {
            --*left;
            asio_wheel::async_sleep_for(*context, -1s, sleeper(*this));
        }
    }
    asio::io_context* context;
    std::size_t* left;
};

template <class Timer>
struct waiter {
    void operator()(const bench::error_code& ec = {}) {
        bench::require(!ec, "a wait ended early");
        if (*left != 0) {
            --*left;
            timer->expires_after(-1s);
            timer->async_wait(waiter(*this));
        }
    }
    Timer* timer;
    std::size_t* left;
};

void sleep(benchmark::State& state, std::size_t n) {
    constexpr std::size_t count = 200'000;
    asio::io_context context;
    for (auto _ : state) {
        std::size_t left = count;
        state.SetIterationTime(seconds(bench::run(context, [&] {
            for (std::size_t i = 0; i < n; ++i) {
                sleeper{&context, &left}();
            }
        })));
    }
    state.counters["op"] = bench::per_operation(count);
}

template <class Timer>
void wait(benchmark::State& state, std::size_t n) {
    constexpr std::size_t count = 200'000;
    asio::io_context context;
    auto timers = bench::make_timers<Timer>(context, n);
    for (auto _ : state) {
        std::size_t left = count;
        state.SetIterationTime(seconds(bench::run(context, [&] {
            for (Timer& timer : timers) {
                waiter<Timer>{&timer, &left}();
            }
        })));
    }
    state.counters["op"] = bench::per_operation(count);
}

constexpr std::uint64_t max_delay = 60'000; // In ticks of a millisecond.

std::vector<std::uint64_t> delays(std::size_t n) {
    bench::splitmix64 random;
    std::vector<std::uint64_t> result(n);
    for (std::uint64_t& d : result) {
        d = 1 + random.below(max_delay);
    }
    return result;
}

// A delay queue of n values.
class queue {
public:
    explicit queue(std::size_t n)
        : wheel_(asio_wheel::use_wheel(context_)), values_(context_), delays_(delays(n)) {
        wheel_.pause();
        keys_.reserve(n);
    }

    void push_all() {
        keys_.clear();
        for (const std::uint64_t d : delays_) {
            keys_.push_back(values_.push(std::chrono::milliseconds(d), d));
        }
    }
    void erase(std::size_t i) { taken_ += values_.erase(keys_[i]) ? 1 : 0; }
    void pop_all() {
        for (std::uint64_t t = 0; t <= max_delay; ++t) {
            wheel_.advance(1ms);
            while (values_.try_pop()) {
                ++taken_;
            }
        }
    }
    [[nodiscard]] std::size_t taken() { return std::exchange(taken_, 0); }

private:
    using values = asio_wheel::delay_queue<std::uint64_t>;

    asio::io_context context_;
    asio_wheel::wheel_service<>& wheel_;
    values values_;
    std::vector<std::uint64_t> delays_;
    std::vector<values::key> keys_;
    std::size_t taken_ = 0;
};

// The same on the bare wheel, with elements that are allocated one by one.
class bare_wheel {
public:
    explicit bare_wheel(std::size_t n) : delays_(delays(n)) { elements_.reserve(n); }

    void push_all() {
        elements_.clear();
        for (const std::uint64_t d : delays_) {
            elements_.push_back(new element);
            elements_.back()->value = d;
            wheel_.insert(*elements_.back(), now_ + d);
        }
    }
    void erase(std::size_t i) {
        wheel_.erase(*elements_[i]);
        take(*elements_[i]);
    }
    void pop_all() {
        std::array<asio_wheel::wheel_entry*, 256> due{};
        for (std::uint64_t t = 0; t <= max_delay; ++t) {
            ++now_;
            for (bool more = true; more;) {
                const auto passed = wheel_.advance(now_, due.size(), due);
                for (std::size_t i = 0; i < passed.expired; ++i) {
                    take(static_cast<element&>(*due[i]));
                }
                more = passed.more;
            }
        }
    }
    [[nodiscard]] std::size_t taken() { return std::exchange(taken_, 0); }

private:
    struct element : asio_wheel::wheel_entry {
        std::uint64_t value = 0;
    };

    void take(element& e) {
        benchmark::DoNotOptimize(e.value);
        delete &e;
        ++taken_;
    }

    asio_wheel::wheel wheel_{256, 4};
    asio_wheel::tick_t now_ = 0;
    std::vector<std::uint64_t> delays_;
    std::vector<element*> elements_;
    std::size_t taken_ = 0;
};

enum class part { push, erase, pop };

// Fills a queue and empties it again, and measures one of these parts.
template <class Queue>
void fill_and_empty(benchmark::State& state, std::size_t n, part measured) {
    bench::splitmix64 random;
    const auto order = bench::random_order(n, random);
    Queue q(n);
    for (auto _ : state) {
        bench::stopwatch<process_clock> pushing;
        bench::stopwatch<process_clock> taking;
        pushing.start();
        q.push_all();
        pushing.stop();
        taking.start();
        if (measured == part::erase) {
            for (const std::uint32_t i : order) {
                q.erase(i);
            }
        } else {
            q.pop_all();
        }
        taking.stop();
        bench::require(q.taken() == n, "a value was lost");
        state.SetIterationTime(measured == part::push ? pushing.seconds() : taking.seconds());
    }
    state.counters["op"] = bench::per_operation(n);
}

void add_queues(std::size_t n) {
    for (const auto& [workload, measured] : {std::pair("utilities/queue_push", part::push),
                                             std::pair("utilities/queue_erase", part::erase),
                                             std::pair("utilities/queue_pop", part::pop)}) {
        bench::add(workload, "wheel", n,
                   [n, measured](auto& state) { fill_and_empty<bare_wheel>(state, n, measured); });
        bench::add(workload, bench::ours, n,
                   [n, measured](auto& state) { fill_and_empty<queue>(state, n, measured); });
    }
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;

    add_deadlines("utilities/cancel_after", {1'000, 10s, 1});
    add_deadlines("utilities/earliest_cancel_after", {1'000, 60s, 1});
    add_deadlines("utilities/concurrent_cancel_after", {1'000, 10s, bench::in_flight});
#if !BENCH_HAS_CANCEL_AFTER
    std::puts("skipped: boost::asio::cancel_after, which needs Boost 1.86");
#endif
    for (const std::size_t n : {1U, 1'000U}) {
        bench::add("utilities/sleep", "timer", n,
                   [n](auto& state) { wait<asio_wheel::steady_timer>(state, n); });
        bench::add("utilities/sleep", "asio", n,
                   [n](auto& state) { wait<asio::steady_timer>(state, n); });
        bench::add("utilities/sleep", bench::ours, n, [n](auto& state) { sleep(state, n); });
    }
    add_queues(1'000'000);
    return bench::run_benchmarks(argc, argv);
}
