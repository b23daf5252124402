// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The timers of a session, as a careful user of each library writes them.

#ifndef SESSIONS_TIMERS_HPP
#define SESSIONS_TIMERS_HPP

#include "protocol.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/wait_traits.hpp>

#include <type_traits>

namespace sessions {

using traits = asio::wait_traits<steady_clock>;
using executor = asio::io_context::executor_type; // known, so that timers are small
using wheel_timer = asio_wheel::basic_waitable_timer<steady_clock, traits, executor>;
using asio_timer = asio::basic_waitable_timer<steady_clock, traits, executor>;

/// A type for no timeouts at all: what everything else costs.
struct no_timer {};

/// In the place of a timer: idle timeouts are moved by postpone(), not only noted.
struct postponed {};

/// The timer of a request.
template <class Timer>
using plain_timer = std::conditional_t<std::is_same_v<Timer, postponed>, wheel_timer, Timer>;

/// When a session ends that hears nothing: wait(done) calls `done(due)` then.
///
/// A datagram only notes the new end, which costs a store. A timer that has expired too soon waits
/// again: once in each idle time for each session. This is the same code for both libraries.
template <class Timer>
class idle_timeout {
public:
    idle_timeout(const executor& ex, steady_clock::time_point due) : due_(due), timer_(ex, due) {}

    void touch(steady_clock::time_point due) { due_ = due; }

    template <class Done>
    void wait(Done done) {
        timer_.async_wait([this, done](error_code ec) {
            if (ec == asio::error::operation_aborted) {
                return; // moved to an earlier time, or the end of the server
            }
            // With another error a wheel at its limit has refused to wait, and the session ends.
            if (!ec && steady_clock::now() < due_) {
                timer_.expires_at(due_);
                wait(done);
            } else {
                done(due_);
            }
        });
    }

    /// Ends sooner than it would.
    template <class Done>
    void end_at(steady_clock::time_point due, Done done) {
        due_ = due;
        timer_.expires_at(due);
        wait(done);
    }

private:
    steady_clock::time_point due_;
    Timer timer_;
};

/// One wait for the whole life of the session, and each datagram moves it.
template <>
class idle_timeout<postponed> {
public:
    idle_timeout(const executor& ex, steady_clock::time_point due) : timer_(ex, due) {}

    void touch(steady_clock::time_point due) { timer_.postpone_until(due); }

    template <class Done>
    void wait(Done done) {
        timer_.async_wait([this, done](error_code ec) {
            if (ec != asio::error::operation_aborted) {
                done(timer_.expiry());
            }
        });
    }

    template <class Done>
    void end_at(steady_clock::time_point due, Done) {
        timer_.postpone_until(due);
    }

private:
    wheel_timer timer_;
};

template <>
class idle_timeout<no_timer> {
public:
    idle_timeout(const executor&, steady_clock::time_point) {}

    void touch(steady_clock::time_point) {}
    template <class Done>
    void wait(Done) {}
    template <class Done>
    void end_at(steady_clock::time_point, Done) {}
};

} // namespace sessions

#endif
