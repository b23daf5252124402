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
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using stream = asio_wheel::timeout_stream<tcp::socket>;

constexpr auto ping_after = 40ms;
constexpr auto dead_after = 300ms;

// What became of a connection.
struct outcome {
    int pings = 0;
    int messages = 0;
    bool timed_out = false;
    bool closed_properly = false;
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
    for (;;) {
        const auto [cancelled] = co_await c->quiet.async_wait(token);
        if (cancelled) {
            break;
        }
        c->quiet.touch(); // The next ping is due a period from now.
        const auto [failed] = co_await c->ws.async_ping({}, token);
        if (failed) {
            break;
        }
        ++c->result.pings;
    }
}

asio::awaitable<outcome> serve(tcp::acceptor& acceptor) {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    const auto c = std::make_shared<connection>(std::move(socket));
    c->ws.control_callback([&c = *c](websocket::frame_type, boost::beast::string_view) {
        c.heard(); // A pong, most often.
    });
    try {
        boost::beast::get_lowest_layer(c->ws).expires_after(1s);
        co_await c->ws.async_accept(asio::use_awaitable);
        boost::beast::get_lowest_layer(c->ws).expires_never();
        asio::co_spawn(acceptor.get_executor(), ping(c), asio::detached);
        boost::beast::flat_buffer in;
        for (;;) {
            c->heard();
            co_await c->ws.async_read(in, asio::use_awaitable);
            in.clear();
            ++c->result.messages;
        }
    } catch (const boost::system::system_error& e) {
        c->result.timed_out = e.code() == std::errc::timed_out;
        c->result.closed_properly = e.code() == websocket::error::closed;
    }
    c->quiet.cancel();
    co_return c->result;
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
    boost::system::error_code ec;
    while (!ec) {
        const auto [failed, n] = co_await ws->async_read(in, token);
        ec = failed;
        in.consume(n);
    }
}

// Says hello, says nothing for longer than the server would wait for an answer to its pings, and takes its
// leave.
asio::awaitable<void> lively_peer(tcp::endpoint where) {
    const client ws = co_await connect(where);
    asio::co_spawn(ws->get_executor(), listen(ws), asio::detached);
    const std::string text = "hello";
    co_await ws->async_write(asio::buffer(text), asio::use_awaitable);
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

asio::awaitable<void> server(tcp::acceptor& acceptor, outcome& lively, outcome& lost) {
    const auto ex = co_await asio::this_coro::executor;
    const tcp::endpoint here = acceptor.local_endpoint();
    asio::co_spawn(ex, lively_peer(here), asio::detached);
    lively = co_await serve(acceptor);
    asio::co_spawn(ex, lost_peer(here), asio::detached);
    lost = co_await serve(acceptor);
}

std::ostream& operator<<(std::ostream& out, const outcome& o) {
    return out << o.messages << " messages, " << o.pings << " pings, "
               << (o.timed_out         ? "timed out"
                   : o.closed_properly ? "closed properly"
                                       : "lost otherwise");
}

int main() {
    asio::io_context ctx;
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    outcome lively;
    outcome lost;
    asio::co_spawn(ctx, server(acceptor, lively, lost), asio::detached);
    ctx.run();
    std::cout << "the peer that answers: " << lively << "\nthe peer that does not: " << lost
              << '\n';
    const bool as_promised = lively.closed_properly && lively.messages == 1 && lively.pings >= 1 &&
                             lost.timed_out && lost.messages == 0 && lost.pings >= 1;
    return as_promised ? 0 : 1;
}
