// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Commands that are repeated until Redis has answered.

#ifndef DURABLE_QUEUE_CLIENT_HPP
#define DURABLE_QUEUE_CLIENT_HPP

#include "connection.hpp"

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <iostream>
#include <memory>
#include <tuple>
#include <utility>

namespace durable {

class client {
public:
    client(const asio::any_io_executor& ex, const settings& set)
        : set_(set), executor_(ex), connection_(connect(ex, set)) {}
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() { fail(*connection_); }

    /// Sends one command, and repeats it until there is an answer. An answer that is lost leaves
    /// open whether the command was carried out, so this is for commands that may be carried out
    /// twice.
    template <class T>
    asio::awaitable<T> call(redis::request command) {
        asio_wheel::backoff pauses({.initial = 50ms, .max = 2s});
        for (;;) {
            if (connection_->failed) {
                connection_ = connect(executor_, set_);
            }
            const auto used = connection_;
            redis::response<T> response;
            const auto [ec, size] = co_await used->redis.async_exec(
                command, response, asio_wheel::timeout(set_.timeout, as_tuple));
            auto& answer = std::get<0>(response);
            if (!ec && answer.has_value()) {
                co_return std::move(answer).value();
            }
            if (!used->failed) {
                std::cerr << "redis: " << (ec ? ec.message() : answer.error().diagnostic) << '\n';
            }
            if (ec) { // After a timeout, later commands would wait for the answer to this one.
                fail(*used);
            }
            co_await asio_wheel::async_sleep_for(executor_, pauses.next(), asio::use_awaitable);
        }
    }

private:
    settings set_;
    asio::any_io_executor executor_;
    std::shared_ptr<connection> connection_;
};

} // namespace durable

#endif
