// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A client that stays active, and that computes on its own when the server may close its
// connection.
//
// It uses Asio's timers, so that the checks do not depend on the timers that they check.

#ifndef ECHO_ACTIVE_CLIENT_HPP
#define ECHO_ACTIVE_CLIENT_HPP

#include "../support/coroutine.hpp"
#include "line_socket.hpp"
#include "load.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <string>

namespace echo {

using namespace demo;

class active_client {
public:
    active_client(const asio::any_io_executor& executor, load& plan, std::uint64_t number)
        : socket_(executor), timer_(executor), plan_(plan), number_(number) {}

    bool open() const { return socket_.is_open(); }

    asio::awaitable<void> sleep(steady_clock::duration d) {
        timer_.expires_after(d);
        co_await timer_.async_wait(as_result);
    }

    /// Connects and reads the server's greeting.
    asio::awaitable<bool> connect() {
        sent_ = steady_clock::now();
        co_await socket_.connect(plan_.server, number_);
        const bool greeted = co_await socket_.read_line("IDLE ", plan_.seen.wrong_replies);
        if (greeted) {
            replied_ = steady_clock::now();
            ++plan_.seen.connected;
        } else {
            ++plan_.seen.not_connected;
            close();
        }
        co_return greeted;
    }

    /// Sends a heartbeat and reads the reply. Returns false if the server has closed the
    /// connection.
    asio::awaitable<bool> ping() {
        const std::string word = std::to_string(++number_) + "\n";
        const std::string line = "PING " + word;
        const std::string reply = "PONG " + word;
        const auto now = steady_clock::now();
        ++plan_.seen.requests;
        co_await socket_.send(line);
        const bool heard = co_await socket_.read_line(reply, plan_.seen.wrong_replies);
        if (heard) {
            sent_ = now; // Only a reply proves that the server has read the line.
            replied_ = steady_clock::now();
            ++plan_.seen.replies;
        } else {
            ++plan_.seen.cut_off;
            plan_.seen.ignored += now + plan_.margin < sent_ + plan_.idle ? 1 : 0;
            note_closed();
        }
        co_return heard;
    }

    void close() {
        socket_.close();
        timer_.cancel();
    }

protected:
    void note_closed() {
        const auto now = steady_clock::now();
        plan_.seen.closed(now - sent_, now - replied_, plan_.delay.at(now), plan_.idle,
                          plan_.margin);
        close();
    }

    line_socket socket_;
    asio::steady_timer timer_;
    load& plan_;
    std::uint64_t number_;
    steady_clock::time_point sent_;    ///< When the last answered line was sent.
    steady_clock::time_point replied_; ///< When its reply arrived.
};

} // namespace echo

#endif
