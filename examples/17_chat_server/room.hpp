// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The connections of a chat server. A message of one peer goes to all of them.

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

    /// Waits until all connections have left, but at most for the farewell time.
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
    std::map<std::string_view, int> ended{}; // The number of connections by reason.
    int write_hung = 0;                      // Those that ended with a pending write.
    asio_wheel::steady_timer empty;
};

} // namespace chat

#endif
