// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection to Redis that ends when nothing refers to it any more.

#ifndef DURABLE_QUEUE_CONNECTION_HPP
#define DURABLE_QUEUE_CONNECTION_HPP

#include "settings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/connection.hpp>
#include <boost/system/error_code.hpp>

#include <exception>
#include <iostream>
#include <memory>

namespace durable {

namespace asio = boost::asio;
namespace redis = boost::redis;
using boost::system::error_code;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

/// For a coroutine that nothing waits for: an exception ends the program.
inline void rethrow(std::exception_ptr error) {
    if (error) {
        std::rethrow_exception(error);
    }
}

struct connection {
    explicit connection(const asio::any_io_executor& ex) : redis(ex) {
        redis.set_receive_response(pushes);
    }

    redis::generic_response pushes{}; // What the server has sent without being asked.
    redis::connection redis;
    bool failed = false; // It is to be replaced.
};

/// Aborts all operations. Later ones would wait for ever.
inline void fail(connection& c) {
    c.failed = true;
    c.redis.cancel();
}

/// Connects once. When the connection fails, all of its operations are aborted, and its user must
/// connect again.
inline std::shared_ptr<connection> connect(const asio::any_io_executor& ex, const settings& set) {
    redis::config where;
    where.addr.host = "127.0.0.1";
    where.addr.port = set.port;
    where.connect_timeout = set.timeout;
    where.reconnect_wait_interval = 0s;
    where.health_check_interval = set.resync; // A PING, also if there is nothing to do.

    auto c = std::make_shared<connection>(ex);
    const auto end = [c](error_code why) {
        if (!c->failed) {
            std::cerr << "redis: " << why.message() << '\n';
        }
        fail(*c);
    };
    c->redis.async_run(where, redis::logger(redis::logger::level::emerg), end);
    return {c.get(), [c](connection*) { fail(*c); }};
}

} // namespace durable

#endif
