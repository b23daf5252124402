// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The final report of a demo: the figures side by side, and the results of the checks.

#ifndef DEMO_REPORT_HPP
#define DEMO_REPORT_HPP

#include "checks.hpp"
#include "figure_row.hpp"
#include "record.hpp"

#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace demo {

inline void print_figures(const std::vector<outcome>& outcomes, std::span<const figure_row> rows) {
    std::printf("\n%-46s", "");
    for (const outcome& o : outcomes) {
        std::printf(" %26s", o.timer.c_str());
    }
    for (const figure_row& row : rows) {
        std::printf("\n%-46s", row.title);
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

/// Prints one line per check.
inline void print_checks(const outcome& o, const std::vector<check>& checks, int margin_ms) {
    const bool busy = was_too_busy(o, margin_ms);
    std::printf("\nchecks, %s\n", o.timer.c_str());
    for (const check& c : checks) {
        const char* const result = c.passed ? "ok" : c.failed(busy) ? "FAILED" : "?";
        std::printf("  %-7s %s\n", result, c.text.c_str());
    }
}

/// Explains why a trial is inconclusive. `fewer` is the option that reduces the load.
inline void print_busy(const machine_lateness& machine, int margin_ms, const char* fewer) {
    std::printf(
        "\nChecks with a question mark are inconclusive: this machine was too busy. The clients\n"
        "themselves were %.0f ms late, a process that only sleeps was %.0f ms late, and a process\n"
        "waited %.0f ms for a processor within one second. The limit is %.0f ms. Try again, or\n"
        "use fewer %s.\n",
        machine.clients_ms, machine.idle_process_ms, machine.cpu_wait_ms,
        max_machine_lateness_ms(margin_ms), fewer);
}

/// Prints the last line and returns the exit status of the demo.
inline int conclude(trial_result all) {
    std::printf("\n%s\n", all == trial_result::passed ? "all checks passed"
                          : all == trial_result::failed
                              ? "some checks FAILED"
                              : "inconclusive: this machine was too busy");
    return static_cast<int>(all);
}

} // namespace demo

#endif
