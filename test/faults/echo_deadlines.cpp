// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The echo server of the examples with each kind of deadline that bench/server_bench compares.
// Active clients are answered, and idle ones are closed unless there are no deadlines.

#include "../examples/echo_server/listener.hpp"
#include "../examples/echo_server/other_deadlines.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using echo::no_timer;
using namespace std::chrono_literals;

using deadlines = std::tuple<asio_wheel::steady_timer, asio::steady_timer,
                             echo::per_line<asio::steady_timer>, no_timer>;

/// A server whose connections end after `idle`, and a client.
template <class Timer>
struct conversation {
    explicit conversation(std::chrono::steady_clock::duration idle)
        : server(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0), idle, meters) {
        asio::co_spawn(ctx, server.accept(), asio::detached);
        client.connect(
            {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(server.port())});
    }

    std::string line() {
        std::string result = "nothing";
        asio::async_read_until(client, asio::dynamic_buffer(received), '\n',
                               [&](boost::system::error_code error, std::size_t size) {
                                   result = error ? error.message() : received.substr(0, size);
                                   received.erase(0, error ? 0 : size);
                                   ctx.stop();
                               });
        run();
        return result;
    }

    void run() {
        ctx.restart();
        ctx.run_for(60s);
    }

    echo::meters meters; // Outlives the context.
    asio::io_context ctx{1};
    echo::listener<Timer> server;
    tcp::socket client{ctx};
    std::string received;
};

} // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(who_talks_is_answered, Timer, deadlines) {
    conversation<Timer> c(30s);
    BOOST_TEST(c.line() == "IDLE 30000\n");
    for (const std::string n : {"1", "2"}) {
        asio::write(c.client, asio::buffer("PING " + n + "\n"));
        BOOST_TEST(c.line() == "PONG " + n + "\n");
    }
    BOOST_TEST(c.meters.connections == 1U);
    BOOST_TEST(c.meters.idle_closes == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(who_is_silent_is_closed, Timer, deadlines) {
    conversation<Timer> c(20ms);
    BOOST_TEST(c.line() == "IDLE 20\n");
    if constexpr (std::same_as<Timer, no_timer>) {
        c.ctx.restart();
        c.ctx.run_for(100ms);
        BOOST_TEST(c.meters.connections == 1U);
        BOOST_TEST(c.meters.waits == 0U);
    } else {
        BOOST_TEST(c.line() == make_error_code(asio::error::eof).message());
        BOOST_TEST(c.meters.idle_closes == 1U);
        BOOST_TEST(c.meters.early_closes == 0U);
    }
}
