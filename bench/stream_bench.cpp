// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The cost of the deadlines of a stream.
//
// exchange: asio_wheel::timeout_stream and Beast's tcp_stream, compared with the bare socket. n
// pairs of sockets are connected on loopback. Both ends of each pair read a message of 16 bytes
// and answer with one, so n messages are in flight at once. Before each read and each write, a
// deadline of 30 s is set. An operation is a read that waits and a write.
//
// Time is the processor time of the process. A second thread sleeps all the time. Bare sockets and
// streams alternate in the same run, 10 turns each. `op` is the time of an operation with deadlines
// minus the time without them, in nanoseconds; `bare_ns` is the time without them.
//
// Most of an operation is kernel time, which varies from turn to turn. So see the minimum and the
// maximum of several repetitions, too.
//
// move_later, move_earlier: a read is pending on each of n connections, and its deadline is moved,
// in random order. Asio: a socket and a steady_timer, whose handler closes the socket unless it was
// aborted. To move the deadline, the timer is set again, 64 times before the aborted handlers are
// called. `op` is the time of an operation in nanoseconds.

#include "support/echo_pairs.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/timeout_stream.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#if __has_include(<boost/beast/core/tcp_stream.hpp>)
#include <boost/beast/core/tcp_stream.hpp>
#define BENCH_HAS_BEAST 1
#else
#define BENCH_HAS_BEAST 0
#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>

namespace {

namespace asio = boost::asio;
using bench::seconds;
using local_socket = asio::local::stream_protocol::socket;

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

// A peer that is silent, and a read from it that has a deadline. Both classes have the functions of
// a timer that timer_workload needs.

class stream_with_deadline {
public:
    explicit stream_with_deadline(asio::io_context& context)
        : all_(std::make_unique<parts>(context)) {
        asio::local::connect_pair(all_->stream.socket(), all_->peer);
    }

    void expires_after(std::chrono::nanoseconds d) { all_->stream.read_expires_after(d); }

    template <class Handler>
    void async_wait(Handler handler) {
        all_->stream.async_read_some(
            asio::buffer(all_->data),
            [handler](const bench::error_code& ec, std::size_t) { handler(ec); });
    }

private:
    struct parts {
        explicit parts(asio::io_context& context) : stream(context), peer(context) {}

        asio_wheel::timeout_stream<local_socket> stream;
        local_socket peer;
        std::array<char, 16> data{};
    };

    std::unique_ptr<parts> all_; // A read needs its buffer at the same address.
};

class deadline_by_hand {
public:
    explicit deadline_by_hand(asio::io_context& context) : all_(std::make_unique<parts>(context)) {
        asio::local::connect_pair(all_->socket, all_->peer);
        all_->socket.async_read_some(asio::buffer(all_->data),
                                     [](const bench::error_code&, std::size_t) {});
    }

    void expires_after(std::chrono::nanoseconds d) { all_->timer.expires_after(d); }

    template <class Handler>
    void async_wait(Handler handler) {
        all_->timer.async_wait([p = all_.get(), handler](const bench::error_code& ec) {
            if (ec != asio::error::operation_aborted) {
                p->socket.close();
            }
            handler(ec);
        });
    }

private:
    struct parts {
        explicit parts(asio::io_context& context)
            : socket(context), peer(context), timer(context) {}

        local_socket socket;
        local_socket peer;
        asio::steady_timer timer;
        std::array<char, 16> data{};
    };

    std::unique_ptr<parts> all_;
};

// Each deadline is a microsecond earlier than the one before.
class falling_timeouts {
public:
    explicit falling_timeouts(std::size_t) noexcept {}

    [[nodiscard]] std::chrono::nanoseconds operator()() noexcept {
        return next_ -= std::chrono::microseconds(1);
    }

private:
    std::chrono::nanoseconds next_ = std::chrono::hours(1);
};

template <class Timeouts>
void move_ours(benchmark::State& state, std::size_t n) {
    const std::size_t count = bench::operations_on(n);
    bench::timer_workload<stream_with_deadline, bench::re_arm_one, Timeouts> workload(n, 1);
    workload.arm_all();
    for (auto _ : state) {
        state.SetIterationTime(seconds(workload.apply_without_abort(
            count, [&](auto& stream) { stream.expires_after(workload.next_timeout()); })));
    }
    state.counters["op"] = bench::per_operation(count);
}

template <class Timeouts>
void move_by_hand(benchmark::State& state, std::size_t n) {
    const std::size_t count = bench::operations_on(n);
    bench::timer_workload<deadline_by_hand, bench::re_arm_one, Timeouts> workload(n,
                                                                                  bench::in_flight);
    workload.arm_all();
    for (auto _ : state) {
        state.SetIterationTime(seconds(workload.apply(count)));
    }
    state.counters["op"] = bench::per_operation(count);
}

template <class Timeouts>
void add_moves(const char* workload, std::size_t n) {
    bench::add(workload, "asio", n, [n](auto& state) { move_by_hand<Timeouts>(state, n); });
    bench::add(workload, bench::ours, n, [n](auto& state) { move_ours<Timeouts>(state, n); });
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
        add_moves<bench::fixed_timeouts>("stream/move_later", n);
        add_moves<falling_timeouts>("stream/move_earlier", n);
    }
#if !BENCH_HAS_BEAST
    std::puts("skipped: Beast's tcp_stream, its headers were not found");
#endif
    return bench::run_benchmarks(argc, argv);
}
