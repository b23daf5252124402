// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// "An active connection is closed by its timeout", on streams that read and write at once.
//
//   EOSIO/eos 10252        expires_after() sets the deadline of one direction only, if something is
//                          pending in the other one. Busy connections were closed
//   boostorg/beast 2541    full duplex: is expires_after() before each operation enough?
//   boostorg/beast 2865    a write without a deadline times out
//   boostorg/beast 1868    a download is ended because its deadline began with the request. The
//                          user wants to limit the silence, not the length of a request
//
// Beast's tcp_stream has a deadline for reads and one for writes, but a single function that sets
// both. It silently skips a direction that has an operation pending. If both have one, an assertion
// fails, so no case shows that. For programs that come from Beast, expires_after() of
// timeout_stream does the same, but throws std::logic_error instead of the assertion.
// timeout_stream also has a function for each direction, and idle_after() for the connection.
//
// The cases of Beast use real time. Deadlines that must pass are 20 ms away, others an hour. Our
// cases use virtual time and real sockets.

#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace beast = boost::beast;
using namespace asio_wheel::test;
using asio::ip::tcp;

// Two ends of a connection: a server's stream, and its client's socket.
template <class Stream, class Context>
struct connection : Context {
    Stream stream{this->ctx};
    tcp::socket client{this->ctx};
    std::array<char, 100> memory{};
    std::vector<char> download = std::vector<char>(50'000'000); // More than buffers can hold.
    std::size_t written = 0;                                    // Bytes of the download.
    std::string story;

