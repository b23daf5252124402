// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A WebSocket server with Beast, as in Beast's own example, whose clients are idle. The suggested
// timeouts of a server, with keep-alive pings: each connection is pinged after half of the idle
// timeout, which is TIMEOUT seconds. The work is a ping with its answer.

#include "other_end.hpp"
#include "server.hpp"
#include "trial.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

class session : public std::enable_shared_from_this<session> {
public:
    session(tcp::socket socket, std::chrono::milliseconds idle) : stream_(std::move(socket)) {
        auto timeouts = websocket::stream_base::timeout::suggested(beast::role_type::server);
        timeouts.idle_timeout = idle;
        timeouts.keep_alive_pings = true;
        stream_.set_option(timeouts);
        stream_.control_callback([](websocket::frame_type frame, beast::string_view) {
            if (frame == websocket::frame_type::pong) {
                bench::count(bench::done);
            }
        });
    }

    void run() {
        asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->accept(); });
    }

private:
    void accept() {
        stream_.async_accept(beast::bind_front_handler(&session::accepted, shared_from_this()));
    }

    void accepted(error_code ec) {
        bench::require(!ec, "no handshake");
        bench::count(bench::ready);
        read();
    }

    void read() {
        stream_.async_read(buffer_, beast::bind_front_handler(&session::echo, shared_from_this()));
    }

    void echo(error_code ec, std::size_t) {
        bench::require(!ec, "a connection has ended");
        stream_.async_write(buffer_.data(),
                            beast::bind_front_handler(&session::echoed, shared_from_this()));
    }

    void echoed(error_code ec, std::size_t size) {
        bench::require(!ec, "a connection has ended");
        buffer_.consume(size);
        read();
    }

    websocket::stream<beast::tcp_stream> stream_;
    beast::flat_buffer buffer_;
};

// n clients that answer pings.
void run_clients(const bench::listener& listening, std::size_t n) {
    const std::string upgrade = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    const std::string pong("\x8a\x80\0\0\0\0", 6);
    constexpr std::size_t ping = 2; // Bytes of a ping without data.
    bench::reactor loop;
    for (const int s : bench::connect_clients(listening, n, upgrade)) {
        loop.add(s);
    }
    std::string pings;
    loop.run(
        [&](int s) {
            pings.clear();
            const bool open = bench::receive(s, pings);
            for (std::size_t i = 0; i < pings.size(); i += ping) {
                bench::send(s, pong);
            }
            return open;
        },
        [] {});
}

} // namespace

int main(int argc, char** argv) {
    bench::serve<session>(bench::trial_settings(argc, argv), run_clients);
}
