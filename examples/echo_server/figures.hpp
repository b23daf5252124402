// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The figures in the final report of the echo server demo. What timers change comes first.

#ifndef ECHO_FIGURES_HPP
#define ECHO_FIGURES_HPP

#include "../support/checks.hpp"
#include "../support/report.hpp"

namespace echo {

inline const demo::figure_row figures[] = {
    {"burst of 10,000: longest pause of others (ms)", 2, &demo::outcome::alone, "burst_pause_ms",
     demo::better::less},
    {"burst of 10,000: lateness of the last (ms)", 2, &demo::outcome::alone, "burst_last_ms",
     demo::better::less},
    {"busy loop: lateness of a wait, p50 (ms)", 2, &demo::outcome::alone, "busy_p50_ms",
     demo::better::less},
    {"busy loop: lateness of a wait, max (ms)", 2, &demo::outcome::alone, "busy_max_ms",
     demo::better::less},
    {"busy loop: expiries/s", 0, &demo::outcome::alone, "busy_per_second", demo::better::more},
    {"10,000 waits/s: wake-ups/s", 0, &demo::outcome::alone, "spread_wake_ups", demo::better::less},
    {"10,000 waits/s: CPU (ms/s)", 0, &demo::outcome::alone, "spread_cpu_ms", demo::better::less},
    {"10,000 waits/s: lateness, p50 (ms; tick is 1)", 2, &demo::outcome::alone, "spread_p50_ms",
     demo::better::less},
    {"memory of a pending wait (bytes)", 0, &demo::outcome::alone, "pending_bytes",
     demo::better::less},
    {"connections accepted", 0, &demo::outcome::server, "accepted"},
    {"requests answered", 0, &demo::outcome::load, "replies"},
    {"requests/s", 0, &demo::outcome::load, "replies_per_second", demo::better::more},
    {"idle connections closed", 0, &demo::outcome::server, "idle_closes"},
    {"lateness of the close, p50 (ms; tick is 1)", 2, &demo::outcome::server, "late_p50_ms",
     demo::better::less},
    {"lateness of the close, p99 (ms)", 2, &demo::outcome::server, "late_p99_ms",
     demo::better::less},
    {"lateness of the close, max (ms)", 2, &demo::outcome::server, "late_max_ms",
     demo::better::less},
    {"the same as the clients see it, p99 (ms)", 2, &demo::outcome::load, "seen_p99_ms",
     demo::better::less},
    {"the same as the clients see it, max (ms)", 2, &demo::outcome::load, "seen_max_ms",
     demo::better::less},
    {"own delay of the clients, max (ms)", 2, &demo::outcome::load, "own_delay_ms"},
    {"lateness by the wheel's stats, p99 (ms)", 2, &demo::outcome::server, "wheel_late_p99_ms"},
    {"CPU seconds of the server", 2, &demo::outcome::server, "cpu_seconds", demo::better::less},
    {"wake-ups (voluntary context switches)", 0, &demo::outcome::server, "wake_ups",
     demo::better::less},
    {"wake-ups of the wheel, by its stats", 0, &demo::outcome::server, "wheel_wake_ups"},
    {"timer handlers run", 0, &demo::outcome::server, "timer_handlers", demo::better::less},
    {"peak memory of the server (MB)", 1, &demo::outcome::server, "peak_megabytes",
     demo::better::less},
};

} // namespace echo

#endif
