// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Receives the datagrams of the peers, and records which timeouts are early or late as they see
// them.
//
// Uses Asio's timers, so that the checks do not depend on the timers that they check.

#ifndef SESSIONS_RECEIVER_HPP
#define SESSIONS_RECEIVER_HPP

#include "../support/own_delay.hpp"
#include "peer_stats.hpp"
#include "settings.hpp"
#include "udp_link.hpp"
#include "upstream.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sessions {

class receiver : public upstream {
public:
    receiver(asio::io_context& io, const load_settings& s)
        : upstream(io, s), inside_(io, 0, s.plain), changed_(io), delay_(io),
          deadline_(from_seconds(s.deadline)), margin_(std::chrono::milliseconds(s.margin)) {
        listen(inside_, [this](const datagram& d, const udp::endpoint&) { handle(d); });
        listen(upstream_, [this](const datagram& d, const udp::endpoint& from) { serve(d, from); });
        delay_.run();
    }

    peer_stats seen;
    [[nodiscard]] steady_clock::duration own_delay() const { return delay_.worst(); }

    void close() {
        inside_.close();
        upstream_.close();
        delay_.stop();
    }

protected:
    udp_link inside_;
    asio::steady_timer changed_; ///< Cancelled when a datagram has arrived.
    demo::own_delay delay_;
    datagram reply_;
    bool replied_ = false;

private:
    template <class Each>
    void listen(udp_link& from, Each each) {
        from.when_readable([this, &from, each] {
            from.receive(each);
            upstream_.flush();
            changed_.cancel();
            listen(from, each);
        });
    }

    void handle(const datagram& d) {
        const auto now = inside_.received_at();
        const auto since = now - from_stamp(d.stamp);
        switch (d.what) {
        case kind::answer:
            heard_[d.session].asking = false;
            ++seen.answered;
            seen.longest_answer = std::max(seen.longest_answer, since);
            break;
        case kind::timed_out:
            heard_[d.session].asking = false;
            seen.timed_out(since, delay_.at(now), deadline_, margin_);
            break;
        case kind::known:
        case kind::unknown:
            seen.queried(d.what == kind::known, static_cast<expectation>(d.number),
                         now < from_stamp(d.stamp));
            break;
        default:
            reply_ = d;
            replied_ = true;
        }
    }

    steady_clock::duration deadline_;
    steady_clock::duration margin_;
};

} // namespace sessions

#endif
