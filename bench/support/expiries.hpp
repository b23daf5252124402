// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef BENCH_EXPIRIES_HPP
#define BENCH_EXPIRIES_HPP

#include "measure.hpp"
#include "timer_workload.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using time_point = clock::time_point;

enum class order { by_deadline, random };

/// How the deadlines of n waits are spread evenly over a time span.
struct spread {
    clock::duration span;
    order armed;           // The order in which the waits are started.
    clock::duration grain; // Deadlines are rounded up to a multiple of this.
};

/// n waits with such deadlines.
template <class Timer>
class expiries {
public:
    expiries(std::size_t n, const spread& how, const std::vector<std::uint32_t>& ranks)
        : step_(how.span / static_cast<clock::rep>(n)), begin_(clock::now() + arming_time(n)),
          timers_(make_timers<Timer>(context_, n)) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto expiry = deadline(ranks[i]).time_since_epoch() + how.grain;
            timers_[i].expires_at(
                time_point((expiry - clock::duration(1)) / how.grain * how.grain));
            timers_[i].async_wait([this](const error_code& ec) { expire(ec); });
        }
        require(clock::now() < begin_, "arming took longer than was expected");
    }

    double run() {
        stopwatch<process_clock> time;
        time.start();
        context_.run();
        time.stop();
        require(expired_ == timers_.size(), "a wait did not expire");
        return time.seconds();
    }

private:
    [[nodiscard]] time_point deadline(std::size_t rank) const {
        return begin_ + step_ * static_cast<clock::rep>(rank);
    }

    void expire(const error_code& ec) {
        require(!ec, "a wait was aborted");
        // The k-th wait to expire must not be earlier than the k-th deadline. Checking each one
        // would be most of the work, because reading the clock is expensive.
        if (expired_ % 1024 == 0) {
            require(clock::now() >= deadline(expired_), "a wait expired early");
        }
        ++expired_;
    }

    const clock::duration step_;
    const time_point begin_;
    std::size_t expired_ = 0;
    asio::io_context context_;
    std::vector<Timer> timers_;
};

} // namespace bench

#endif
