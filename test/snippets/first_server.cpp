// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tutorial docs/guide/first_server.md: the server of each step, as the document has it, with
// clients that show what the step gains. Time is virtual.

#include <asio_wheel.hpp>
#include <asio_wheel/inspector.hpp>

#include "snippets/support.hpp"

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace snippets {

BOOST_AUTO_TEST_SUITE(snippets_first_server, *boost::unit_test::timeout(60))

namespace first_server {

using namespace asio::experimental::awaitable_operators;
using client_stream = asio_wheel::timeout_stream<tcp::socket>;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// A client, and how long virtual time is when the server has closed its connection.
struct client {
    client(asio_wheel::virtual_time& t, asio::io_context& ctx, asio::ip::port_type port)
        : time(t), socket(ctx) {
        socket.connect({asio::ip::address_v4::loopback(), port});
        listen();
    }

    void say(const std::string& text) { asio::write(socket, asio::buffer(text)); }

    /// Says nothing for so long, and hears what is said.
    void wait(std::chrono::nanoseconds d) {
        const auto until = time.elapsed() + d;
        asio_wheel::steady_timer pause(socket.get_executor(), d);
        bool awake = false;
        pause.async_wait([&](error_code) { awake = true; });
        time.run_until([&] { return awake; });
        BOOST_TEST((time.elapsed() == until));
    }

    /// Hears it at once.
    void wait_for(const std::string& text) {
        const auto now = time.elapsed();
        time.run_until([&] { return heard.find(text) != std::string::npos; });
        BOOST_TEST((time.elapsed() == now));
    }

    std::chrono::nanoseconds wait_for_end() {
        time.run_until([this] { return over; });
        return time.elapsed();
    }

    asio_wheel::virtual_time& time;
    tcp::socket socket;
    std::string heard;
    bool over = false;

private:
    void listen() {
        const auto end = [this](error_code, std::size_t) { over = true; };
        asio::async_read(socket, asio::dynamic_buffer(heard), end);
    }
};

/// Of real time, for the system to pass on what was sent.
constexpr asio_wheel::virtual_time_options patient{.io_grace = 1ms};

/// A server of the first steps.
struct world {
    asio::io_context ctx;
    asio_wheel::virtual_time time{patient, ctx};
    tcp::acceptor acceptor{ctx, {tcp::v4(), 0}};

    client connect() { return client(time, ctx, acceptor.local_endpoint().port()); }
};

namespace step_1 {

#include "docs/guide/first_server.md/asio_awaitable_void_session.inc"

#include "docs/guide/first_server.md/asio_awaitable_void_serve.inc"
#include "docs/guide/first_server.md/int_main.inc"

BOOST_FIXTURE_TEST_CASE(first_server_1_says_each_line_back, world) {
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    client c = connect();
    c.say("hello\n");
    c.wait_for("hello\n");
    c.say("a\nb\n");
    c.wait_for("hello\na\nb\n");
    c.wait(24h);
    BOOST_TEST(!c.over); // The flaw.
}

} // namespace step_1

namespace step_2 {

#include "docs/guide/first_server.md/asio_awaitable_void_session_2.inc"

#include "docs/guide/first_server.md/asio_awaitable_void_serve.inc"

BOOST_FIXTURE_TEST_CASE(first_server_2_a_line_has_thirty_seconds, world) {
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    client c = connect();
    c.wait(29s);
    c.say("hello\n");
    c.wait_for("hello\n");
    BOOST_TEST((c.wait_for_end() == 59s));
}

BOOST_FIXTURE_TEST_CASE(first_server_2_bytes_now_and_then_gain_nothing, world) {
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    client c = connect();
    c.say("h");
    c.wait(10s);
    c.say("e");
    c.wait(10s);
    c.say("l");
    BOOST_TEST((c.wait_for_end() == 30s));
    BOOST_TEST(c.heard.empty());
}

} // namespace step_2

namespace step_3 {

#include "docs/guide/first_server.md/void_limit_line_client_stream_client.inc"

#include "docs/guide/first_server.md/asio_awaitable_void_session_3.inc"

#include "docs/guide/first_server.md/asio_awaitable_void_serve.inc"

BOOST_FIXTURE_TEST_CASE(first_server_3_silence_may_last_and_a_line_may_not, world) {
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    client c = connect();
    c.wait(9min);
    c.say("hello\n");
    c.wait_for("hello\n");
    c.wait(9min);
    c.say("hel");
    BOOST_TEST((c.wait_for_end() == 18min + 5s));
}

BOOST_FIXTURE_TEST_CASE(first_server_3_ten_minutes_of_silence_are_the_end, world) {
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    client c = connect();
    BOOST_TEST((c.wait_for_end() == 10min));
}

BOOST_FIXTURE_TEST_CASE(first_server_3_a_line_that_came_with_another_has_begun, world) {
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    client c = connect();
    c.say("hello\nagai");
    c.wait_for("hello\n");
    BOOST_TEST((c.wait_for_end() == 5s));
}

} // namespace step_3

using step_3::limit_line;

#include "docs/guide/first_server.md/struct_connection.inc"

#include "docs/guide/first_server.md/asio_awaitable_void_read.inc"
#include "docs/guide/first_server.md/asio_awaitable_void_write.inc"

#include "docs/guide/first_server.md/asio_awaitable_void_watch.inc"

std::string many_lines(int n) {
    std::string lines;
    for (int i = 0; i < n; ++i) {
        lines += std::string(999, 'x') + '\n';
    }
    return lines;
}

namespace step_4 {

#include "docs/guide/first_server.md/asio_awaitable_void_session_4.inc"

asio::awaitable<void> serve_one(tcp::acceptor& acceptor) {
    co_await session(co_await acceptor.async_accept(asio::use_awaitable));
}

BOOST_FIXTURE_TEST_CASE(first_server_4_a_client_that_answers_stays, world) {
    asio::co_spawn(ctx, serve_one(acceptor), asio::detached);
    client c = connect();
    for (int i = 0; i < 10; ++i) {
        c.wait(59s);
        c.say("here\n");
    }
    BOOST_TEST(!c.over);
    c.socket.shutdown(tcp::socket::shutdown_send); // It leaves, and hears the rest.
    BOOST_TEST((c.wait_for_end() == 590s));
    BOOST_TEST(c.heard.ends_with("here\n"));
}

// It half-closes, and only then begins to read: answers are in the queue, and a write is pending.
BOOST_FIXTURE_TEST_CASE(first_server_4_answers_all_lines_of_a_client_that_ends, world) {
    const asio::socket_base::send_buffer_size least_to_send(4'096);
    const asio::socket_base::receive_buffer_size least_to_receive(4'096);
    const auto work = asio::make_work_guard(ctx); // So it does not stop between two clients.
    for (int n = 1; n <= 30; ++n) {
        tcp::socket client(ctx, tcp::v4());
        client.set_option(least_to_receive);
        client.connect(acceptor.local_endpoint());
        tcp::socket accepted = acceptor.accept();
        accepted.set_option(least_to_send);
        asio::co_spawn(ctx, session(std::move(accepted)), asio::detached);
        const std::string lines = many_lines(n);
        asio::write(client, asio::buffer(lines));
        client.shutdown(tcp::socket::shutdown_send);
        for (int in_vain = 0; in_vain < 1'000; ++in_vain) { // Until no buffer has room.
            in_vain = ctx.poll() == 0 ? in_vain : 0;
        }
        std::string heard;
        bool over = false;
        const auto end = [&](error_code, std::size_t) { over = true; };
        asio::async_read(client, asio::dynamic_buffer(heard), end);
        while (!over && ctx.run_one_for(10s) != 0) { // Time stands still: small windows are slow.
        }
        BOOST_CHECK_MESSAGE(heard == lines, n << " lines");
    }
}

} // namespace step_4

namespace step_5 {

#include "docs/guide/first_server.md/class_server.inc"
#include "docs/guide/first_server.md/int_main_2.inc"

BOOST_AUTO_TEST_CASE(first_server_5_finishes_what_has_begun) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(patient, ctx);
    server echo(ctx, 0);
    client quick(time, ctx, echo.port());
    client slow(time, ctx, echo.port());
    quick.say("hello\nthe la");
    quick.wait_for("hello\n");
    echo.stop();
    quick.wait(999ms);
    quick.say("st\n");
    quick.wait_for("the last\n");
    BOOST_TEST((quick.wait_for_end() == 1s));
    BOOST_TEST(quick.heard == "hello\nthe last\n");
    BOOST_TEST((slow.wait_for_end() == 1s));
    time.run();
    BOOST_TEST(asio_wheel::use_wheel(ctx).pending() == 0U); // So run() returns.
    BOOST_TEST(ctx.stopped());
}

/// Calls f(), with a new server, after 0, 1, ... handlers of the context.
template <class F>
void at_each_moment(F f) {
    for (int handlers = 0; handlers < 20; ++handlers) {
        BOOST_TEST_CONTEXT("after " << handlers << " handlers") {
            asio::io_context ctx;
            asio_wheel::virtual_time time(patient, ctx);
            server echo(ctx, 0);
            f(ctx, time, echo, handlers);
            BOOST_TEST(ctx.stopped());
        }
    }
}

void run_handlers(asio::io_context& ctx, int most) {
    for (int i = 0; i < most; ++i) {
        ctx.poll_one();
    }
}

BOOST_AUTO_TEST_CASE(first_server_5_finishes_what_has_begun_whenever_it_is_stopped) {
    at_each_moment([](auto& ctx, auto& time, server& echo, int handlers) {
        client c(time, ctx, echo.port());
        c.wait(1s);
        c.say("hello\nthe la");
        run_handlers(ctx, handlers);
        echo.stop();
        c.say("st\n");
        BOOST_TEST((c.wait_for_end() == 2s));
        BOOST_TEST(c.heard == "hello\nthe last\n");
        time.run();
    });
}

BOOST_AUTO_TEST_CASE(first_server_5_serves_nobody_who_comes_while_it_is_stopped) {
    at_each_moment([](auto& ctx, auto& time, server& echo, int handlers) {
        client first(time, ctx, echo.port());
        client second(time, ctx, echo.port());
        run_handlers(ctx, handlers);
        echo.stop();
        BOOST_TEST((first.wait_for_end() <= 1s));
        BOOST_TEST((second.wait_for_end() <= 1s));
        time.run();
    });
}

// Answers fill the queue, while a write waits until it has no time left.
BOOST_AUTO_TEST_CASE(first_server_5_gives_up_a_client_that_does_not_read) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(patient, ctx);
    server echo(ctx, 0);
    tcp::socket client(ctx);
    client.connect({asio::ip::address_v4::loopback(), echo.port()});
    const std::string lines = many_lines(100'000);
    bool over = false;
    asio::async_write(client, asio::buffer(lines), [&](error_code, std::size_t) { over = true; });
    time.run_until([&] { return over; });
    BOOST_TEST((time.elapsed() >= 5s));
    BOOST_TEST((time.elapsed() <= 6s));
    echo.stop();
    time.run();
    BOOST_TEST(ctx.stopped());
}

#include "docs/guide/first_server.md/boost_auto_test_case_a_silent_client_is_given_up.inc"

// Compiled only, because another program may have this port.
[[maybe_unused]] void show(asio::io_context& ctx) {
#include "docs/guide/first_server.md/asio_wheel_inspector_inspector_ctx.inc"
}

BOOST_AUTO_TEST_CASE(first_server_7_a_client_that_vanished_is_counted) {
    asio::io_context ctx;
    asio_wheel::virtual_time time(patient, ctx);
    server echo(ctx, 0);
    client c(time, ctx, echo.port());
    BOOST_TEST((c.wait_for_end() == 60s));
    std::ostringstream text;
    auto* const before = std::cout.rdbuf(text.rdbuf());
#include "docs/guide/first_server.md/asio_wheel_to_openmetrics_std_cout.inc"
    std::cout.rdbuf(before);
    BOOST_TEST(text.str().find("asio_wheel_expired_total{kind=\"heartbeat\"} 3\n") !=
               std::string::npos);
}

} // namespace step_5

} // namespace first_server

BOOST_AUTO_TEST_SUITE_END()

} // namespace snippets
