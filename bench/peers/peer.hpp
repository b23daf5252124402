// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The benchmark of each peer that is written in C++. The programs in other languages follow the
// same rules:
//
//  - A timeout is 30 s. `pending` other timers are started first, in order of address. None of them
//    ever expires.
//  - start_cancel: one more timer is started and cancelled, a million times.
//  - re_arm: a random one of the `pending` timers (splitmix64, seed 42) is moved, a million times.
//    If there are none, always the same timer is moved.
//  - Everything happens in one thread, where possible in that of the event loop. A second thread
//    sleeps all the time. If operations leave work for later, such as handlers, that is included. A
//    loop that caches the time updates it after every 64 operations.
//  - Time is the processor time of the process per operation, in nanoseconds. A tenth of the
//    operations is done before to warm up.
//
// The first argument is the number of pending timers; the second, optional one is the number of
// operations. The output is two lines `peer,workload,pending,ns_cpu`.

#ifndef BENCH_PEER_HPP
#define BENCH_PEER_HPP

#include "../support/measure.hpp"
#include "../support/timer_workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

constexpr std::size_t burst = 64;

/// The main() of a peer. Peer(n) creates n timers. start_all(n) starts the first n of them.
/// start_cancel(count) does `count` operations on the last timer. re_arm(count, next) does `count`
/// operations, each on the timer with the index next().
template <class Peer>
int peer_main(const char* name, int argc, char** argv) {
    const std::size_t pending = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
    const std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1'000'000;
    const idle_thread second_thread;
    const auto report = [&](const char* workload, auto work) {
        work(count / 10);
        stopwatch<process_clock> time;
        time.start();
        work(count);
        time.stop();
        std::printf("%s,%s,%zu,%.1f\n", name, workload, pending,
                    time.seconds() * 1e9 / static_cast<double>(count));
    };
    splitmix64 random;
    const auto next = [&] { return pending == 0 ? 0 : random.below(pending); };
    {
        Peer peer(pending + 1);
        peer.start_all(pending);
        report("start_cancel", [&](std::size_t n) { peer.start_cancel(n); });
    }
    Peer peer(std::max<std::size_t>(pending, 1));
    peer.start_all(std::max<std::size_t>(pending, 1));
    report("re_arm", [&](std::size_t n) { peer.re_arm(n, next); });
    return 0;
}

} // namespace bench

#endif
