// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A producer or a consumer: sends requests, one after the other.

#ifndef LONG_POLLING_CLIENT_HPP
#define LONG_POLLING_CLIENT_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace long_polling {

namespace asio = boost::asio;
using asio::ip::tcp;

/// An answer, and how long it took.
struct answer {
    std::string text;
    std::chrono::milliseconds took{0};
};

class client {
public:
    explicit client(const asio::any_io_executor& ex) : socket_(ex) {}

    asio::awaitable<void> connect(tcp::endpoint where) {
        return socket_.async_connect(where, asio::use_awaitable);
    }

    asio::awaitable<answer> ask(std::string line) {
        const auto start = std::chrono::steady_clock::now();
        line += '\n';
        co_await asio::async_write(socket_, asio::buffer(line), asio::use_awaitable);
        std::string input;
        const std::size_t head = co_await asio::async_read_until(
            socket_, asio::dynamic_buffer(input), '\n', asio::use_awaitable);
        const std::size_t size = std::stoul(input.substr(0, head));
        input.erase(0, head);
        if (input.size() < size) {
            co_await asio::async_read(socket_, asio::dynamic_buffer(input),
                                      asio::transfer_exactly(size - input.size()),
                                      asio::use_awaitable);
        }
        const auto took = std::chrono::steady_clock::now() - start;
        co_return answer{std::move(input),
                         std::chrono::duration_cast<std::chrono::milliseconds>(took)};
    }

private:
    tcp::socket socket_;
};

} // namespace long_polling

#endif
