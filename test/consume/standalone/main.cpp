// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// With the names of standalone Asio: no Boost.Asio, no Boost.System.

#include <asio_wheel/error.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <system_error>

#ifdef BOOST_ASIO_VERSION
#error "Boost.Asio was included"
#endif

using namespace std::chrono_literals;

namespace {

asio::awaitable<void> run(int& done) {
    asio_wheel::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
    ++done;
    asio::steady_timer other(co_await asio::this_coro::executor, 1h);
    const auto limited = asio_wheel::timeout(1ms, asio::use_awaitable);
    try {
        co_await other.async_wait(limited);
    } catch (const std::system_error& e) {
        done += e.code() == asio_wheel::error::timed_out && e.code() == std::errc::timed_out;
    }
}

} // namespace

int main() {
    asio::io_context ctx;
    int done = 0;
    asio::co_spawn(ctx, run(done), asio::detached);
    ctx.run();
    std::printf("%d of 2\n", done);
    return done == 2 ? 0 : 1;
}
