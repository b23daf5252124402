// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the demo prints in the end: the figures side by side, and whether they are as promised.

#ifndef DEMO_REPORT_HPP
#define DEMO_REPORT_HPP

#include "record.hpp"
#include "verdict.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace demo {

inline void print_figures(const std::vector<outcome>& outcomes) {
    std::printf("\n%-42s", "");
    for (const outcome& o : outcomes) {
        std::printf(" %26s", o.timer.c_str());
    }
    auto row = [&](const char* title, int decimals, record outcome::* side, const char* name) {
        std::printf("\n%-42s", title);
        for (const outcome& o : outcomes) {
            if ((o.*side).contains(name)) {
                std::printf(" %26.*f", decimals, figure(o.*side, name));
            } else {
                std::printf(" %26s", "-");
            }
        }
    };
    row("connections accepted", 0, &outcome::server, "accepted");
    row("requests answered", 0, &outcome::load, "replies");
    row("requests/s", 0, &outcome::load, "replies_per_second");
    row("closed for idleness", 0, &outcome::server, "idle_closes");
    row("lateness of the close, p50 (ms)", 2, &outcome::server, "late_p50_ms");
    row("lateness of the close, p99 (ms)", 2, &outcome::server, "late_p99_ms");
    row("lateness of the close, max (ms)", 2, &outcome::server, "late_max_ms");
    row("the same seen by the clients, p99 (ms)", 2, &outcome::load, "seen_p99_ms");
    row("the same seen by the clients, max (ms)", 2, &outcome::load, "seen_max_ms");
    row("own delay of the clients, max (ms)", 2, &outcome::load, "own_delay_ms");
    row("lateness by the wheel's stats, p99 (ms)", 2, &outcome::server, "wheel_late_p99_ms");
    row("CPU seconds of the server", 2, &outcome::server, "cpu_seconds");
    row("wake-ups (voluntary context switches)", 0, &outcome::server, "wake_ups");
    row("wake-ups of the wheel, by its stats", 0, &outcome::server, "wheel_wake_ups");
    row("timer handlers run", 0, &outcome::server, "timer_handlers");
    row("peak memory of the server (MB)", 1, &outcome::server, "peak_megabytes");
    std::printf("\n");
}

/// Prints one line per promise, and why those that were broken do not count, if so.
inline verdict check(const outcome& o, int margin_ms) {
    const bool busy = was_too_busy(o, margin_ms);
    std::printf("\nchecks, %s\n", o.timer.c_str());
    for (const promise& p : promises(o, margin_ms)) {
        std::printf("  %-7s %s\n", p.kept ? "ok" : p.broken(busy) ? "FAILED" : "?", p.text.c_str());
    }
    const double too_late = figure(o.load, "cut_off") - figure(o.load, "ignored");
    if (too_late > 0) {
        std::printf("  note    %.0f heartbeats of clients were sent too late\n", too_late);
    }
    const verdict v = judge(o, margin_ms);
    if (v == verdict::too_busy) {
        std::printf(
            "\nThis machine was too busy to judge what is marked with a question mark. The\n"
            "clients were %.0f ms late by themselves, a process that only sleeps was %.0f ms\n"
            "late, and a process waited %.0f ms for a processor within a second. Up to %.0f ms\n"
            "is good enough. Try again, or use fewer --connections.\n",
            o.machine.clients_ms, o.machine.bystander_ms, o.machine.starved_ms,
            most_lateness_of_machine(margin_ms));
    }
    return v;
}

} // namespace demo

#endif
