// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All peers of the relay: the datagrams and queries that they send.

#ifndef SESSIONS_PEERS_HPP
#define SESSIONS_PEERS_HPP

#include "receiver.hpp"
#include "settings.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace sessions {

class peers : public receiver {
public:
    peers(asio::io_context& io, const load_settings& s)
        : receiver(io, s),
          relay_(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(s.port)),
          window_(s.plain ? 256 : 4096) {}

    [[nodiscard]] std::uint64_t under_way() const { return sent_ - arrived_; }

    /// Sends `count` datagrams of sessions that `choose()` returns. One in ten is a request.
    template <class Choose>
    void send_burst(int count, Choose choose) {
        const std::int64_t now = to_stamp(steady_clock::now());
        for (int i = 0; i < count; ++i) {
            const std::uint32_t session = choose();
            datagram d{.stamp = now, .session = session};
            if (++sent_ % 10 == 0 && !heard_[session].asking) {
                heard_[session].asking = true;
                d.number = static_cast<std::uint32_t>(++seen.requests);
                d.what = kind::request;
            }
            inside_.send(d, relay_);
        }
        inside_.flush();
    }

    /// Waits until there is room for another burst. Datagrams that the relay has not forwarded are
    /// in its socket's buffer, which would drop more than a few hundred.
    asio::awaitable<void> room(std::uint64_t burst) {
        while (under_way() + burst > window_) {
            const std::uint64_t before = arrived_;
            changed_.expires_after(std::chrono::seconds(1));
            auto [changed] = co_await changed_.async_wait(as_result);
            if (!changed && arrived_ == before) { // Nothing arrived for a second: they are lost.
                seen.lost += under_way();
                arrived_ = sent_;
            }
        }
    }

    /// Sends a datagram that the relay answers, and returns the answer.
    asio::awaitable<datagram> ask(datagram d) {
        const auto begin = steady_clock::now();
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

    /// Makes the relay forward to this process.
    asio::awaitable<void> introduce() {
        co_await ask({.number = upstream_.endpoint().port(), .what = kind::upstream});
    }

    asio::awaitable<void> mark(phase p) {
        co_await room(window_); // Until everything sent before has arrived.
        co_await ask({.number = p, .what = kind::mark});
    }

    /// Asks whether a session exists. `number` is the expectation, `stamp` the time that bounds it.
    void query(const datagram& d) {
        inside_.send(d, relay_);
        inside_.flush();
    }

private:
    udp::endpoint relay_;
    std::uint64_t window_; ///< The number of datagrams that fit into a socket's buffer.
    std::uint64_t sent_ = 0;
};

} // namespace sessions

#endif
