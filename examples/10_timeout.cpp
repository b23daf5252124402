// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timeouts with an error of their own: one for each step of a request, and one for all steps.

#include <asio_wheel/sleep.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio_wheel::timeout;
using boost::system::system_error;

// A request of three steps that may take 20 ms each.
asio::awaitable<std::string> request(std::chrono::milliseconds step) {
    const auto ex = co_await asio::this_coro::executor;
    for (const char* name : {"connect", "send", "receive"}) {
        try {
            const auto token = timeout(20ms, asio::use_awaitable);
            co_await asio_wheel::async_sleep_for(ex, step, token); // Stands for work.
        } catch (const system_error& e) {
            if (e.code() == asio_wheel::error::timed_out) {
                co_return std::string("timeout: ") + name;
            }
            throw; // operation_aborted: the deadline of the whole request has passed.
        }
    }
    co_return "answer";
}

// The whole request may take 30 ms.
asio::awaitable<std::string> limited(std::chrono::milliseconds step) {
    const auto ex = co_await asio::this_coro::executor;
    auto all = request(step);
    try {
        co_return co_await asio::co_spawn(ex, std::move(all),
                                          asio_wheel::timeout(30ms, asio::use_awaitable));
    } catch (const system_error& e) {
        co_return e.code() == std::errc::timed_out ? "timeout: all" : "failure";
    }
}

int main() {
    asio::io_context ctx;
    auto& wheel = asio_wheel::use_wheel(ctx);
    wheel.pause(); // Virtual time, so that this program is deterministic.
    bool as_expected = true;
    const auto expect = [&](std::chrono::milliseconds step, const std::string& expected) {
        asio::co_spawn(ctx, limited(step), [&, expected](std::exception_ptr, std::string result) {
            std::cout << result << '\n';
            as_expected = as_expected && result == expected;
        });
        for (int ms = 0; ms < 50; ++ms, wheel.advance(1ms)) {
            ctx.restart();
            ctx.poll();
        }
    };
    expect(5ms, "answer");
    expect(15ms, "timeout: all");
    expect(25ms, "timeout: connect");
    return as_expected ? 0 : 1;
}
