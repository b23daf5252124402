// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Forwarding in both directions, and the timeouts of requests.

#ifndef SESSIONS_FORWARDING_HPP
#define SESSIONS_FORWARDING_HPP

#include "meters.hpp"
#include "requests.hpp"
#include "session.hpp"
#include "settings.hpp"
#include "table.hpp"
#include "timers.hpp"
#include "udp_link.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <type_traits>

namespace sessions {

template <class Timer>
class forwarding {
    using time_point = steady_clock::time_point;
    static constexpr bool has_timers = !std::is_same_v<Timer, no_timer>;

protected:
    forwarding(asio::io_context& io, const relay_settings& s, meters& m)
        : inside_(io, static_cast<std::uint16_t>(s.port), s.plain), outside_(io, 0, s.plain),
          meters_(m), table_(io, s, m) {}

    /// Forwards a datagram of a peer upstream.
    void forward(const datagram& d, const udp::endpoint& from) {
        const time_point now = inside_.received_at();
        ++meters_.datagrams;
        session<Timer>& s = table_.refresh(d.session, from, now);
        if (d.what == kind::request) {
            ++meters_.requests;
            if constexpr (has_timers) {
                table_.requested.give_up(s);
                s.pending =
                    table_.requested.start(s, d, now, [this](auto& late) { time_out(late); });
            }
        }
        outside_.send(d, upstream_);
    }

    /// Forwards an answer from upstream to the peer of its session.
    void handle_answer(const datagram& d) {
        ++meters_.datagrams;
        session<Timer>* const found = table_.find(d.session);
        if (found == nullptr) {
            ++meters_.late_answers;
            return;
        }
        session<Timer>& s = *found;
        if constexpr (has_timers) {
            if (s.pending == nullptr || s.pending->asked.number != d.number) {
                ++meters_.late_answers;
                return;
            }
            table_.requested.finish(*s.pending);
            s.pending = nullptr;
        }
        ++meters_.answered;
        inside_.send(d, s.peer);
    }

    void time_out(request<Timer>& r) {
        ++meters_.timed_out;
        datagram reply = r.asked;
        reply.what = kind::timed_out;
        inside_.send(reply, r.of->peer);
        inside_.flush();
        r.of->pending = nullptr;
    }

    udp_link inside_;
    udp_link outside_;
    udp::endpoint upstream_{asio::ip::address_v4::loopback(), 0};
    meters& meters_;
    session_table<Timer> table_;
};

} // namespace sessions

#endif
