// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The WebSocket server of the example.

#include "failing_memory.hpp"

#include "../../../examples/16_websocket/server.hpp"
#include "host.hpp"

#include <boost/beast/websocket/error.hpp>

#include <cstdio>
#include <system_error>

using namespace websocket_server;

int main(int argc, char** argv) {
    asio_wheel::test::let_memory_fail();
    int connections = 0;
    int messages = 0;
    int timed_out = 0;
    int closed = 0;
    const auto note = [&](const outcome& o) {
        ++connections;
        messages += o.messages;
        timed_out += o.end == std::errc::timed_out ? 1 : 0;
        closed += o.end == websocket::error::closed ? 1 : 0;
    };
    asio_wheel::test::host(argc, argv,
                           [&](tcp::acceptor& acceptor) { return server(acceptor, note); });
    std::printf("result failures=%llu connections=%d messages=%d timed_out=%d closed=%d\n",
                static_cast<unsigned long long>(asio_wheel::test::memory_fails.failures),
                connections, messages, timed_out, closed);
}
