// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Many sessions that end at the same moment: how long that takes, and how it delays other work.

#ifndef SESSIONS_MASS_EXPIRY_HPP
#define SESSIONS_MASS_EXPIRY_HPP

#include "../support/loop_lag.hpp"
#include "protocol.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>

namespace sessions {

class mass_expiry {
public:
    explicit mass_expiry(asio::io_context& io) : loop_lag_(io) {}

    void expect_one() { ++left_; }

    void all_expected() {
        if (left_ != 0) {
            loop_lag_.start();
        }
    }

    /// Records that a session has ended, `late` after the moment.
    void ended(steady_clock::duration late) {
        if (--left_ == 0) {
            took_ = late;
            loop_lag_.stop();
        }
    }

    [[nodiscard]] const loop_lag& paused() const { return loop_lag_; }
    /// Returns the time from the moment when the sessions should end until the last one had ended.
    [[nodiscard]] double took_ms() const { return milliseconds(took_); }

private:
    loop_lag loop_lag_;
    std::uint64_t left_ = 0;
    steady_clock::duration took_{};
};

} // namespace sessions

#endif
