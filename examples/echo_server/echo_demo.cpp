// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs echo_server under echo_load, each in a process of its own, shows the progress, and checks
// that every idle connection was closed in time. Exits with 0 if all checks passed, with 1 if one
// failed, and with 77 if one did not pass but this machine was too busy to blame the server.

#include "../support/checks.hpp"
#include "../support/compare.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"
#include "demo_trial.hpp"
#include "figures.hpp"
#include "file_limit.hpp"
#include "plan.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace echo;

int main(int argc, char** argv) {
    demo_settings s;
    bool on_asio = false;
    bool in_turn = false;
    int pairs = 5;
    std::string page;
    const command_line options(
        "echo_demo", "Run an echo server with idle timeouts under thousands of TCP connections.",
        {{"--asio", &on_asio, "run the server on boost::asio::steady_timer"},
         {"--compare", &in_turn, "run the server on both timers in turn, and judge each figure"},
         {"--pairs", &pairs, "how often in turn (5); fewer than 4 are not judged", 1, 100},
         {"--page", &page, "write the comparison to this file, as HTML"},
         {"--connections", &s.connections, "number of connections (10000, or 1000 to compare)", 10,
          100000},
         {"--seconds", &s.seconds, "total duration of the load in seconds (24 or 30)", 2, 3600},
         {"--idle", &s.idle, "idle timeout in seconds (5, or a quarter of a run)", 0.2, 3600},
         {"--margin", &s.margin_ms, "allowed lateness in milliseconds (250)", 1, 60000}});
    options.parse(argc, argv);
    if (s.connections == 0) { // Connecting 10,000 clients would take most of a short run.
        s.connections = in_turn ? 1000 : 10000;
    }
    if (s.seconds == 0) {
        s.seconds = in_turn ? 30 : 24;
    }
    if (in_turn) {
        s.seconds /= 2 * pairs;
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
        if (in_turn) {
            s.quiet = true;
            return compare(
                {pairs, s.margin_ms, figures,
                 text("%d connections with an idle timeout of %g s, %g s in each run; and "
                      "the timers alone",
                      s.connections, s.idle, s.seconds),
                 page},
                [&](bool asio) { return run(s, argv[0], asio); },
                [&](const outcome& o) { return checks(o, s.margin_ms); });
        }
        const std::vector<outcome> outcomes{run(s, argv[0], on_asio)};
        print_figures(outcomes, figures);
        return conclude(report(outcomes.front(), s.margin_ms));
    } catch (const interrupted&) {
        return 130;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_demo: %s\n", e.what());
        return 1;
    }
}
