// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Peers that send or read so slowly that they hold a connection for long: the least rate, and the
// idle period of writes. Time is virtual, and the next layer is the test's, unless a case says
// otherwise.

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/manual_stream.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;

struct transfer : manual_stream {
    void read_all() { asio::async_read(*s, asio::buffer(memory), note("read")); }
    void write_all() { asio::async_write(*s, asio::buffer(memory), note("write")); }
    void receive(std::size_t n) {
        wire->read.complete({}, n);
        poll();
    }
    void send(std::size_t n) {
        wire->write.complete({}, n);
        poll();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_least_rate, *boost::unit_test::timeout(60))

// ---- The least rate

BOOST_FIXTURE_TEST_CASE(a_peer_that_sends_a_byte_now_and_then_is_stopped, transfer) {
    s->idle_after(10s); // It is not idle.
    s->least_rate(100, 20s);
    read_all();
    for (int i = 0; i < 19; ++i) {
        pass(1s);
        receive(1);
    }
    BOOST_TEST(log_after(1s - 1ns) == "");
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_after(1ns) == "read late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_sends_fast_enough_may_go_on_for_long, transfer) {
    s->least_rate(20, 20s);
    read_all();
    for (int i = 0; i < 99; ++i) {
        pass(9s);
        receive(10);
    }
    BOOST_TEST(wire->closed == 0);
    receive(10);
    BOOST_TEST(take_log() == "read"); // All of it has arrived.
}

BOOST_FIXTURE_TEST_CASE(reads_and_writes_count_together, transfer) {
    s->least_rate(100, 10s);
    read_all();
    write_all();
    for (int i = 0; i < 5; ++i) {
        pass(9s);
        receive(50);
        send(50);
    }
    BOOST_TEST(wire->closed == 0);
    pass(9s);
    receive(99);
    BOOST_TEST(log_after(1s) == "read late write late");
}

BOOST_FIXTURE_TEST_CASE(a_server_may_take_its_time_between_operations, transfer) {
    s->least_rate(100, 10s);
    for (int i = 0; i < 10; ++i) {
        s->async_read_some(asio::buffer(memory), note("some"));
        pass(999ms);
        receive(1);
        pass(1h);
    }
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(wire->closed == 0);
    log.take();
    s->async_read_some(asio::buffer(memory), note("some")); // 10 ms are left.
    BOOST_TEST(log_after(10ms - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "some late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(a_rate_may_be_set_and_moved_while_operations_are_pending, transfer) {
    read_all();
    pass(1h);
    s->least_rate(100, 10s);
    BOOST_TEST(wheel.pending() == 1U);
    pass(5s);
    s->least_rate(100, 20s);
    BOOST_TEST(log_after(15s - 1ns) == "");
    s->least_rate_never();
    BOOST_TEST(log_after(24h) == "");
    s->least_rate(100, 10s);
    pass(8s);
    s->least_rate(100, 5s); // That is over.
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_now() == "read late");
}

BOOST_FIXTURE_TEST_CASE(what_the_peer_has_taken_counts, transfer) {
    s->least_rate(100, 10s);
    write_all();
    for (wire->unsent = 1000; *wire->unsent != 500; *wire->unsent -= 100) {
        pass(10s);
        BOOST_TEST(wire->closed == 0);
    }
    *wire->unsent += 1;
    BOOST_TEST(log_after(10s) == "write late"); // Only 99.
    BOOST_TEST(wire->looks == 6);
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_takes_nothing_ends_after_two_periods, transfer) {
    s->least_rate(100, 10s);
    wire->unsent = 1000;
    write_all();
    pass(10s);
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "write late");
}

BOOST_FIXTURE_TEST_CASE(a_rate_does_not_change_with_the_scale_of_idle_periods, transfer) {
    s->least_rate(100, 10s);
    s->write_idle_after(20s);
    write_all();
    read_all();
    asio_wheel::scale_idle_timers(ctx, 0.1);
    pass(9s);
    receive(100);
    BOOST_TEST(log_after(10s - 1ns) == "");
    s->least_rate_never();
    BOOST_TEST(log_after(1s) == "");
    BOOST_TEST(log_after(1ns) == "read! write late");
}

BOOST_FIXTURE_TEST_CASE(an_unusable_rate_is_refused, transfer) {
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_TEST(message_of([&] { s->least_rate(0, 1s); }) ==
               "asio_wheel: the least rate of a timeout_stream is 0 bytes, but must be 1 byte or "
               "more");
    BOOST_TEST(message_of([&] { s->least_rate(1, nan); }) ==
               "asio_wheel: the time of a timeout_stream's least rate is not a number (NaN)");
    BOOST_CHECK_THROW(s->least_rate(1, 0s), std::invalid_argument);
    BOOST_CHECK_THROW(s->least_rate(1, -1s), std::invalid_argument);
    read_all();
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_longest_time_is_no_rate, transfer) {
    s->least_rate(100, std::chrono::hours::max());
    s->write_idle_after(std::chrono::hours::max());
    read_all();
    write_all();
    BOOST_TEST(wheel.pending() == 0U);
    s->least_rate(std::numeric_limits<std::size_t>::max(), 1s);
    receive(900);
    BOOST_TEST(log_after(1s) == "read late write late");
}

// real time, without a context that runs
BOOST_AUTO_TEST_CASE(synchronous_reads_have_a_least_rate) {
    asio::io_context ctx;
    timeout_stream<paired::socket> stream(ctx);
    paired::socket peer(ctx);
    connect_pair(stream.socket(), peer);
    stream.least_rate(1000, 50ms);
    const std::jthread slow([&](const std::stop_token& stop) {
        const char byte = 'x';
        error_code ec;
        while (!ec && !stop.stop_requested()) {
            asio::write(peer, asio::buffer(&byte, 1), ec);
            std::this_thread::sleep_for(5ms);
        }
    });
    std::array<char, 1000> memory{};
    error_code ec;
    asio::read(stream, asio::buffer(memory), ec);
    BOOST_TEST((ec == std::errc::timed_out));
    BOOST_TEST(!stream.socket().is_open());
}

// ---- The idle period of writes

BOOST_FIXTURE_TEST_CASE(a_peer_that_sends_but_does_not_read_is_stopped, transfer) {
    s->idle_after(10s);
    s->write_idle_after(30s);
    write_all();
    read_all();
    for (int i = 0; i < 5; ++i) {
        pass(5s);
        receive(1);
    }
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read! write late");
}

BOOST_FIXTURE_TEST_CASE(a_write_may_go_on_as_long_as_it_makes_progress, transfer) {
    s->write_idle_after(10s);
    write_all();
    for (int i = 0; i < 100; ++i) {
        pass(9s);
        send(1);
    }
    wire->unsent = 100;
    for (; *wire->unsent != 90; --*wire->unsent) {
        pass(10s);
    }
    pass(10s); // At the last look, it was 91.
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "write late");
}

