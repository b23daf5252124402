// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Accepts connections, and continues after files or memory have run out.

#ifndef ECHO_LISTENER_HPP
#define ECHO_LISTENER_HPP

#include "../support/coroutine.hpp"
#include "meters.hpp"
#include "other_deadlines.hpp"
#include "scoped_flag.hpp"
#include "session.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace echo {

using namespace demo;

template <class Timer>
class listener {
public:
    listener(asio::io_context& io, tcp::endpoint where, steady_clock::duration idle, meters& m)
        : acceptor_(io, where), pause_(io), idle_(idle), meters_(m) {}

    [[nodiscard]] int port() const { return acceptor_.local_endpoint().port(); }

    void close() {
        acceptor_.close();
        pause_.cancel();
    }

    /// Accepts connections until close(). If an operation throws because memory has run out, Asio
    /// destroys the coroutine that waits for it. So this may end early; call it again then.
    asio::awaitable<void> accept() { return accept(scoped_flag(meters_.accepting)); }

    [[nodiscard]] bool is_accepting() const { return meters_.accepting; }

private:
    asio::awaitable<void> accept(scoped_flag) {
        for (int failures = 0; acceptor_.is_open();) { // Consecutive failures.
            try {
                tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
                start(std::move(socket));
                failures = 0;
            } catch (const std::exception& e) {
                if (!acceptor_.is_open()) {
                    break;
                }
                ++meters_.not_accepted;
                if (failures++ == 0) {
                    std::fprintf(stderr, "echo_server: cannot accept: %s\n", e.what());
                }
            }
            if (failures != 0) { // Files or memory may become available again.
                pause_.expires_after(std::chrono::milliseconds(10));
                co_await pause_.async_wait(as_result);
            }
        }
    }

    void start(tcp::socket socket) {
        error_code ignored; // The peer may have disconnected already.
        socket.set_option(tcp::no_delay(true), ignored);
        const auto idle = std::chrono::duration_cast<std::chrono::milliseconds>(idle_);
        const auto c = std::make_shared<connection<Timer>>(std::move(socket), idle_, meters_);
        asio::co_spawn(c->socket.get_executor(),
                       session(c, "IDLE " + std::to_string(idle.count()) + "\n"), or_given_up(c));
    }

    tcp::acceptor acceptor_;
    typename plain_timer<Timer>::type pause_;
    steady_clock::duration idle_;
    meters& meters_;
};

} // namespace echo

#endif
