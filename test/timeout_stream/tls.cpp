// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: tls
// requires: openssl

// Streams and TLS, layered in both orders.

#include <asio_wheel/beast.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/tls_secret.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

namespace {

using namespace asio_wheel::test;
namespace ssl = boost::asio::ssl;
namespace websocket = boost::beast::websocket;
using asio_wheel::timeout_stream;

const error_code late = asio_wheel::error::timed_out;

struct secured : virtual_world {
    ssl::context tls = tls_with_secret();

    void settle() {
        for (int i = 0; i < 10; ++i) {
            poll();
        }
    }
};

// TLS above the deadlines, which is the usual order.
struct tls_above : secured {
    using stream_type = ssl::stream<timeout_stream<paired::socket>>;

    stream_type server{ctx, tls};
    stream_type client{ctx, tls};
    std::array<char, 100> memory{};

    tls_above() { connect_pair(server.next_layer().socket(), client.next_layer().socket()); }

    void handshake() {
        BOOST_TEST_REQUIRE(shake_hands(server, client, [this] { settle(); }));
    }
};

struct tls_below : secured {
    using tls_stream = ssl::stream<paired::socket>;

    timeout_stream<tls_stream> server{ctx, tls};
    tls_stream client{ctx, tls};
    std::array<char, 100> memory{};

    tls_below() {
        connect_pair(server.lowest_layer(), client.lowest_layer());
        BOOST_TEST_REQUIRE(shake_hands(server.socket(), client, [this] { settle(); }));
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_tls, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_handshake_that_is_not_answered_times_out, tls_above) {
    error_code result;
    server.next_layer().expires_after(10s);
    server.async_handshake(ssl::stream_base::server, [&](error_code ec) { result = ec; });
    settle();
    pass(10s - 1ns);
    BOOST_TEST(!result);
    pass(1ns);
    BOOST_TEST(result == late);
    BOOST_TEST(!server.lowest_layer().is_open());
}

BOOST_FIXTURE_TEST_CASE(tls_above_deadlines_reads_writes_and_times_out, tls_above) {
    server.next_layer().expires_after(10s);
    client.next_layer().expires_after(10s);
    handshake();
    BOOST_TEST(wheel.pending() == 0U);
    std::string said = "said";
    std::size_t read = 0;
    asio::async_write(client, asio::buffer(said), [](error_code ec, std::size_t n) {
        BOOST_TEST(!ec);
        BOOST_TEST(n == 4U);
    });
    server.async_read_some(asio::buffer(memory), [&](error_code, std::size_t n) { read = n; });
    settle();
    BOOST_TEST(read == 4U);
    error_code result;
    server.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { result = ec; });
    settle();
    pass(10s - 1ns);
    BOOST_TEST(!result);
    pass(1ns);
    BOOST_TEST(result == late);
}

BOOST_FIXTURE_TEST_CASE(reading_and_writing_at_once_with_deadlines_of_their_own, tls_above) {
    handshake();
    error_code read;
    server.next_layer().read_expires_after(30s);
    server.next_layer().write_expires_after(10s);
    server.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { read = ec; });
    std::string much(10'000'000, 'x');
    error_code written;
    asio::async_write(server, asio::buffer(much),
                      [&](error_code ec, std::size_t) { written = ec; });
    settle();
    pass(10s);
    settle();
    BOOST_TEST(written == late);
    BOOST_TEST(read); // The stream below it was closed.
    BOOST_TEST(read != late);
}

// TLS ends an empty write by an empty read, while a read is pending.
BOOST_FIXTURE_TEST_CASE(a_write_of_nothing_while_a_read_is_pending, tls_above) {
    handshake();
    error_code read;
    server.next_layer().expires_after(30s);
    server.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { read = ec; });
    bool written = false;
    server.async_write_some(asio::const_buffer(),
                            [&](error_code ec, std::size_t n) { written = !ec && n == 0; });
    settle();
    BOOST_TEST(written);
    BOOST_TEST(!read);
    pass(30s);
    BOOST_TEST(read == late);
}

BOOST_FIXTURE_TEST_CASE(a_shutdown_that_is_not_answered_times_out, tls_above) {
    handshake();
    error_code result;
    server.next_layer().expires_after(5s);
    server.async_shutdown([&](error_code ec) { result = ec; });
    settle();
    BOOST_TEST(!result);
    pass(5s);
    BOOST_TEST(result == late);
}

BOOST_FIXTURE_TEST_CASE(tls_below_deadlines_reads_writes_and_times_out, tls_below) {
    static_assert(
        std::same_as<decltype(server)::lowest_layer_type, paired::socket::lowest_layer_type>);
    server.expires_after(10s);
    std::string said = "said";
    std::size_t read = 0;
    client.write_some(asio::buffer(said));
    server.async_read_some(asio::buffer(memory), [&](error_code, std::size_t n) { read = n; });
    settle();
    BOOST_TEST(read == 4U);
    std::size_t written = 0;
    server.async_write_some(asio::buffer(memory), [&](error_code, std::size_t n) { written = n; });
    settle();
    BOOST_TEST(written == 100U);
    error_code result;
    server.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { result = ec; });
    pass(10s - 1ns);
    BOOST_TEST(!result);
    pass(1ns);
    settle();
    BOOST_TEST(result == late);
    BOOST_TEST(!server.lowest_layer().is_open());
}

BOOST_FIXTURE_TEST_CASE(a_moved_stream_that_can_not_be_made_anew_says_so, tls_below) {
    server.expires_after(10s);
    error_code result;
    server.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { result = ec; });
    auto moved = std::move(server);
    BOOST_CHECK_EXCEPTION(server.expires_never(), std::logic_error, [](const auto& e) {
        return e.what() == std::string("asio_wheel: a timeout_stream is used that was moved from");
    });
    pass(10s);
    settle();
    BOOST_TEST(result == late);
    server = std::move(moved);
    server.close();
}

