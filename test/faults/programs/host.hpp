// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a server of the examples until SIGTERM, even without memory, and finally prints its figures
// in the format of examples/support/record.hpp.

#ifndef ASIO_WHEEL_TEST_FAULTS_HOST_HPP
#define ASIO_WHEEL_TEST_FAULTS_HOST_HPP

#include "../../../examples/echo_server/scoped_flag.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace asio_wheel::test {

template <class Serve>
boost::asio::awaitable<void> serve_present(Serve& serve, boost::asio::ip::tcp::acceptor& acceptor,
                                           echo::scoped_flag) {
    co_await serve(acceptor);
}

/// `serve(acceptor)` is the server's coroutine. The program's argument is the port.
///
/// If an operation throws because memory has run out, Asio destroys the coroutine that waits for
/// it, and the exception leaves run(). That may end the server's coroutine, too. Then this starts
/// it again.
template <class Serve>
void host(int argc, char** argv, Serve serve) {
    namespace asio = boost::asio;
    using asio::ip::tcp;
    bool serving = false; // Outlives the context, which may destroy the coroutine.
    asio::io_context ctx(1);
    const auto port = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), port));
    asio::signal_set signals(ctx, SIGTERM);
    signals.async_wait([&](const auto&, int) { ctx.stop(); });
    std::printf("listening on 127.0.0.1:%d\n", int{acceptor.local_endpoint().port()});
    std::fflush(stdout);
    while (!ctx.stopped()) {
        try {
            if (serving) {
                ctx.run_one();
            } else { // After a pause, in which memory may become available.
                ctx.run_for(std::chrono::milliseconds(1));
                asio::co_spawn(ctx, serve_present(serve, acceptor, echo::scoped_flag(serving)),
                               asio::detached);
            }
        } catch (const std::bad_alloc&) {
        } catch (const asio::multiple_exceptions&) { // Two of these at once.
        }
    }
}

} // namespace asio_wheel::test

#endif
