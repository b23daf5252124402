// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Who holds all these timers? Waits have tags, and the wheel reports what waits. Here a server has
// a hundred sessions, and some of them forget to end their login.

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio.hpp>

#include <iostream>
#include <list>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::use_awaitable;
using asio_wheel::tag;

// A login that never ends, in place of one that waits for a database.
asio::awaitable<void> log_in() {
    asio_wheel::steady_timer answer(co_await asio::this_coro::executor,
                                    asio_wheel::steady_timer::time_point::max());
    co_await answer.async_wait(asio_wheel::timeout(10s, tag("login", use_awaitable)));
}

asio::awaitable<void> session(bool logs_in) {
    asio_wheel::idle_timer idle(co_await asio::this_coro::executor, 30s);
    if (logs_in) {
        co_await log_in();
    }
    co_await idle.async_wait(tag("session idle", use_awaitable));
}

int main() {
    asio::io_context ctx;
    for (int i = 0; i < 100; ++i) {
        asio::co_spawn(ctx, session(i % 10 == 0), asio::detached);
    }
    ctx.poll();
    auto& wheel = asio_wheel::use_wheel(ctx);
    wheel.report(std::cout);

    // Or ask for what matters.
    int logins = 0;
    wheel.for_each_pending([&](const asio_wheel::pending_wait& wait) {
        logins += wait.kind == asio_wheel::wait_kind::timeout && wait.tag == "login" ? 1 : 0;
    });
    std::cout << logins << " sessions wait for their login\n";
    return logins == 10 ? 0 : 1;
}
