// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs the server of an example as a program of its own, until SIGTERM: says where it listens, and in
// the end what it has seen, in the form that the echo server has (examples/echo_server/record.hpp).

#ifndef ASIO_WHEEL_TEST_FAULTS_HOST_HPP
#define ASIO_WHEEL_TEST_FAULTS_HOST_HPP

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace asio_wheel::test {

/// `serve(acceptor)` is the server's coroutine. A second argument of the program is the port.
template <class Serve>
void host(int argc, char** argv, Serve serve) {
    namespace asio = boost::asio;
    using asio::ip::tcp;
    asio::io_context ctx(1);
    const auto port = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
    tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), port));
    std::printf("listening on 127.0.0.1:%d\n", int{acceptor.local_endpoint().port()});
    std::fflush(stdout);
    asio::signal_set signals(ctx, SIGTERM);
    signals.async_wait([&](const auto&, int) { ctx.stop(); });
    asio::co_spawn(ctx, serve(acceptor), asio::detached);
    while (!ctx.stopped()) {
        try {
            ctx.run();
        } catch (const std::bad_alloc&) { // One connection's.
        }
    }
}

} // namespace asio_wheel::test

#endif
