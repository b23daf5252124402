// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timers with Asio's interface. Their operations run in handlers of the io_context: a burst of 64,
// then the handlers that these have queued.

#ifndef BENCH_ASIO_PEER_HPP
#define BENCH_ASIO_PEER_HPP

#include "peer.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

template <class Timer>
class asio_peer {
public:
    explicit asio_peer(std::size_t n) : timers_(make_timers<Timer>(context_, n)) {}

    void start_all(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            start(timers_[i]);
        }
    }

    void start_cancel(std::size_t count) {
        in_bursts(count, [this] {
            start(timers_.back());
            timers_.back().cancel();
        });
    }

    template <class Next>
    void re_arm(std::size_t count, Next next) {
        in_bursts(count, [this, next] { move(timers_[next()]); });
    }

private:
    void start(Timer& timer) {
        timer.expires_after(timeout);
        timer.async_wait([](const error_code&) {});
    }

    /// Uses postpone() where the timer has it, because each peer moves its timers in the way that
    /// suits it best.
    void move(Timer& timer) {
        if constexpr (requires { timer.postpone(timeout); }) {
            static_cast<void>(timer.postpone(timeout));
        } else {
            start(timer);
        }
    }

    template <class Operation>
    void in_bursts(std::size_t count, const Operation& operation) {
        left_ = count;
        asio::post(context_, [this, &operation] { do_some(operation); });
        context_.run();
        context_.restart();
    }

    template <class Operation>
    void do_some(const Operation& operation) {
        for (std::size_t n = std::min<std::size_t>(left_, burst); n > 0; --n, --left_) {
            operation();
        }
        if (left_ == 0) {
            context_.stop();
        } else {
            asio::post(context_, [this, &operation] { do_some(operation); });
        }
    }

    asio::io_context context_;
    std::vector<Timer> timers_;
    std::size_t left_ = 0;
};

} // namespace bench

#endif
