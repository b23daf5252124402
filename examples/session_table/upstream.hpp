// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The upstream server of the relay: receives what sessions send, and answers most requests.

#ifndef SESSIONS_UPSTREAM_HPP
#define SESSIONS_UPSTREAM_HPP

#include "protocol.hpp"
#include "settings.hpp"
#include "udp_link.hpp"

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sessions {

class upstream {
public:
    upstream(asio::io_context& io, const load_settings& s)
        : upstream_(io, 0, s.plain), heard_(static_cast<std::size_t>(s.sessions)) {}

    /// When the last forwarded datagram of a session was sent, and when it arrived here.
    struct last_heard {
        std::int64_t sent = 0;
        std::int64_t arrived = 0;
        bool asking = false; ///< A request of the session is pending.
    };
    [[nodiscard]] const last_heard& heard(std::uint32_t session) const { return heard_[session]; }

protected:
    /// Answers all requests except one in a thousand.
    void serve(const datagram& d, const udp::endpoint& from) {
        ++arrived_;
        heard_[d.session].sent = d.stamp;
        heard_[d.session].arrived = to_stamp(upstream_.received_at());
        if (d.what == kind::request && d.number % 1000 != 0) {
            datagram answer = d;
            answer.what = kind::answer;
            upstream_.send(answer, from);
        }
    }

    udp_link upstream_;
    std::vector<last_heard> heard_;
    std::uint64_t arrived_ = 0;
};

} // namespace sessions

#endif
