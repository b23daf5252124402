// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A trial of a program with thousands of connections, whose sources are compiled once with Asio's
// timers and once with all of them on a wheel. What the program does is in its own file; here is
// what is measured, and how. Nothing here uses a timer of the program.
//
// Include this in one source file of a program: it replaces epoll_wait().

#ifndef BENCH_REPLACED_TRIAL_HPP
#define BENCH_REPLACED_TRIAL_HPP

#include "../support/measure.hpp"
#include "../support/memory.hpp"

#include <boost/asio/io_context.hpp>

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace bench {

#ifdef ASIO_WHEEL_REPLACES_ASIO_TIMERS
constexpr auto implementation = "asio_wheel";
#else
constexpr auto implementation = "asio";
#endif

/// The arguments of a program: workload, connections, seconds of measuring, seconds of the timeout.
struct trial_settings {
    trial_settings(int argc, char** argv) {
        require(argc == 5, "usage: PROGRAM WORKLOAD CONNECTIONS SECONDS TIMEOUT");
        workload = argv[1];
        connections = std::strtoul(argv[2], nullptr, 10);
        seconds = std::strtod(argv[3], nullptr);
        timeout = std::chrono::milliseconds(std::lround(std::strtod(argv[4], nullptr) * 1e3));
        rlimit files{};
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;
        require(::setrlimit(RLIMIT_NOFILE, &files) == 0, "cannot raise the limit of open files");
    }

    const char* workload;
    std::size_t connections;
    double seconds;
    std::chrono::milliseconds timeout;
};

/// What a program counts: connections that are ready, and pieces of work that are done.
inline std::atomic<std::uint64_t> ready{0};
inline std::atomic<std::uint64_t> done{0};

inline void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed); // Publishes no other data.
}

namespace detail {
inline std::atomic<std::uint64_t> wake_ups{0};

/// The most processor time from the end of an epoll_wait() to the next one, in nanoseconds: as
/// long, an event waits before the loop sees it. Measured in a time of its own, because to read
/// this clock is a system call.
inline std::atomic<bool> measures_turns{false};
inline std::atomic<std::int64_t> longest_turn{0};
} // namespace detail

/// Runs a context, and measures from the moment when all connections are ready. Make this before
/// the first connection.
class measured_run {
public:
    measured_run(const trial_settings& settings, boost::asio::io_context& io)
        : settings_(settings), io_(io) {}

    void run() {
        std::thread watcher([this] { watch(); });
        io_.run();
        watcher.join();
    }

private:
    struct sample {
        double user = 0;
        double kernel = 0;
        double wake_ups = 0;
        double done = 0;
    };

    static double seconds_of(const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    }

    static sample now() {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        return {seconds_of(used.ru_utime), seconds_of(used.ru_stime),
                static_cast<double>(detail::wake_ups), static_cast<double>(done)};
    }

    // Runs on the second thread, which sleeps while it measures. (A process with one thread would
    // have cheaper locks than a server.)
    void watch() {
        constexpr auto patience = std::chrono::seconds(60);
        const auto begun = std::chrono::steady_clock::now();
        while (ready < settings_.connections) {
            require(std::chrono::steady_clock::now() - begun < patience, "connections are missing");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        const std::chrono::duration<double> length(settings_.seconds);
        std::this_thread::sleep_for(std::min(length, decltype(length)(1))); // To warm up.
        const sample begin = now();
        std::this_thread::sleep_for(length);
        const sample end = now();
        detail::measures_turns = true;
        std::this_thread::sleep_for(length / 2);
        const auto longest = static_cast<double>(detail::longest_turn);
        const auto resident = static_cast<double>(resident_memory() - before_);
        io_.stop();
        const double n = end.done - begin.done;
        require(n > 0, "no work was done");
        figure("cpu_us", (end.user - begin.user + end.kernel - begin.kernel) * 1e6 / n);
        figure("user_us", (end.user - begin.user) * 1e6 / n);
        figure("done_per_s", n / settings_.seconds);
        figure("wake_ups", (end.wake_ups - begin.wake_ups) / n);
        figure("pause_ms", longest / 1e6);
        figure("kb_each", resident / static_cast<double>(settings_.connections));
    }

    void figure(const char* name, double value) const {
        std::printf("replaced/%s,%s,%zu,%s,%.6g\n", settings_.workload, implementation,
                    settings_.connections, name, value);
    }

    const trial_settings settings_;
    boost::asio::io_context& io_;
    const std::size_t before_ = resident_memory();
};

} // namespace bench

extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
    using function = int(int, epoll_event*, int, int);
    static auto* const real = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "epoll_wait"));
    // Only one thread calls this.
    static bench::thread_clock::time_point turn_began;
    const bool measures = bench::detail::measures_turns.load(std::memory_order_relaxed);
    if (measures && turn_began != bench::thread_clock::time_point()) {
        const auto turn = std::chrono::nanoseconds(bench::thread_clock::now() - turn_began).count();
        bench::detail::longest_turn = std::max<std::int64_t>(bench::detail::longest_turn, turn);
    }
    const int result = real(epoll, events, most, timeout);
    if (timeout != 0) {
        bench::count(bench::detail::wake_ups);
    }
    if (measures) {
        turn_began = bench::thread_clock::now();
    }
    return result;
}

#endif
