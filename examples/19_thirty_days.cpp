// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Thirty days in milliseconds: a client reports once an hour over a real connection, and tries
// again with growing pauses when the server refuses. virtual_time moves the time, and lets the
// sockets do their work before it does.

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/virtual_time.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::use_awaitable;
using asio::ip::tcp;
using steady_clock = std::chrono::steady_clock;

struct counts {
    int attempts = 0;
    int reports = 0;
};

// Two of three requests are refused.
asio::awaitable<void> serve(tcp::acceptor& acceptor) {
    for (int request = 1;; ++request) {
        tcp::socket client = co_await acceptor.async_accept(use_awaitable);
        char letter = 0;
        co_await asio::async_read(client, asio::buffer(&letter, 1), use_awaitable);
        letter = request % 3 == 0 ? 'y' : 'n';
        co_await asio::async_write(client, asio::buffer(&letter, 1), use_awaitable);
    }
}

asio::awaitable<bool> ask(tcp::endpoint server) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio_wheel::timeout(5s, use_awaitable));
    char letter = '?';
    co_await asio::async_write(socket, asio::buffer(&letter, 1), use_awaitable);
    co_await asio::async_read(socket, asio::buffer(&letter, 1),
                              asio_wheel::timeout(5s, use_awaitable));
    co_return letter == 'y';
}

// A server that is away, or silent, is asked again, too.
asio::awaitable<bool> report(tcp::endpoint server) {
    try {
        co_return co_await ask(server);
    } catch (const boost::system::system_error&) {
        co_return false;
    }
}

asio::awaitable<void> report_each_hour(tcp::endpoint server, counts& seen) {
    const auto ex = co_await asio::this_coro::executor;
    for (;;) {
        co_await asio_wheel::async_sleep_for(ex, 1h, use_awaitable);
        asio_wheel::backoff pauses({.initial = 1s, .max = 5min});
        while (++seen.attempts, !co_await report(server)) {
            co_await asio_wheel::async_sleep_for(ex, pauses.next(), use_awaitable);
        }
        ++seen.reports;
    }
}

int main() {
    const auto begin = steady_clock::now();
    asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    time.seed(1); // The same pauses each time.
    tcp::acceptor acceptor(ctx, {asio::ip::address_v4::loopback(), 0});
    counts seen;
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    asio::co_spawn(ctx, report_each_hour(acceptor.local_endpoint(), seen), asio::detached);

    time.run_until([&] { return time.elapsed() >= 30 * 24h; });

    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin);
    std::cout << seen.reports << " reports with " << seen.attempts << " attempts in "
              << time.elapsed() / 24h << " days, which took " << took.count() << " ms\n";
    return seen.reports >= 700 && seen.attempts == 3 * seen.reports ? 0 : 1;
}
