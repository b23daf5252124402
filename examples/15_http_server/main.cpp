// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An HTTP server with timeouts, so that no client can hold it up. This program runs it with four
// clients: a well-behaved one, one that sends its header byte by byte (a slow-loris), one that does
// so with its body, and one that sends nothing.

#include "clients.hpp"
#include "server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

using namespace http_server;

asio::awaitable<void> clients(tcp::acceptor& acceptor, record& seen, bool& as_promised) {
    const tcp::endpoint where = acceptor.local_endpoint();
    const int answers = co_await well_behaved(where, 3);
    std::cout << "well-behaved: " << answers << " answers\n";

    const auto header = co_await slow_loris(where, "GET / HTTP/1.1\r\nX: ");
    std::cout << "header byte by byte: closed after " << header.count() << " ms\n";

    const auto body =
        co_await slow_loris(where, "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    std::cout << "body byte by byte: closed after " << body.count() << " ms\n";

    co_await silent(where);
    acceptor.close();
    std::cout << "the server answered " << seen.answered << " requests; timed out:";
    for (const auto& [what, times] : seen.late) {
        std::cout << " waiting for " << what << ", " << times << ';';
    }
    std::cout << '\n';
    as_promised = answers == 3 && seen.answered == 3 && header >= header_time &&
                  body >= body_time && seen.late["a header"] == 1 && seen.late["a body"] == 1 &&
                  seen.late["a request"] == 1 && seen.late.size() == 3;
}

int main() {
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    record seen;
    bool as_promised = false;
    asio::co_spawn(ctx, server(acceptor, seen), asio::detached);
    asio::co_spawn(ctx, clients(acceptor, seen, as_promised), asio::detached);
    ctx.run();
    return as_promised ? 0 : 1;
}
