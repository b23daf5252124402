// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All peers of the relay and the upstream that answers them, with their own view of what is early and
// late.
//
// The judge does not use what it judges: the timers here are Asio's.

#ifndef SESSIONS_PEERS_HPP
#define SESSIONS_PEERS_HPP

#include "../support/own_delay.hpp"
#include "settings.hpp"
#include "tally.hpp"
#include "udp_link.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace sessions {

class peers {
public:
    peers(asio::io_context& io, const load_settings& s)
        : relay_(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(s.port)),
          inside_(io, 0, s.plain), upstream_(io, 0, s.plain), changed_(io), delay_(io),
          deadline_(from_seconds(s.deadline)), margin_(std::chrono::milliseconds(s.margin)),
          window_(s.plain ? 256 : 4096), heard_(static_cast<std::size_t>(s.sessions)) {
        listen(inside_, [this](const datagram& d, const udp::endpoint&) { hear(d); });
        listen(upstream_, [this](const datagram& d, const udp::endpoint& from) { serve(d, from); });
        delay_.run();
    }

    /// When a datagram that the relay has forwarded was sent, and when it was here again.
    struct last_heard {
        std::int64_t sent = 0;
        std::int64_t arrived = 0;
        bool asking = false; ///< A request of the session has neither been answered nor timed out.
    };
    [[nodiscard]] const last_heard& heard(std::uint32_t session) const { return heard_[session]; }

    tally seen;
    [[nodiscard]] steady_clock::duration own_delay() const { return delay_.worst(); }
    [[nodiscard]] std::uint64_t under_way() const { return sent_ - arrived_; }

    /// The next datagrams of sessions that `choose()` names; one in ten is a request.
    template <class Choose>
    void send_burst(int count, Choose choose) {
        const std::int64_t now = to_stamp(steady_clock::now());
        for (int i = 0; i < count; ++i) {
            const std::uint32_t session = choose();
            const bool asks = ++sent_ % 10 == 0 && !heard_[session].asking;
            datagram d{.stamp = now, .session = session};
            if (asks) {
                heard_[session].asking = true;
                d.number = static_cast<std::uint32_t>(++seen.requests);
                d.what = kind::request;
            }
            inside_.send(d, relay_);
        }
        inside_.flush();
    }

    /// Waits until there is room for another burst: what the relay has not forwarded is in its socket's
    /// buffer, and more than a few hundred datagrams would be lost.
    asio::awaitable<void> room(std::uint64_t burst) {
        while (under_way() + burst > window_) {
            const std::uint64_t before = arrived_;
            changed_.expires_after(std::chrono::seconds(1));
            auto [changed] = co_await changed_.async_wait(as_result);
            if (!changed && arrived_ == before) { // for a second: they are lost
                seen.lost += under_way();
                arrived_ = sent_;
            }
        }
    }

    /// Sends something that the relay sends back, and returns that.
    asio::awaitable<datagram> ask(datagram d) {
        const steady_clock::time_point begin = steady_clock::now();
        replied_ = false;
        inside_.send(d, relay_);
        inside_.flush();
        while (!replied_) {
            if (steady_clock::now() > begin + std::chrono::seconds(20)) {
                throw std::runtime_error("the relay does not answer");
            }
            changed_.expires_after(std::chrono::seconds(1));
            co_await changed_.async_wait(as_result);
        }
        co_return reply_;
    }

    /// The relay is to forward to this process.
    asio::awaitable<void> introduce() {
        co_await ask({.number = upstream_.endpoint().port(), .what = kind::upstream});
    }

    asio::awaitable<void> mark(phase p) {
        co_await room(window_); // everything sent before has arrived
        co_await ask({.number = p, .what = kind::mark});
    }

    /// Is there such a session? `number` says what should be so, `stamp` since or until when.
    void query(const datagram& d) {
        inside_.send(d, relay_);
        inside_.flush();
    }

    void close() {
        inside_.close();
        upstream_.close();
        delay_.stop();
    }

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

    void hear(const datagram& d) {
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
            seen.probed(d.what == kind::known, static_cast<expectation>(d.number),
                        now < from_stamp(d.stamp));
            break;
        default:
            reply_ = d;
            replied_ = true;
        }
    }

    /// What the upstream does: it answers all requests but one in a thousand.
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

    udp::endpoint relay_;
    udp_link inside_;
    udp_link upstream_;
    asio::steady_timer changed_;
    demo::own_delay delay_;
    steady_clock::duration deadline_;
    steady_clock::duration margin_;
    std::uint64_t window_; ///< So much fits into a socket's buffer.
    std::vector<last_heard> heard_;
    std::uint64_t sent_ = 0;
    std::uint64_t arrived_ = 0;
    datagram reply_;
    bool replied_ = false;
};

} // namespace sessions

#endif
