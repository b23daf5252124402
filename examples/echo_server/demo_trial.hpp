// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A trial of the demo: the options of its two programs, and the report at the end.

#ifndef ECHO_DEMO_TRIAL_HPP
#define ECHO_DEMO_TRIAL_HPP

#include "../support/checks.hpp"
#include "../support/report.hpp"
#include "../support/run_alone.hpp"
#include "../support/start_process.hpp"
#include "../support/trial.hpp"
#include "../support/trial_settings.hpp"
#include "checks.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace echo {

struct demo_settings {
    int connections = 0; // 0: main() chooses this and the next two.
    double seconds = 0;
    double idle = 0;
    int margin_ms = 250;
    bool quiet = false; ///< The server prints no progress.
};

inline trial_settings plan(const demo_settings& s, const char* argv0, bool on_asio) {
    std::vector<std::string> server{"--idle", std::to_string(s.idle)};
    if (on_asio) {
        server.emplace_back("--asio");
    }
    if (s.quiet) {
        server.emplace_back("--quiet");
    }
    const std::vector<std::string> load{
        "--connections", std::to_string(s.connections), "--seconds", std::to_string(s.seconds),
        "--idle",        std::to_string(s.idle),        "--margin",  std::to_string(s.margin_ms),
    };
    return {.folder = own_folder(argv0),
            .timer = on_asio ? "boost::asio::steady_timer" : "asio_wheel::steady_timer",
            .server = {"echo_server", server},
            .load = {"echo_load", load},
            // If they get a processor, both end on their own within three seconds after that.
            .at_most = from_seconds(s.seconds) + std::chrono::seconds(10)};
}

/// Runs the timers alone, and then the server.
inline outcome run(const demo_settings& s, const char* argv0, bool on_asio) {
    const program timers{"echo_timers",
                         on_asio ? std::vector<std::string>{"--asio"} : std::vector<std::string>{}};
    record alone = run_alone(own_folder(argv0), timers, std::chrono::seconds(20));
    outcome result = trial(plan(s, argv0, on_asio)).run();
    result.alone = std::move(alone);
    return result;
}

inline trial_result report(const outcome& o, int margin_ms) {
    print_checks(o, checks(o, margin_ms), margin_ms);
    const double too_late = figure(o.load, "cut_off") - figure(o.load, "ignored");
    if (too_late > 0) {
        std::printf("  note    clients sent %.0f heartbeats too late\n", too_late);
    }
    const trial_result v = evaluate(o, margin_ms);
    if (v == trial_result::inconclusive) {
        print_busy(o.machine, margin_ms, "--connections");
    }
    return v;
}

} // namespace echo

#endif
