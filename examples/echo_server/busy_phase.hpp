// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A loop that is always busy: how late waits are then, and how many of them have a turn.

#ifndef ECHO_BUSY_PHASE_HPP
#define ECHO_BUSY_PHASE_HPP

#include "../support/coroutine.hpp"
#include "../support/record.hpp"
#include "../support/samples.hpp"
#include "work.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <deque>

namespace echo {

/// 20 handlers of 1 ms post themselves, so a turn of the loop takes at least 20 ms. Beside them,
/// 2,000 timers of 100 ms are armed again and again: 400 waits for each turn.
template <class Timer>
class busy_loop {
public:
    void run() {
        for (int i = 0; i < handlers; ++i) {
            asio::post(io_, [this] { work(); });
        }
        for (int i = 0; i < 2'000; ++i) {
            arm(timers_.emplace_back(io_));
        }
        io_.run_for(duration);
        std::ranges::sort(late_ms_);
    }

    [[nodiscard]] record figures() const {
        return {{"busy_turn_ms", milliseconds(duration) * handlers / calls_},
                {"busy_p50_ms", quantile(late_ms_, 0.50)},
                {"busy_p99_ms", quantile(late_ms_, 0.99)},
                {"busy_max_ms", quantile(late_ms_, 1)},
                {"busy_per_second", static_cast<double>(late_ms_.size()) /
                                        std::chrono::duration<double>(duration).count()}};
    }

private:
    static constexpr int handlers = 20;
    static constexpr std::chrono::milliseconds duration{1200};

    void work() {
        ++calls_;
        work_for(std::chrono::milliseconds(1));
        asio::post(io_, [this] { work(); });
    }

    void arm(Timer& timer) {
        timer.expires_after(std::chrono::milliseconds(100));
        timer.async_wait([this, &timer](error_code error) {
            if (!error) {
                late_ms_.push_back(milliseconds(steady_clock::now() - timer.expiry()));
                arm(timer);
            }
        });
    }

    asio::io_context io_{1};
    std::deque<Timer> timers_;
    samples late_ms_;
    int calls_ = 0;
};

template <class Timer>
record busy_phase() {
    busy_loop<Timer> loop;
    loop.run();
    return loop.figures();
}

} // namespace echo

#endif
