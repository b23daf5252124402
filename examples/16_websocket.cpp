// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A WebSocket server that pings while its peer has nothing to say, and gives it up when it does not even
// answer that. One client here answers, the other has fallen silent.

#include <asio_wheel/beast.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using stream = asio_wheel::timeout_stream<tcp::socket>;

constexpr auto ping_after = 40ms;
constexpr auto dead_after = 300ms;

struct outcome { // Of a connection.
    int pings = 0;
    int messages = 0;
    boost::system::error_code end;
};

// One connection, shared by whoever reads and whoever pings.
struct connection {
    explicit connection(tcp::socket socket)
        : ws(std::move(socket)), quiet(ws.get_executor(), ping_after) {}

    // Something came in. Called between two reads of the stream, also if both are parts of one read of
    // the WebSocket: that is when a read's deadline may be set.
    void heard() {
        boost::beast::get_lowest_layer(ws).read_expires_after(dead_after);
        quiet.touch();
    }

    websocket::stream<stream> ws;
    asio_wheel::idle_timer quiet;
    outcome result;
};

asio::awaitable<void> ping(std::shared_ptr<connection> c) {
    const auto token = asio::as_tuple(asio::use_awaitable);
    for (bool open = true; open;) {
        const auto [cancelled] = co_await c->quiet.async_wait(token);
        if (cancelled) {
            co_return;
        }
        c->quiet.touch(); // The next ping is due a period from now.
        const auto [failed] = co_await c->ws.async_ping({}, token);
        open = !failed;
        c->result.pings += open ? 1 : 0;
    }
}

// Closes a connection however its reader ends, so that ping() ends, too.
struct closer {
    ~closer() {
        c.quiet.cancel();
        boost::beast::get_lowest_layer(c.ws).close();
    }
    connection& c;
};

asio::awaitable<outcome> serve(tcp::socket socket) {
    const auto c = std::make_shared<connection>(std::move(socket));
    const closer at_the_end{*c};
    stream& below = boost::beast::get_lowest_layer(c->ws);
    c->ws.control_callback([&c = *c](websocket::frame_type, boost::beast::string_view) {
        c.heard(); // A pong, most often.
    });
    try {
        below.expires_after(1s);
        co_await c->ws.async_accept(asio::use_awaitable);
        below.expires_never();
        below.idle_after(dead_after); // For a peer that asks, and never reads the answers.
        asio::co_spawn(below.get_executor(), ping(c), asio::detached);
        boost::beast::flat_buffer in;
        for (;;) {
            c->heard();
            co_await c->ws.async_read(in, asio::use_awaitable);
            in.clear();
            ++c->result.messages;
        }
    } catch (const boost::system::system_error& e) {
        c->result.end = e.code();
    }
    co_return c->result;
}

// Accepts until the acceptor is closed. When descriptors have run out, it tries again soon. Calls `over`
// with what became of each connection.
asio::awaitable<void> server(tcp::acceptor& acceptor, std::function<void(const outcome&)> over) {
    const auto ex = acceptor.get_executor();
    for (int failures = 0; acceptor.is_open();) {
        try {
            if (failures != 0) {
                co_await asio_wheel::async_sleep_for(ex, 10ms, asio::use_awaitable);
            }
            auto socket = co_await acceptor.async_accept(asio::use_awaitable);
            asio::co_spawn(ex, serve(std::move(socket)),
                           [over](std::exception_ptr, const outcome& o) { over(o); });
            failures = 0;
        } catch (const std::exception& e) {
            if (acceptor.is_open() && failures++ == 0) {
                std::cerr << "not accepted: " << e.what() << std::endl;
            }
        }
    }
}

using client = std::shared_ptr<websocket::stream<stream>>;

asio::awaitable<client> connect(tcp::endpoint where) {
    auto ws = std::make_shared<websocket::stream<stream>>(co_await asio::this_coro::executor);
    stream& below = boost::beast::get_lowest_layer(*ws);
    below.expires_after(1s);
    co_await below.async_connect(where, asio::use_awaitable);
    co_await ws->async_handshake("localhost", "/", asio::use_awaitable);
    below.expires_never();
    co_return ws;
}

// Reads until the connection is over; that answers pings.
asio::awaitable<void> listen(client ws) {
    boost::beast::flat_buffer in;
    const auto token = asio::as_tuple(asio::use_awaitable);
    for (bool open = true; open; in.clear()) {
        const auto [failed, n] = co_await ws->async_read(in, token);
        open = !failed;
    }
}

// Says hello, says nothing for longer than the server waits for an answer to its pings, and leaves.
asio::awaitable<void> lively_peer(tcp::endpoint where) {
    const client ws = co_await connect(where);
    asio::co_spawn(ws->get_executor(), listen(ws), asio::detached);
    co_await ws->async_write(asio::buffer("hello", 5), asio::use_awaitable);
    co_await asio_wheel::async_sleep_for(ws->get_executor(), dead_after * 3 / 2,
                                         asio::use_awaitable);
    const auto token = asio::as_tuple(asio::use_awaitable);
    co_await ws->async_close(websocket::close_code::normal, token);
}

// Is there, but neither says nor hears anything.
asio::awaitable<void> lost_peer(tcp::endpoint where) {
    const client ws = co_await connect(where);
    co_await asio_wheel::async_sleep_for(ws->get_executor(), dead_after * 3 / 2,
                                         asio::use_awaitable);
}

asio::awaitable<void> clients(tcp::acceptor& acceptor) {
    co_await lively_peer(acceptor.local_endpoint());
    co_await lost_peer(acceptor.local_endpoint());
    acceptor.close();
}

int main() {
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::vector<outcome> seen;
    const auto note = [&](const outcome& o) {
        std::cout << o.messages << " messages, " << o.pings << " pings, " << o.end.message()
                  << '\n';
        seen.push_back(o);
    };
    asio::co_spawn(ctx, server(acceptor, note), asio::detached);
    asio::co_spawn(ctx, clients(acceptor), asio::detached);
    ctx.run();
    seen.resize(2);
    const outcome& lively = seen[0];
    const outcome& lost = seen[1];
    const bool as_promised = lively.end == websocket::error::closed && lively.messages == 1 &&
                             lively.pings >= 1 && lost.end == std::errc::timed_out &&
                             lost.messages == 0 && lost.pings >= 1;
    return as_promised ? 0 : 1;
}
