// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A WebSocket server that detects dead peers. This program runs it with a client that answers pings
// and with one that does not.

#include "clients.hpp"
#include "server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/websocket/error.hpp>

#include <iostream>
#include <system_error>
#include <vector>

using namespace websocket_server;

asio::awaitable<void> clients(tcp::acceptor& acceptor) {
    co_await lively_peer(acceptor.local_endpoint());
    co_await lost_peer(acceptor.local_endpoint());
    acceptor.close();
}

int main() {
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::vector<outcome> seen;
    const auto note = [&](const outcome& o) {
        std::cout << o.messages << " messages, " << o.pings << " pings, " << o.end.message()
                  << '\n';
        seen.push_back(o);
    };
    asio::co_spawn(ctx, server(acceptor, note), asio::detached);
    asio::co_spawn(ctx, clients(acceptor), asio::detached);
    ctx.run();
    seen.resize(2);
    const outcome& lively = seen[0];
    const outcome& lost = seen[1];
    const bool as_promised = lively.end == websocket::error::closed && lively.messages == 1 &&
                             lively.pings >= 1 && lost.end == std::errc::timed_out &&
                             lost.messages == 0 && lost.pings >= 1;
    return as_promised ? 0 : 1;
}
