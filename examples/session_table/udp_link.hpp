// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A UDP socket that receives and sends many datagrams per call where the system supports that.

#ifndef SESSIONS_UDP_LINK_HPP
#define SESSIONS_UDP_LINK_HPP

#include "outgoing.hpp"
#include "protocol.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sessions {

class udp_link {
public:
    /// Binds to a port of loopback (0: any). With `plain`, uses one call for each datagram.
    udp_link(asio::io_context& io, std::uint16_t port, bool plain)
        : socket_(io, udp::endpoint(asio::ip::address_v4::loopback(), port)) {
        error_code ignored; // The system may allow less, which is enough for the peers' window.
        socket_.set_option(asio::socket_base::receive_buffer_size(1 << 22), ignored);
        socket_.set_option(asio::socket_base::send_buffer_size(1 << 22), ignored);
        socket_.non_blocking(true);
        out_.join(!plain && join_datagrams(socket_.native_handle()));
    }

    udp_link(const udp_link&) = delete;
    udp_link& operator=(const udp_link&) = delete;

    [[nodiscard]] udp::endpoint endpoint() const { return socket_.local_endpoint(); }
    [[nodiscard]] std::uint64_t dropped() const { return out_.dropped(); }

    /// Calls `done()` when something has arrived, or not at all if the link was closed.
    template <class Done>
    void when_readable(Done done) {
        socket_.async_wait(udp::socket::wait_read, [done = std::move(done)](error_code ec) mutable {
            if (ec != asio::error::operation_aborted) {
                done();
            }
        });
    }

    /// Receives with four calls at most, so that other handlers get their turn, and calls
    /// `each(datagram, from)`. Datagrams that arrive together have the same time, received_at().
    /// The clock is read after they have arrived: an earlier time would make timeouts early.
    template <class Each>
    void receive(Each each) {
        udp::endpoint from;
        for (int calls = 0; calls < 4; ++calls) {
            error_code ec;
            const std::size_t size = socket_.receive_from(asio::buffer(in_), from, 0, ec);
            if (ec) {
                return; // Nothing is left.
            }
            received_at_ = steady_clock::now();
            for (std::size_t i = 0; i < size / sizeof(datagram); ++i) {
                each(in_[i], from);
            }
        }
    }

    [[nodiscard]] steady_clock::time_point received_at() const { return received_at_; }

    /// Queues `d`, which is sent at the latest by flush().
    void send(const datagram& d, const udp::endpoint& to) { out_.send(d, to); }
    void flush() { out_.flush(); }

    void close() {
        error_code ignored;
        socket_.close(ignored);
    }

private:
    udp::socket socket_;
    outgoing out_{socket_};
    steady_clock::time_point received_at_;
    std::array<datagram, 2730> in_; // 64 kB: the system may join datagrams of several calls.
};

} // namespace sessions

#endif
