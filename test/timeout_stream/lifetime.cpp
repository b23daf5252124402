// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A lifetime limits a whole connection, whatever it does meanwhile. Jitter spreads the ends of
// connections that began at one moment.

#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/manual_stream.hpp"
#include "support/names.hpp"
#include "support/refusals.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;

struct living : manual_stream {
    void read() { s->async_read_some(asio::buffer(memory), note("read")); }
    void write() { s->async_write_some(asio::buffer(memory), note("write")); }
    void exchange() {
        read();
        wire->read.complete({}, 10);
        write();
        wire->write.complete({}, 10);
        poll();
        log.take();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_lifetime, *boost::unit_test::timeout(60))

BOOST_FIXTURE_TEST_CASE(a_connection_that_is_always_busy_ends_with_its_lifetime, living) {
    s->lifetime(1h);
    for (int i = 0; i < 59; ++i) {
        s->expires_after(30s);
        exchange();
        pass(1min);
    }
    s->expires_never();
    read();
    write();
    BOOST_TEST(log_after(1min - 1ns) == "");
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(log_after(1ns) == "read late write late");
    BOOST_TEST(wire->closed == 1);
}

BOOST_FIXTURE_TEST_CASE(a_lifetime_that_ends_between_operations_ends_the_next_one, living) {
    s->lifetime(10s);
    exchange();
    pass(1h);
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(wire->closed == 0); // Nothing was pending.
    read();
    BOOST_TEST(!wire->read.pending());
    BOOST_TEST(wire->closed == 1);
    BOOST_TEST(log_now() == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_lifetime_may_be_moved_while_operations_are_pending, living) {
    read();
    s->lifetime(1h);
    BOOST_TEST(wheel.pending() == 1U);
    s->lifetime(2h);
    pass(1h);
    s->lifetime(5s); // As when a server is to stop soon.
    BOOST_TEST(log_after(5s - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_lifetime_can_be_taken_away, living) {
    s->lifetime(10s);
    read();
    s->lifetime_never();
    BOOST_TEST(log_after(24h) == "");
    BOOST_TEST(wheel.pending() == 0U);
    BOOST_TEST(wire->closed == 0);
}

BOOST_FIXTURE_TEST_CASE(the_earlier_of_a_lifetime_and_a_deadline_counts, living) {
    s->lifetime(10s);
    s->read_expires_after(5s);
    s->write_expires_after(20s);
    write();
    read();
    BOOST_TEST(log_after(5s) == "read late write!");
    s.emplace(ctx);
    wire = s->socket().wire;
    s->lifetime(10s);
    s->write_expires_after(20s);
    write();
    BOOST_TEST(log_after(10s) == "write late");
}

BOOST_FIXTURE_TEST_CASE(whoever_has_set_a_lifetime_knows_when_it_ends, living) {
    BOOST_TEST((s->lifetime(10s) == now() + 10s));
    BOOST_TEST((s->lifetime(-10s) == now() - 10s));
    const auto end = s->lifetime(10s, 0.5);
    read();
    pass(end - now() - 1ns);
    BOOST_TEST(take_log() == "");
    pass(1ms); // A tick, because the jitter is not in whole ones.
    BOOST_TEST(take_log() == "read late");
}

// Of 200 evenly distributed times, one of 10^9 runs has none in the first or the last tenth.
BOOST_FIXTURE_TEST_CASE(jitter_spreads_the_ends_of_connections_that_began_together, living) {
    std::vector<std::chrono::nanoseconds> ends;
    for (int i = 0; i < 200; ++i) {
        ends.push_back(s->lifetime(100s, 0.2) - now());
    }
    std::sort(ends.begin(), ends.end());
    BOOST_TEST((ends.front() >= 100s && ends.front() < 102s));
    BOOST_TEST((ends.back() > 118s && ends.back() < 120s));
    BOOST_TEST((s->lifetime(100s, 0) == now() + 100s));
    const auto all = s->lifetime(100s, 1);
    BOOST_TEST((all >= now() + 100s && all < now() + 200s));
}

BOOST_FIXTURE_TEST_CASE(the_longest_lifetime_never_ends_and_the_shortest_ended_long_ago, living) {
    using clock = std::chrono::steady_clock;
    for (const double jitter : {0.0, 0.5, 1.0}) {
        BOOST_TEST((s->lifetime(std::chrono::hours::max(), jitter) == clock::time_point::max()));
        BOOST_TEST((s->lifetime(clock::duration::max(), jitter) == clock::time_point::max()));
    }
    read();
    BOOST_TEST(log_after(24h * 365 * 100) == "");
    for (const auto d : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        s.emplace(ctx);
        wire = s->socket().wire;
        poll();
        log.take();
        read();
        s->lifetime(d, 1);
        BOOST_TEST(wire->closed == 0); // Not inside the call.
        BOOST_TEST(log_now() == "read late");
    }
}

BOOST_FIXTURE_TEST_CASE(an_unusable_lifetime_is_refused, living) {
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_TEST(message_of([&] { s->lifetime(nan); }) ==
               "asio_wheel: the lifetime of a timeout_stream is not a number (NaN)");
    for (const double jitter : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        BOOST_CHECK_THROW(s->lifetime(1h, jitter), std::invalid_argument);
    }
    read();
    BOOST_TEST(wheel.pending() == 0U); // Nothing was set.
}

BOOST_FIXTURE_TEST_CASE(a_lifetime_moves_with_its_stream_and_a_new_stream_has_none, living) {
    s->lifetime(10s);
    read();
    timeout_stream<manual_layer> moved(std::move(*s));
    BOOST_TEST(log_after(10s) == "read late");
    s->lifetime(1h); // It was moved from, and is new.
    read();
    BOOST_TEST(log_after(1h - 1ns) == "");
    BOOST_TEST(log_after(1ns) == "read late");
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_destroy_its_stream_at_the_end_of_its_lifetime, living) {
    s->lifetime(10s);
    s->async_read_some(asio::buffer(memory), [this](error_code ec, std::size_t) {
        BOOST_TEST((ec == std::errc::timed_out));
        s.reset();
        log.add("destroyed");
    });
    write();
    BOOST_TEST(log_after(10s) == "destroyed write late");
}

// Operations that begin after their deadline may be tried, but not after the stream's lifetime.
BOOST_FIXTURE_TEST_CASE(nothing_is_tried_after_the_lifetime, virtual_world) {
    has_sockets = true;
    using paired_stream = timeout_stream<paired::socket>;
    paired_stream stream(ctx);
    paired::socket peer(ctx);
    connect_pair(stream.socket(), peer);
    stream.try_late_operations(true);
    std::array<char, 1> memory{};
    asio::write(peer, asio::buffer(memory));
    asio::write(peer, asio::buffer(memory));
    error_code result = asio::error::would_block;
    const auto done = [&](error_code ec, std::size_t) { result = ec; };
    stream.expires_after(0s);
    stream.async_read_some(asio::buffer(memory), done);
    run();
    BOOST_TEST(!result);
    stream.lifetime(0s);
    stream.async_read_some(asio::buffer(memory), done);
    poll();
    BOOST_TEST((result == std::errc::timed_out));
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_AUTO_TEST_SUITE_END()
