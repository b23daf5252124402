// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How late waits are on a context that is busy with other handlers, and how many of them and of the
// others' requests it handles. Real time: a loop cannot be busy for less.
//
//   at_once        10,000 waits that are due at once, while 15 handlers of 10 ms post themselves
//   over_a_second  the same, but due at random within a second
//   sockets_N      N sockets are always readable, and each read takes 0.9 ms; 4,000 timers are
//                  armed for a second again and again, for 5 seconds
//   frames_CALL    a program that calls poll(), poll_one() or run_for(1ms) once in 120 ms, and one
//                  timer that is armed for 20 ms again and again, for 3 seconds
//
// `_2` is for two threads. Figures: the median and the worst lateness of the waits, in
// milliseconds, and how many waits have expired and requests were served, per second. `poll_ms` is
// the processor time of the calls, per second.

#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/report.hpp"
#include "support/timer_workload.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using bench::error_code;
using steady = std::chrono::steady_clock;
namespace asio = boost::asio;

void work_for(std::chrono::nanoseconds d) {
    for (const auto end = steady::now() + d; steady::now() < end;) {
    }
}

/// How late waits were.
class lateness {
public:
    void add(steady::duration late) {
        const std::lock_guard<std::mutex> guard(mutex_);
        late_.push_back(std::chrono::duration<double, std::milli>(late).count());
    }

    void report(benchmark::State& state, steady::duration time) {
        bench::require(!late_.empty(), "no wait has expired");
        std::ranges::sort(late_);
        state.SetIterationTime(bench::seconds(time));
        state.counters["median_ms"] = late_[late_.size() / 2];
        state.counters["worst_ms"] = late_.back();
        state.counters["expiries"] = static_cast<double>(late_.size()) / bench::seconds(time);
    }

private:
    std::mutex mutex_;
    std::vector<double> late_;
};

/// Runs a context by so many threads until it is stopped, or for `most`.
steady::duration run(asio::io_context& context, std::size_t threads, steady::duration most) {
    const auto begin = steady::now();
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) {
        others.emplace_back([&context] { context.run(); });
    }
    context.run_for(most);
    context.stop();
    return steady::now() - begin;
}

/// A timer that is armed again and again.
template <class Timer>
struct recurring {
    void arm() {
        timer.expires_after(period);
        timer.async_wait([this](const error_code& ec) {
            if (!ec) {
                late.add(steady::now() - timer.expiry());
                arm();
            }
        });
    }

    Timer timer;
    std::chrono::nanoseconds period;
    lateness& late;
};

template <class Timer>
void due(benchmark::State& state, std::size_t threads, steady::duration within) {
    constexpr std::size_t n = 10'000;
    for (auto _ : state) {
        lateness late;
        std::atomic<std::size_t> left = n;
        std::function<void()> busy;
        asio::io_context context;
        bench::splitmix64 random(42);
        std::deque<Timer> timers;
        const auto begin = steady::now() + 300ms;
        for (std::size_t i = 0; i < n; ++i) {
            const auto share = within * static_cast<int>(random.below(1'000)) / 1'000;
            auto& t = timers.emplace_back(context, begin + share);
            t.async_wait([&](const error_code& ec) {
                if (!ec) {
                    late.add(steady::now() - t.expiry());
                    if (--left == 0) {
                        context.stop();
                    }
                }
            });
        }
        busy = [&] {
            work_for(10ms);
            asio::post(context, [&] { busy(); });
        };
        for (int i = 0; i < 15; ++i) {
            asio::post(context, [&] { busy(); });
        }
        late.report(state, run(context, threads, 60s));
    }
}

template <class Timer>
void sockets(benchmark::State& state, std::size_t threads, std::size_t n) {
    using socket = asio::local::stream_protocol::socket;
    struct connection {
        explicit connection(asio::io_context& context) : mine(context), peer(context) {
            asio::local::connect_pair(mine, peer);
        }

        void read(std::atomic<std::size_t>& requests) {
            static_cast<void>(peer.write_some(asio::buffer("x", 1)));
            mine.async_read_some(asio::buffer(memory),
                                 [this, &requests](const error_code& ec, std::size_t) {
                                     if (!ec) {
                                         work_for(900us);
                                         ++requests;
                                         read(requests);
                                     }
                                 });
        }

        socket mine;
        socket peer;
        char memory[1] = {};
    };
    for (auto _ : state) {
        lateness late;
        std::atomic<std::size_t> requests = 0;
        asio::io_context context;
        std::deque<connection> connections;
        for (std::size_t i = 0; i < n; ++i) {
            connections.emplace_back(context).read(requests);
        }
        std::deque<recurring<Timer>> timers;
        for (int i = 0; i < 4'000; ++i) {
            timers.push_back({Timer(context), 1s, late});
            timers.back().arm();
        }
        const auto time = run(context, threads, 5s);
        late.report(state, time);
        state.counters["requests"] = static_cast<double>(requests) / bench::seconds(time);
    }
}

template <class Timer, class Poll>
void frames(benchmark::State& state, Poll poll) {
    for (auto _ : state) {
        lateness late;
        asio::io_context context;
        recurring<Timer> timer{Timer(context), 20ms, late};
        timer.arm();
        bench::process_clock::duration polling{0};
        const auto begin = steady::now();
        while (steady::now() - begin < 3s) {
            std::this_thread::sleep_for(120ms);
            const auto before = bench::process_clock::now();
            poll(context);
            polling += bench::process_clock::now() - before;
        }
        const auto time = steady::now() - begin;
        late.report(state, time);
        state.counters["poll_ms"] = bench::seconds(polling) * 1e3 / bench::seconds(time);
    }
}

} // namespace

int main(int argc, char** argv) {
    const bench::idle_thread second_thread;
    constexpr auto once = bench::iterations::once;
    for (const std::size_t threads : {1U, 2U}) {
        const std::string suffix = threads == 1 ? "" : "_2";
        bench::add_pair("busy_loop/at_once" + suffix, 10'000, once,
                        [threads]<class Timer>(auto& state) { due<Timer>(state, threads, 0s); });
        bench::add_pair("busy_loop/over_a_second" + suffix, 10'000, once,
                        [threads]<class Timer>(auto& state) { due<Timer>(state, threads, 1s); });
        for (const std::size_t n : {50U, 128U, 256U}) {
            bench::add_pair("busy_loop/sockets_" + std::to_string(n) + suffix, 4'000, once,
                            [=]<class Timer>(auto& state) { sockets<Timer>(state, threads, n); });
        }
    }
    bench::add_pair("busy_loop/frames_poll", 1, once, []<class Timer>(auto& state) {
        frames<Timer>(state, [](asio::io_context& context) { context.poll(); });
    });
    bench::add_pair("busy_loop/frames_poll_one", 1, once, []<class Timer>(auto& state) {
        frames<Timer>(state, [](asio::io_context& context) { context.poll_one(); });
    });
    bench::add_pair("busy_loop/frames_run_for", 1, once, []<class Timer>(auto& state) {
        frames<Timer>(state, [](asio::io_context& context) { context.run_for(1ms); });
    });
    return bench::run_benchmarks(argc, argv);
}
