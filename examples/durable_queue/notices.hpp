// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Being told of jobs that are due earlier than all others.

#ifndef DURABLE_QUEUE_NOTICES_HPP
#define DURABLE_QUEUE_NOTICES_HPP

#include "connection.hpp"

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <tuple>

namespace durable {

/// Calls told(delay) for each notice among what the server has sent, and told(0s) for each
/// subscription that has begun.
inline void read_pushes(redis::generic_response& pushes,
                        const std::function<void(microseconds)>& told) {
    if (pushes.has_value()) {
        const auto& nodes = pushes.value(); // For each push: its head, kind, channel, and text.
        for (std::size_t i = 0; i + 3 < nodes.size(); i += 4) {
            if (nodes[i + 1].value == "message") {
                // Nonsense is 0: then look now.
                told(microseconds(std::strtoll(nodes[i + 3].value.c_str(), nullptr, 10)));
            } else if (nodes[i + 1].value == "subscribe") {
                told(0s);
            }
        }
    }
    pushes = redis::generic_response();
}

/// Listens for ever, on a connection of its own. Notices are lost while there is none. So whenever
/// a subscription begins, the caller should ask Redis what it has missed.
inline asio::awaitable<void> listen(settings set, std::function<void(microseconds)> told) {
    const auto ex = co_await asio::this_coro::executor;
    redis::request subscribe;
    subscribe.push("SUBSCRIBE", set.queue + ":due");
    asio_wheel::backoff pauses({.initial = 50ms, .max = 2s});
    for (;;) {
        const auto c = connect(ex, set);
        auto [ec, size] = co_await c->redis.async_exec(subscribe, redis::ignore,
                                                       asio_wheel::timeout(set.timeout, as_tuple));
        while (!ec) { // There may be no notice for a long time, so no timeout: the PING finds out.
            std::tie(ec, size) = co_await c->redis.async_receive(as_tuple);
            if (!ec) {
                read_pushes(c->pushes, told);
                pauses.reset();
            }
        }
        co_await asio_wheel::async_sleep_for(ex, pauses.next(), asio::use_awaitable);
    }
}

} // namespace durable

#endif
