// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// Boost.Beast, OpenSSL.

// HTTPS with Boost.Beast, and deadlines below TLS at both ends. Its argument is a folder with a
// certificate for localhost, certificate.pem, and its key, key.pem.
// When a deadline passes, the stream is closed: TLS cannot go on from the middle of a record.

#include "../support/accept.hpp"

#include <asio_wheel/error.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using asio::use_awaitable, asio::ip::tcp;
using namespace std::chrono_literals;
using tls_stream = ssl::stream<asio_wheel::timeout_stream<tcp::socket>>;

// Answers requests, except for /slow, until the client goes or a deadline passes.
asio::awaitable<void> session(tcp::socket socket, ssl::context& tls) {
    tls_stream stream(std::move(socket), tls);
    stream.next_layer().expires_after(10s);
    co_await stream.async_handshake(ssl::stream_base::server, use_awaitable);
    for (boost::beast::flat_buffer buffer;;) {
        stream.next_layer().expires_after(10s);
        http::request<http::empty_body> request;
        co_await http::async_read(stream, buffer, request, use_awaitable);
        if (request.target() != "/slow") {
            http::response<http::string_body> answer(http::status::ok, 11, "hello");
            answer.prepare_payload();
            co_await http::async_write(stream, answer, use_awaitable);
        }
    }
}

asio::awaitable<void> serve(tcp::acceptor& server, ssl::context& tls) {
    return demo::accept_until_closed(server, [&](tcp::socket socket) {
        asio::co_spawn(server.get_executor(), session(std::move(socket), tls), asio::detached);
    });
}

// Sends a request and returns the answer, or the error if it does not come within the limit.
asio::awaitable<std::string> ask(tcp::endpoint server, ssl::context& tls, std::string target,
                                 std::chrono::milliseconds limit) {
    tls_stream stream(co_await asio::this_coro::executor, tls);
    stream.set_verify_callback(ssl::host_name_verification("localhost"));
    stream.next_layer().expires_after(limit); // for all of it, from connecting to the answer
    try {
        co_await stream.next_layer().async_connect(server, use_awaitable);
        co_await stream.async_handshake(ssl::stream_base::client, use_awaitable);
        const http::request<http::empty_body> request(http::verb::get, target, 11);
        co_await http::async_write(stream, request, use_awaitable);
        http::response<http::string_body> answer;
        boost::beast::flat_buffer buffer;
        co_await http::async_read(stream, buffer, answer, use_awaitable);
        co_return answer.body();
    } catch (const boost::system::system_error& e) {
        co_return e.code() == asio_wheel::error::timed_out ? "timed out" : e.what();
    }
}

asio::awaitable<bool> all_goes_well(tcp::acceptor& server, ssl::context& tls) {
    tcp::acceptor never_accepts(server.get_executor(), {asio::ip::address_v4::loopback(), 0});
    const auto in_time = co_await ask(server.local_endpoint(), tls, "/", 10s);
    const auto slow = co_await ask(server.local_endpoint(), tls, "/slow", 200ms);
    const auto hangs = co_await ask(never_accepts.local_endpoint(), tls, "/", 200ms);
    std::cout << "in time: " << in_time << "; slow: " << slow << "; hangs: " << hangs << '\n';
    server.close(); // So serve() ends.
    co_return in_time == "hello" && slow == "timed out" && hangs == "timed out";
}

int main(int, char** argv) {
    const std::string folder = argv[1];
    ssl::context server_tls(ssl::context::tls_server);
    server_tls.use_certificate_chain_file(folder + "/certificate.pem");
    server_tls.use_private_key_file(folder + "/key.pem", ssl::context::pem);
    ssl::context client_tls(ssl::context::tls_client);
    client_tls.load_verify_file(folder + "/certificate.pem"); // It trusts no other.
    client_tls.set_verify_mode(ssl::verify_peer);
    asio::io_context ctx;
    tcp::acceptor server(ctx, {asio::ip::address_v4::loopback(), 0});
    asio::co_spawn(ctx, serve(server, server_tls), asio::detached);
    bool well = false;
    asio::co_spawn(ctx, all_goes_well(server, client_tls),
                   [&](std::exception_ptr error, bool result) { well = !error && result; });
    ctx.run();
    return well ? 0 : 1;
}
