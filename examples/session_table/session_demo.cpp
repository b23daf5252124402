// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs session_server under session_load, each in a process of its own, and checks that every
// session and every request ended in time. Exits with 0 if all checks passed, with 1 if one failed,
// and with 77 if one did not pass but this machine was too busy to blame the server.

#include "../support/checks.hpp"
#include "../support/compare.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"
#include "../support/trial.hpp"
#include "checks.hpp"
#include "demo_trial.hpp"
#include "figures.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace sessions;

int main(int argc, char** argv) {
    demo_settings s;
    bool on_asio = false;
    bool postpone = false;
    bool in_turn = false;
    int pairs = 5;
    std::string page;
    const command_line options(
        "session_demo", "Run a UDP relay with up to a million sessions that have idle timeouts.",
        {{"--sessions", &s.count, "number of sessions (1000000)", 1000, 10'000'000},
         {"--asio", &on_asio, "run the relay on boost::asio::steady_timer"},
         {"--postpone", &postpone, "call postpone() for each datagram"},
         {"--compare", &in_turn, "run the relay on both timers in turn, and judge each figure"},
         {"--pairs", &pairs, "how often in turn (5); fewer than 4 are not judged", 1, 100},
         {"--page", &page, "write the comparison to this file, as HTML"},
         {"--seconds", &s.seconds, "duration of the steady state in seconds (20, or 4 in turn)",
          0.5, 3600},
         {"--idle", &s.idle, "idle timeout in seconds (2 to 10)", 0.5, 3600},
         {"--deadline", &s.deadline, "seconds for a request (2, or half of --idle)", 0.1, 3600},
         {"--plain", &s.plain, "use one system call for each datagram"},
         {"--margin", &s.margin_ms, "allowed lateness in milliseconds (250)", 1, 60000}});
    options.parse(argc, argv);
    if (s.seconds == 0) {
        s.seconds = in_turn ? 4 : 20;
    }
    if (s.idle == 0) {
        s.idle = std::clamp(s.count / 50'000.0, 2.0, 10.0);
    }
    if (s.deadline == 0) {
        s.deadline = std::min(2.0, s.idle / 2);
    }
    const std::string how =
        text("%d sessions with an idle timeout of %g s%s; requests have a "
             "deadline of %g s",
             s.count, s.idle, postpone ? ", moved by postpone()" : "", s.deadline);
    std::printf("%s\n", how.c_str());
    std::fflush(stdout);

    const auto run = [&](bool asio) {
        return trial(plan(s, argv[0],
                          asio       ? variant{"boost::asio::steady_timer", "--asio"}
                          : postpone ? variant{"the same with postpone()", "--postpone"}
                                     : variant{"asio_wheel::steady_timer", ""}))
            .run();
    };
    try {
        if (in_turn) {
            return compare({pairs, s.margin_ms, figures, how, page}, run,
                           [&](const outcome& o) { return checks(o, s.margin_ms); });
        }
        const std::vector<outcome> outcomes{run(on_asio)};
        const outcome& o = outcomes.front();
        print_figures(outcomes, figures);
        print_checks(o, checks(o, s.margin_ms), s.margin_ms);
        const trial_result result = evaluate(o, s.margin_ms);
        if (result == trial_result::inconclusive) {
            print_busy(o.machine, s.margin_ms, "--sessions");
        }
        return conclude(result);
    } catch (const interrupted&) {
        return 130;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_demo: %s\n", e.what());
        return 1;
    }
}
