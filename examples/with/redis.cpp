// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// Boost.Redis (from 1.84), OpenSSL.

// Timeouts of commands with Boost.Redis. Its argument is the port of a server on this machine.
//
// A command that has timed out may still be under way, so the connection is of no use any more: a
// later command would wait for its answer. Therefore it is replaced.

#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/src.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>

namespace asio = boost::asio;
namespace redis = boost::redis;
using namespace std::chrono_literals;
using asio_wheel::timeout;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

// A connection that runs, and reconnects, until it is destroyed.
class client {
public:
    client(asio::any_io_executor ex, std::string port)
        : connection_(std::make_shared<redis::connection>(ex)) {
        redis::config where;
        where.addr.host = "127.0.0.1";
        where.addr.port = std::move(port);
        const auto keep = [c = connection_](boost::system::error_code) {};
        connection_->async_run(where, redis::logger(redis::logger::level::err), keep);
    }
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() { connection_->cancel(); }

    redis::connection* operator->() const { return connection_.get(); }

private:
    std::shared_ptr<redis::connection> connection_;
};

asio::awaitable<std::string> ping(client& c) {
    redis::request request;
    request.push("PING", "pong");
    redis::response<std::string> answer;
    co_await c->async_exec(request, answer, timeout(2s, asio::use_awaitable));
    co_return std::get<0>(answer).value();
}

asio::awaitable<bool> all_goes_well(std::string port) {
    const auto ex = co_await asio::this_coro::executor;
    auto c = std::make_unique<client>(ex, port);
    std::cout << "a command in time: " << co_await ping(*c) << '\n';

    redis::request request;
    request.push("BLPOP", "a list to which nothing is added", "0");
    const auto [ec, size] =
        co_await (*c)->async_exec(request, redis::ignore, timeout(200ms, as_tuple));
    std::cout << "a command that blocks: " << ec.message() << '\n';
    if (ec != asio_wheel::error::timed_out) {
        co_return false;
    }
    c = std::make_unique<client>(ex, port);
    std::cout << "on a new connection: " << co_await ping(*c) << '\n';
    co_return true;
}

int main(int argc, char** argv) {
    asio::io_context ctx;
    bool well = false;
    asio::co_spawn(ctx, all_goes_well(argc > 1 ? argv[1] : "6379"),
                   [&](std::exception_ptr error, bool result) { well = !error && result; });
    ctx.run();
    return well ? 0 : 1;
}
