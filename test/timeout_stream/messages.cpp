// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The deadline of a message begins with its first byte. So a connection may be silent for long, and
// a peer that sends slowly is still stopped soon. Time is virtual, sockets are real.

#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;

// A server that reads lines, and its client.
struct reading_lines : virtual_world {
    timeout_stream<paired::socket> stream{ctx};
    paired::socket peer{ctx};
    std::string input;

    explicit reading_lines(const asio_wheel::wheel_options& options = {}) : virtual_world(options) {
        has_sockets = true;
        connect_pair(stream.socket(), peer);
    }

    void send(const std::string& text) {
        asio::write(peer, asio::buffer(text));
        poll();
    }
    void read_line() {
        asio::async_read_until(
            stream, asio::dynamic_buffer(input), '\n', [this](error_code ec, std::size_t n) {
                log.text += log.text.empty() ? "" : ", ";
                log.text += !ec                                         ? input.substr(0, n - 1)
                            : ec == asio_wheel::error::timed_out        ? "late"
                            : ec == asio_wheel::error::too_many_pending ? "too many"
                            : ec == asio::error::operation_aborted      ? "aborted"
                                                                        : ec.message();
                input.erase(0, n);
            });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_messages, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_connection_may_be_silent_for_long_and_a_message_not_slow, reading_lines) {
    stream.read_expires_after(60s);
    stream.message_expires_after(5s);
    read_line();
    pass(60s - 1ns);
    send("G"); // Just in time.
    for (int i = 0; i < 4; ++i) {
        pass(1s);
        send("E");
    }
    BOOST_TEST(log_after(1s - 1ns) == "");
    BOOST_TEST(stream.socket().is_open());
    BOOST_TEST(log_after(1ns) == "late");
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_FIXTURE_TEST_CASE(silence_before_a_message_has_the_deadline_of_reads, reading_lines) {
    stream.read_expires_after(60s);
    stream.message_expires_after(5s);
    read_line();
    BOOST_TEST(log_after(60s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "late");
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_mostly_idle_is_served_for_hours, reading_lines) {
    for (int i = 0; i < 1000; ++i) {
        stream.read_expires_after(60s);
        stream.message_expires_after(5s);
        read_line();
        pass(59s);
        send("li");
        pass(4s);
        send("ne\n");
        BOOST_TEST(take_log() == "line");
    }
    BOOST_TEST(wheel.pending() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_message_may_take_longer_than_the_silence_before_it, reading_lines) {
    stream.expires_after(5s);
    stream.message_expires_after(60s);
    read_line();
    pass(4s);
    send("li");
    pass(60s - 1ns);
    send("ne\n");
    BOOST_TEST(take_log() == "line");
    // It is over: the deadline of the message is one like any other, until it is set again.
    read_line();
    BOOST_TEST(log_after(1ns) == "late");
}

BOOST_FIXTURE_TEST_CASE(a_message_without_silence_before_it_needs_no_other_deadline,
                        reading_lines) {
    stream.message_expires_after(5s);
    read_line();
    BOOST_TEST(wheel.pending() == 0U);
    pass(24h);
    send("x");
    BOOST_TEST(wheel.pending() == 1U);
    BOOST_TEST(log_after(5s) == "late");
}

BOOST_FIXTURE_TEST_CASE(what_sets_the_deadline_of_reads_does_not_take_a_message_back,
                        reading_lines) {
    const auto slow_line = [this] {
        read_line();
        pass(1h);
        send("x");
        BOOST_TEST(log_after(5s - 1ns) == "");
        pass(1ns);
        return take_log();
    };
    for (int way = 0; way < 4; ++way) {
        stream = timeout_stream<paired::socket>(ctx);
        peer = paired::socket(ctx);
        connect_pair(stream.socket(), peer);
        input.clear();
        stream.message_expires_after(5s);
        way == 0   ? stream.read_expires_after(2h)
        : way == 1 ? stream.read_expires_never()
        : way == 2 ? stream.expires_never()
                   : stream.expires_at(now() + 2h);
        BOOST_TEST(slow_line() == "late");
    }
}

BOOST_FIXTURE_TEST_CASE(a_message_can_be_taken_back_before_its_first_byte, reading_lines) {
    stream.read_expires_after(60s);
    stream.message_expires_after(5s);
    stream.message_expires_never();
    read_line();
    send("x");
    BOOST_TEST(log_after(60s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "late");
    // After the first byte, it is the deadline of reads.
    reading_lines other;
    std::array<char, 1> first{};
    other.stream.message_expires_after(5s);
    other.stream.async_read_some(asio::buffer(first), [](error_code, std::size_t) {});
    other.send("x");
    other.stream.message_expires_never();
    other.read_line();
    other.pass(5s);
    BOOST_TEST(other.take_log() == "late");
    reading_lines third;
    third.stream.message_expires_after(5s);
    third.stream.async_read_some(asio::buffer(first), [](error_code, std::size_t) {});
    third.send("x");
    third.stream.read_expires_after(10s);
    third.read_line();
    BOOST_TEST(third.log_after(10s - 1ns) == "");
    third.stream.close();
    BOOST_TEST(third.log_now() == "aborted");
}

BOOST_FIXTURE_TEST_CASE(a_message_may_be_limited_while_a_read_is_pending, reading_lines) {
    read_line();
    pass(1h);
    stream.message_expires_after(5s);
    pass(1h);
    send("li");
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "late");
    const auto nan = std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN());
    BOOST_CHECK_THROW(stream.message_expires_after(nan), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(the_longest_and_the_shortest_message, reading_lines) {
    stream.expires_after(1h);
    stream.message_expires_after(std::chrono::hours::max()); // Never, whatever the deadline was.
    read_line();
    send("x");
    pass(std::chrono::hours(24) * 365);
    send("\n");
    BOOST_TEST(take_log() == "x");
    for (const auto d : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        reading_lines r;
        r.stream.message_expires_after(d); // One read must be enough.
        r.read_line();
        r.send("line\n");
        BOOST_TEST(r.take_log() == "line");
        r.stream.message_expires_after(d);
        r.stream.read_expires_never();
        r.read_line();
        r.send("li");
        BOOST_TEST(r.take_log() == "late");
    }
}

BOOST_FIXTURE_TEST_CASE(a_message_goes_together_with_an_idle_period, reading_lines) {
    stream.idle_after(10s);
    stream.message_expires_after(15s);
    read_line();
    pass(9s);
    send("x");
    pass(9s);
    send("x");
    BOOST_TEST(log_after(6s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "late");
}

BOOST_AUTO_TEST_CASE(a_message_whose_wait_is_refused_closes_the_stream) {
    reading_lines r({.max_pending = 1});
    asio_wheel::steady_timer other(r.ctx, 24h);
    other.async_wait([](error_code) {});
    r.stream.message_expires_after(5s);
    r.read_line(); // Has no deadline yet.
    BOOST_TEST(r.log_now() == "");
    r.send("x");
    BOOST_TEST(r.take_log() == "too many");
    BOOST_TEST(!r.stream.socket().is_open());
    other.cancel();
    r.poll();
}

BOOST_FIXTURE_TEST_CASE(a_message_moves_with_its_stream, reading_lines) {
    stream.message_expires_after(5s);
    timeout_stream<paired::socket> moved(std::move(stream));
    using other_socket = asio::basic_stream_socket<paired, asio::io_context::executor_type>;
    timeout_stream<paired::socket> without(ctx);
    timeout_stream<other_socket> concrete(ctx);
    concrete.message_expires_after(6s);
    concrete.read_expires_after(1h);
    connect_pair(concrete.socket(), peer = paired::socket(ctx));
    without = timeout_stream<paired::socket>(std::move(concrete)); // Another type.
    stream = std::move(without);
    read_line();
    send("x");
    BOOST_TEST(log_after(6s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "late");
}

BOOST_AUTO_TEST_SUITE_END()
