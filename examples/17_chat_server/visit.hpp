// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A connection in its room, from its acceptance until all of its coroutines have returned.

#ifndef CHAT_VISIT_HPP
#define CHAT_VISIT_HPP

#include "read_lines.hpp"
#include "room.hpp"
#include "session.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace chat {

struct visit {
    visit(std::shared_ptr<room> r, tcp::socket socket)
        : place(std::move(r)), c(std::move(socket), place->set) {
        place->here.insert(&c);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { place->leave(c); }

    std::shared_ptr<room> place;
    connection c;
};

/// Runs a coroutine of a connection. If it fails, all of them end. `late` is the reason for a
/// timeout in this coroutine.
inline asio::awaitable<void> run_part(std::shared_ptr<visit> v, asio::awaitable<void> part,
                                      std::string_view late) {
    try {
        co_await std::move(part);
    } catch (const boost::system::system_error& e) {
        if (e.code() == std::errc::timed_out) {
            v->c.close(late);
        } else if (e.code() == asio::error::eof) {
            v->c.close("left");
        } else if (e.code() != asio::error::operation_aborted) {
            v->c.close("failed"); // Also if the wheel is full: a connection needs its timeouts.
        } // Otherwise another coroutine has failed, and closes the connection.
    } catch (const std::exception&) {
        v->c.close("failed");
    }
}

inline void enter(std::shared_ptr<room> r, tcp::socket socket) {
    const auto v = std::make_shared<visit>(std::move(r), std::move(socket));
    const auto spawn = [&v](asio::awaitable<void> part, std::string_view late) {
        asio::co_spawn(v->c.stream.get_executor(), run_part(v, std::move(part), late),
                       asio::detached);
    };
    const auto said = [place = v->place](const std::string& text) { place->say(line(text)); };
    try {
        spawn(read_lines(v->c, said), "slow line");
        spawn(write_messages(v->c), "stuck");
        spawn(watch_pulse(v->c, v->place->ping), "");
        spawn(watch_silence(v->c), "");
    } catch (...) {
        v->c.close("failed"); // Ends the coroutines that have started.
        throw;
    }
}

} // namespace chat

#endif
