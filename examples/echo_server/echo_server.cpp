// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An echo and heartbeat server on loopback that closes idle connections.
//
// It has one thread and two coroutines per connection (session.hpp). The timer type is a template
// parameter, so the same server runs on asio_wheel::steady_timer and on boost::asio::steady_timer.

#include "../support/options.hpp"
#include "file_limit.hpp"
#include "other_deadlines.hpp"
#include "server.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstdio>
#include <exception>

namespace {

using namespace echo;

struct settings {
    int port = 0;
    double idle = 5;
    bool on_asio = false;
    bool per_line = false;
    bool without = false;
    bool quiet = false;
};

} // namespace

int main(int argc, char** argv) {
    settings s;
    const command_line options(
        "echo_server", "Run an echo server with idle timeouts on loopback.",
        {{"--port", &s.port, "port (0: any free port)", 0, 65535},
         {"--idle", &s.idle, "idle timeout in seconds (5)", 0.2, 3600},
         {"--asio", &s.on_asio, "use boost::asio::steady_timer"},
         {"--asio-per-line", &s.per_line, "re-arm Asio's timer on each line"},
         {"--none", &s.without, "use no timeouts"},
         {"--quiet", &s.quiet, "print no progress"}});
    options.parse(argc, argv);
    if (s.on_asio + s.per_line + s.without > 1) {
        options.fail("--asio, --asio-per-line and --none are mutually exclusive");
    }
    try {
        raise_file_limit();
        if (s.on_asio) {
            server<asio::steady_timer>(s.port, s.idle).run(s.quiet);
        } else if (s.per_line) {
            server<per_line<asio::steady_timer>>(s.port, s.idle).run(s.quiet);
        } else if (s.without) {
            server<no_timer>(s.port, s.idle).run(s.quiet);
        } else {
            server<asio_wheel::steady_timer>(s.port, s.idle).run(s.quiet);
        }
    } catch (const boost::system::system_error& e) {
        std::fprintf(stderr, "echo_server: cannot listen on port %d: %s\n", s.port,
                     e.code().message().c_str());
        return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "echo_server: %s\n", e.what());
        return 1;
    }
    return 0;
}
