// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The load generator for echo_server: thousands of TCP connections that stay active, go idle, send
// byte by byte or disconnect. They check when the server closes them.

#include "../support/coroutine.hpp"
#include "../support/options.hpp"
#include "../support/record.hpp"
#include "file_limit.hpp"
#include "keep_connected.hpp"
#include "load.hpp"
#include "load_settings.hpp"
#include "load_summary.hpp"
#include "plan.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>

namespace {

using namespace echo;

void run(const load_settings& s) {
    const auto loopback = asio::ip::address_v4::loopback();
    const auto started = steady_clock::now();
    asio::io_context io(1);
    load plan{
        .server = {loopback, static_cast<std::uint16_t>(s.port)},
        .idle = from_seconds(s.idle),
        .margin = std::chrono::milliseconds(s.margin),
        .end = started + from_seconds(s.seconds),
        .seen = {},
        .delay = own_delay(io),
        .pause = s.pause < 0 ? std::nullopt : std::optional(from_seconds(s.pause)),
    };
    plan.delay.run();
    int clients = s.connections;
    for (int i = 0; i < s.connections; ++i) { // Start all within a tenth of the time.
        const auto start = from_seconds(s.seconds / 10 * i / s.connections);
        asio::co_spawn(io, keep_connected(i, role_for(s, i), start, plan),
                       [&](std::exception_ptr thrown) {
                           if (--clients == 0) {
                               plan.delay.stop();
                           }
                           rethrow(thrown);
                       });
    }
    // run_until() returns early when all connections have ended. Those that still exist afterwards
    // count as left open.
    io.run_until(plan.end + plan.heartbeat() + plan.margin + std::chrono::seconds(1));
    const auto took = std::chrono::duration<double>(steady_clock::now() - started);
    // Nothing is sent after s.seconds, even if some connections are still open.
    print_result(summary(plan.seen, plan.delay, std::min(took.count(), s.seconds)));
}

} // namespace

int main(int argc, char** argv) {
    load_settings s;
    const command_line options(
        "echo_load", "Generate load for echo_server, with well-behaved clients and others.",
        {{"--port", &s.port, "port of the server (required)", 1, 65535},
         {"--connections", &s.connections, "number of connections (10000)", 10, 100000},
         {"--seconds", &s.seconds, "duration in seconds (20)", 1, 3600},
         {"--idle", &s.idle, "idle timeout of the server in seconds (5)", 0.2, 3600},
         {"--margin", &s.margin, "allowed lateness in milliseconds (250)", 1, 60000},
         {"--pause", &s.pause, "seconds between heartbeats (1, or a third of --idle)", 0, 3600},
         {"--active", &s.active, "all clients stay active"},
         {"--slow-loris", &s.slow_loris,
          "one client in ten is a slow-loris, the others stay active"}});
    options.parse(argc, argv);
    if (s.port == 0) {
        options.fail("--port: missing");
    }
    // Clients that stay active have no deadlines to meet.
    const auto error = s.active ? "" : error_in_plan(s.seconds, s.idle, s.margin);
    if (!error.empty()) {
        options.fail(error);
    }
    const int allowed = connections_allowed(raise_file_limit());
    if (s.connections > allowed) {
        std::printf("the limit of open files allows %d connections\n", allowed);
        s.connections = allowed;
    }
    try {
        run(s);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_load: %s\n", e.what());
        return 1;
    }
}
