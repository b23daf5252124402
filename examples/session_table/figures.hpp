// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The figures in the final report of the demo. What timers change comes first.

#ifndef SESSIONS_FIGURES_HPP
#define SESSIONS_FIGURES_HPP

#include "../support/checks.hpp"
#include "../support/report.hpp"

namespace sessions {

inline const demo::figure_row figures[] = {
    {"longest pause while many sessions end (ms)", 2, &demo::outcome::server, "pause_ms",
     demo::better::less},
    {"the same in processor time (ms)", 2, &demo::outcome::server, "pause_cpu_ms",
     demo::better::less},
    {"longest wait of a peer meanwhile (ms)", 2, &demo::outcome::load, "longest_answer_ms",
     demo::better::less},
    {"memory per session (bytes)", 0, &demo::outcome::server, "bytes_per_session",
     demo::better::less},
    {"processor time per datagram (ns)", 0, &demo::outcome::server, "cpu_ns", demo::better::less},
    {"  of it in the kernel: sockets (ns)", 0, &demo::outcome::server, "kernel_ns"},
    {"  of it in the relay: table, timers (ns)", 0, &demo::outcome::server, "user_ns",
     demo::better::less},
    {"timer handlers per datagram", 3, &demo::outcome::server, "handlers_per_datagram",
     demo::better::less},
    {"sessions opened", 0, &demo::outcome::server, "sessions_opened"},
    {"datagrams forwarded", 0, &demo::outcome::server, "datagrams"},
    {"sessions that ended at the same moment", 0, &demo::outcome::server, "together_count"},
    {"  until the last one ended (ms)", 1, &demo::outcome::server, "together_took_ms",
     demo::better::less},
    {"sessions ended", 0, &demo::outcome::server, "expired"},
    {"lateness of an idle timeout, p50 (ms)", 2, &demo::outcome::server, "idle_p50_ms",
     demo::better::less},
    {"lateness of an idle timeout, p99 (ms)", 2, &demo::outcome::server, "idle_p99_ms",
     demo::better::less},
    {"lateness of an idle timeout, max (ms)", 2, &demo::outcome::server, "idle_max_ms",
     demo::better::less},
    {"requests timed out", 0, &demo::outcome::server, "timed_out"},
    {"lateness of a deadline, p50 (ms)", 2, &demo::outcome::server, "deadline_p50_ms",
     demo::better::less},
    {"lateness of a deadline, p99 (ms)", 2, &demo::outcome::server, "deadline_p99_ms",
     demo::better::less},
    {"lateness of a deadline, max (ms)", 2, &demo::outcome::server, "deadline_max_ms",
     demo::better::less},
    {"own delay of the peers, max (ms)", 2, &demo::outcome::load, "own_delay_ms"},
};

} // namespace sessions

#endif
