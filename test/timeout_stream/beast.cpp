// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// Streams and Beast: HTTP and WebSocket on top of them. Where Beast's own stream behaves in the
// same way, the tests check both.

#include <asio_wheel/beast.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/beast/websocket/stream_base.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using stream_type = asio_wheel::timeout_stream<tcp::socket>;
using beast_stream = asio_wheel::beast_stream<>;
// What users derive from one.
struct counting_stream : stream_type {
    using stream_type::stream_type;
    int requests = 0;
};
using our_kinds = std::tuple<stream_type, beast_stream>;
// With a completion port, Beast's stream also reports other errors.
using both_kinds = std::conditional_t<on_completion_port, our_kinds,
                                      std::tuple<stream_type, beast_stream, beast::tcp_stream>>;
// A WebSocket over each of them takes long to compile, so not each case has them all.
using websocket_kinds = std::tuple<beast_stream, counting_stream>;
// Beast's own stream tried what begins after its deadline up to Boost 1.83 or a little longer, but
// not where polls are slow. That of Boost 1.88 does not.
constexpr bool beast_tries = BOOST_VERSION < 108800 && !polls_are_slow;
using beasts_kinds = std::conditional_t<beast_tries, std::tuple<beast_stream, beast::tcp_stream>,
                                        std::tuple<beast_stream>>;

// Both ends of a connection: a stream of any kind, and the peer's socket.
template <class Stream, class Context>
struct ends : Context {
    Stream stream{this->ctx};
    tcp::socket peer{this->ctx};
    std::array<char, 100> memory{};
    std::string log_text;

