// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prints, for each shape of wheel, the longest time that a lock is held, and the longest time that
// another handler waits for its turn, when very many waits start, expire, are moved or end at once.
// One thread does everything, and its processor time is measured. test/service/turns.cpp checks the
// invariants by counting waits.

#define ASIO_WHEEL_SYNC_HEADER "support/measured_sync.hpp"

#include "support/core_sources.hpp"

#include "support/names.hpp"
#include "support/turns.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

namespace {

using namespace asio_wheel::test;

// The default shape, those of wheel_options and of the guides, and the largest.
constexpr wheel_shape shapes[] = {{256, 4},       {512, 1}, {4096, 1}, {65'536, 1},
                                  {1'048'576, 1}, {64, 2},  {16, 16},  {2, 64}};

constexpr std::size_t budget = 256; // The default.

// A workload: its preparation, the measured part, and whether others have turns in the meantime.
struct named_workload {
    const char* name;
    std::function<void(waiting_crowd&, std::size_t)> prepare;
    std::function<std::int64_t(waiting_crowd&, std::size_t)> run; // Returns the longest gap, or 0.
};

void wait_10s(waiting_crowd& crowd, std::size_t n) {
    crowd.wait(n, 10s);
}
void wait_1h(waiting_crowd& crowd, std::size_t n) {
    crowd.wait(n, 1h);
}
void wait_on_one(waiting_crowd& crowd, std::size_t n) {
    crowd.wait_on_one(n, 10s);
}

const named_workload workloads[] = {
    {"start", [](waiting_crowd&, std::size_t) {},
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 10s);
         return std::int64_t{0};
     }},
    {"expire", wait_10s,
     [](waiting_crowd& crowd, std::size_t) { return crowd.run(10s).longest_ns; }},
    {"file again what was postponed",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 10s);
         crowd.postpone(1h);
     },
     [](waiting_crowd& crowd, std::size_t) { return crowd.run(10s).longest_ns; }},
    {"come down the levels",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(1, 30h + 10ms);
         crowd.wait(n, 30h + 20ms);
     },
     [](waiting_crowd& crowd, std::size_t) { return crowd.run(30h + 10ms).longest_ns; }},
    {"look for the next, of later rounds",
     [](waiting_crowd& crowd, std::size_t n) {
         for (std::size_t i = 0; i < n; ++i) {
             crowd.wait(1, 2h + i * 1ms);
         }
         crowd.wait(1, 10s);
     },
     [](waiting_crowd& crowd, std::size_t) { return crowd.run(10s).longest_ns; }},
    {"cancel", wait_1h,
     [](waiting_crowd& crowd, std::size_t) {
         for (auto& t : crowd.timers()) {
             t.cancel();
         }
         return std::int64_t{0};
     }},
    {"advance()", wait_10s,
     [](waiting_crowd& crowd, std::size_t) {
         crowd.wheel().pause();
         crowd.wheel().advance(10s);
         return std::int64_t{0};
     }},
    {"drain()", wait_1h,
     [](waiting_crowd& crowd, std::size_t) {
         static_cast<void>(crowd.wheel().drain());
         return std::int64_t{0};
     }},
    {"the context's end", wait_1h,
     [](waiting_crowd& crowd, std::size_t) {
         crowd.end();
         return std::int64_t{0};
     }},
    {"one timer: expire", wait_on_one,
     [](waiting_crowd& crowd, std::size_t) { return crowd.run(10s).longest_ns; }},
    {"one timer: postpone", wait_on_one,
     [](waiting_crowd& crowd, std::size_t) {
         crowd.postpone(1h);
         return std::int64_t{0};
     }},
    {"one timer: move", wait_on_one,
     [](waiting_crowd& crowd, std::size_t) {
         auto moved = std::move(crowd.timers().front());
         crowd.timers().front() = std::move(moved);
         return std::int64_t{0};
     }},
    {"one timer: cancel", wait_on_one,
     [](waiting_crowd& crowd, std::size_t) {
         crowd.timers().front().cancel();
         return std::int64_t{0};
     }},
    {"one timer: the context's end", wait_on_one,
     [](waiting_crowd& crowd, std::size_t) {
         crowd.end();
         return std::int64_t{0};
     }},
};

struct row {
    lock_record locks;
    std::int64_t gap = 0;
};

row measure(const named_workload& w, const wheel_shape& shape, std::size_t n) {
    row result;
    {
        waiting_crowd crowd(shape, budget);
        w.prepare(crowd, n);
        lock_log log(crowd);
        w.run(crowd, n);
        result.locks = log.finish();
    }
    // The gap is measured separately, because observing the locks takes time.
    waiting_crowd crowd(shape, budget);
    w.prepare(crowd, n);
    result.gap = w.run(crowd, n);
    return result;
}

// scale() is for idle timers, which use the system's clock.
row measure_scale(const wheel_shape& shape, std::size_t n) {
    row result;
    {
        idle_crowd crowd(shape, budget);
        crowd.wait(n, 4h);
        lock_log log(crowd);
        crowd.scale(0.5);
        result.locks = log.finish();
    }
    idle_crowd crowd(shape, budget);
    crowd.wait(n, 4h);
    result.gap = crowd.scale(0.5).longest_ns;
    return result;
}

// Interrupts and page faults count as processor time, so the minimum of several runs is printed.
template <class Measure>
row least_of_some(Measure m) {
    row least = m();
    for (int i = 1; i < 3; ++i) {
        const row r = m();
        least.locks.longest_ns = std::min(least.locks.longest_ns, r.locks.longest_ns);
        least.gap = std::min(least.gap, r.gap);
    }
    return least;
}

double us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000;
}

void print(const wheel_shape& shape, const char* name, const row& r) {
    const auto& [locks, gap] = r;
    const auto most = std::max<std::uint64_t>(locks.most_work, locks.most_ready);
    std::printf("%8zu x %-3u %-36s %8zu %8llu %12.1f", shape.slots, shape.levels, name, locks.count,
                static_cast<unsigned long long>(most), us(locks.longest_ns));
    if (gap != 0) {
        std::printf(" %12.1f", us(gap));
    }
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t waits = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
    if (argc > 2 || waits == 0) {
        std::fprintf(stderr, "usage: locks [waits]\n");
        return 2;
    }
    std::printf("%zu waits, budget %zu. Times are processor time of the one thread, in us: the "
                "longest, and of three runs the least of these.\n\n",
                waits, budget);
    std::printf("%-14s %-36s %8s %8s %12s %12s\n", "slots x levels", "", "locks", "at once",
                "longest lock", "longest gap");
    for (const wheel_shape& shape : shapes) {
        for (const named_workload& w : workloads) {
            print(shape, w.name, least_of_some([&] { return measure(w, shape, waits); }));
        }
        print(shape, "scale()", least_of_some([&] { return measure_scale(shape, waits); }));
    }
}
