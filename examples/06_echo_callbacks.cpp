// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An echo server that closes idle connections, with callbacks. A single wait lasts for the whole
// connection, and each line postpones it.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
constexpr auto idle = 300ms;
constexpr std::size_t longest_line = 4096; // A longer one ends the connection.

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket s) : socket_(std::move(s)), timer_(socket_.get_executor(), idle) {}

    void start() {
        timer_.async_wait([self = shared_from_this()](error_code ec) {
            if (ec != asio::error::operation_aborted) { // Expired, or refused by a full wheel.
                self->socket_.close();                  // Ends the read.
            }
        });
        read();
    }

private:
    void read() {
        asio::async_read_until(socket_, asio::dynamic_buffer(line_, longest_line), '\n',
                               [self = shared_from_this()](error_code error, std::size_t) {
                                   error ? self->stop() : self->write();
                               });
    }
    void write() {
        if (timer_.postpone(idle) == 0) { // The wait continues with a later expiry, unless
            return;                       // it has expired; then the socket is closed.
        }
        asio::async_write(socket_, asio::dynamic_buffer(line_),
                          [self = shared_from_this()](error_code error, std::size_t) {
                              error ? self->stop() : self->read();
                          });
    }
    void stop() { timer_.cancel(); }
    tcp::socket socket_;
    asio_wheel::steady_timer timer_;
    std::string line_;
};

int main() {
    asio::io_context io;
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    acceptor.async_accept([](error_code, tcp::socket s) {
        std::make_shared<session>(std::move(s))->start(); // If accept failed, the read fails too.
    });

    // A client that waits, sends one word, and then reads until the server closes.
    tcp::socket client(io);
    client.connect(acceptor.local_endpoint());
    std::string heard;
    steady_clock::time_point spoke, closed;
    asio_wheel::steady_timer hesitation(io, idle * 2 / 3);
    hesitation.async_wait([&](error_code) {
        spoke = steady_clock::now();
        asio::write(client, asio::buffer("hello\n", 6));
        asio::async_read(client, asio::dynamic_buffer(heard),
                         [&](error_code, std::size_t) { closed = steady_clock::now(); });
    });

    io.run_for(2500ms); // Returns as soon as all operations have completed.
    std::cout << "received " << heard << "closed after " << (closed - spoke) / 1ms << " idle ms\n";
    return heard == "hello\n" && closed - spoke >= idle ? 0 : 1;
}
