// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The table of sessions: creates, refreshes and removes them.

#ifndef SESSIONS_TABLE_HPP
#define SESSIONS_TABLE_HPP

#include "mass_expiry.hpp"
#include "meters.hpp"
#include "requests.hpp"
#include "session.hpp"
#include "settings.hpp"
#include "udp_link.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace sessions {

template <class Timer>
class session_table {
    using time_point = steady_clock::time_point;

public:
    session_table(asio::io_context& io, const relay_settings& s, meters& m)
        : requested(io.get_executor(), from_seconds(s.deadline), m), together(io), io_(io),
          idle_(from_seconds(s.idle)), meters_(m) {
        table_.reserve(static_cast<std::size_t>(s.expected)); // Avoids pauses for rehashing.
    }

    /// Returns the session, or null if it does not exist.
    [[nodiscard]] session<Timer>* find(std::uint32_t id) {
        const auto found = table_.find(id);
        return found == table_.end() ? nullptr : &found->second;
    }

    /// Moves the end of the session. Creates the session if it does not exist.
    session<Timer>& refresh(std::uint32_t id, const udp::endpoint& from, time_point now) {
        const auto [place, is_new] =
            table_.try_emplace(id, io_.get_executor(), id, from, now + idle_);
        session<Timer>& s = place->second;
        if (is_new) {
            ++meters_.made;
            s.idle.wait(when_idle(s));
        } else {
            s.idle.touch(now + idle_);
        }
        return s;
    }

    /// Ends sessions together, as when an uplink is lost. Moves 256 per turn, so others can run.
    void end_together(std::uint32_t next, std::uint32_t count, time_point due) {
        const std::uint32_t stop = std::min(count, next + 256);
        for (; next < stop; ++next) {
            if (session<Timer>* s = find(next)) {
                s->ends_together = true;
                together.expect_one();
                s->idle.end_at(due, when_idle(*s));
            }
        }
        if (next < count) {
            asio::post(io_, [this, next, count, due] { end_together(next, count, due); });
        } else {
            together.all_expected();
        }
    }

    requests<Timer> requested;
    mass_expiry together;

private:
    auto when_idle(session<Timer>& s) {
        return [this, &s](time_point due) {
            const auto now = steady_clock::now();
            (s.ends_together ? meters_.together_late : meters_.idle_late).add(now - due);
            if (s.ends_together) {
                together.ended(now - due);
            }
            ++meters_.timer_handlers;
            ++meters_.expired;
            requested.give_up(s);
            table_.erase(std::uint32_t{s.id}); // A copy, because s is destroyed.
        };
    }

    asio::io_context& io_;
    steady_clock::duration idle_;
    meters& meters_;
    std::unordered_map<std::uint32_t, session<Timer>> table_;
};

} // namespace sessions

#endif
