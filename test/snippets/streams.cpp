// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The code about streams in headers and guides, compiled and run, over sockets whose peers the
// cases control. Time is virtual, so a peer can be silent for 30 s without delay.

#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "snippets/support.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#ifdef ASIO_WHEEL_HAS_OPENSSL
#include <boost/asio/ssl.hpp>
#endif

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_streams, *boost::unit_test::timeout(60))

namespace http = boost::beast::http;

asio::awaitable<void> one_deadline_for_a_request(tcp::socket& socket) {
    boost::beast::flat_buffer buffer;
    http::request<http::string_body> request;
#include "include/asio_wheel/timeout_stream.hpp/asio_wheel_timeout_stream_tcp_socket.inc"
}

BOOST_FIXTURE_TEST_CASE(timeout_stream_throws_timed_out, snippet_world) {
    connection c(ctx);
    begin(one_deadline_for_a_request(c.socket));
    const std::string half = "GET / HTTP/1.1\r\nHost: www.example.org";
    for (int i = 0; i < 29; ++i) { // A slow-loris gains nothing.
        asio::write(c.peer, asio::buffer(half.data() + i, 1));
        pass(1s);
    }
    pass(1s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

asio::awaitable<void> one_deadline_for_each_part(tcp::socket& socket) {
    asio_wheel::timeout_stream<tcp::socket> stream(std::move(socket));
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
#include "include/asio_wheel/detail/timeout_stream/setters.hpp/stream_expires_after_5s.inc"
    BOOST_TEST(parser.get().body() == "ab");
}

BOOST_FIXTURE_TEST_CASE(timeout_stream_gives_header_and_body_their_deadlines, snippet_world) {
    const std::string header = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n";
    {
        connection c(ctx);
        begin(one_deadline_for_each_part(c.socket));
        asio::write(c.peer, asio::buffer(header));
        pass(1s);
        asio::write(c.peer, asio::buffer("a", 1));
        pass(50s); // More than the limit for a header, and less than that for a body.
        BOOST_TEST(!over);
        asio::write(c.peer, asio::buffer("b", 1));
        pass(1ms);
        BOOST_TEST(over);
        BOOST_TEST(!error);
    }
    connection c(ctx);
    begin(one_deadline_for_each_part(c.socket));
    pass(5s);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

asio::awaitable<void> a_deadline_for_a_line(asio_wheel::timeout_stream<tcp::socket>& stream) {
    std::string text;
    auto input = asio::dynamic_buffer(text);
#include "include/asio_wheel/detail/timeout_stream/setters.hpp/stream_read_expires_after_60s.inc"
    BOOST_TEST(text == "line\n");
}

asio::awaitable<void> a_deadline_for_a_header(asio_wheel::timeout_stream<tcp::socket>& stream) {
    std::string input;
#include "docs/guide/timeout_stream.md/stream_read_expires_after_60s_for.inc"
    BOOST_TEST(input.substr(0, n) == "GET / HTTP/1.1\r\n\r\n");
}

BOOST_FIXTURE_TEST_CASE(timeout_stream_limits_a_message_from_its_first_byte, snippet_world) {
    connection c(ctx);
    asio_wheel::timeout_stream<tcp::socket> stream(std::move(c.socket));
    begin(a_deadline_for_a_line(stream));
    pass(59s); // Silence.
    asio::write(c.peer, asio::buffer("li", 2));
    poll();
    pass(5s - 1ms);
    BOOST_TEST(!over);
    asio::write(c.peer, asio::buffer("ne\n", 3));
    poll();
    BOOST_TEST(over);
    BOOST_TEST(!error);
    begin(a_deadline_for_a_header(stream));
    pass(59s);
    asio::write(c.peer, asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
    poll();
    BOOST_TEST(over);
    BOOST_TEST(!error);
    begin(a_deadline_for_a_header(stream));
    asio::write(c.peer, asio::buffer("GET", 3));
    poll();
    pass(5s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

#ifdef ASIO_WHEEL_HAS_OPENSSL

asio::awaitable<void> handshake(tcp::socket& socket, asio::ssl::context& tls) {
#include "docs/guide/timeout_stream.md/asio_ssl_stream_asio_wheel.inc"
}

BOOST_FIXTURE_TEST_CASE(timeout_stream_below_tls_times_out, snippet_world) {
    connection c(ctx);
    asio::ssl::context tls(asio::ssl::context::tls_server);
    begin(handshake(c.socket, tls));
    pass(10s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

asio::awaitable<void> ask(tcp::socket& socket, asio::ssl::context& tls) {
    const std::string request = "how are you?\n";
    std::string answer;
#include "docs/guide/timeout_stream.md/asio_wheel_timeout_stream_asio_ssl.inc"
}

BOOST_FIXTURE_TEST_CASE(timeout_stream_above_tls_times_out, snippet_world) {
    connection c(ctx);
    asio::ssl::context tls(asio::ssl::context::tls_client);
    begin(ask(c.socket, tls));
    pass(10s - 1ms);
    BOOST_TEST(!over);
    pass(1ms);
    BOOST_TEST(over);
    BOOST_TEST((error == asio_wheel::error::timed_out));
}

#endif

struct serving {
    asio_wheel::timeout_stream<tcp::socket> stream;
};

BOOST_FIXTURE_TEST_CASE(timeout_stream_guide_stops_waiting_soon, snippet_world) {
    connection first(ctx), second(ctx);
    std::vector<serving> sessions;
    sessions.push_back({asio_wheel::timeout_stream<tcp::socket>(std::move(first.socket))});
    sessions.push_back({asio_wheel::timeout_stream<tcp::socket>(std::move(second.socket))});
    int late = 0;
    char memory[1];
    for (serving& s : sessions) {
        s.stream.read_expires_after(1h);
        s.stream.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) {
            late += ec == asio_wheel::error::timed_out ? 1 : 0;
        });
    }
    pass(10min);
    {
#include "docs/guide/timeout_stream.md/for_auto_session_sessions.inc"
    }
    pass(1s);
    BOOST_TEST(late == 2);
}

namespace {

// A layer that is asked.
struct my_layer : tcp::socket {
    using tcp::socket::socket;
    std::size_t left = 2;
    [[nodiscard]] std::size_t queued() { return left--; }
};

#include "docs/guide/timeout_stream.md/std_size_t_unsent_bytes_my_layer.inc"

} // namespace

BOOST_FIXTURE_TEST_CASE(timeout_stream_guide_asks_a_layer_what_its_peer_has_not_taken,
                        snippet_world) {
    asio_wheel::timeout_stream<my_layer> stream(ctx);
    tcp::socket peer(ctx);
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    stream.socket().connect(acceptor.local_endpoint());
    acceptor.accept(peer);
    char memory[1];
    bool late = false;
    stream.idle_after(10s);
    stream.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) {
        late = ec == asio_wheel::error::timed_out;
    });
    for (int i = 0; i < 3; ++i) { // Two, one, none, and none.
        pass(10s);
        BOOST_TEST(!late);
    }
    stream.socket().left = 0;
    pass(10s);
    BOOST_TEST(late);
}

namespace {

using stream_type = asio_wheel::timeout_stream<tcp::socket>;

// A request is one byte. So is an answer: "+", or "!" if it is the last one.
asio::awaitable<std::string> read_request(stream_type& stream) {
    std::string request(1, ' ');
    co_await asio::async_read(stream, asio::buffer(request), use_awaitable);
    co_return request;
}
asio::awaitable<void> write_answer(stream_type& stream, const std::string&, bool last) {
    co_await asio::async_write(stream, asio::buffer(last ? "!" : "+", 1), use_awaitable);
}
asio::awaitable<void> answer_a_request(stream_type& stream) {
    const std::string request = co_await read_request(stream);
    co_await write_answer(stream, request, false);
}

asio::awaitable<void> serve_for_an_hour(stream_type& stream) {
#include "include/asio_wheel/detail/timeout_stream/setters.hpp/const_auto_end_stream.inc"
}

asio::awaitable<void> serve_and_say_which_is_the_last(stream_type& stream) {
#include "docs/guide/timeout_stream.md/const_auto_end_stream.inc"
}

} // namespace

BOOST_FIXTURE_TEST_CASE(timeout_stream_lives_for_an_hour_and_says_in_time_that_it_ends,
                        snippet_world) {
    for (const bool says_it : {false, true}) {
        connection c(ctx);
        stream_type stream(std::move(c.socket));
        begin(says_it ? serve_and_say_which_is_the_last(stream) : serve_for_an_hour(stream));
        std::string answers;
        int minutes = 0;
        for (; !over && minutes < 100; ++minutes) {
            pass(1min);
            asio::write(c.peer, asio::buffer("x", 1));
            poll();
            answers.push_back(' ');
            asio::read(c.peer, asio::buffer(&answers.back(), 1));
        }
        BOOST_TEST((minutes >= 59 && minutes <= 66));
        BOOST_TEST(!error);
        BOOST_TEST((answers.find('!') == (says_it ? answers.size() - 1 : std::string::npos)));
    }
}

asio::awaitable<void> a_rate_for_a_request(stream_type& stream) {
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
#include "include/asio_wheel/detail/timeout_stream/setters.hpp/stream_least_rate_10_000.inc"
    BOOST_TEST(parser.get().body().size() == 20'000U);
}

asio::awaitable<std::string> read_body(stream_type& stream) {
    std::string body(20'000, ' ');
    co_await asio::async_read(stream, asio::buffer(body), use_awaitable);
    co_return body;
}

asio::awaitable<void> a_rate_for_a_body(stream_type& stream) {
#include "docs/guide/timeout_stream.md/stream_least_rate_10_000.inc"
    BOOST_TEST(body.size() == 20'000U);
}

BOOST_FIXTURE_TEST_CASE(timeout_stream_ends_a_slow_peer, snippet_world) {
    for (const std::string header : {"", "POST / HTTP/1.1\r\nContent-Length: 20000\r\n\r\n"}) {
        for (const std::size_t bytes : {10'000U, 9'000U}) {
            connection c(ctx);
            stream_type stream(std::move(c.socket));
            begin(header.empty() ? a_rate_for_a_body(stream) : a_rate_for_a_request(stream));
            asio::write(c.peer, asio::buffer(header));
            const std::string part(bytes, 'x');
            for (int i = 0; i < 2; ++i) {
                pass(9s);
                asio::write(c.peer, asio::buffer(part));
                poll();
            }
            pass(2s);
            BOOST_TEST(over);
            BOOST_TEST((error == (bytes == 10'000 ? error_code()
                                                  : error_code(asio_wheel::error::timed_out))));
            error = {};
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
