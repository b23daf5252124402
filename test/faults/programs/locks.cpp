// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prints how long a lock is held at most, and how long another handler waits for its turn at most, for
// each shape of wheel and whatever becomes of very many waits at once. In processor time of the one
// thread that does all of it. What must hold of this is checked by test/turns.cpp, in waits.

#define ASIO_WHEEL_SYNC_HEADER "support/measured_sync.hpp"

#include "support/turns.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

using namespace asio_wheel::test;
using namespace std::chrono_literals;

// The default, those of wheel_options and of the guides, and the largest.
constexpr wheel_shape shapes[] = {{256, 4},       {512, 1}, {4096, 1}, {65'536, 1},
                                  {1'048'576, 1}, {64, 2},  {16, 16},  {2, 64}};

constexpr std::size_t budget = 256; // As by default.

struct row {
    lock_record locks;
    std::int64_t gap_ns = 0;
};

using workload = std::function<row(waiting_crowd&, std::size_t)>;

row with_gap(waiting_crowd& crowd, std::chrono::nanoseconds d) {
    lock_log log(crowd.wheel());
    const waiting_crowd::gap gap = crowd.run(d);
    return {log.record(), gap.longest_ns};
}

template <class Function>
row without_turns(waiting_crowd& crowd, Function f) {
    lock_log log(crowd.wheel());
    f();
    return {log.record()};
}

struct named_workload {
    const char* name;
    workload run;
};

const named_workload workloads[] = {
    {"start", [](waiting_crowd& crowd,
                 std::size_t n) { return without_turns(crowd, [&] { crowd.wait(n, 10s); }); }},
    {"expire",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 10s);
         return with_gap(crowd, 10s);
     }},
    {"expire, of one timer",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait_on_one(n, 10s);
         return with_gap(crowd, 10s);
     }},
    {"file again what was postponed",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 10s);
         crowd.postpone(1h);
         return with_gap(crowd, 10s);
     }},
    {"come down the levels",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 30h);
         return with_gap(crowd, 29h);
     }},
    {"cancel",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 1h);
         return without_turns(crowd, [&] {
             for (auto& t : crowd.timers()) {
                 t.cancel();
             }
         });
     }},
    {"cancel, of one timer",
     [](waiting_crowd& crowd, std::size_t n) {
         auto& t = crowd.wait_on_one(n, 1h);
         return without_turns(crowd, [&] { t.cancel(); });
     }},
    {"advance()",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wheel().pause();
         crowd.wait(n, 10s);
         return without_turns(crowd, [&] { crowd.wheel().advance(10s); });
     }},
    {"drain()",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 1h);
         return without_turns(crowd, [&] { crowd.wheel().drain(); });
     }},
    {"the context's end",
     [](waiting_crowd& crowd, std::size_t n) {
         crowd.wait(n, 1h);
         return without_turns(crowd, [&] { crowd.end(); });
     }},
};

double us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000;
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t waits = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
    std::printf("%zu waits, budget %zu; times are processor time of the thread, in us\n\n", waits,
                budget);
    std::printf("%-14s %-32s %10s %10s %12s %12s\n", "slots x levels", "", "locks", "at once",
                "longest lock", "longest gap");
    for (const wheel_shape& shape : shapes) {
        for (const auto& [name, run] : workloads) {
            waiting_crowd crowd(shape, budget);
            const row r = run(crowd, waits);
            std::printf("%8zu x %-3u %-32s %10zu %10llu %12.1f", shape.slots, shape.levels, name,
                        r.locks.count, static_cast<unsigned long long>(r.locks.most_work),
                        us(r.locks.longest_ns));
            if (r.gap_ns != 0) {
                std::printf(" %12.1f", us(r.gap_ns));
            }
            std::printf("\n");
            std::fflush(stdout);
        }
    }
}
