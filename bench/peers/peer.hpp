// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What each peer written in C++ does. The programs in other languages do the same, by the same
// rules:
//
//  - A timeout is 30 s. `pending` other timers are started before, in the order of memory; none of
//    all ever expires.
//  - start_cancel: one timer more is started and cancelled, a million times.
//  - re_arm: a timer is started anew, a million times; which one is random (splitmix64, seed 42)
//    among the `pending` ones, or always the same one if there are none.
//  - Everything happens in one thread, where possible that of the event loop; a second thread is
//    alive, asleep. Where operations leave work behind, such as handlers to be called, that is
//    counted too. A loop that has a time of its own looks at the clock after each 64 operations.
//  - Time is the processor time of the process, for one operation, in nanoseconds; a tenth of the
//    operations is done before, untimed.
//
// The number of pending timers is the first argument, and the output two lines
// `peer,workload,pending,ns_cpu`. The second argument, if any, is the number of operations.

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

/// Peer is made with the number of timers to hold; start_all() starts all but the last one, and
/// start_cancel() works on that one. start_cancel(count) and re_arm(count, next), where next() is
/// the number of the timer to be started anew, do so many operations.
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
