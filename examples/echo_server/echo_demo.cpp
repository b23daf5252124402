// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs echo_server under echo_load, each in a process of its own, shows the progress, and checks
// that every idle connection was closed in time. Exits with 0 if all checks passed, with 1 if one
// failed, and with 77 if one did not pass but this machine was too busy to blame the server.

#include "../support/checks.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"
#include "../support/trial.hpp"
#include "demo_trial.hpp"
#include "figures.hpp"
#include "file_limit.hpp"
#include "plan.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

using namespace echo;

int main(int argc, char** argv) {
    demo_settings s;
    bool asio_only = false;
    bool compare = false;
    const command_line options(
        "echo_demo", "Run an echo server with idle timeouts under thousands of TCP connections.",
        {{"--asio", &asio_only, "run the server on boost::asio::steady_timer"},
         {"--compare", &compare, "run the server on both timers, half of the time each"},
         {"--connections", &s.connections, "number of connections (10000)", 10, 100000},
         {"--seconds", &s.seconds, "total duration in seconds (24)", 2, 3600},
         {"--idle", &s.idle, "idle timeout in seconds (5, or a quarter of a run)", 0.2, 3600},
         {"--margin", &s.margin_ms, "allowed lateness in milliseconds (250)", 1, 60000}});
    options.parse(argc, argv);
    if (compare) {
        s.seconds /= 2;
    }
    if (s.idle == 0) {
        s.idle = std::min(5.0, s.seconds / 4);
    }
    if (const auto error = error_in_plan(s.seconds, s.idle, s.margin_ms); !error.empty()) {
        options.fail(error);
    }

    const int allowed = connections_allowed(raise_file_limit());
    std::printf("%d connections with an idle timeout of %g s, for %g s\n",
                std::min(s.connections, allowed), s.idle, s.seconds);
    if (s.connections > allowed) {
        std::printf("(%d were requested, but the limit of open files allows only %d)\n",
                    s.connections, allowed);
        s.connections = allowed;
    }
    std::fflush(stdout);

    try {
        std::vector<outcome> outcomes;
        for (const bool on_asio : {false, true}) {
            if (compare || on_asio == asio_only) {
                outcomes.push_back(trial(plan(s, argv[0], on_asio)).run());
            }
        }
        print_figures(outcomes, figures);
        trial_result all = trial_result::passed;
        for (const outcome& o : outcomes) {
            all = worse(all, report(o, s.margin_ms));
        }
        return conclude(all);
    } catch (const interrupted&) {
        return 130;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_demo: %s\n", e.what());
        return 1;
    }
}
