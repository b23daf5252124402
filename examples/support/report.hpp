// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a demo prints in the end: the figures side by side, and whether they are as promised.

#ifndef DEMO_REPORT_HPP
#define DEMO_REPORT_HPP

#include "checks.hpp"
#include "record.hpp"

#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace demo {

/// One line of the table: a number that one of the two processes has reported.
struct figure_row {
    const char* title;
    int decimals;
    record outcome::* side;
    const char* name;
};

inline void print_figures(const std::vector<outcome>& outcomes, std::span<const figure_row> rows) {
    std::printf("\n%-42s", "");
    for (const outcome& o : outcomes) {
        std::printf(" %26s", o.timer.c_str());
    }
    for (const figure_row& row : rows) {
        std::printf("\n%-42s", row.title);
        for (const outcome& o : outcomes) {
            if ((o.*row.side).contains(row.name)) {
                std::printf(" %26.*f", row.decimals, figure(o.*row.side, row.name));
            } else {
                std::printf(" %26s", "-");
            }
        }
    }
    std::printf("\n");
}

/// Prints one line per promise.
inline void print_checks(const outcome& o, const std::vector<check>& checks, int margin_ms) {
    const bool busy = was_too_busy(o, margin_ms);
    std::printf("\nchecks, %s\n", o.timer.c_str());
    for (const check& p : checks) {
        std::printf("  %-7s %s\n",
                    p.passed         ? "ok"
                    : p.failed(busy) ? "FAILED"
                                     : "?",
                    p.text.c_str());
    }
}

/// Says why a trial could not be judged. `fewer` is the option that makes less work.
inline void print_busy(const machine_lateness& machine, int margin_ms, const char* fewer) {
    std::printf(
        "\nThis machine was too busy to evaluate what is marked with a question mark. The\n"
        "clients were %.0f ms late by themselves, a process that only sleeps was %.0f ms\n"
        "late, and a process waited %.0f ms for a processor within a second. Up to %.0f ms\n"
        "is good enough. Try again, or use fewer %s.\n",
        machine.clients_ms, machine.idle_process_ms, machine.cpu_wait_ms,
        max_machine_lateness_ms(margin_ms), fewer);
}

/// The last line, and what the demo exits with.
inline int conclude(trial_result all) {
    std::printf("\n%s\n", all == trial_result::passed   ? "all checks passed"
                          : all == trial_result::failed ? "some checks FAILED"
                                                        : "not judged: this machine was too busy");
    return static_cast<int>(all);
}

} // namespace demo

#endif
