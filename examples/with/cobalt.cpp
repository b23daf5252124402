// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// Boost.Cobalt (from 1.84).

// Timers, sleeps and timeouts in coroutines of Boost.Cobalt, by its token use_op.
//
// An operation with a timeout can be awaited in race() and gather() like any other. If race()
// cancels it, it completes with operation_aborted, not with timed_out.

#include <asio_wheel/error.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>

#include <boost/asio.hpp>
#include <boost/cobalt.hpp>

#include <chrono>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using asio::ip::tcp;
using asio_wheel::timeout;
using namespace std::chrono_literals;

cobalt::task<bool> all_goes_well() {
    const auto ex = co_await cobalt::this_coro::executor;
    asio_wheel::steady_timer timer(ex, 1ms);
    co_await timer.async_wait(cobalt::use_op);
    std::cout << "a timer has expired\n";

    // A timer whose operations need no token.
    auto late = cobalt::use_op.as_default_on(asio_wheel::steady_timer(ex, 1h));
    const auto first = co_await cobalt::race(late.async_wait(),
                                             asio_wheel::async_sleep_for(ex, 1ms, cobalt::use_op));
    std::cout << "the operation that ended the race: " << first << '\n';

    tcp::acceptor acceptor(ex, {asio::ip::address_v4::loopback(), 0});
    const auto [ec, socket] =
        co_await acceptor.async_accept(timeout(10ms, asio::as_tuple(cobalt::use_op)));
    std::cout << "no client: " << ec.message() << '\n';
    co_return first == 1 && ec == asio_wheel::error::timed_out;
}

int main() {
    asio::io_context ctx;
    bool well = false;
    cobalt::spawn(ctx, all_goes_well(),
                  [&](std::exception_ptr error, bool result) { well = !error && result; });
    ctx.run();
    return well ? 0 : 1;
}
