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
//  - remaining_time: asking how much time is left. await_turn and await_sleep: what a coroutine
//    awaits, on an executor with a deadline, on a strand, and on the context's own executor.

#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/requests.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/deadline.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/rate_limiter.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#define BENCH_HAS_CANCEL_AFTER 1
#else
#define BENCH_HAS_CANCEL_AFTER 0
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
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

// ---- Rate limiters

// What one writes with Asio: a number of tokens, a timer, and those who wait.
class hand_written_limiter {
public:
    hand_written_limiter(asio::io_context& context, double per_second, double burst)
        : rate_(per_second), burst_(burst), tokens_(burst), timer_(context) {}

    bool try_acquire(double n = 1) {
        if (!waiting_.empty()) {
            return false;
        }
        refill();
        if (tokens_ < n) {
            return false;
        }
        tokens_ -= n;
        return true;
    }

    template <class Handler>
    void async_acquire(double n, Handler handler) {
        if (try_acquire(n)) {
            asio::post(timer_.get_executor(),
                       [h = std::move(handler)]() mutable { h(bench::error_code()); });
            return;
        }
        waiting_.emplace_back(n, std::move(handler));
        if (waiting_.size() == 1) {
            wait();
        }
    }

private:
    using clock = std::chrono::steady_clock;

    void refill() {
        const auto now = clock::now();
        const std::chrono::duration<double> passed = now - last_;
        tokens_ = std::min(burst_, tokens_ + passed.count() * rate_);
        last_ = now;
    }

    void wait() {
        const double missing = waiting_.front().first - tokens_;
        timer_.expires_after(std::chrono::duration_cast<clock::duration>(
            std::chrono::duration<double>(missing / rate_)));
        timer_.async_wait([this](const bench::error_code& ec) {
            if (ec) {
                return;
            }
            refill();
            while (!waiting_.empty() && tokens_ >= waiting_.front().first) {
                const auto first = std::move(waiting_.front());
                waiting_.pop_front();
                tokens_ -= first.first;
                first.second(bench::error_code());
            }
            if (!waiting_.empty()) {
                wait();
            }
        });
    }

    double rate_;
    double burst_;
    double tokens_;
    clock::time_point last_ = clock::now();
    asio::steady_timer timer_;
    std::deque<std::pair<double, std::function<void(const bench::error_code&)>>> waiting_;
};

// Two limiters each: one that always has tokens, and one that gives one each microsecond.
template <class Limiter>
std::unique_ptr<Limiter> make_limiter(asio::io_context& context, bool scarce) {
    const std::uint64_t rate = scarce ? 1'000'000 : 1'000'000'000;
    const std::uint64_t burst = scarce ? 100 : 1'000'000'000;
    if constexpr (std::is_same_v<Limiter, hand_written_limiter>) {
        return std::make_unique<Limiter>(context, static_cast<double>(rate),
                                         static_cast<double>(burst));
    } else {
        return std::make_unique<Limiter>(
            context, asio_wheel::rate_limiter_options{.rate = {rate}, .burst = burst});
    }
}

// `n` limiters in turn, as for so many clients.
template <class Limiter>
void try_limiters(benchmark::State& state, std::size_t n) {
    constexpr std::size_t count = 1'000'000;
    asio::io_context context;
    std::vector<std::unique_ptr<Limiter>> limiters;
    for (std::size_t i = 0; i < n; ++i) {
        limiters.push_back(make_limiter<Limiter>(context, false));
    }
    for (auto _ : state) {
        std::size_t taken = 0;
        bench::stopwatch<process_clock> watch;
        watch.start();
        for (std::size_t i = 0; i < count; ++i) {
            taken += limiters[i % n]->try_acquire() ? 1 : 0;
        }
        watch.stop();
        state.SetIterationTime(watch.seconds());
        bench::require(taken == count, "a token is missing");
    }
    state.counters["op"] = bench::per_operation(count);
}

template <class Limiter>
struct taker {
    void operator()(const bench::error_code& ec = {}) {
        bench::require(!ec, "an acquire ended early");
        if (*left != 0) {
            --*left;
            limiter->async_acquire(1, taker(*this));
        }
    }
    Limiter* limiter;
    std::size_t* left;
};

// `n` that take one token after the other. If there are too few, most of them wait.
template <class Limiter>
void acquire_tokens(benchmark::State& state, std::size_t n, bool scarce) {
    constexpr std::size_t count = 200'000;
    asio::io_context context;
    for (auto _ : state) {
        const auto limiter = make_limiter<Limiter>(context, scarce);
        std::size_t left = count;
        state.SetIterationTime(seconds(bench::run(context, [&] {
            for (std::size_t i = 0; i < n; ++i) {
                taker<Limiter>{limiter.get(), &left}();
            }
        })));
    }
    state.counters["op"] = bench::per_operation(count);
}

