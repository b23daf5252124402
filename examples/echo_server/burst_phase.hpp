// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Waits that expire at the same moment, on a loop that has other work, too: how long that work
// pauses, and how late the last wait is.

#ifndef ECHO_BURST_PHASE_HPP
#define ECHO_BURST_PHASE_HPP

#include "../support/coroutine.hpp"
#include "../support/loop_lag.hpp"
#include "../support/record.hpp"
#include "../support/samples.hpp"
#include "work.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <vector>

namespace echo {

template <class Timer>
class burst {
public:
    /// Each handler works for 10 µs, about as long as it takes to close a connection.
    void run() {
        const auto due = steady_clock::now() + std::chrono::milliseconds(100);
        timers_.reserve(count);
        for (int i = 0; i < count; ++i) {
            timers_.emplace_back(io_, due).async_wait([this, due](error_code) {
                late_ = steady_clock::now() - due;
                early_ += late_ < late_.zero() ? 1 : 0;
                work_for(std::chrono::microseconds(10));
                if (++expired_ == count) {
                    lag_.stop();
                }
            });
        }
        lag_.start();
        io_.run();
    }

    [[nodiscard]] double pause_ms() const { return lag_.longest_ms(); }
    [[nodiscard]] double last_ms() const { return milliseconds(late_); }
    [[nodiscard]] int early() const { return early_; }

private:
    static constexpr int count = 10'000;

    asio::io_context io_{1};
    loop_lag lag_{io_};
    std::vector<Timer> timers_;
    steady_clock::duration late_{};
    int expired_ = 0;
    int early_ = 0;
};

template <class Timer>
record burst_phase() {
    samples pauses;
    samples last;
    double early = 0;
    for (int i = 0; i < 3; ++i) {
        burst<Timer> b;
        b.run();
        pauses.push_back(b.pause_ms());
        last.push_back(b.last_ms());
        early += b.early();
    }
    return {{"burst_pause_ms", median(pauses)},
            {"burst_last_ms", median(last)},
            {"burst_early", early}};
}

} // namespace echo

#endif
