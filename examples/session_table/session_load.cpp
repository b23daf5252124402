// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Load for session_server: the peers of up to a million sessions, and the upstream that answers
// them. They open all sessions, talk, let many end at one moment, and fall silent.

#include "../support/options.hpp"
#include "relay_trial.hpp"
#include "settings.hpp"

#include <cstdio>
#include <exception>

using namespace sessions;

int main(int argc, char** argv) {
    load_settings s;
    const command_line options(
        "session_load", "Peers and upstream of session_server.",
        {{"--port", &s.port, "where the relay listens", 1, 65535},
         {"--sessions", &s.sessions, "how many (1000)", 100, 100000000},
         {"--seconds", &s.seconds, "how long to talk (20)", 0.5, 3600},
         {"--warm-up", &s.warm_up, "seconds of talk before (0)", 0, 3600},
         {"--idle", &s.idle, "seconds until the relay ends a silent session (30)", 0.2, 3600},
         {"--deadline", &s.deadline, "seconds it waits for an answer (2)", 0.1, 3600},
         {"--margin", &s.margin, "milliseconds an end may be late (250)", 1, 60000},
         {"--plain", &s.plain, "one system call for each datagram"},
         {"--traffic-only", &s.traffic_only, "stop after talking"}});
    options.parse(argc, argv);
    if (s.port == 0) {
        options.fail("--port is required");
    }
    try {
        relay_trial(s).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_load: %s\n", e.what());
        return 1;
    }
    return 0;
}
