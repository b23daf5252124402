// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "On a timeout the error is operation_aborted. Was it a timeout, or did somebody cancel?"
//
//   eidheim/Simple-Web-Server 225
//
// With Asio, the handler of a timer cancels the socket. The operation cannot know the reason.

#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <system_error>

namespace {

using namespace asio_wheel::test;
using asio::ip::tcp;
using asio_wheel::timeout;

const error_code late = asio_wheel::error::timed_out;

// A client that waits for a response, and a server that does not send one.
template <class World>
struct client : World {
    tcp::socket socket{this->ctx};
    tcp::socket server{this->ctx};
    std::array<char, 100> memory{};
    error_code result;

    client() {
        tcp::acceptor acceptor(this->ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        socket.connect(acceptor.local_endpoint());
        acceptor.accept(server);
    }
    template <class... Timeout>
    void read(const Timeout&... limit) {
        const auto handler = [this](error_code ec, std::size_t) { result = ec; };
        if constexpr (sizeof...(limit) == 0) {
            socket.async_read_some(asio::buffer(memory), handler);
        } else {
            socket.async_read_some(asio::buffer(memory), timeout(limit..., handler));
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_timed_out_or_aborted, *boost::unit_test::timeout(60))

// real time, because Asio's timers have no other.
BOOST_AUTO_TEST_CASE(asio_a_timeout_and_a_cancellation_look_alike) {
    client<real_time<asio::steady_timer>> c;
    asio::steady_timer timer(c.ctx, 5ms);
    timer.async_wait([&](error_code ec) {
        if (ec != aborted) {
            c.socket.cancel();
        }
    });
    c.read();
    c.run();
    const error_code after_a_timeout = c.result;
    c.read();
    c.socket.cancel();
    c.run();
    BOOST_TEST(c.result == aborted);
    BOOST_TEST(after_a_timeout == c.result);
}

BOOST_AUTO_TEST_CASE(ours_a_timeout_says_that_it_is_one) {
    client<virtual_world> c;
    c.read(5s);
    c.pass(5s);
    BOOST_TEST(c.result == late);
    BOOST_TEST((c.result == std::errc::timed_out));
    BOOST_TEST(c.result != aborted);
    c.read(5s);
    c.pass(1s);
    c.socket.cancel();
    c.poll();
    BOOST_TEST(c.result == aborted);
}

// The thread asks for asio::error::timed_out. System calls can return this error, too: a connect
// that the system gives up looks the same. So it is not the default.
BOOST_AUTO_TEST_CASE(ours_a_timeout_can_be_asios_own_code) {
    client<virtual_world> c;
    c.read(5s, error_code(asio::error::timed_out));
    c.pass(5s);
    BOOST_TEST(c.result == error_code(asio::error::timed_out));
}

BOOST_AUTO_TEST_SUITE_END()
