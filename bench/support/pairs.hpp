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
#include <type_traits>

namespace bench {

/// Registers a workload for both kinds of timer: run(std::type_identity<Timer>(), state). One that
/// takes real time, or as long as it takes, is done once for each repetition.
enum class how_often { as_needed, once };

template <class Workload>
void add_pair(const std::string& workload, std::size_t n, how_often times, Workload run) {
    const auto side = [&](const char* who, auto timer) {
        auto* const added =
            add(workload, who, n, [run, timer](benchmark::State& state) { run(timer, state); });
        if (times == how_often::once) {
            added->Iterations(1);
        }
    };
    side("asio", std::type_identity<boost::asio::steady_timer>());
    side(ours, std::type_identity<asio_wheel::steady_timer>());
}

} // namespace bench

/// The kind of timer that a workload registered by add_pair() is run for.
#define BENCH_TIMER(tag) typename decltype(tag)::type

#endif
