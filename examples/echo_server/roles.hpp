// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The roles of clients. Each is a coroutine for the life of one connection.

#ifndef ECHO_ROLES_HPP
#define ECHO_ROLES_HPP

#include "../support/coroutine.hpp"
#include "client.hpp"
#include "load.hpp"

#include <chrono>
#include <memory>

namespace echo {

using namespace demo;

using shared_client = std::shared_ptr<client>;

/// Sends heartbeats until the end. The server has no reason to close the connection.
inline asio::awaitable<void> stay_active(shared_client me, load& plan) {
    while (steady_clock::now() < plan.end) {
        const bool heard = co_await me->ping();
        if (!heard) {
            co_return;
        }
        if (plan.heartbeat() > steady_clock::duration::zero()) {
            co_await me->sleep(plan.about(plan.heartbeat()));
        }
    }
}

/// Sends up to three heartbeats, then goes idle.
inline asio::awaitable<void> go_idle(shared_client me, load& plan) {
    for (auto lines = plan.random() % 4; lines > 0; --lines) {
        const bool heard = co_await me->ping();
        if (!heard) {
            co_return;
        }
        co_await me->sleep(plan.about(plan.heartbeat() / 2));
    }
    co_await me->wait_for_close();
    ++plan.seen.idle_closed;
}

inline asio::awaitable<void> send_bytes(shared_client me) {
    while (me->open()) {
        co_await me->send_byte();
        co_await me->sleep(std::chrono::milliseconds(200));
    }
}

/// Sends a byte at a time, never a whole line. Every other one sends a proper line first.
inline asio::awaitable<void> slow_loris(shared_client me, load& plan) {
    if (plan.random() % 2 == 0) {
        const bool heard = co_await me->ping();
        if (!heard) {
            co_return;
        }
    }
    const auto executor = co_await asio::this_coro::executor;
    asio::co_spawn(executor, send_bytes(me), rethrow);
    co_await me->wait_for_close();
    ++plan.seen.slow_loris_closed;
}

/// Sends a heartbeat and returns. The caller then disconnects abruptly.
inline asio::awaitable<void> disconnect(shared_client me, load& plan) {
    const bool heard = co_await me->ping();
    if (heard) {
        co_await me->sleep(plan.about(plan.idle / 2));
    }
}

using role = asio::awaitable<void> (*)(shared_client, load&);

/// The default mix: of ten clients, six stay active, two go idle, one is a slow-loris, and one
/// disconnects.
inline role role_of(int number) {
    switch (number % 10) {
    case 0:
    case 5:
        return go_idle;
    case 3:
        return slow_loris;
    case 7:
        return disconnect;
    default:
        return stay_active;
    }
}

} // namespace echo

#endif
