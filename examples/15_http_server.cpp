// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An HTTP server that nobody can hold up: a connection has so long to send a header, so long to send a
// body, so long to take the response, and so long until the next request. The clients here are one that
// behaves, one that sends its header byte by byte (a slow-loris), one that does so with its body, and one
// that sends nothing.

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using stream = asio_wheel::timeout_stream<tcp::socket>;

constexpr auto keep_alive = 300ms;
constexpr auto header_time = 200ms;
constexpr auto body_time = 250ms;
constexpr auto response_time = 200ms;

// What the server saw: how many requests it has answered, and what connections were waiting for when
// they timed out.
struct record {
    int answered = 0;
    std::map<std::string, int> late;
};

asio::awaitable<void> session(stream connection, record& seen) {
    boost::beast::flat_buffer in;
    std::string_view waiting_for;
    try {
        for (;;) {
            if (in.size() == 0) {
                waiting_for = "a request";
                connection.expires_after(keep_alive);
                const auto space = in.prepare(4096);
                in.commit(co_await connection.async_read_some(space, asio::use_awaitable));
            }
            waiting_for = "a header"; // All of it: a byte now and then does not help.
            connection.expires_after(header_time);
            http::request_parser<http::string_body> request;
            co_await http::async_read_header(connection, in, request, asio::use_awaitable);

            waiting_for = "a body";
            connection.expires_after(body_time);
            co_await http::async_read(connection, in, request, asio::use_awaitable);

            waiting_for = "the end of a response";
            connection.expires_after(response_time);
            http::response<http::string_body> response(http::status::ok, request.get().version(),
                                                       request.get().body());
            response.keep_alive(request.get().keep_alive());
            response.prepare_payload();
            co_await http::async_write(connection, response, asio::use_awaitable);
            ++seen.answered;
            if (!response.keep_alive()) {
                break;
            }
        }
    } catch (const boost::system::system_error& e) {
        if (e.code() == std::errc::timed_out) {
            ++seen.late[std::string(waiting_for)]; // The connection is closed already.
        }
    }
}

// Accepts until the acceptor is closed. When descriptors have run out, it tries again soon.
asio::awaitable<void> server(tcp::acceptor& acceptor, record& seen) {
    const auto ex = acceptor.get_executor();
    for (int failures = 0; acceptor.is_open();) {
        try {
            if (failures != 0) {
                co_await asio_wheel::async_sleep_for(ex, 10ms, asio::use_awaitable);
            }
            auto socket = co_await acceptor.async_accept(asio::use_awaitable);
            asio::co_spawn(ex, session(stream(std::move(socket)), seen), asio::detached);
            failures = 0;
        } catch (const std::exception& e) {
            if (acceptor.is_open() && failures++ == 0) {
                std::cerr << "not accepted: " << e.what() << std::endl;
            }
        }
    }
}

// Asks some questions on one connection. Returns how many were answered.
asio::awaitable<int> well_behaved(tcp::endpoint where, int questions) {
    stream connection(co_await asio::this_coro::executor);
    connection.expires_after(1s);
    co_await connection.async_connect(where, asio::use_awaitable);
    boost::beast::flat_buffer in;
    int answers = 0;
    for (int i = 0; i < questions; ++i) {
        http::request<http::string_body> request(http::verb::post, "/", 11, std::to_string(i));
        request.keep_alive(i + 1 < questions);
        request.prepare_payload();
        connection.expires_after(1s);
        co_await http::async_write(connection, request, asio::use_awaitable);
        http::response<http::string_body> response;
        co_await http::async_read(connection, in, response, asio::use_awaitable);
        answers += response.body() == std::to_string(i) ? 1 : 0;
        co_await asio_wheel::async_sleep_for(connection.get_executor(), 20ms, asio::use_awaitable);
    }
    co_return answers;
}

// Sends `at_once`, and then x after x until the server has had enough. Returns how long that was.
asio::awaitable<std::chrono::milliseconds> slow_loris(tcp::endpoint where, std::string at_once) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::use_awaitable);
    const auto start = std::chrono::steady_clock::now();
    boost::system::error_code ec;
    std::string text = std::move(at_once);
    while (!ec) {
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await asio::async_write(socket, asio::buffer(text), std::move(token));
        text = "x";
        co_await asio_wheel::async_sleep_for(socket.get_executor(), 10ms, asio::use_awaitable);
    }
    co_return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
}

// Connects, and waits for the server to give up.
asio::awaitable<void> silent(tcp::endpoint where) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::use_awaitable);
    char c = 0;
    const auto token = asio::as_tuple(asio::use_awaitable);
    co_await socket.async_read_some(asio::buffer(&c, 1), token);
}

asio::awaitable<void> clients(tcp::acceptor& acceptor, record& seen, bool& as_promised) {
    const tcp::endpoint where = acceptor.local_endpoint();
    const int answers = co_await well_behaved(where, 3);
    std::cout << "well-behaved: " << answers << " answers\n";

    const auto header = co_await slow_loris(where, "GET / HTTP/1.1\r\nX: ");
    std::cout << "header in drops: closed after " << header.count() << " ms\n";

    const auto body =
        co_await slow_loris(where, "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    std::cout << "body in drops: closed after " << body.count() << " ms\n";

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
