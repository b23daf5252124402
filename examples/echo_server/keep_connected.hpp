// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The whole life of a client: one connection after another.

#ifndef ECHO_KEEP_CONNECTED_HPP
#define ECHO_KEEP_CONNECTED_HPP

#include "../support/coroutine.hpp"
#include "client.hpp"
#include "load.hpp"
#include "roles.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace echo {

/// Keeps a connection open all the time. When the server or the client has closed it, opens the
/// next one, as long as there is time for its whole life.
inline asio::awaitable<void> keep_connected(int number, role play, steady_clock::duration start,
                                            load& plan) {
    const auto executor = co_await asio::this_coro::executor;
    const auto whole_life = // A client that stays active may stop at any time.
        play == stay_active ? plan.margin : plan.idle + 2 * plan.heartbeat() + plan.margin;
    asio::steady_timer pause(executor, start);
    co_await pause.async_wait(as_result);
    while (steady_clock::now() + whole_life < plan.end) {
        auto me = std::make_shared<client>(executor, plan, static_cast<std::uint64_t>(number));
        const bool connected = co_await me->connect();
        if (connected) {
            co_await play(me, plan);
            if (me->open()) {
                co_await me->leave();
            }
        } else {
            pause.expires_after(std::chrono::milliseconds(100));
            co_await pause.async_wait(as_result);
        }
    }
}

} // namespace echo

#endif
