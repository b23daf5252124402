// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The idle timeout of a session, written as efficiently as each library allows.

#ifndef SESSIONS_IDLE_TIMEOUT_HPP
#define SESSIONS_IDLE_TIMEOUT_HPP

#include "protocol.hpp"
#include "timers.hpp"

#include <boost/asio/error.hpp>

namespace sessions {

/// The deadline of an idle session: wait(done) calls `done(due)` when it has passed.
///
/// A datagram only records the new deadline, which costs a store. A timer that has expired too soon
/// waits again, once per idle time and session. The code is the same for both libraries.
template <class Timer>
class idle_timeout {
public:
    idle_timeout(const executor& ex, steady_clock::time_point due) : due_(due), timer_(ex, due) {}

    void touch(steady_clock::time_point due) { due_ = due; }

    template <class Done>
    void wait(Done done) {
        timer_.async_wait([this, done](error_code ec) {
            if (ec == asio::error::operation_aborted) {
                return; // Moved to an earlier time, or the server ends.
            }
            // With any other error, a full wheel has refused the wait, and the session ends.
            if (!ec && steady_clock::now() < due_) {
                timer_.expires_at(due_);
                wait(done);
            } else {
                done(due_);
            }
        });
    }

    /// Moves the deadline to an earlier time.
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

/// A single wait for the whole session, which each datagram postpones.
template <>
class idle_timeout<postponed> {
public:
    idle_timeout(const executor& ex, steady_clock::time_point due) : timer_(ex, due) {}

    /// If the time has passed, touching changes nothing: the session is being removed.
    void touch(steady_clock::time_point due) { static_cast<void>(timer_.postpone_until(due)); }

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
        touch(due);
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
