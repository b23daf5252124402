// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The longest time for which a loop gives a handler no turn.

#ifndef SESSIONS_LOOP_LAG_HPP
#define SESSIONS_LOOP_LAG_HPP

#include "protocol.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace sessions {

/// A handler that posts itself again and again while something happens. It keeps a processor busy,
/// so it runs only then.
class loop_lag {
public:
    explicit loop_lag(asio::io_context& io) : io_(io) {}

    void start() {
        running_ = true;
        last_ = moment::now();
        beat();
    }
    void stop() { running_ = false; }
    [[nodiscard]] bool running() const { return running_; }

    /// By the clock: what a datagram waits for, and what the machine did to other processes
    /// meanwhile.
    [[nodiscard]] double longest_ms() const { return milliseconds(longest_.wall); }
    /// The same in processor time of the loop.
    [[nodiscard]] double longest_cpu_ms() const { return milliseconds(longest_.cpu); }

private:
    struct moment {
        steady_clock::duration wall{};
        steady_clock::duration cpu{};

        static moment now() {
            std::timespec used{};
            ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
            return {steady_clock::now().time_since_epoch(),
                    std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec)};
        }
    };

    void beat() {
        const moment now = moment::now();
        longest_.wall = std::max(longest_.wall, now.wall - last_.wall);
        longest_.cpu = std::max(longest_.cpu, now.cpu - last_.cpu);
        last_ = now;
        if (running_) {
            asio::post(io_, [this] { beat(); });
        }
    }

    asio::io_context& io_;
    bool running_ = false;
    moment last_;
    moment longest_;
};

} // namespace sessions

#endif
