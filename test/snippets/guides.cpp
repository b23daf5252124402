// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The code fragments of README and guides, compiled and run: a case for each. If the text describes
// their effect, the case checks it.

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "snippets/support.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <utility>

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_guides, *boost::unit_test::timeout(60))

namespace the_wheel {

struct session {
    explicit session(tcp::acceptor& acceptor)
        : socket(acceptor.accept()), idle(socket.get_executor(), 30s) {}

    void start() {
#include "docs/guide/wheel.md/idle_async_wait_this_boost.inc"
    }

    tcp::socket socket;
    asio_wheel::steady_timer idle;
};

BOOST_AUTO_TEST_CASE(wheel_options_are_what_make_wheel_was_given) {
    asio::io_context ctx;
#include "docs/guide/wheel.md/auto_wheel_asio_wheel_make_wheel.inc"
    BOOST_TEST((wheel.options().tick == 10ms));
    BOOST_TEST(&asio_wheel::use_wheel(ctx) == &wheel);
}

// A server with more connections than its wheel can hold: those without a timeout are closed at
// once, the others when they have been idle. None stays open without a timeout.
BOOST_AUTO_TEST_CASE(wheel_a_server_at_its_limit_leaves_no_connection_without_timeout) {
    asio::io_context ctx;
    auto& wheel = asio_wheel::make_wheel(ctx, {.max_pending = 3});
    wheel.pause();
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::list<tcp::socket> clients;
    std::list<session> sessions;
    for (int i = 0; i < 5; ++i) {
        clients.emplace_back(ctx).connect(acceptor.local_endpoint());
        sessions.emplace_back(acceptor).start();
    }
    const auto open = [&] {
        std::string all;
        for (const session& s : sessions) {
            all += s.socket.is_open() ? '+' : '-';
        }
        return all;
    };
    BOOST_TEST(open() == "+++++");
    ctx.poll();
    BOOST_TEST(open() == "+++--");
    BOOST_TEST(wheel.stats().rejected == 2U);

    // Another connection can use a place that becomes free. A timeout that was cancelled closes
    // nothing.
    sessions.front().idle.cancel();
    clients.emplace_back(ctx).connect(acceptor.local_endpoint());
    sessions.emplace_back(acceptor).start();
    ctx.restart();
    ctx.poll();
    BOOST_TEST(open() == "+++--+");

    wheel.advance(30s + wheel.options().tick);
    ctx.restart();
    ctx.poll();
    BOOST_TEST_REQUIRE(open() == "+-----");
    for (tcp::socket& client : clients) {
        if (&client != &clients.front()) {
            char byte = 0;
            error_code ec;
            client.read_some(asio::buffer(&byte, 1), ec);
            BOOST_TEST((ec == asio::error::eof));
        }
    }
}

} // namespace the_wheel

namespace timeout {

using asio_wheel::timeout;

BOOST_FIXTURE_TEST_CASE(timeout_of_nested_deadlines_the_first_to_pass_tells, snippet_world) {
    std::optional<error_code> result;
    const auto token = [&](error_code ec) { result = ec; };
    const auto op = [&](auto t) { work_for(ctx.get_executor(), 1h, std::move(t)); };
#include "docs/guide/timeout.md/op_timeout_30s_my_error.inc"
    pass(2s - 1ms);
    BOOST_TEST(!result.has_value());
    pass(1ms);
    BOOST_TEST((result == make_error_code(my_error::peer_is_silent)));
}

} // namespace timeout

namespace idle_timer {

BOOST_FIXTURE_TEST_CASE(idle_timer_shorter_periods_under_overload_close_what_was_idle_for_longer,
                        snippet_world) {
    asio_wheel::idle_timer longer(ctx, 2min);
    asio_wheel::idle_timer shorter(ctx, 2min);
    asio_wheel::test::journal seen;
    longer.async_wait(seen.note("longer"));
    shorter.async_wait(seen.note("shorter"));
    pass(20s);
    shorter.touch();
    pass(15s);
    const auto shown = [this] {
#include "docs/guide/idle_timer.md/asio_wheel_scale_idle_timers_ctx_0.inc"
    };
    shown();
    pass(1ms);
    BOOST_TEST(seen.take() == "longer");
    pass(14s);
    BOOST_TEST(seen.take().empty());
    pass(1s + 20ms); // The kernel's coarse clock may be some of its ticks behind.
    BOOST_TEST(seen.take() == "shorter");
}

} // namespace idle_timer

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
