// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the deadlines of a stream cost: asio_wheel::timeout_stream beside Beast's tcp_stream, over
// the bare socket.
//
// n pairs of sockets are connected on loopback. Both ends of each wait for a message of 16 bytes
// and answer with one, so that n messages are under way at once. Before each read and each write
// the stream is told that it has 30 s. An operation is one of both: a read that waits, and a write.
//
// Time is the processor time of the process; a second thread is alive, asleep. Pairs of bare
// sockets and of streams have turns in the same run, 10 of each. `op` is what an operation costs
// with deadlines less what it costs without, in nanoseconds; `bare_ns` is the latter.
//
// Most of an operation is the kernel's, whose price changes from turn to turn. So look at the least
// and the most of several repetitions, too.

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
    timed.run(count); // What is used again and again is there by now.
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
        // The executor of both is that of their socket, which is any_io_executor.
        bench::add("stream/exchange", "beast", n, [n](auto& state) {
            exchange<boost::beast::tcp_stream>(state, n);
        })->Iterations(1);
#endif
        bench::add("stream/exchange", bench::ours, n, [n](auto& state) {
            exchange<asio_wheel::timeout_stream<asio::ip::tcp::socket>>(state, n);
        })->Iterations(1);
    }
#if !BENCH_HAS_BEAST
    std::puts("left out: Beast's tcp_stream, whose headers were not found");
#endif
    return bench::run_benchmarks(argc, argv);
}
