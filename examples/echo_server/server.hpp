// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The server: starts, runs until a signal arrives, and shuts down.

#ifndef ECHO_SERVER_HPP
#define ECHO_SERVER_HPP

#include "../support/coroutine.hpp"
#include "../support/record.hpp"
#include "listener.hpp"
#include "meters.hpp"
#include "other_deadlines.hpp"
#include "progress.hpp"
#include "server_summary.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <new>

namespace echo {

template <class Timer>
class server {
    using plain_timer = typename echo::plain_timer<Timer>::type;

public:
    server(int port, double idle)
        : io_(1), listener_(io_, loopback(port), from_seconds(idle), meters_), ticker_(io_) {}

    void run(bool quiet) {
        asio::signal_set signals(io_, SIGINT, SIGTERM);
        signals.async_wait([this](auto, int) { io_.stop(); });
        std::printf("listening on 127.0.0.1:%d\n", listener_.port());
        std::fflush(stdout);
        asio::co_spawn(io_, listener_.accept(), asio::detached);
        if (!quiet) {
            asio::co_spawn(io_, show_progress<Timer>(io_, ticker_, meters_), rethrow);
        }
        run_until_stopped();

        // Accept no more connections, and give the open ones a moment to end. The last connection
        // takes the last wait with it, and a context without waits runs out of work at once.
        listener_.close();
        ticker_.cancel();
        io_.restart();
        io_.run_for(std::chrono::seconds(1));
        print_result(summary<Timer>(io_, meters_));
    }

private:
    static tcp::endpoint loopback(int port) {
        return {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)};
    }

    /// Runs the context. If a connection throws because memory has run out, the others continue.
    void run_until_stopped() {
        while (!io_.stopped()) {
            try {
                if (listener_.is_accepting()) {
                    io_.run_one();
                } else { // Accept again after a pause, when memory may be available again.
                    io_.run_for(std::chrono::milliseconds(10));
                    asio::co_spawn(io_, listener_.accept(), asio::detached);
                }
            } catch (const std::bad_alloc&) {
                ++meters_.given_up;
            } catch (const asio::multiple_exceptions&) {
                ++meters_.given_up;
            }
        }
    }

    meters meters_; // Outlives the context: the destructors of connections update it.
    asio::io_context io_;
    listener<Timer> listener_;
    plain_timer ticker_;
};

} // namespace echo

#endif
