// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A UDP relay on loopback with a table of sessions (relay.hpp), for each of the timers.

#include "../support/options.hpp"
#include "../support/record.hpp"
#include "meters.hpp"
#include "relay.hpp"
#include "server_summary.hpp"
#include "timers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <exception>

namespace {

using namespace sessions;

template <class Timer>
void run(const relay_settings& s) {
    meters counted;
    asio::io_context io(1);
    relay<Timer> table(io, s, counted);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](error_code, int) { io.stop(); });
    std::printf("listening on 127.0.0.1:%d\n", table.port());
    std::fflush(stdout);
    io.run();
    print_result(summary(counted, table, io));
}

} // namespace

int main(int argc, char** argv) {
    relay_settings s;
    bool on_asio = false;
    bool moved = false;
    bool without = false;
    const command_line options(
        "session_server", "Run a UDP relay on loopback whose sessions have timeouts.",
        {{"--port", &s.port, "port for peers (0: any free port)", 0, 65535},
         {"--expected", &s.expected, "sessions to reserve memory for (1000)", 1, 100000000},
         {"--idle", &s.idle, "idle timeout in seconds (30)", 0.2, 3600},
         {"--deadline", &s.deadline, "seconds until a request times out (2)", 0.1, 3600},
         {"--plain", &s.plain, "use one system call for each datagram"},
         {"--asio", &on_asio, "use boost::asio::steady_timer"},
         {"--postpone", &moved, "call postpone() for each datagram"},
         {"--none", &without, "use no timeouts"}});
    options.parse(argc, argv);
    if (on_asio + moved + without > 1) {
        options.fail("--asio, --postpone and --none are mutually exclusive");
    }
    try {
        if (without) {
            run<no_timer>(s);
        } else if (on_asio) {
            run<asio_timer>(s);
        } else if (moved) {
            run<postponed>(s);
        } else {
            run<wheel_timer>(s);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "session_server: %s\n", e.what());
        return 1;
    }
    return 0;
}
