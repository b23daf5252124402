// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the jobs of this example do: they leave lines in a list in Redis, which the tests read.

#ifndef DURABLE_QUEUE_RECORD_HPP
#define DURABLE_QUEUE_RECORD_HPP

#include "client.hpp"
#include "scripts.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <utility>

namespace durable {

/// Adds the line `what id who` with the time of Redis' clock to the list. Like each job, it may
/// happen twice.
inline asio::awaitable<void> record(client& c, std::string what, std::string id, std::string who) {
    static const std::string script = std::string(scripts::now) + R"(
        local line = ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] .. string.format(' %.0f', now)
        return redis.call('RPUSH', KEYS[1], line)
    )";
    redis::request r;
    r.push("EVAL", script, 1, "record", what, id, who);
    co_await c.call<int>(std::move(r));
}

} // namespace durable

#endif
