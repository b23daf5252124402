// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Many sessions that end at one moment: how long that takes, and how it delays others.

#ifndef SESSIONS_AT_ONCE_HPP
#define SESSIONS_AT_ONCE_HPP

#include "protocol.hpp"
#include "pulse.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>

namespace sessions {

class at_once {
public:
    explicit at_once(asio::io_context& io) : pulse_(io) {}

    void expect_one() { ++left_; }

    void all_expected() {
        if (left_ != 0) {
            pulse_.start();
        }
    }

    /// One has ended, so late.
    void ended(steady_clock::duration late) {
        if (--left_ == 0) {
            took_ = late;
            pulse_.stop();
        }
    }

    [[nodiscard]] const pulse& paused() const { return pulse_; }
    /// From the moment when the sessions were to end until the last of them had.
    [[nodiscard]] double took_ms() const { return milliseconds(took_); }

private:
    pulse pulse_;
    std::uint64_t left_ = 0;
    steady_clock::duration took_{};
};

} // namespace sessions

#endif
