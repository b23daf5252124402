// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Idle periods and peers that read slowly. The system calls a socket writable only when a good part
// of its buffer is empty. So for a long time nothing is written, although the peer reads.

#include <asio_wheel/timeout_stream.hpp>

#include "support/connect_pair.hpp"
#include "support/context.hpp"
#include "support/manual_layer.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::timeout_stream;

#ifdef __linux__
constexpr bool system_knows = true;
#else
constexpr bool system_knows = false;
#endif

struct writing : virtual_world {
    timeout_stream<manual_layer> stream{ctx};
    std::shared_ptr<manual_layer::state> wire = stream.socket().wire;
    std::array<char, 100> memory{};
    error_code result;

    void write() {
        stream.async_write_some(asio::buffer(memory),
                                [this](error_code ec, std::size_t) { result = ec; });
    }
};

// A download over the loopback, in real time. The server's buffer takes some megabytes, of which a
// third has to be empty until the socket is writable again.
struct download : drained_context {
    timeout_stream<asio::ip::tcp::socket> stream{ctx};
    asio::ip::tcp::socket client{ctx};
    std::vector<char> much = std::vector<char>(6'000'000);

    download() {
        asio::ip::tcp::acceptor acceptor(ctx, {asio::ip::address_v4::loopback(), 0});
        client.open(asio::ip::tcp::v4());
        client.set_option(asio::socket_base::receive_buffer_size(100'000));
        client.connect(acceptor.local_endpoint());
        acceptor.accept(stream.socket());
        stream.idle_after(500ms); // Less than the client takes for that.
    }

    // A client that reads without a pause, but slowly.
    [[nodiscard]] std::jthread slow_reader() {
        return std::jthread([this](const std::stop_token& stop) {
            std::vector<char> some(10'000);
            error_code ec;
            while (!ec && !stop.stop_requested()) {
                client.read_some(asio::buffer(some), ec);
                std::this_thread::sleep_for(10ms);
            }
        });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_slow_peers, *boost::unit_test::timeout(120))

BOOST_FIXTURE_TEST_CASE(a_layer_says_what_its_peer_has_not_taken, writing) {
    stream.idle_after(10s);
    write();
    for (wire->unsent = 500; *wire->unsent != 400; --*wire->unsent) {
        pass(10s);
        BOOST_TEST(wire->closed == 0);
    }
    pass(10s);
    BOOST_TEST(wire->closed == 0);
    BOOST_TEST(wire->looks == 101);
    pass(10s - 1ns); // The peer takes nothing any more.
    BOOST_TEST(wire->closed == 0);
    pass(1ns);
    BOOST_TEST((result == std::errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_layer_that_does_not_know_is_idle_when_nothing_is_written, writing) {
    stream.idle_after(10s);
    write();
    pass(10s);
    BOOST_TEST(wire->looks == 1);
    BOOST_TEST((result == std::errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_layer_is_asked_only_when_an_idle_period_is_over, writing) {
    stream.idle_after(10s);
    stream.write_expires_after(15s);
    write();
    pass(9s);
    BOOST_TEST(wire->looks == 0);
    wire->unsent = 500;
    pass(1s);
    BOOST_TEST(wire->looks == 1);
    pass(5s);
    BOOST_TEST((result == std::errc::timed_out)); // Its deadline has passed, whatever it takes.
}

// While time is paused, nothing that the system does has any time.
BOOST_FIXTURE_TEST_CASE(in_paused_time_the_system_is_not_asked, virtual_world) {
    timeout_stream<paired::socket> stream(ctx);
    paired::socket peer(ctx);
    connect_pair(stream.socket(), peer);
    std::array<char, 100> memory{};
    error_code result;
    asio::write(stream, asio::buffer(memory)); // The peer does not read it.
    stream.idle_after(10s);
    stream.async_read_some(asio::buffer(memory), [&](error_code ec, std::size_t) { result = ec; });
    pass(10s);
    BOOST_TEST((result == std::errc::timed_out));
}

// real time in the next cases

BOOST_FIXTURE_TEST_CASE(a_client_that_reads_slowly_is_not_idle, download, *only_if(system_knows)) {
    std::jthread reader = slow_reader();
    error_code result = asio::error::would_block;
    std::size_t written = 0;
    asio::async_write(stream, asio::buffer(much), [&](error_code ec, std::size_t n) {
        result = ec;
        written = n;
    });
    run();
    BOOST_TEST((!result && written == much.size()), result.message());
    reader.request_stop();
    stream.close();
}

BOOST_FIXTURE_TEST_CASE(a_synchronous_write_goes_on_while_the_client_reads, download,
                        *only_if(system_knows)) {
    std::jthread reader = slow_reader();
    error_code ec;
    const std::size_t n = asio::write(stream, asio::buffer(much), ec);
    BOOST_TEST((!ec && n == much.size()), ec.message());
    reader.request_stop();
    stream.close();
}

// It reads up to 1 MB a second, and on a busy machine, some tenth of that.
BOOST_FIXTURE_TEST_CASE(what_a_client_has_read_is_its_rate, download, *only_if(system_knows)) {
    stream.idle_never();
    stream.least_rate(10'000, 500ms);
    std::jthread reader = slow_reader();
    error_code result = asio::error::would_block;
    const auto note = [&](error_code ec, std::size_t) { result = ec; };
    asio::async_write(stream, asio::buffer(much), note);
    run();
    BOOST_TEST(!result, result.message());
    stream.least_rate(5'000'000, 500ms);
    much.resize(20'000'000);
    asio::async_write(stream, asio::buffer(much), note);
    run();
    BOOST_TEST((result == std::errc::timed_out));
    reader.request_stop();
}

BOOST_FIXTURE_TEST_CASE(a_client_that_does_not_read_is_idle, download) {
    std::vector<char> more(20'000'000);
    stream.idle_after(50ms);
    error_code result;
    asio::async_write(stream, asio::buffer(more), [&](error_code ec, std::size_t) { result = ec; });
    run();
    BOOST_TEST((result == std::errc::timed_out));
    BOOST_TEST(!stream.socket().is_open());
}

BOOST_AUTO_TEST_SUITE_END()
