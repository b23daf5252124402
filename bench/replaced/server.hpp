// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A server with a strand for each connection, as in Beast's examples.

#ifndef BENCH_REPLACED_SERVER_HPP
#define BENCH_REPLACED_SERVER_HPP

#include "other_end.hpp"
#include "trial.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace bench {

/// Makes a session for each connection, and runs it.
template <class Session>
class server {
    using tcp = boost::asio::ip::tcp;

public:
    server(boost::asio::io_context& io, int socket, std::chrono::milliseconds timeout)
        : io_(io), acceptor_(io, tcp::v4(), socket), timeout_(timeout) {}

    void accept() {
        acceptor_.async_accept(boost::asio::make_strand(io_),
                               [this](boost::system::error_code ec, tcp::socket socket) {
                                   require(!ec, "cannot accept");
                                   socket.set_option(tcp::no_delay(true));
                                   std::make_shared<Session>(std::move(socket), timeout_)->run();
                                   accept();
                               });
    }

private:
    boost::asio::io_context& io_;
    tcp::acceptor acceptor_;
    std::chrono::milliseconds timeout_;
};

/// Measures a server. Its clients are run_clients(listener, their number).
template <class Session, class Clients>
void serve(const trial_settings& settings, Clients run_clients) {
    const listener listening;
    const other_end clients([&] { run_clients(listening, settings.connections); });
    boost::asio::io_context io;
    measured_run measured(settings, io);
    server<Session> listens(io, listening.socket, settings.timeout);
    listens.accept();
    measured.run();
}

} // namespace bench

#endif
