// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// Boost.MySQL (1.88 is tested), Boost.Charconv, OpenSSL.

// Timeouts of queries with Boost.MySQL. Its argument is the port of a server on this machine.
//
// A query that has timed out has left the connection in the middle of the protocol, so it is of no
// use any more: it must be replaced. async_connect() does that, on the same object. The server may
// go on with the query all the same; KILL QUERY ends it.

#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio.hpp>
#include <boost/mysql/any_connection.hpp>
#include <boost/mysql/results.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using namespace std::chrono_literals;
using asio_wheel::timeout;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

// Throws if it takes more than five seconds.
asio::awaitable<void> connect(mysql::any_connection& c, std::uint16_t port) {
    mysql::connect_params where;
    where.server_address.emplace_host_and_port("127.0.0.1", port);
    where.username = "root";
    where.ssl = mysql::ssl_mode::disable;
    co_await c.async_connect(where, timeout(5s, asio::use_awaitable));
}

asio::awaitable<bool> all_goes_well(std::uint16_t port) {
    mysql::any_connection c(co_await asio::this_coro::executor);
    co_await connect(c, port);
    mysql::results result;
    co_await c.async_execute("SELECT 'hello'", result, timeout(5s, asio::use_awaitable));
    const std::string hello = result.rows().at(0).at(0).as_string();
    std::cout << "a query in time: " << hello << '\n';

    const auto [ec] = co_await c.async_execute("SELECT SLEEP(5)", result, timeout(200ms, as_tuple));
    std::cout << "a slow query: " << ec.message() << '\n';
    if (ec != asio_wheel::error::timed_out) {
        co_return false;
    }
    co_await connect(c, port);
    co_await c.async_execute("SELECT 1 + 1", result, timeout(5s, asio::use_awaitable));
    const std::int64_t two = result.rows().at(0).at(0).as_int64();
    std::cout << "connected again: " << two << '\n';
    co_return hello == "hello" && two == 2;
}

int main(int argc, char** argv) {
    asio::io_context ctx;
    bool well = false;
    const auto port = static_cast<std::uint16_t>(std::atoi(argc > 1 ? argv[1] : "3306"));
    asio::co_spawn(ctx, all_goes_well(port),
                   [&](std::exception_ptr error, bool result) { well = !error && result; });
    ctx.run();
    return well ? 0 : 1;
}