template <class Limiter>
void add_limiter(const char* name) {
    for (const std::size_t n : {1U, 1'000'000U}) {
        bench::add("utilities/limiter_try", name, n,
                   [n](auto& state) { try_limiters<Limiter>(state, n); });
    }
    bench::add("utilities/limiter_acquire", name, 100,
               [](auto& state) { acquire_tokens<Limiter>(state, 100, false); });
    bench::add("utilities/limiter_wait", name, 100,
               [](auto& state) { acquire_tokens<Limiter>(state, 100, true); });
}

// ---- Deadlines that travel

// How much time is left: of a point of time that was passed by hand, of a handler with a timeout,
// and of an executor.
template <class Ask>
void ask_for_time(benchmark::State& state, Ask ask) {
    constexpr std::size_t count = 1'000'000;
    for (auto _ : state) {
        std::size_t in_time = 0;
        bench::stopwatch<process_clock> watch;
        watch.start();
        for (std::size_t i = 0; i < count; ++i) {
            in_time += ask() > 0s ? 1 : 0;
        }
        watch.stop();
        state.SetIterationTime(watch.seconds());
        bench::require(in_time == count, "there is no time left");
    }
    state.counters["op"] = bench::per_operation(count);
}

void ask_by_hand(benchmark::State& state) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now() + 1h;
    ask_for_time(state, [&] { return end - clock::now(); });
}

void ask_handler(benchmark::State& state) {
    asio::io_context context;
    auto token =
        asio_wheel::timeout(1h, asio::bind_executor(context, [](const bench::error_code&) {}));
    const auto operation = [&](auto handler) {
        ask_for_time(state, [&] { return asio_wheel::remaining_time(handler); });
    };
    asio::async_initiate<decltype(token), void(bench::error_code)>(operation, token);
}

void ask_executor(benchmark::State& state) {
    asio::io_context context;
    const asio::any_io_executor ex = asio_wheel::with_deadline(context, 1h);
    ask_for_time(state, [&] { return asio_wheel::remaining_time(ex); });
}

// A coroutine on an executor awaits one turn of the context after the other.
asio::awaitable<void> await_turns(std::size_t count) {
    const auto ex = co_await asio::this_coro::executor;
    for (std::size_t i = 0; i < count; ++i) {
        co_await asio::post(ex, asio::use_awaitable);
    }
}

asio::awaitable<void> await_sleeps(std::size_t count) {
    const auto ex = co_await asio::this_coro::executor;
    for (std::size_t i = 0; i < count; ++i) {
        co_await asio_wheel::async_sleep_for(ex, -1s, asio::use_awaitable);
    }
}

template <class Coroutine, class MakeExecutor>
void await_on(benchmark::State& state, Coroutine coroutine, MakeExecutor make) {
    constexpr std::size_t count = 100'000;
    asio::io_context context;
    for (auto _ : state) {
        const asio::any_io_executor ex = make(context);
        state.SetIterationTime(seconds(
            bench::run(context, [&] { asio::co_spawn(ex, coroutine(count), asio::detached); })));
    }
    state.counters["op"] = bench::per_operation(count);
}

void add_travelling_deadlines() {
    bench::add("utilities/remaining_time", "by hand", 1, ask_by_hand);
    bench::add("utilities/remaining_time", bench::ours, 1, ask_handler);
    bench::add("utilities/remaining_time", "executor", 1, ask_executor);
    const auto plain = [](asio::io_context& c) { return c.get_executor(); };
    const auto strand = [](asio::io_context& c) { return asio::make_strand(c); };
    const auto limited = [](asio::io_context& c) { return asio_wheel::with_deadline(c, 1h); };
    const auto add = [&](const char* workload, auto coroutine) {
        bench::add(workload, "plain", 1, [=](auto& state) { await_on(state, coroutine, plain); });
        bench::add(workload, "strand", 1, [=](auto& state) { await_on(state, coroutine, strand); });
        bench::add(workload, bench::ours, 1,
                   [=](auto& state) { await_on(state, coroutine, limited); });
    };
    add("utilities/await_turn", await_turns);
    add("utilities/await_sleep", await_sleeps);
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
    add_limiter<
        asio_wheel::basic_rate_limiter<std::chrono::steady_clock, asio::io_context::executor_type>>(
        bench::ours);
    add_limiter<hand_written_limiter>("asio");
    add_travelling_deadlines();
    return bench::run_benchmarks(argc, argv);
}
