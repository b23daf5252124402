// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The statistics of the wheel for Prometheus, over HTTP. With the number of a port, serves until it
// is stopped. Without, asks itself once, and prints what comes.

#include "support/accept.hpp"

#include <asio_wheel/beast.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/openmetrics.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace std::chrono_literals;
using stream = asio_wheel::timeout_stream<tcp::socket>;

http::response<http::string_body> metrics(asio::execution_context& ctx) {
    std::ostringstream text;
    asio_wheel::to_openmetrics(text, asio_wheel::use_wheel(ctx).stats());
    http::response<http::string_body> r(http::status::ok, 11);
    r.set(http::field::content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    r.body() = text.str();
    return r;
}

asio::awaitable<void> serve(stream client, asio::io_context& ctx) {
    beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    client.expires_after(5s);
    co_await http::async_read(client, buffer, request, use_awaitable);
    http::response<http::string_body> response =
        request.target() == "/metrics"
            ? metrics(ctx)
            : http::response<http::string_body>(http::status::not_found, 11);
    response.keep_alive(false); // One request for each connection.
    response.prepare_payload();
    co_await http::async_write(client, response, use_awaitable);
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, asio::io_context& ctx) {
    return demo::accept_until_closed(acceptor, [&ctx](tcp::socket client) {
        asio::co_spawn(ctx, serve(stream(std::move(client)), ctx), [](std::exception_ptr) {});
    });
}

asio::awaitable<void> ask_once(tcp::endpoint server) {
    stream s(co_await asio::this_coro::executor);
    s.expires_after(5s);
    co_await s.async_connect(server, use_awaitable);
    http::request<http::empty_body> request(http::verb::get, "/metrics", 11);
    co_await http::async_write(s, request, use_awaitable);
    beast::flat_buffer buffer;
    http::response<http::string_body> response;
    co_await http::async_read(s, buffer, response, use_awaitable);
    std::cout << response.body();
}

// Measures the lag of the loop once a second, also if nothing else needs the wheel.
asio::awaitable<void> measure() {
    asio_wheel::interval second(co_await asio::this_coro::executor, 1s);
    for (;;) {
        co_await second.async_tick(use_awaitable);
    }
}

int main(int argc, char** argv) {
    asio::io_context ctx;
    const int port = argc > 1 ? std::atoi(argv[1]) : 0;
    tcp::acceptor acceptor(
        ctx, {asio::ip::address_v4::loopback(), static_cast<asio::ip::port_type>(port)});
    asio::co_spawn(ctx, listen(acceptor, ctx), asio::detached);
    asio::co_spawn(ctx, measure(), asio::detached);
    if (port == 0) {
        asio::co_spawn(ctx, ask_once(acceptor.local_endpoint()),
                       [&](std::exception_ptr) { ctx.stop(); });
    }
    ctx.run();
}
