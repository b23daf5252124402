// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The same echo server with coroutines. One coroutine reads and answers. The other waits for the
// idle deadline, which each line postpones.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
constexpr auto idle = 300ms;
constexpr std::size_t longest_line = 4096; // A longer one ends the connection.
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

struct connection {
    explicit connection(tcp::socket s) : socket(std::move(s)), timer(socket.get_executor(), idle) {}
    tcp::socket socket;
    asio_wheel::steady_timer timer;
};

asio::awaitable<void> watch(std::shared_ptr<connection> c) {
    auto [ec] = co_await c->timer.async_wait(as_result);
    if (ec != asio::error::operation_aborted) { // Expired, or refused by a full wheel.
        c->socket.close();                      // Ends the read.
    }
}

asio::awaitable<void> echo(std::shared_ptr<connection> c) {
    std::string line;
    for (;;) {
        auto text = asio::dynamic_buffer(line, longest_line);
        auto [ended, size] = co_await asio::async_read_until(c->socket, text, '\n', as_result);
        if (ended) {
            break;
        }
        if (c->timer.postpone(idle) == 0) { // The wait continues with a later expiry, unless
            break;                          // it has expired; then the socket is closed.
        }
        auto [failed, sent] = co_await asio::async_write(c->socket, text, as_result);
        if (failed) { // What is not sent is still in `line`, and would be read again.
            break;
        }
    }
    c->timer.cancel();
}

asio::awaitable<void> serve_one(tcp::acceptor& acceptor) {
    auto c = std::make_shared<connection>(co_await acceptor.async_accept(asio::use_awaitable));
    asio::co_spawn(acceptor.get_executor(), watch(c), asio::detached);
    co_await echo(c);
}

/// Waits, sends one word, reads until the server closes, and returns how long that took.
asio::awaitable<std::chrono::nanoseconds> visit(tcp::endpoint server, std::string& heard) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    asio_wheel::steady_timer hesitation(socket.get_executor(), idle * 2 / 3);
    co_await hesitation.async_wait(asio::use_awaitable);
    const auto spoke = std::chrono::steady_clock::now();
    co_await asio::async_write(socket, asio::buffer("hello\n", 6), asio::use_awaitable);
    co_await asio::async_read(socket, asio::dynamic_buffer(heard), as_result);
    co_return std::chrono::steady_clock::now() - spoke;
}

int main() {
    asio::io_context io;
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    std::string heard;
    std::chrono::nanoseconds open_for{};
    asio::co_spawn(io, serve_one(acceptor), asio::detached);
    asio::co_spawn(io, visit(acceptor.local_endpoint(), heard),
                   [&](std::exception_ptr, std::chrono::nanoseconds took) { open_for = took; });

    io.run_for(2500ms); // Returns as soon as all operations have completed.
    std::cout << "received " << heard << "closed after " << open_for / 1ms << " idle ms\n";
    return heard == "hello\n" && open_for >= idle ? 0 : 1;
}
