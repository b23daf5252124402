// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The cost of the deadlines of a stream: asio_wheel::timeout_stream and Beast's tcp_stream,
// compared with the bare socket.
//
// n pairs of sockets are connected on loopback. Both ends of each pair read a message of 16 bytes
// and answer with one, so n messages are in flight at once. Before each read and each write, a
// deadline of 30 s is set. An operation is a read that waits and a write.
//
// Time is the processor time of the process. A second thread sleeps all the time. Bare sockets and
// streams alternate in the same run, 10 turns each. `op` is the time of an operation with deadlines
// minus the time without them, in nanoseconds; `bare_ns` is the time without them.
//
// Most of an operation is kernel time, which varies from turn to turn. So see the minimum and the
// maximum of several repetitions, too.

#include "support/echo_pairs.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/timeout_stream.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/ip/tcp.hpp>
#if __has_include(<boost/beast/core/tcp_stream.hpp>)
#include <boost/beast/core/tcp_stream.hpp>
#define BENCH_HAS_BEAST 1
#else
#define BENCH_HAS_BEAST 0
#endif

#include <cstddef>
#include <cstdio>

namespace {

namespace asio = boost::asio;
using bench::seconds;

template <class Stream>
void exchange(benchmark::State& state, std::size_t n) {
    constexpr std::size_t count = 5'000;
    constexpr std::size_t turns = 10;
    bench::echo_pairs<asio::ip::tcp::socket> bare(n);
    bench::echo_pairs<Stream> timed(n);
    bare.run(count);
    timed.run(count); // Warms up: allocates the memory that later operations reuse.
    for (auto _ : state) {
        bench::process_clock::duration without{};
        bench::process_clock::duration with{};
        for (std::size_t i = 0; i < turns; ++i) {
            without += bare.run(count);
            with += timed.run(count);
        }
        state.SetIterationTime(seconds(with - without));
        state.counters["bare_ns"] = seconds(without) * 1e9 / (turns * count);
    }
    state.counters["op"] = bench::per_operation(turns * count);
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;

    for (const std::size_t n : {1U, 100U}) {
#if BENCH_HAS_BEAST
        // Both have the executor of their socket, any_io_executor.
        bench::add("stream/exchange", "beast", n, [n](auto& state) {
            exchange<boost::beast::tcp_stream>(state, n);
        })->Iterations(1);
#endif
        bench::add("stream/exchange", bench::ours, n, [n](auto& state) {
            exchange<asio_wheel::timeout_stream<asio::ip::tcp::socket>>(state, n);
        })->Iterations(1);
    }
#if !BENCH_HAS_BEAST
    std::puts("skipped: Beast's tcp_stream, its headers were not found");
#endif
    return bench::run_benchmarks(argc, argv);
}
