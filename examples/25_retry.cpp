// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A client that starts before its server: it connects again until somebody listens.

#include <asio_wheel/retry.hpp>
#include <asio_wheel/sleep.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Has a port, and listens to it when it is ready.
asio::awaitable<void> server(tcp::acceptor& acceptor) {
    co_await asio_wheel::async_sleep_for(acceptor.get_executor(), 50ms, asio::use_awaitable);
    acceptor.listen();
    co_await acceptor.async_accept(asio::use_awaitable);
}

asio::awaitable<void> client(tcp::endpoint peer, std::size_t& tries) {
    tcp::socket socket(co_await asio::this_coro::executor);
    const auto connect = [&](auto token) { return socket.async_connect(peer, token); };
    const auto close = [&](const asio_wheel::retry_pause& p, error_code ec) {
        std::cout << "try " << p.tries << ": " << ec.message() << '\n';
        socket.close(); // Some systems do not connect a socket again.
    };
    const asio_wheel::retry_options options{.try_timeout = 1s,
                                            .timeout = 20s,
                                            .pauses = {.initial = 10ms, .max = 100ms},
                                            .on_retry = close,
                                            .tries = &tries};
    auto connected =
        asio_wheel::async_retry(socket.get_executor(), connect, options, asio::use_awaitable);
    co_await std::move(connected);
    std::cout << "connected after " << tries << " tries\n";
}

int main() {
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, tcp::v4());
    acceptor.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::size_t tries = 0;
    asio::co_spawn(ctx, server(acceptor), asio::detached);
    asio::co_spawn(ctx, client(acceptor.local_endpoint(), tries), asio::detached);
    ctx.run();
    return tries > 1 ? 0 : 1;
}
