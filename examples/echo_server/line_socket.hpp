// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The socket of a client: sends bytes and reads lines.

#ifndef ECHO_LINE_SOCKET_HPP
#define ECHO_LINE_SOCKET_HPP

#include "../support/coroutine.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace echo {

using namespace demo;

class line_socket {
public:
    explicit line_socket(const asio::any_io_executor& executor) : socket_(executor) {}

    bool is_open() const { return socket_.is_open(); }

    /// Connects from an address that depends on `number`. If that failed, read_line() returns
    /// false.
    asio::awaitable<void> connect(const tcp::endpoint& server, std::uint64_t number) {
        error_code ignored;
        socket_.open(tcp::v4(), ignored);
        bind_to_own_address(number);
        co_await socket_.async_connect(server, as_result);
        socket_.set_option(tcp::no_delay(true), ignored);
    }

    asio::awaitable<void> send(std::string_view bytes) {
        co_await asio::async_write(socket_, asio::buffer(bytes), as_result);
    }

    /// Reads a line. Increments `wrong` if it does not begin with `expected`. Returns false if the
    /// connection has ended.
    asio::awaitable<bool> read_line(std::string_view expected, std::uint64_t& wrong) {
        auto [error, size] = co_await asio::async_read_until(
            socket_, asio::dynamic_buffer(received_), '\n', as_result);
        if (error) {
            co_return false;
        }
        wrong += received_.starts_with(expected) ? 0 : 1;
        received_.erase(0, size);
        co_return true;
    }

    void close() {
        error_code ignored;
        socket_.close(ignored);
        received_.clear();
    }

    /// Closes the connection with a reset, as a crash does.
    void reset() {
        error_code ignored;
        socket_.set_option(asio::socket_base::linger(true, 0), ignored);
        close();
    }

private:
    /// Uses several local addresses, because each has only some 28,000 ports to connect from. On
    /// Linux, all of 127.0.0.0/8 is this host. If binding fails, the system chooses address and
    /// port.
    void bind_to_own_address(std::uint64_t number) {
#ifdef __linux__
        const auto last = static_cast<asio::ip::address_v4::uint_type>(1 + number % 8);
        error_code ignored;
        socket_.bind({asio::ip::address_v4(0x7f000000U + last), 0}, ignored);
#endif
    }

    tcp::socket socket_;
    std::string received_;
};

} // namespace echo

#endif
