// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Measures the lag of an event loop: the longest time for which a ready handler does not run.

#ifndef DEMO_LOOP_LAG_HPP
#define DEMO_LOOP_LAG_HPP

#include "coroutine.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace demo {

/// A handler that posts itself again and again. It keeps a processor busy, so run it only while the
/// lag matters.
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

    /// The maximum in wall-clock time: how long other work waits. Includes time in which the
    /// machine ran other processes.
    [[nodiscard]] double longest_ms() const { return milliseconds(longest_.wall); }
    /// The maximum in processor time of the loop.
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

} // namespace demo

#endif
