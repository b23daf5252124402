// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One connection as the load generator sees it, with its own view of when the server may close it.
//
// The judge does not use what it judges: the timers here are Asio's.

#ifndef ECHO_CLIENT_HPP
#define ECHO_CLIENT_HPP

#include "../support/coroutine.hpp"
#include "load.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace echo {

using namespace demo;

class client {
public:
    client(const asio::any_io_executor& executor, load& plan, std::uint64_t number)
        : socket_(executor), timer_(executor), plan_(plan), number_(number) {}

    bool open() const { return socket_.is_open(); }

    asio::awaitable<void> sleep(steady_clock::duration d) {
        timer_.expires_after(d);
        co_await timer_.async_wait(as_result);
    }

    /// Connects and hears the server's greeting.
    asio::awaitable<bool> connect() {
        error_code ignored;
        socket_.open(tcp::v4(), ignored);
        leave_from_own_address();
        sent_ = steady_clock::now();
        co_await socket_.async_connect(plan_.server, as_result); // or else nothing is heard
        const bool greeted = co_await hear("IDLE ");
        if (greeted) {
            replied_ = steady_clock::now();
            ++plan_.seen.connected;
            socket_.set_option(tcp::no_delay(true), ignored);
        } else {
            ++plan_.seen.not_connected;
            close();
        }
        co_return greeted;
    }

    /// One heartbeat and its reply; false if the server has closed.
    asio::awaitable<bool> ping() {
        const std::string word = std::to_string(++number_) + "\n";
        const std::string line = "PING " + word;
        const std::string reply = "PONG " + word;
        const auto now = steady_clock::now();
        ++plan_.seen.requests;
        co_await asio::async_write(socket_, asio::buffer(line), as_result);
        const bool heard = co_await hear(reply);
        if (heard) {
            sent_ = now; // only of a line with a reply is it certain that the server has read it
            replied_ = steady_clock::now();
            ++plan_.seen.replies;
        } else {
            ++plan_.seen.cut_off;
            plan_.seen.ignored += now + plan_.margin < sent_ + plan_.idle ? 1 : 0;
            note_closed();
        }
        co_return heard;
    }

    /// One byte of a line that never ends.
    asio::awaitable<void> send_byte() {
        co_await asio::async_write(socket_, asio::buffer("x", 1), as_result);
    }

    /// Says no more and waits for the server to close.
    asio::awaitable<void> outwait() {
        ++plan_.seen.waiting;
        const bool unasked = co_await hear("nothing more");
        --plan_.seen.waiting;
        if (!unasked) {
            note_closed();
        }
    }

    /// Ends the connection without a word, as a crash does: with a FIN or with a reset.
    asio::awaitable<void> leave() {
        if (steady_clock::now() >= sent_ + plan_.idle) {
            co_await outwait(); // too slow: the server closes it, or has done so
            co_return;
        }
        if (plan_.random() % 2 == 0) {
            error_code ignored;
            socket_.set_option(asio::socket_base::linger(true, 0), ignored);
        }
        close();
        ++plan_.seen.left;
    }

    void close() {
        error_code ignored;
        socket_.close(ignored);
        timer_.cancel();
        received_.clear();
    }

private:
    /// Reads a line that begins with `expected`; false if the connection has ended.
    asio::awaitable<bool> hear(std::string_view expected) {
        auto [error, size] = co_await asio::async_read_until(
            socket_, asio::dynamic_buffer(received_), '\n', as_result);
        if (error) {
            co_return false;
        }
        plan_.seen.wrong_replies += received_.starts_with(expected) ? 0 : 1;
        received_.erase(0, size);
        co_return true;
    }

    void note_closed() {
        const auto now = steady_clock::now();
        plan_.seen.closed(now - sent_, now - replied_, plan_.delay.at(now), plan_.idle,
                          plan_.margin);
        close();
    }

    /// One address has some 28,000 ports to connect from. All of 127.0.0.0/8 is this host on Linux;
    /// where binding fails, the system chooses address and port as usual.
    void leave_from_own_address() {
#ifdef __linux__
        const auto last = static_cast<asio::ip::address_v4::uint_type>(1 + number_ % 8);
        error_code ignored;
        socket_.bind({asio::ip::address_v4(0x7f000000U + last), 0}, ignored);
#endif
    }

    tcp::socket socket_;
    asio::steady_timer timer_;
    load& plan_;
    std::uint64_t number_;
    std::string received_;
    steady_clock::time_point sent_;    ///< When the last line that the server has read was sent.
    steady_clock::time_point replied_; ///< When its reply arrived.
};

} // namespace echo

#endif
