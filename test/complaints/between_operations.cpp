// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// "The timeout has fired, it is in the log, and the connection attempt hangs all the same."
//
//   Icinga/icinga2 10139
//
// One timer limits several operations: connect, handshake, the first message. Its handler calls
// socket.cancel(), which ends the outstanding operations. If one operation has just ended and the
// next one has not begun, none is outstanding. The timer has expired then, so the next operation
// has no limit.

#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/manual_operation.hpp"
#include "support/names.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

namespace {

using namespace asio_wheel::test;
using asio::ip::tcp;

const error_code late = asio_wheel::error::timed_out;

// A socket or a stream, and a peer that sends a hello and nothing else.
template <class World, class Stream>
struct agent : World {
    Stream stream{this->ctx};
    tcp::socket peer{this->ctx};
    std::array<char, 100> memory{};
    journal log;

    agent() {
        tcp::acceptor acceptor(this->ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        peer.connect(acceptor.local_endpoint());
        acceptor.accept(socket());
        asio::write(peer, asio::buffer("hello", 5));
        socket().wait(tcp::socket::wait_read);
    }
    tcp::socket& socket() {
        if constexpr (requires { stream.socket(); }) {
            return stream.socket();
        } else {
            return stream;
        }
    }
    [[nodiscard]] auto note(const std::string& what) {
        return [this, what](error_code ec, std::size_t) { log.add(what, ec); };
    }
    void read(const std::string& what) { stream.async_read_some(asio::buffer(memory), note(what)); }
    template <class Limit>
    void read(const std::string& what, const Limit& limit) {
        stream.async_read_some(asio::buffer(memory), limit(note(what)));
    }
};

asio::awaitable<void> handshake(manual_operation<error_code>& hello,
                                manual_operation<error_code>& answer, journal& log) {
    co_await hello.start(asio::use_awaitable);
    log.add("hello");
    co_await answer.start(asio::use_awaitable);
    log.add("answer");
}

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_between_operations, *boost::unit_test::timeout(60))

// real time, because Asio's timers have no other.
BOOST_AUTO_TEST_CASE(asio_a_timeout_between_two_operations_is_lost) {
    agent<real_time<asio::steady_timer>, tcp::socket> a;
    asio::steady_timer timer(a.ctx, 5ms);
    timer.async_wait([&](error_code ec) {
        if (ec != aborted) {
            a.log.add("timeout");
            a.socket().cancel();
        }
    });
    a.read("hello"); // It is there already, so its handler is in the queue before the timer's.
    BOOST_TEST(a.log_after(5ms, a.log) == "hello timeout");
    a.read("answer");
    a.poll();
    BOOST_TEST(!a.ctx.stopped()); // It waits,
    BOOST_TEST(a.log.take() == "");
    BOOST_TEST((timer.expiry() <= a.now())); // and the timer is over.
    a.socket().cancel();
    BOOST_TEST(a.log_now(a.log) == "answer!");
}

BOOST_AUTO_TEST_CASE(ours_a_stream_has_a_deadline_for_all_that_follows) {
    agent<virtual_world, asio_wheel::timeout_stream<tcp::socket>> a;
    a.stream.expires_after(5s);
    a.read("hello");
    BOOST_TEST(a.log_now(a.log) == "hello");
    a.pass(5s); // Nothing is outstanding,
    BOOST_TEST(a.stream.socket().is_open());
    a.read("answer"); // and the deadline is still there.
    BOOST_TEST(a.log_now(a.log) == "answer(" + late.message() + ")");
    BOOST_TEST(!a.stream.socket().is_open());
}

BOOST_AUTO_TEST_CASE(ours_several_operations_share_a_deadline) {
    agent<virtual_world, tcp::socket> a;
    const auto limit = asio_wheel::timeout_at(a.now() + 5s);
    a.read("hello", limit);
    BOOST_TEST(a.log_now(a.log) == "hello");
    a.pass(5s);
    a.read("answer", limit);
    BOOST_TEST(a.log_now(a.log) == "answer(" + late.message() + ")");
}

// A coroutine remembers that it was cancelled, even during an operation that ignores this.
BOOST_AUTO_TEST_CASE(ours_a_coroutine_is_ended_at_its_next_operation) {
    virtual_world world;
    journal log;
    manual_operation<error_code> hello(world.ctx.get_executor());
    manual_operation<error_code> answer(world.ctx.get_executor());
    error_code result;
    asio::co_spawn(world.ctx, handshake(hello, answer, log),
                   asio_wheel::timeout(5s, [&](std::exception_ptr e) {
                       try {
                           std::rethrow_exception(e);
                       } catch (const boost::system::system_error& failure) {
                           result = failure.code();
                       }
                   }));
    world.pass(5s);
    hello.complete(success);
    world.poll();
    BOOST_TEST(!answer.pending());
    BOOST_TEST(log.take() == "hello");
    BOOST_TEST(result == late);
}

BOOST_AUTO_TEST_SUITE_END()
