// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prints the metrics of two wheels in the text format of Prometheus. `lint` checks them.

#include <asio_wheel/openmetrics.hpp>
#include <asio_wheel/stats.hpp>

#include <chrono>
#include <iostream>

int main() {
    using namespace std::chrono_literals;
    asio_wheel::wheel_stats stats;
    stats.pending = 3;
    stats.scheduled = 10;
    stats.stalled = 1500ms;
    for (auto d = 1ns; d < 60s; d *= 3) {
        stats.lateness.add(d);
    }
    asio_wheel::to_prometheus(std::cout, {{{{"context", "a \"quoted\" \\ name\n \xff"}}, stats},
                                          {{{"context", "b"}, {"clock", "boot time"}}, {}}});
}