BOOST_FIXTURE_TEST_CASE(a_handshake_below_deadlines_has_that_of_a_token, secured) {
    timeout_stream<ssl::stream<paired::socket>> server(ctx, tls);
    paired::socket peer(ctx);
    connect_pair(server.lowest_layer(), peer);
    error_code result;
    server.socket().async_handshake(ssl::stream_base::server,
                                    asio_wheel::timeout(5s, [&](error_code ec) { result = ec; }));
    settle();
    pass(5s);
    settle();
    BOOST_TEST(result == late);
}

// real time: the waits of synchronous operations are the system's.

BOOST_FIXTURE_TEST_CASE(a_synchronous_handshake_that_is_not_answered_times_out, tls_above) {
    wheel.resume();
    server.next_layer().expires_after(20ms);
    error_code ec;
    static_cast<void>(server.handshake(ssl::stream_base::server, ec));
    BOOST_TEST(ec == late);
    BOOST_TEST(!server.lowest_layer().is_open());
}

BOOST_FIXTURE_TEST_CASE(tls_above_deadlines_reads_and_writes_synchronously, tls_above) {
    wheel.resume();
    server.next_layer().expires_after(1h);
    client.next_layer().expires_after(1h);
    {
        const std::jthread peer([this] {
            client.handshake(ssl::stream_base::client);
            std::array<char, 100> received{};
            asio::write(client, asio::buffer(received, client.read_some(asio::buffer(received))));
        });
        server.handshake(ssl::stream_base::server);
        asio::write(server, asio::buffer("hello", 5));
        asio::read(server, asio::buffer(memory, 5));
    }
    BOOST_TEST(std::string(memory.data(), 5) == "hello");
    server.next_layer().expires_after(20ms);
    error_code ec;
    BOOST_TEST(server.read_some(asio::buffer(memory), ec) == 0U);
    BOOST_TEST(ec == late);
    BOOST_TEST(!server.lowest_layer().is_open());
}

BOOST_FIXTURE_TEST_CASE(tls_below_deadlines_says_that_it_can_keep_none_synchronously, tls_below) {
    client.write_some(asio::buffer("hello", 5));
    server.expires_after(1h);
    error_code ec;
    BOOST_TEST(server.read_some(asio::buffer(memory), ec) == 0U);
    BOOST_TEST((ec == boost::system::errc::operation_not_supported));
    BOOST_TEST(server.lowest_layer().is_open());
    server.expires_never();
    BOOST_TEST(server.read_some(asio::buffer(memory)) == 5U);
}

// Two ends over TLS and TCP.
template <class Stream>
struct tls_pair : secured {
    Stream server{ctx, tls};
    Stream client{ctx, tls};
    int done = 0; // Handlers: 1 for each, or 100 with an error.

    tls_pair() {
        asio::ip::tcp::acceptor acceptor(
            ctx, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        lowest(client).socket().connect(acceptor.local_endpoint());
        acceptor.accept(lowest(server).socket());
        lowest(server).expires_after(30s);
    }
    static auto& lowest(Stream& s) { return boost::beast::get_lowest_layer(s); }
    auto note() {
        return [this](error_code ec) { done += ec ? 100 : 1; };
    }
    // For data in the system.
    void settle_in_real_time() {
        for (int i = 0; i < 50; ++i) {
            settle();
            std::this_thread::sleep_for(1ms); // real time
        }
    }
};

// What is below a WebSocket and TLS. Users derive classes from the first.
struct counting_stream : timeout_stream<asio::ip::tcp::socket> {
    using timeout_stream<asio::ip::tcp::socket>::timeout_stream;
    int requests = 0;
};
using below_websockets =
    std::tuple<timeout_stream<asio::ip::tcp::socket>, asio_wheel::beast_stream<>, counting_stream>;

// This is how a WebSocket ends.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_teardown_of_tls_ends_the_connection, Below, below_websockets) {
    static_assert(
        std::same_as<boost::beast::lowest_layer_type<websocket::stream<ssl::stream<Below>>>,
                     Below>);
    tls_pair<ssl::stream<Below>> both;
    BOOST_TEST_REQUIRE(shake_hands(both.server, both.client, [&] { both.settle(); }));
    using websocket::async_teardown;
    async_teardown(boost::beast::role_type::server, both.server, both.note());
    async_teardown(boost::beast::role_type::client, both.client, both.note());
    both.settle_in_real_time();
    // In the last step of a TLS shutdown, either end may find the connection closed.
    BOOST_TEST(both.done != 0);
    BOOST_TEST(!both.lowest(both.server).socket().is_open());
}

// With one kind of stream: this takes long to compile.
BOOST_AUTO_TEST_CASE(a_websocket_over_tls) {
    tls_pair<websocket::stream<ssl::stream<counting_stream>>> both;
    auto& server = both.server;
    auto& client = both.client;
    BOOST_TEST_REQUIRE(
        shake_hands(server.next_layer(), client.next_layer(), [&] { both.settle(); }));
    server.async_accept(both.note());
    client.async_handshake("localhost", "/", both.note());
    both.settle();
    BOOST_TEST_REQUIRE(both.done == 2);
    boost::beast::flat_buffer buffer;
    error_code closed;
    server.async_read(buffer, [&](error_code ec, std::size_t) { closed = ec; });
    client.async_close(websocket::close_code::normal, both.note());
    both.settle_in_real_time();
    BOOST_TEST((closed == websocket::error::closed));
    BOOST_TEST(both.done != 2);
    BOOST_TEST(!both.lowest(server).socket().is_open());
}

BOOST_AUTO_TEST_SUITE_END()
