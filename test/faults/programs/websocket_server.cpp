// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The WebSocket server of the example.

#define main example_main
#include "../../../examples/16_websocket.cpp"
#undef main

#include "host.hpp"

#include <cstdio>

int main(int argc, char** argv) {
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
    std::printf("result connections=%d messages=%d timed_out=%d closed=%d\n", connections, messages,
                timed_out, closed);
}