BOOST_FIXTURE_TEST_CASE(a_read_has_no_idle_period_of_writes, transfer) {
    s->write_idle_after(10s);
    read_all();
    BOOST_TEST(wheel.pending() == 0U);
    pass(1h);
    write_all();
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read! write late");
}

BOOST_FIXTURE_TEST_CASE(an_idle_period_of_writes_may_be_set_at_any_time, transfer) {
    write_all();
    s->write_idle_after(10s);
    pass(8s);
    s->write_idle_after(20s);
    pass(4s);
    s->write_idle_never();
    pass(1h);
    s->write_idle_after(10s);
    BOOST_TEST(log_after(10s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "write late");
    BOOST_CHECK_THROW(s->write_idle_after(0s), std::invalid_argument);
}

// real time: the system's buffers are full.
BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_is_stopped_although_it_sends) {
    drained_context c;
    timeout_stream<asio::ip::tcp::socket> stream(c.ctx);
    asio::ip::tcp::socket client(c.ctx);
    asio::ip::tcp::acceptor acceptor(c.ctx, {asio::ip::address_v4::loopback(), 0});
    client.connect(acceptor.local_endpoint());
    acceptor.accept(stream.socket());
    stream.idle_after(1h);
    stream.write_idle_after(50ms);
    const std::vector<char> much(20'000'000);
    std::array<char, 1> byte{};
    error_code written, read;
    asio::async_write(stream, asio::buffer(much),
                      [&](error_code ec, std::size_t) { written = ec; });
    stream.async_read_some(asio::buffer(byte), [&](error_code ec, std::size_t) { read = ec; });
    c.run();
    BOOST_TEST((written == std::errc::timed_out));
    BOOST_TEST((read == aborted));
}

BOOST_AUTO_TEST_SUITE_END()
