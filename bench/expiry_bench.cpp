// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The cost of expiring waits: all of run(), in which nothing else happens. The conditions are those
// of api_bench.cpp, except that the waits are armed before.

#include "support/expiries.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace {

using namespace std::chrono_literals;

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

void add(const std::string& workload, std::size_t n, const bench::spread& how) {
    bench::add_pair("expiry/" + workload, n, bench::iterations::once,
                    [=]<class Timer>(auto& state) { expire<Timer>(state, n, how); });
}

// Our timer on a wheel that measures the delay of each handler.
class measured_timer : public asio_wheel::steady_timer {
public:
    using asio_wheel::steady_timer::steady_timer;

    static void prepare(boost::asio::io_context& context) {
        asio_wheel::make_wheel(context, {.measure_handlers = true});
    }
};

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;

    constexpr bench::clock::duration exact(1);
    constexpr bench::spread ordered{1s, bench::order::by_deadline, exact};
    bench::add("expiry/ordered", "measured", 1'000'000,
               [=](auto& state) { expire<measured_timer>(state, 1'000'000, ordered); });
    for (const std::size_t n : {1'000U, 100'000U, 1'000'000U, 10'000'000U}) {
        const auto span = n > 1'000'000 ? 10s : 1s; // One second is too short for ten million.
        add("ordered", n, {span, bench::order::by_deadline, exact});
        add("random", n, {span, bench::order::random, exact});
        if (n <= 1'000'000) { // Ten million take half a minute each.
            add("ordered_ms", n, {span, bench::order::by_deadline, 1ms});
            add("random_ms", n, {span, bench::order::random, 1ms});
        }
    }
    add("over_100ms", 10'000, {100ms, bench::order::by_deadline, exact});
    return bench::run_benchmarks(argc, argv);
}