    connection() {
        this->has_sockets = true;
        tcp::acceptor acceptor(this->ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        client.connect(acceptor.local_endpoint());
        acceptor.accept(stream.socket());
    }
    // Sends a request, which has arrived when this returns.
    void request() {
        asio::write(client, asio::buffer("x", 1));
        stream.socket().wait(tcp::socket::wait_read);
    }
    void read() { stream.async_read_some(asio::buffer(memory), note("read")); }
    void write_a_little() { asio::async_write(stream, asio::buffer(memory), note("write")); }
    // In pieces: on Windows, one large write makes no progress until it has ended.
    void write_much() {
        const auto all = [this](error_code ec, std::size_t n) {
            written = n;
            return ec ? 0U : (std::min<std::size_t>)(download.size() - n, 65'536);
        };
        asio::async_write(stream, asio::buffer(download), all, note("download"));
    }

    // The client reads all data that has arrived. Returns the number of bytes.
    std::size_t take_some() {
        std::size_t taken = 0;
        client.non_blocking(true);
        error_code ec;
        for (std::vector<char> some(1'000'000);;) {
            const std::size_t n = client.read_some(asio::buffer(some), ec);
            if (ec) {
                break;
            }
            taken += n;
        }
        client.non_blocking(false);
        return taken;
    }

    [[nodiscard]] auto note(const std::string& what) {
        return [this, what](error_code ec, std::size_t) {
            story += story.empty() ? "" : ", ";
            story += what + (!ec                                    ? " ok"
                             : ec == asio_wheel::error::timed_out   ? " late"
                             : ec == beast::error::timeout          ? " late"
                             : ec == asio::error::operation_aborted ? " aborted"
                                                                    : " " + ec.message());
        };
    }
    [[nodiscard]] std::string told() { return std::exchange(story, {}); }
    [[nodiscard]] bool is_open() const { return stream.socket().is_open(); }
};

using beasts = connection<beast::tcp_stream, drained_context>;
using ours = connection<asio_wheel::timeout_stream<tcp::socket>, virtual_world>;

} // namespace

BOOST_AUTO_TEST_SUITE(complaints_full_duplex, *boost::unit_test::timeout(120))

// eos 10252, beast 2541: a read is always pending, because the client may send at any time. Each
// message to the client sets a new deadline, but only for writes.
BOOST_AUTO_TEST_CASE(asio_a_connection_that_is_busy_writing_is_closed_by_its_read) {
    beasts c;
    c.stream.expires_after(20ms);
    c.read();
    c.stream.expires_after(1h);
    c.write_a_little();
    c.run();
    BOOST_TEST(c.told() == "write ok, read late");
    BOOST_TEST(!c.is_open());
}

BOOST_AUTO_TEST_CASE(ours_a_connection_that_is_busy_writing_is_not_idle) {
    ours c;
    c.stream.idle_after(30s);
    c.read();
    for (int i = 0; i < 100; ++i) {
        c.pass(20s);
        c.write_a_little();
        c.poll();
        BOOST_TEST(c.told() == "write ok");
    }
    c.pass(30s - 1ns);
    BOOST_TEST(c.is_open());
    c.pass(1ns);
    BOOST_TEST(c.told() == "read late");
    BOOST_TEST(!c.is_open());
}

// beast 2541: "expires_after(60), read, expires_after(20), write", again and again.
BOOST_AUTO_TEST_CASE(ours_each_direction_has_a_deadline_of_its_own) {
    ours c;
    c.stream.read_expires_after(60s);
    c.read();
    for (int i = 0; i < 4; ++i) {
        c.pass(10s);
        c.stream.write_expires_after(20s);
        c.write_a_little();
        c.poll();
        BOOST_TEST(c.told() == "write ok");
    }
    c.pass(20s - 1ns);
    BOOST_TEST(c.is_open());
    c.pass(1ns);
    BOOST_TEST(c.told() == "read late");
}

// An assertion fails here in Beast.
BOOST_AUTO_TEST_CASE(ours_a_deadline_for_what_is_pending_is_refused_in_words) {
    ours c;
    c.stream.expires_after(30s);
    c.read();
    c.write_much();
    BOOST_CHECK_THROW(c.stream.expires_after(1h), std::logic_error);
    c.pass(30s - 1ns);
    BOOST_TEST(c.is_open()); // Nothing has changed.
    c.pass(1ns);
    BOOST_TEST((c.story == "read late, download late" || c.story == "download late, read late"),
               c.story);
}

// beast 2865: requests arrive one after the other while responses are being written. The deadline
// is set before each read. A pending write keeps the deadline of an earlier read.
BOOST_AUTO_TEST_CASE(asio_a_write_times_out_by_the_deadline_of_a_read) {
    beasts c;
    c.request();
    c.stream.expires_after(20ms);
    c.read();
    c.write_much();
    c.poll();
    if (c.is_open()) { // Else this machine is slow, and the deadline has passed already.
        c.stream.expires_after(1h);
        c.request();
        c.read();
    }
    c.run();
    BOOST_TEST(
        (c.story == "read ok, read ok, download late" || c.story == "read ok, download late"),
        c.story);
    BOOST_TEST(!c.is_open());
}

BOOST_AUTO_TEST_CASE(ours_a_write_without_a_deadline_does_not_time_out) {
    ours c;
    for (int i = 0; i < 100; ++i) {
        c.request();
        c.stream.read_expires_after(30s);
        c.read();
        if (i == 0) {
            c.write_much();
        }
        c.poll();
        BOOST_TEST(c.told() == "read ok");
        c.pass(20s); // And the client does not take any of the download.
    }
    BOOST_TEST(c.is_open());
    std::size_t rest = c.download.size();
    while (rest != 0) {
        rest -= c.take_some();
        c.poll();
    }
    BOOST_TEST(c.told() == "download ok");
}

// beast 1868: the deadline belongs to the request. A download that takes longer is ended, although
// the client reads some of it all the time.
BOOST_AUTO_TEST_CASE(asio_a_download_that_makes_progress_is_ended) {
    beasts c;
    c.request();
    c.stream.expires_after(20ms);
    c.read();
    c.poll();
    BOOST_TEST(c.told() == "read ok");
    c.write_much();
    std::size_t taken = 0;
    while (taken < c.download.size() / 2 && c.story.empty()) { // Then it waits for the deadline.
        taken += c.take_some();
        c.ctx.restart();
        c.ctx.run_for(1ms);
    }
    c.run();
    BOOST_TEST(c.told() == "download late");
    BOOST_TEST(taken > 0U);
}

BOOST_AUTO_TEST_CASE(ours_a_download_may_go_on_as_long_as_it_makes_progress) {
    ours c;
    c.stream.idle_after(30s);
    c.request();
    c.read();
    c.poll();
    BOOST_TEST(c.told() == "read ok");
    c.pass(29s); // A connection is in no hurry between two requests.
    c.write_much();
    c.poll();
    std::size_t taken = 0;
    for (int i = 0; i < 3; ++i) {
        const std::size_t before = c.written;
        while (c.written == before) { // Data on the loopback may take its time.
            taken += c.take_some();
            c.poll();
        }
        c.pass(29s);
        BOOST_TEST(c.is_open());
    }
    BOOST_TEST(taken < c.download.size());
    c.pass(30s); // The client takes nothing any more.
    BOOST_TEST(c.told() == "download late");
    BOOST_TEST(!c.is_open());
}

BOOST_AUTO_TEST_SUITE_END()
