// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How clients behave. Each role is one coroutine: the life of one connection.

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

/// Speaks until the end; the server has no reason to close it.
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

/// Speaks up to three times, then falls silent.
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

/// Slow-loris: a byte at a time, never a whole line; every other one is well-behaved at first.
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

/// Is gone all of a sudden.
inline asio::awaitable<void> disconnect(shared_client me, load& plan) {
    const bool heard = co_await me->ping();
    if (heard) {
        co_await me->sleep(plan.about(plan.idle / 2));
    }
}

using role = asio::awaitable<void> (*)(shared_client, load&);

/// Six talkers in ten, two that fall silent, one slow-loris, one that drops dead.
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
