// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs session_server under session_load, each in a process of its own, and checks that every
// session and every request ended in time. Exits with 0 if all checks passed, with 1 if one failed,
// and with 77 if one did not pass but this machine was too busy to blame the server.

#include "../support/checks.hpp"
#include "../support/options.hpp"
#include "../support/report.hpp"
#include "../support/trial.hpp"
#include "checks.hpp"
#include "demo_trial.hpp"
#include "figures.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

using namespace sessions;

int main(int argc, char** argv) {
    demo_settings s;
    bool on_asio = false;
    bool postpone = false;
    bool compare = false;
    const command_line options(
        "session_demo", "Run a UDP relay with up to a million sessions that have idle timeouts.",
        {{"--sessions", &s.count, "number of sessions (1000000)", 1000, 10'000'000},
         {"--asio", &on_asio, "run the relay on boost::asio::steady_timer"},
         {"--postpone", &postpone, "call postpone() for each datagram"},
         {"--compare", &compare, "run all three variants, one after the other"},
         {"--seconds", &s.seconds, "duration of the steady state in seconds (20)", 0.5, 3600},
         {"--idle", &s.idle, "idle timeout in seconds (2 to 10)", 0.5, 3600},
         {"--deadline", &s.deadline, "seconds for a request (2, or half of --idle)", 0.1, 3600},
         {"--plain", &s.plain, "use one system call for each datagram"},
         {"--margin", &s.margin_ms, "allowed lateness in milliseconds (250)", 1, 60000}});
    options.parse(argc, argv);
    if (s.idle == 0) {
        s.idle = std::clamp(s.count / 50'000.0, 2.0, 10.0);
    }
    if (s.deadline == 0) {
        s.deadline = std::min(2.0, s.idle / 2);
    }
    const variant wheel{"asio_wheel::steady_timer", ""};
    const variant moved{"the same with postpone()", "--postpone"};
    const variant asio_variant{"boost::asio::steady_timer", "--asio"};
    std::vector<variant> variants{on_asio ? asio_variant : postpone ? moved : wheel};
    if (compare) {
        variants = {wheel, moved, asio_variant};
    }
    std::printf("%d sessions with an idle timeout of %g s; requests have a deadline of %g s\n",
                s.count, s.idle, s.deadline);
    std::fflush(stdout);

    try {
        std::vector<outcome> outcomes;
        for (const variant& v : variants) {
            outcomes.push_back(trial(plan(s, argv[0], v)).run());
        }
        print_figures(outcomes, figures);
        trial_result all = trial_result::passed;
        for (const outcome& o : outcomes) {
            print_checks(o, checks(o, s.margin_ms), s.margin_ms);
            const trial_result v = evaluate(o, s.margin_ms);
            if (v == trial_result::inconclusive) {
                print_busy(o.machine, s.margin_ms, "--sessions");
            }
            all = worse(all, v);
        }
        return conclude(all);
    } catch (const interrupted&) {
        return 130;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_demo: %s\n", e.what());
        return 1;
    }
}
