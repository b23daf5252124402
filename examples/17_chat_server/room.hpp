// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The connections of a chat server. What one peer says goes to all of them.

#ifndef CHAT_ROOM_HPP
#define CHAT_ROOM_HPP

#include "connection.hpp"

#include <asio_wheel.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace chat {

struct room {
    room(const asio::any_io_executor& ex, const settings& s) : set(s), empty(ex) {}

    void say(const message& m) {
        for (connection* c : here) {
            c->send(m);
        }
    }

    void finish(std::string_view why, const message& last) {
        for (connection* c : here) {
            c->finish(why, last);
        }
    }

    /// Returns how many connections it closes.
    std::size_t close(std::string_view why) {
        for (connection* c : here) {
            c->close(why);
        }
        return here.size();
    }

    void leave(connection& c) {
        here.erase(&c);
        ++ended[c.ended_by];
        write_hung += c.writing ? 1 : 0;
        if (here.empty()) {
            empty.cancel();
        }
    }

    /// Waits until all have left, but not longer than the farewell may take.
    asio::awaitable<void> emptied() {
        if (!here.empty()) {
            empty.expires_after(set.farewell_time);
            const auto token = asio::as_tuple(asio::use_awaitable);
            co_await empty.async_wait(token); // The last connection cancels it.
        }
    }

    const settings set;
    const message ping = line("PING");
    std::set<connection*> here{};
    std::map<std::string_view, int> ended{}; // How many connections, by the reason.
    int write_hung = 0;                      // In how many of these a write was pending at the end.
    asio_wheel::steady_timer empty;
};

} // namespace chat

#endif
