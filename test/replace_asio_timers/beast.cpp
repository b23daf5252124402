// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: off

// A library that knows only Asio's timers, on a wheel.

#include <asio_wheel/replace_asio_timers.hpp>

#include <asio_wheel/beast.hpp>
#include <asio_wheel/virtual_time.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(replaced_beast, *boost::unit_test::timeout(60))

// A connection of Beast in a time that the test moves.
struct connected {
    asio::io_context ctx;
    asio_wheel::virtual_time time{ctx};
    tcp::acceptor acceptor{ctx, {asio::ip::address_v4::loopback(), 0}};
    beast::tcp_stream stream{ctx};
    tcp::socket peer{ctx};

    connected() {
        stream.socket().connect(acceptor.local_endpoint());
        acceptor.accept(peer);
    }
};

BOOST_FIXTURE_TEST_CASE(a_read_of_beasts_stream_times_out_on_the_wheel, connected) {
    std::array<char, 16> bytes{};
    boost::system::error_code result;
    bool ended = false;
    stream.expires_after(30s);
    stream.async_read_some(asio::buffer(bytes), [&](boost::system::error_code ec, std::size_t) {
        result = ec;
        ended = true;
    });
    BOOST_TEST(asio_wheel::use_wheel(ctx).pending() == 1U);
    time.advance(30s - 1ms);
    BOOST_TEST(!ended);
    time.advance(1ms);
    BOOST_TEST(ended);
    BOOST_TEST((result == beast::error::timeout));
}

BOOST_FIXTURE_TEST_CASE(a_wheel_that_is_drained_ends_no_read_of_beast, connected) {
    std::array<char, 16> bytes{};
    std::size_t read = 0;
    stream.expires_after(30s);
    std::ignore = asio_wheel::use_wheel(ctx).drain();
    stream.async_read_some(asio::buffer(bytes),
                           [&](boost::system::error_code, std::size_t n) { read = n; });
    peer.send(asio::buffer("hello", 5));
    time.run_until([&] { return read != 0; });
    BOOST_TEST(read == 5U);
}

// What is ready at once completes before: see timeout_stream/beast.
BOOST_AUTO_TEST_CASE(a_late_operation_of_a_beast_stream_is_tried) {
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, {asio::ip::address_v4::loopback(), 0});
    asio_wheel::beast_stream<> stream(ctx);
    tcp::socket peer(ctx);
    stream.connect(acceptor.local_endpoint());
    acceptor.accept(peer);
    peer.send(asio::buffer("hello", 5));
    stream.socket().wait(tcp::socket::wait_read);
    std::array<char, 16> bytes{};
    bool in_time = false;
    stream.expires_after(0s);
    stream.async_read_some(asio::buffer(bytes), [&](boost::system::error_code ec, std::size_t n) {
        in_time = !ec && n == 5;
    });
    ctx.run();
    BOOST_TEST(in_time);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
