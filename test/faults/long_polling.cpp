// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The long-polling server of the examples with a peer that does not play by the rules.

#include "../examples/18_long_polling/server.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto long_enough = 10s;

} // namespace

BOOST_AUTO_TEST_CASE(a_line_without_end_ends_its_peer_and_nobody_else) {
    asio::io_context ctx;
    long_polling::server server(ctx);
    asio::co_spawn(ctx, server.accept(), asio::detached);
    tcp::socket endless(ctx);
    endless.connect(server.acceptor.local_endpoint());
    tcp::socket other(ctx);
    other.connect(server.acceptor.local_endpoint());
    asio::write(endless, asio::buffer(std::string(10'000, 'x')));

    bool ended = false;
    char any = 0;
    endless.async_read_some(asio::buffer(&any, 1), [&](error_code ec, std::size_t) {
        ended = ec == asio::error::eof || ec == asio::error::connection_reset;
    });
    const auto latest = std::chrono::steady_clock::now() + long_enough;
    while (!ended && ctx.run_one_until(latest) != 0) {
    }
    BOOST_TEST(ended);

    asio::write(other, asio::buffer(std::string("PUT news A goal!\n")));
    std::string answer;
    bool answered = false;
    asio::async_read_until(other, asio::dynamic_buffer(answer), '\n',
                           [&](error_code, std::size_t) { answered = true; });
    while (!answered && ctx.run_one_until(latest + long_enough) != 0) {
    }
    BOOST_TEST(answer == "0\n");
}

BOOST_AUTO_TEST_CASE(a_silent_peer_is_closed_in_time_and_not_before) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::use_wheel(ctx);
    wheel.pause();
    long_polling::server server(ctx);
    asio::co_spawn(ctx, server.accept(), asio::detached);
    tcp::socket silent(ctx);
    silent.connect(server.acceptor.local_endpoint());
    asio::write(silent, asio::buffer(std::string("GET 1 ")));
    const auto latest = std::chrono::steady_clock::now() + long_enough;
    while (wheel.pending() == 0 && ctx.run_one_until(latest) != 0) {
    }
    BOOST_TEST(wheel.pending() == 1U);

    bool ended = false;
    char any = 0;
    silent.async_read_some(asio::buffer(&any, 1), [&](error_code ec, std::size_t) {
        ended = ec == asio::error::eof || ec == asio::error::connection_reset;
    });
    wheel.advance(long_polling::server::longest_silence - 1ms);
    ctx.poll();
    BOOST_TEST(!ended);
    wheel.advance(1ms);
    while (!ended && ctx.run_one_until(latest + long_enough) != 0) {
    }
    BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(who_asks_for_a_topic_does_not_create_it) {
    asio::io_context ctx;
    long_polling::broker topics(ctx);
    long_polling::batch got;
    asio::co_spawn(
        ctx,
        [&]() -> asio::awaitable<void> {
            const long_polling::fetch_request request{.topics = {"none"}};
            got = co_await topics.fetch(request, {});
        },
        asio::detached);
    ctx.run();
    BOOST_TEST(got.text.empty());
    BOOST_TEST(got.read.empty());
}
