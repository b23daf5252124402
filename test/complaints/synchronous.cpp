// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// unity: off

// "http::read() is hung for five hours", in programs that block instead of using callbacks.
//
//   boostorg/beast 2398    does expires_after() apply to synchronous calls, too? It does not
//   boostorg/beast 2531    the same, of boost::asio::read() on a tcp_stream
//
// The deadline of a tcp_stream is a timer, which only a running context looks at. A synchronous
// call does not run it. The receive timeout of the system (SO_RCVTIMEO) is no way out: when it has
// passed, Asio goes on waiting, without limit.
//
// A timeout_stream asks the system to wait no longer than until its deadline.
//
// All of this waits in real time. A server that answers does so only after the deadline has passed.

#include <asio_wheel/timeout_stream.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#ifndef _WIN32
#include <sys/socket.h>
#include <sys/time.h>
#endif

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using namespace asio_wheel::test;
using asio::ip::tcp;
using clock_type = std::chrono::steady_clock;

constexpr auto limit = 20ms;
const error_code late = asio_wheel::error::timed_out;

// A client that blocks, connected to a server that is silent.
template <class Stream>
struct client : drained_context {
    tcp::acceptor acceptor{ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    Stream stream{ctx};
    tcp::socket server{ctx};
    clock_type::time_point start = clock_type::now();
    error_code ec;

    client() {
        stream.socket().connect(acceptor.local_endpoint());
        acceptor.accept(server);
    }

    // The server answers long after the deadline.
    [[nodiscard]] std::jthread answer_late() {
        return std::jthread([this] {
            while (elapsed() < 3 * limit) { // A sleep may end too early on Windows.
                std::this_thread::sleep_for(1ms);
            }
            asio::write(server, asio::buffer("HTTP/1.1 204 No Content\r\n\r\n", 27));
        });
    }
    void read_response() {
        beast::flat_buffer in;
        http::response<http::string_body> response;
        http::read(stream, in, response, ec);
    }
    [[nodiscard]] auto elapsed() const { return clock_type::now() - start; }
};

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_synchronous, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(asio_a_synchronous_read_has_no_deadline) {
    client<beast::tcp_stream> c;
    const std::jthread server = c.answer_late();
    c.stream.expires_after(limit);
    c.read_response();
    BOOST_TEST(!c.ec); // It would have waited for five hours.
    BOOST_TEST((c.elapsed() >= 3 * limit));
}

#ifndef _WIN32 // There, the read fails when that time has passed.
// With io_uring, the system call of such a read is interrupted, and the read fails.
BOOST_AUTO_TEST_CASE(asio_a_receive_timeout_of_the_system_changes_nothing, *only_if(!on_io_uring)) {
    client<beast::tcp_stream> c;
    const std::jthread server = c.answer_late();
    ::timeval timeout{};
    timeout.tv_usec = std::chrono::microseconds(limit).count();
    BOOST_TEST(::setsockopt(c.stream.socket().native_handle(), SOL_SOCKET, SO_RCVTIMEO, &timeout,
                            sizeof timeout) == 0);
    c.read_response();
    BOOST_TEST(!c.ec);
    BOOST_TEST((c.elapsed() >= 3 * limit));
}
#endif

BOOST_AUTO_TEST_CASE(ours_a_synchronous_read_times_out) {
    client<asio_wheel::timeout_stream<tcp::socket>> c; // Its server never answers.
    c.stream.expires_after(limit);
    c.read_response();
    BOOST_TEST(c.ec == late);
    BOOST_TEST((c.elapsed() >= limit));
    BOOST_TEST(!c.stream.socket().is_open());
}

BOOST_AUTO_TEST_CASE(ours_a_synchronous_request_has_one_deadline_for_all_of_its_steps) {
    client<asio_wheel::timeout_stream<tcp::socket>> c;
    c.stream.close();
    c.stream.expires_after(limit);
    c.stream.connect(c.acceptor.local_endpoint(), c.ec);
    http::request<http::empty_body> request(http::verb::get, "/", 11);
    if (!c.ec) { // On a slow machine, any of the steps may be late.
        http::write(c.stream, request, c.ec);
    }
    std::jthread server;
    if (!c.ec) {
        server = std::jthread([peer = c.acceptor.accept()]() mutable {
            const std::string header = "HTTP/1.1 200 OK\r\nX: ";
            error_code failed;
            for (std::size_t i = 0; !failed; ++i) { // It sends a byte now and then.
                const char next = i < header.size() ? header[i] : 'x';
                asio::write(peer, asio::buffer(&next, 1), failed);
                std::this_thread::sleep_for(1ms);
            }
        });
        c.read_response();
    }
    BOOST_TEST(c.ec == late);
    BOOST_TEST((c.elapsed() >= limit));
}

BOOST_AUTO_TEST_SUITE_END()