    ends() {
        tcp::acceptor acceptor(this->ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        stream.socket().connect(acceptor.local_endpoint());
        acceptor.accept(peer);
    }
    void send(const std::string& text) { asio::write(peer, asio::buffer(text)); }
    [[nodiscard]] auto buffer() { return asio::buffer(memory); }
    [[nodiscard]] auto note(const std::string& what) {
        return [this, what](error_code ec, std::size_t = 0) {
            log_text += log_text.empty() ? "" : ", ";
            log_text += what + (!ec                                    ? " ok"
                                : ec == std::errc::timed_out           ? " late"
                                : ec == beast::error::timeout          ? " late"
                                : ec == asio::error::operation_aborted ? " aborted"
                                : ec == asio::error::bad_descriptor    ? " closed"
                                                                       : " " + ec.message());
        };
    }
};

template <class Stream>
using real_ends = ends<Stream, drained_context>;

// What happens to operations that are started after their deadline: `passed` sets it.
template <class Stream, class Passed>
std::string fate_of_late_operations(Passed passed) {
    std::string all;
    const auto with = [&](const std::string& what, auto f) {
        real_ends<Stream> e;
        tcp::acceptor acceptor(e.ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        f(e, acceptor);
        e.run();
        all += what + ": " + e.log_text + (e.stream.socket().is_open() ? "; " : " (closed); ");
    };
    const std::vector<char> much(20'000'000);
    using ends_type = real_ends<Stream>;
    with("nothing to read", [&](ends_type& e, auto&) {
        passed(e.stream);
        e.stream.async_read_some(e.buffer(), e.note("read"));
    });
    with("data", [&](ends_type& e, auto&) {
        e.send("hello");
        e.stream.socket().wait(tcp::socket::wait_read);
        passed(e.stream);
        e.stream.async_read_some(asio::buffer(e.memory, 1), [&](error_code ec, std::size_t n) {
            e.note("first")(ec, n);
            e.stream.async_read_some(e.buffer(), [&](error_code second, std::size_t m) {
                e.note("second")(second, m);
                e.stream.async_read_some(e.buffer(), e.note("third"));
            });
        });
    });
    with("write", [&](ends_type& e, auto&) {
        passed(e.stream);
        e.stream.async_write_some(e.buffer(), e.note("write"));
    });
    with("both", [&](ends_type& e, auto&) {
        passed(e.stream);
        e.stream.async_read_some(e.buffer(), e.note("read"));
        e.stream.async_write_some(e.buffer(), e.note("write"));
    });
    with("empty", [&](ends_type& e, auto&) {
        e.send("hello");
        passed(e.stream);
        e.stream.async_read_some(asio::buffer(e.memory, 0), e.note("read"));
    });
    with("end", [&](ends_type& e, auto&) {
        e.peer.close();
        e.stream.socket().wait(tcp::socket::wait_read);
        passed(e.stream);
        e.stream.async_read_some(e.buffer(), e.note("read"));
    });
    with("closed", [&](ends_type& e, auto&) {
        e.stream.close();
        passed(e.stream);
        e.stream.async_read_some(e.buffer(), e.note("read"));
    });
    with("set again", [&](ends_type& e, auto&) {
        passed(e.stream);
        e.stream.expires_never();
        e.stream.async_read_some(e.buffer(), e.note("read"));
        e.send("hello");
    });
    // A completion port always ends these later, so the deadline may come first.
    if (!on_completion_port) {
        with("much to write", [&](ends_type& e, auto&) {
            passed(e.stream);
            e.stream.async_write_some(asio::buffer(much), [&](error_code ec, std::size_t n) {
                e.note("some")(ec, n);
                asio::async_write(e.stream, asio::buffer(much), e.note("the rest"));
            });
        });
        with("connect", [&](ends_type& e, tcp::acceptor& acceptor) {
            e.stream.close();
            passed(e.stream);
            e.stream.async_connect(acceptor.local_endpoint(), e.note("connect"));
        });
        with("connect to one of two", [&](ends_type& e, tcp::acceptor& acceptor) {
            const std::vector<tcp::endpoint> two(2, acceptor.local_endpoint());
            e.stream.close();
            passed(e.stream);
            e.stream.async_connect(
                two, [&](error_code ec, const tcp::endpoint&) { e.note("connect")(ec); });
        });
        with("refused", [&](ends_type& e, tcp::acceptor& acceptor) {
            const tcp::endpoint nowhere = acceptor.local_endpoint();
            acceptor.close();
            e.stream.close();
            passed(e.stream);
            e.stream.async_connect(nowhere, e.note("connect"));
        });
    }
    return all;
}

const std::string fate_with_beast =
    std::string("nothing to read: read late (closed); data: first ok, second ok, third late "
                "(closed); write: write ok; both: write ok, read late (closed); empty: read late "
                "(closed); end: read End of file; closed: read closed (closed); set again: read "
                "ok; ") +
    (on_completion_port ? ""
                        : "much to write: some ok, the rest late (closed); connect: connect ok; "
                          "connect to one of two: connect ok; refused: connect Connection "
                          "refused; ");
// A class may end its connections in its own way.
struct stream_with_teardown : stream_type {
    using stream_type::stream_type;
    int torn_down = 0;

    [[maybe_unused]] friend void teardown(beast::role_type, stream_with_teardown& stream,
                                          error_code& ec) {
        ++stream.torn_down;
        ec = {};
    }
    template <class Handler>
    friend void async_teardown(beast::role_type, stream_with_teardown& stream, Handler&& handler) {
        ++stream.torn_down;
        asio::post(stream.get_executor(),
                   beast::bind_front_handler(std::forward<Handler>(handler), error_code()));
    }
};
template <class Stream>
using virtual_ends_of = ends<Stream, virtual_world>;
using virtual_ends = virtual_ends_of<stream_type>;

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_beast, *boost::unit_test::timeout(60))

// real time in the next cases: Beast's streams have no other.

BOOST_AUTO_TEST_CASE_TEMPLATE(a_read_times_out_and_the_socket_is_closed, Stream, both_kinds) {
    real_ends<Stream> e;
    const auto start = std::chrono::steady_clock::now();
    e.stream.expires_after(20ms);
    e.stream.async_read_some(e.buffer(), e.note("read"));
    e.run();
    BOOST_TEST((std::chrono::steady_clock::now() - start >= 20ms));
    BOOST_TEST(e.log_text == "read late");
    BOOST_TEST(!e.stream.socket().is_open());
    e.stream.expires_never();
    e.stream.async_write_some(e.buffer(), e.note("write"));
    e.run();
    BOOST_TEST(e.log_text == "read late, write closed");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(both_times_out_if_both_have_the_deadline, Stream, both_kinds) {
    real_ends<Stream> e;
    const std::vector<char> much(10'000'000);
    e.stream.expires_after(20ms);
    e.stream.async_read_some(e.buffer(), e.note("read"));
    asio::async_write(e.stream, asio::buffer(much), e.note("write"));
    e.run();
    BOOST_TEST((e.log_text == "read late, write late" || e.log_text == "write late, read late"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_deadline_is_not_for_what_is_pending, Stream, both_kinds) {
    real_ends<Stream> e;
    const std::vector<char> much(10'000'000);
    e.stream.expires_after(1h);
    e.stream.async_read_some(e.buffer(), e.note("read"));
    e.stream.expires_after(20ms);
    asio::async_write(e.stream, asio::buffer(much), e.note("write"));
    e.run();
    BOOST_TEST(
        (e.log_text == "read aborted, write late" || e.log_text == "write late, read aborted"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_deadline_holds_until_it_is_set_anew, Stream, both_kinds) {
    real_ends<Stream> e;
    e.stream.expires_after(30ms);
    e.send("x");
    e.stream.async_read_some(e.buffer(), [&](error_code ec, std::size_t n) {
        e.note("first")(ec, n);
        e.stream.async_read_some(e.buffer(), e.note("second"));
    });
    e.run();
    BOOST_TEST(e.log_text == "first ok, second late");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_completes_in_time_leaves_nothing, Stream, both_kinds) {
    real_ends<Stream> e;
    e.stream.expires_after(1h);
    e.stream.async_write_some(e.buffer(), e.note("write"));
    e.run(); // It returns.
    BOOST_TEST(e.log_text == "write ok");
    BOOST_TEST(e.stream.socket().is_open());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_cancelled_closed_released_or_destroyed_is_aborted, Stream,
                              both_kinds) {
    for (const std::string way : {"cancel", "close", "release", "destroy"}) {
        real_ends<Stream> e;
        std::optional<Stream> s(std::move(e.stream));
        s->expires_after(1h);
        s->async_read_some(e.buffer(), e.note("read"));
        e.poll();
        std::optional<tcp::socket> released;
        if (way == "cancel") {
            s->cancel();
        } else if (way == "close") {
            s->close();
        } else if (way == "release") {
            released.emplace(s->release_socket());
        } else {
            s.reset();
        }
        e.run();
        BOOST_TEST(e.log_text == "read aborted");
        BOOST_TEST((!s || s->socket().is_open() == (way == "cancel")));
        BOOST_TEST(released.has_value() == (way == "release"));
        BOOST_TEST((!released || released->is_open()));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_moved_stream_leaves_one_that_can_be_used, Stream, both_kinds) {
    real_ends<Stream> e;
    Stream moved(std::move(e.stream));
    BOOST_TEST(moved.socket().is_open());
    BOOST_TEST(!e.stream.socket().is_open());
    tcp::acceptor acceptor(e.ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    e.stream.expires_after(1h);
    e.stream.async_connect(acceptor.local_endpoint(), e.note("connect"));
    e.run();
    BOOST_TEST(e.log_text == "connect ok");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_connect_has_a_deadline, Stream, both_kinds) {
    real_ends<Stream> e;
    tcp::acceptor acceptor(e.ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const std::vector<tcp::endpoint> several(2, acceptor.local_endpoint());
    Stream other(e.ctx);
    other.expires_after(1h);
    other.async_connect(several, [&](error_code ec, const tcp::endpoint&) { e.note("c")(ec); });
    e.run();
    other.close();
    other.async_connect(
        several, [](const error_code&, const tcp::endpoint&) { return true; },
        [&](error_code ec, const tcp::endpoint&) { e.note("c")(ec); });
    e.run();
    BOOST_TEST(e.log_text == "c ok, c ok");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_begins_after_its_deadline_is_tried, Stream, beasts_kinds) {
    const auto zero = [](Stream& s) { s.expires_after(0s); };
    BOOST_TEST(fate_of_late_operations<Stream>(zero) == fate_with_beast);
    const auto before = [](Stream& s) { s.expires_at(std::chrono::steady_clock::now() - 1h); };
    BOOST_TEST(fate_of_late_operations<Stream>(before) == fate_with_beast);
    const auto meanwhile = [](Stream& s) {
        s.expires_after(1ms);
        std::this_thread::sleep_for(2ms);
    };
    BOOST_TEST(fate_of_late_operations<Stream>(meanwhile) == fate_with_beast);
}

// That is why other streams do not try it: see timeout_stream/sockets, which has the same case.
BOOST_AUTO_TEST_CASE_TEMPLATE(so_a_peer_that_always_sends_evades_the_deadline, Stream,
                              beasts_kinds) {
    real_ends<Stream> e;
    e.send(std::string(1000, 'x'));
    int reads = 0;
    const auto next = [&](const auto& self) -> void {
        e.stream.async_read_some(asio::buffer(e.memory, 1), [&](error_code ec, std::size_t) {
            if (!ec && ++reads < 1000) {
                self(self);
            }
        });
    };
    e.stream.expires_after(0s);
    next(next);
    e.run();
    BOOST_TEST(reads == 1000);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_beast_stream_stays_one_when_it_is_moved, Stream, beasts_kinds) {
    real_ends<Stream> e;
    tcp::acceptor acceptor(e.ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    Stream moved(std::move(e.stream));
    for (Stream* const s : {&moved, &e.stream}) { // The second one is new.
        s->close();
        s->expires_after(on_completion_port ? 1h : 0h); // That ends a connect too late.
        s->async_connect(acceptor.local_endpoint(), e.note("connect"));
        e.run();
    }
    if constexpr (std::is_move_assignable_v<Stream>) { // Beast's is not.
        e.stream = std::move(moved);
    }
    e.stream.expires_after(0s);
    e.stream.async_write_some(e.buffer(), e.note("write"));
    e.run();
    BOOST_TEST(e.log_text == "connect ok, connect ok, write ok");
}

// A stream that is destroyed, or whose context ends, before it is known what is ready.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_late_operation_may_outlive_its_stream, Stream, beasts_kinds) {
    {
        real_ends<Stream> e;
        std::optional<Stream> s(std::move(e.stream));
        s->expires_after(0s);
        s->async_read_some(e.buffer(), e.note("read"));
        s.reset();
        e.run();
        BOOST_TEST(e.log_text == "read aborted");
    }
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    Stream s(ctx);
    s.socket().connect(acceptor.local_endpoint());
    s.expires_after(0s);
    std::array<char, 1> memory{};
    s.async_read_some(asio::buffer(memory), [](error_code, std::size_t) { BOOST_TEST(false); });
}

BOOST_AUTO_TEST_CASE(a_late_operation_ends_on_its_handlers_executor) {
    real_ends<beast_stream> e;
    auto strand = asio::make_strand(e.ctx);
    bool right = false;
    e.stream.expires_after(0s);
    e.stream.async_read_some(
        e.buffer(), asio::bind_executor(strand, [&](error_code ec, std::size_t) {
            right = ec == std::errc::timed_out && strand.running_in_this_thread();
        }));
    e.run();
    BOOST_TEST(right);
}

BOOST_FIXTURE_TEST_CASE(in_paused_time_a_late_operation_ends_without_a_step, virtual_ends) {
    stream.try_late_operations(true);
    stream.expires_after(0s);
    stream.async_read_some(buffer(), note("read"));
    run();
    BOOST_TEST(log_text == "read late");
    BOOST_TEST(!stream.socket().is_open());
}

// real time
BOOST_AUTO_TEST_CASE_TEMPLATE(a_synchronous_request_times_out, Stream, our_kinds) {
    real_ends<Stream> e;
    e.send("GET / HTTP/1.1\r\n");
    beast::flat_buffer in;
    http::request<http::string_body> request;
    error_code ec;
    e.stream.expires_after(20ms);
    http::read(e.stream, in, request, ec);
    BOOST_TEST((ec == std::errc::timed_out));
    BOOST_TEST(!e.stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(a_request_that_comes_slowly_times_out_and_an_idle_connection_does_not,
                        virtual_ends) {
    beast::flat_buffer in;
    for (int i = 0; i < 3; ++i) {
        http::request_parser<http::string_body> parser;
        stream.read_expires_after(60s);
        stream.message_expires_after(5s);
        http::async_read(stream, in, parser, note("request"));
        pass(59s);
        const std::string text = "GET / HTTP/1.1\r\n\r\n";
        for (const char c : text.substr(0, i == 2 ? 4U : text.size())) {
            send(std::string(1, c));
            poll();
            pass(i == 2 ? 1s : 200ms);
        }
    }
    BOOST_TEST(log_text == "request ok, request ok");
    pass(1s);
    BOOST_TEST(log_text == "request ok, request ok, request late");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(it_is_what_beast_calls_the_lowest_layer, Stream, both_kinds) {
    static_assert(std::same_as<beast::lowest_layer_type<websocket::stream<Stream>>, Stream>);
    static_assert(beast::is_async_stream<Stream>::value);
    real_ends<Stream> e;
    beast::close_socket(e.stream);
    BOOST_TEST(!e.stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(a_request_in_drops_times_out, virtual_ends) {
    beast::flat_buffer in;
    http::request_parser<http::string_body> parser;
    stream.expires_after(5s);
    http::async_read_header(stream, in, parser, note("header"));
    const std::string drops = "GET / HTTP/1.1\r\n";
    for (const char c : drops.substr(0, 4)) {
        send(std::string(1, c));
        pass(1s);
    }
    BOOST_TEST(log_text == "");
    pass(1s);
    BOOST_TEST(log_text == "header late");
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(header_body_and_response_have_deadlines_of_their_own, virtual_ends) {
    beast::flat_buffer in;
    http::request_parser<http::string_body> parser;
    stream.expires_after(5s);
    http::async_read_header(stream, in, parser, note("header"));
    pass(4s);
    send("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbo");
    poll();
    stream.expires_after(60s);
    http::async_read(stream, in, parser, note("body"));
    pass(50s);
    send("dy");
    poll();
    http::response<http::string_body> response(http::status::ok, 11, parser.get().body());
    response.prepare_payload();
    stream.expires_after(5s);
    http::async_write(stream, response, note("response"));
    poll();
    stream.expires_after(30s);
    http::request_parser<http::string_body> next;
    http::async_read_header(stream, in, next, note("next"));
    pass(30s - 1ns);
    BOOST_TEST(log_text == "header ok, body ok, response ok");
    pass(1ns);
    BOOST_TEST(log_text == "header ok, body ok, response ok, next late");
    std::array<char, 1000> received{};
    const std::size_t n = peer.read_some(asio::buffer(received));
    BOOST_TEST(std::string(received.data(), n).ends_with("\r\n\r\nbody"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_websocket_opens_talks_and_closes, Stream, websocket_kinds) {
    virtual_ends_of<Stream> e;
    websocket::stream<Stream> server(std::move(e.stream));
    websocket::stream<tcp::socket> client(std::move(e.peer));
    beast::get_lowest_layer(server).expires_after(30s);
    server.async_accept(e.note("accept"));
    client.async_handshake("localhost", "/", e.note("handshake"));
    e.run();
    // A completion port may tell the server last that its answer was sent.
    BOOST_TEST((e.log_text == "accept ok, handshake ok" ||
                (on_completion_port && e.log_text == "handshake ok, accept ok")));
    e.log_text.clear();
    beast::get_lowest_layer(server).expires_never();
    beast::flat_buffer in;
    server.async_read(in, e.note("read"));
    client.write(asio::buffer(e.memory, 7));
    e.run();
    BOOST_TEST(in.size() == 7U);
    error_code closed;
    server.async_read(in, [&](error_code ec, std::size_t) { closed = ec; });
    client.async_close(websocket::close_code::normal, e.note("close"));
    e.run();
    BOOST_TEST((closed == websocket::error::closed));
    BOOST_TEST(e.log_text == "read ok, close ok");
    BOOST_TEST(!beast::get_lowest_layer(server).socket().is_open());
}

BOOST_AUTO_TEST_CASE(a_websocket_that_is_silent_times_out) {
    virtual_ends e;
    websocket::stream<stream_type> server(std::move(e.stream));
    websocket::stream<tcp::socket> client(std::move(e.peer));
    server.async_accept(e.note("accept"));
    client.async_handshake("localhost", "/", e.note("handshake"));
    e.run();
    e.log_text.clear();
    beast::get_lowest_layer(server).idle_after(60s);
    beast::flat_buffer in;
    server.async_read(in, e.note("read"));
    for (int i = 0; i < 3; ++i) {
        e.pass(50s);
        client.ping({}); // Anything except a message.
        e.poll();
    }
    e.pass(60s - 1ns);
    BOOST_TEST(e.log_text == "");
    e.pass(1ns);
    BOOST_TEST(e.log_text == "read late");
}

BOOST_AUTO_TEST_CASE(a_synchronous_close_is_possible) {
    virtual_ends_of<counting_stream> e;
    websocket::stream<counting_stream> server(std::move(e.stream));
    websocket::stream<tcp::socket> client(std::move(e.peer));
    server.async_accept(e.note("accept"));
    client.async_handshake("localhost", "/", e.note("handshake"));
    e.run();
    client.async_close(websocket::close_code::normal, e.note("close"));
    std::jthread peers([&e] { e.run(); });
    beast::flat_buffer in;
    error_code ec;
    server.read(in, ec);
    peers.join();
    BOOST_TEST((ec == websocket::error::closed));
    // A completion port tells the server last that its answer was sent.
    BOOST_TEST((e.log_text == "accept ok, handshake ok, close ok" ||
                (on_completion_port && e.log_text == "handshake ok, accept ok, close ok")));
}

BOOST_FIXTURE_TEST_CASE(a_derived_class_may_have_a_teardown_of_its_own,
                        virtual_ends_of<stream_with_teardown>) {
    websocket::stream<stream_with_teardown> server(std::move(stream));
    websocket::stream<tcp::socket> client(std::move(peer));
    server.async_accept(note("accept"));
    client.async_handshake("localhost", "/", note("handshake"));
    run();
    beast::flat_buffer in;
    server.async_read(in, note("read"));
    client.async_close(websocket::close_code::normal, note("close"));
    for (int i = 0; i < 3; ++i) {
        poll();
    }
    BOOST_TEST(beast::get_lowest_layer(server).torn_down == 1);
    beast::get_lowest_layer(server).close();
    run();
}

// real time: a WebSocket's own timeouts use Beast's timers.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_websockets_own_timeouts_close_it, Stream, both_kinds) {
    real_ends<Stream> e;
    websocket::stream<Stream> server(std::move(e.stream));
    server.set_option(websocket::stream_base::timeout{20ms, websocket::stream_base::none(), false});
    server.async_accept(e.note("accept"));
    e.run();
    BOOST_TEST(e.log_text == "accept late");
    BOOST_TEST(!beast::get_lowest_layer(server).socket().is_open());
}

BOOST_AUTO_TEST_SUITE_END()
