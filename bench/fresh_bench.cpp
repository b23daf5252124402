// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The cost of the first timers of a context: the wheel, and the first waits. Many contexts exist at
// once, and each is used only once. New memory comes from the system, as in a program that has just
// started. Otherwise the conditions are those of api_bench.cpp.

#include "support/measure.hpp"
#include "support/memory.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace {

namespace asio = boost::asio;
using bench::process_clock;
using bench::seconds;

constexpr std::size_t count = 100; // Contexts.

enum class part { arm, cancel };

// Arms n existing timers in order of address, from one handler. Then cancels all at random, in
// bursts of 64, and calls the aborted handlers.
template <class Timer>
void first_waits(benchmark::State& state, std::size_t n, part measured) {
    using workload = bench::timer_workload<Timer, bench::cancel_one>;
    for (auto _ : state) {
        bench::trim_heap();
        std::vector<std::unique_ptr<workload>> used; // Keeps others from reusing their memory.
        process_clock::duration arming{};
        process_clock::duration cancelling{};
        for (std::size_t i = 0; i < count; ++i) {
            used.push_back(std::make_unique<workload>(n, bench::in_flight));
            arming += used.back()->arm_all();
            cancelling += used.back()->apply(n);
        }
        state.SetIterationTime(seconds(measured == part::arm ? arming : cancelling));
    }
    state.counters["op"] = bench::per_operation(n * count);
}

// Creates the wheel of a context; with Asio, the first timer, which creates the timer queue.
void make_first(std::vector<asio::steady_timer>& timers, asio::io_context& context) {
    timers.emplace_back(context);
}
void make_first(std::vector<asio_wheel::steady_timer>&, asio::io_context& context) {
    asio_wheel::make_wheel(context);
}

// The cost of that and of n waits afterwards, per context, while many contexts exist. `resident_kb`
// is the growth of the process's resident memory, `make_us` the processor time.
template <class Timer>
class new_contexts {
public:
    explicit new_contexts(std::size_t n) : n_(n), timers_(count) {
        bench::trim_heap();
        for (auto& t : timers_) {
            t.reserve(std::max<std::size_t>(n_, 1));
        }
    }
    new_contexts(const new_contexts&) = delete;
    new_contexts& operator=(const new_contexts&) = delete;
    ~new_contexts() {
        for (asio::io_context& context : contexts_) {
            context.stop(); // The context destroys the pending waits.
        }
        sockets_.clear();
        timers_.clear();
    }

    void make_contexts() {
        while (contexts_.size() != count) {
            contexts_.emplace_back();
        }
    }

    // The first timer or socket of a context creates its reactor.
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
                (static_cast<double>(after) - static_cast<double>(before)) / count;
        }
    }

private:
    const std::size_t n_;
    std::deque<asio::io_context> contexts_; // They cannot be moved.
    std::vector<asio::ip::tcp::socket> sockets_;
    std::vector<std::vector<Timer>> timers_;
};

// On contexts that have a socket already.
template <class Timer>
void wheel_only(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        new_contexts<Timer> made(n);
        made.make_contexts();
        made.make_sockets();
        made.measure(state, [&] { made.make_waits(); });
    }
}

// With the context itself and its reactor.
template <class Timer>
void with_context(benchmark::State& state, std::size_t n) {
    for (auto _ : state) {
        new_contexts<Timer> made(n);
        made.measure(state, [&] {
            made.make_contexts();
            made.make_waits();
        });
    }
}

} // namespace

int main(int argc, char** argv) {
    bench::allocate_large_blocks_by_mmap();
    const bench::idle_thread second_thread;
    constexpr auto once = bench::iterations::once;

    bench::add_pair("fresh/arm", 1'000, once,
                    []<class Timer>(auto& state) { first_waits<Timer>(state, 1'000, part::arm); });
    bench::add_pair("fresh/cancel", 1'000, once, []<class Timer>(auto& state) {
        first_waits<Timer>(state, 1'000, part::cancel);
    });
    for (const std::size_t n : {0U, 10U}) {
        bench::add_pair("fresh/wheel", n, once,
                        [n]<class Timer>(auto& state) { wheel_only<Timer>(state, n); });
        bench::add_pair("fresh/context", n, once,
                        [n]<class Timer>(auto& state) { with_context<Timer>(state, n); });
    }
    return bench::run_benchmarks(argc, argv);
}
