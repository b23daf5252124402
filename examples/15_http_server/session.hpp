// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection of the HTTP server. There is a time limit for each step: for the next request, for
// its header, for its body, and for taking the response.

#ifndef HTTP_SERVER_SESSION_HPP
#define HTTP_SERVER_SESSION_HPP

#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

namespace http_server {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using stream = asio_wheel::timeout_stream<tcp::socket>;

inline constexpr auto keep_alive = 300ms;
inline constexpr auto header_time = 200ms;
inline constexpr auto body_time = 250ms;
inline constexpr auto response_time = 200ms;

// The statistics of the server: how many requests it answered, and how many connections timed out
// in each step.
struct record {
    int answered = 0;
    std::map<std::string, int> late;
};

inline asio::awaitable<void> session(stream connection, record& seen) {
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
            waiting_for = "a header"; // The limit is for the whole header, not for each byte.
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

} // namespace http_server

#endif
