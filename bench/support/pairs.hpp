// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef BENCH_PAIRS_HPP
#define BENCH_PAIRS_HPP

#include "report.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <string>

namespace bench {

/// How often a repetition runs its workload. Workloads that depend on real time run once.
enum class iterations { automatic, once };

/// Registers a workload for Asio's timer and for ours. `run` is a function object that is called as
/// run.operator()<Timer>(state).
template <class Workload>
void add_pair(const std::string& workload, std::size_t n, iterations times, Workload run) {
    const auto side = [&]<class Timer>(const char* implementation) {
        auto* const added = add(workload, implementation, n, [run](benchmark::State& state) {
            run.template operator()<Timer>(state);
        });
        if (times == iterations::once) {
            added->Iterations(1);
        }
    };
    side.template operator()<boost::asio::steady_timer>("asio");
    side.template operator()<asio_wheel::steady_timer>(ours);
}

} // namespace bench

#endif
