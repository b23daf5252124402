// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Connections that exchange messages all the time.

#ifndef BENCH_ECHO_PAIRS_HPP
#define BENCH_ECHO_PAIRS_HPP

#include "measure.hpp"
#include "timer_workload.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace bench {

/// n pairs of streams over connected sockets. Each end answers each message with another one. If
/// the stream type has deadlines, one is set before each operation.
template <class Stream>
class echo_pairs {
public:
    explicit echo_pairs(std::size_t n) {
        using tcp = asio::ip::tcp;
        tcp::acceptor acceptor(context_, {asio::ip::address_v4::loopback(), 0});
        for (std::size_t i = 0; i < n; ++i) {
            tcp::socket caller(context_);
            caller.connect(acceptor.local_endpoint());
            tcp::socket callee = acceptor.accept();
            for (tcp::socket* s : {&caller, &callee}) {
                s->set_option(tcp::no_delay(true));
                s->non_blocking(true);
                ends_.emplace_back(*this, std::move(*s));
            }
            ends_.back().read();
            idle_ends_.push_back(&ends_[ends_.size() - 2]);
        }
    }

    echo_pairs(const echo_pairs&) = delete;
    echo_pairs& operator=(const echo_pairs&) = delete;

    /// All pairs together write and read `count` messages, each pair at least one.
    process_clock::duration run(std::size_t count) {
        require(count >= idle_ends_.size(), "too few messages for so many streams");
        left_ = count;
        read_ = 0;
        const auto time = bench::run(context_, [this] {
            // The other ends are reading already.
            for (end* e : std::exchange(idle_ends_, {})) {
                write(*e);
            }
        });
        require(read_ == count, "a message was lost");
        return time;
    }

private:
    class end {
    public:
        end(echo_pairs& owner, asio::ip::tcp::socket&& socket)
            : owner_(owner), stream_(std::move(socket)) {}

        void read() {
            more_time();
            stream_.async_read_some(asio::buffer(data_),
                                    [this](const error_code& ec, std::size_t size) {
                                        require(!ec && size == data_.size(), "a read failed");
                                        owner_.answer(*this);
                                    });
        }

        void write() {
            more_time();
            stream_.async_write_some(asio::buffer(data_),
                                     [this](const error_code& ec, std::size_t size) {
                                         require(!ec && size == data_.size(), "a write failed");
                                         read();
                                     });
        }

    private:
        void more_time() {
            if constexpr (requires { stream_.expires_after(timeout); }) {
                stream_.expires_after(timeout);
            }
        }

        echo_pairs& owner_;
        Stream stream_;
        std::array<char, 16> data_{};
    };

    void write(end& e) {
        --left_;
        e.write();
    }

    // When no message is left to write, this end stays idle and the other end keeps reading.
    void answer(end& e) {
        ++read_;
        if (left_ != 0) {
            return write(e);
        }
        idle_ends_.push_back(&e);
        if (idle_ends_.size() == ends_.size() / 2) {
            context_.stop();
        }
    }

    std::size_t left_ = 0; // Messages that are still to write.
    std::size_t read_ = 0;
    std::vector<end*> idle_ends_; // One end of each pair, which neither reads nor writes.
    asio::io_context context_;
    std::deque<end> ends_; // They cannot be moved.
};

} // namespace bench

#endif
