// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A request has a second. What it calls knows how much of that is left: the backend is told, and a
// second backend is not asked if there is no point.

#include <asio_wheel/deadline.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio_wheel::remaining_time;

// Far down: takes 60 ms, and needs a moment more to send its answer.
asio::awaitable<std::string> ask_backend(std::string name) {
    const auto ex = co_await asio::this_coro::executor;
    if (remaining_time(ex) < 80ms) {
        co_return name + " was not asked";
    }
    co_await asio_wheel::async_sleep_for(ex, 60ms, asio::use_awaitable);
    co_return name + " has answered";
}

// Knows nothing about time.
asio::awaitable<std::string> page() {
    const std::string first = co_await ask_backend("the first");
    co_return first + ", " + co_await ask_backend("the second");
}

// The executor tells the time that is left, and the timeout ends the request.
std::string request(std::chrono::nanoseconds time) {
    asio::io_context ctx;
    std::string answer;
    const auto limited = asio_wheel::with_deadline(ctx, time);
    asio::co_spawn(limited, page(),
                   asio_wheel::timeout(time, [&](std::exception_ptr e, std::string text) {
                       answer = e ? "timed out" : std::move(text);
                   }));
    ctx.run();
    std::cout << answer << '\n';
    return answer;
}

int main() {
    const bool none = request(50ms) == "the first was not asked, the second was not asked";
    const bool both = request(20s) == "the first has answered, the second has answered";
    return none && both ? 0 : 1;
}
