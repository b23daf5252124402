// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The load generator for session_server: the peers of up to a million sessions, and the upstream
// server that answers them. It opens all sessions, sends traffic, lets many sessions end at the
// same moment, and finally lets all go idle.

#include "../support/options.hpp"
#include "relay_trial.hpp"
#include "settings.hpp"

#include <cstdio>
#include <exception>

using namespace sessions;

int main(int argc, char** argv) {
    load_settings s;
    const command_line options(
        "session_load", "Generate load for session_server: its peers and its upstream.",
        {{"--port", &s.port, "port of the relay (required)", 1, 65535},
         {"--sessions", &s.sessions, "number of sessions (1000)", 100, 100000000},
         {"--seconds", &s.seconds, "duration of the measured traffic in seconds (20)", 0.5, 3600},
         {"--warm-up", &s.warm_up, "seconds of traffic before that (0)", 0, 3600},
         {"--idle", &s.idle, "idle timeout of the relay in seconds (30)", 0.2, 3600},
         {"--deadline", &s.deadline, "seconds until a request times out (2)", 0.1, 3600},
         {"--margin", &s.margin, "allowed lateness in milliseconds (250)", 1, 60000},
         {"--plain", &s.plain, "use one system call for each datagram"},
         {"--traffic-only", &s.traffic_only, "stop after the measured traffic"}});
    options.parse(argc, argv);
    if (s.port == 0) {
        options.fail("--port: missing");
    }
    try {
        relay_trial(s).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_load: %s\n", e.what());
        return 1;
    }
    return 0;
}
