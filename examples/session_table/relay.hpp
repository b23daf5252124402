// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The relay: receives datagrams, forwards them, and answers queries about the relay itself.

#ifndef SESSIONS_RELAY_HPP
#define SESSIONS_RELAY_HPP

#include "../support/loop_lag.hpp"
#include "forwarding.hpp"
#include "meters.hpp"
#include "settings.hpp"
#include "udp_link.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>

namespace sessions {

template <class Timer>
class relay : forwarding<Timer> {
    using base = forwarding<Timer>;
    using base::inside_;
    using base::meters_;
    using base::outside_;
    using base::table_;
    using base::upstream_;

public:
    relay(asio::io_context& io, const relay_settings& s, meters& m) : base(io, s, m) {
        listen(inside_, [this](const datagram& d, const udp::endpoint& from) { handle(d, from); });
        listen(outside_,
               [this](const datagram& d, const udp::endpoint&) { this->handle_answer(d); });
    }

    [[nodiscard]] int port() const { return inside_.endpoint().port(); }
    [[nodiscard]] std::uint64_t dropped() const { return inside_.dropped() + outside_.dropped(); }
    [[nodiscard]] const loop_lag& paused() const { return table_.together.paused(); }
    /// Returns the time from the moment when many sessions should end until the last one had ended.
    [[nodiscard]] double together_took_ms() const { return table_.together.took_ms(); }

private:
    /// Receives what has arrived, then gives other handlers a turn.
    template <class Each>
    void listen(udp_link& from, Each each) {
        from.when_readable([this, &from, each] {
            from.receive(each);
            inside_.flush();
            outside_.flush();
            listen(from, each);
        });
    }

    void handle(const datagram& d, const udp::endpoint& from) {
        datagram reply = d;
        switch (d.what) {
        case kind::data:
        case kind::request:
            return this->forward(d, from);
        case kind::query:
            reply.what = table_.find(d.session) != nullptr ? kind::known : kind::unknown;
            break;
        case kind::upstream:
            upstream_.port(static_cast<std::uint16_t>(d.number));
            break;
        case kind::mark:
            meters_.mark(d.number);
            break;
        case kind::together:
            reply.stamp = to_stamp(inside_.received_at()) + d.stamp;
            table_.end_together(0, d.number, from_stamp(reply.stamp));
            break;
        default:
            return;
        }
        inside_.send(reply, from);
    }
};

} // namespace sessions

#endif
