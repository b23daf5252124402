// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The figures in the final report of the echo server demo.

#ifndef ECHO_FIGURES_HPP
#define ECHO_FIGURES_HPP

#include "../support/checks.hpp"
#include "../support/report.hpp"

namespace echo {

inline const demo::figure_row figures[] = {
    {"connections accepted", 0, &demo::outcome::server, "accepted"},
    {"requests answered", 0, &demo::outcome::load, "replies"},
    {"requests/s", 0, &demo::outcome::load, "replies_per_second"},
    {"idle connections closed", 0, &demo::outcome::server, "idle_closes"},
    {"lateness of the close, p50 (ms)", 2, &demo::outcome::server, "late_p50_ms"},
    {"lateness of the close, p99 (ms)", 2, &demo::outcome::server, "late_p99_ms"},
    {"lateness of the close, max (ms)", 2, &demo::outcome::server, "late_max_ms"},
    {"the same as the clients see it, p99 (ms)", 2, &demo::outcome::load, "seen_p99_ms"},
    {"the same as the clients see it, max (ms)", 2, &demo::outcome::load, "seen_max_ms"},
    {"own delay of the clients, max (ms)", 2, &demo::outcome::load, "own_delay_ms"},
    {"lateness by the wheel's stats, p99 (ms)", 2, &demo::outcome::server, "wheel_late_p99_ms"},
    {"CPU seconds of the server", 2, &demo::outcome::server, "cpu_seconds"},
    {"wake-ups (voluntary context switches)", 0, &demo::outcome::server, "wake_ups"},
    {"wake-ups of the wheel, by its stats", 0, &demo::outcome::server, "wheel_wake_ups"},
    {"timer handlers run", 0, &demo::outcome::server, "timer_handlers"},
    {"peak memory of the server (MB)", 1, &demo::outcome::server, "peak_megabytes"},
};

} // namespace echo

#endif
