// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The idle deadline of a connection, written for each timer in the form that suits it best.

#ifndef ECHO_IDLE_DEADLINE_HPP
#define ECHO_IDLE_DEADLINE_HPP

#include "../support/coroutine.hpp"
#include "meters.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>

namespace echo {

using namespace demo;

template <class Timer>
concept postponable = requires(Timer timer, steady_clock::duration d) { timer.postpone(d); };

/// For timers like Asio's, which abort the pending wait when the expiry is moved.
///
/// Calling `expires_after` for each line would abort a wait and start another one. Asio's own
/// example `coroutines/timeout.cpp` avoids that, and so does this class: a line only records the
/// new deadline, and a timer that has expired too soon waits again. The price is one needless
/// expiry per connection and idle period.
template <class Timer>
class idle_deadline {
public:
    idle_deadline(const asio::any_io_executor& executor, steady_clock::duration idle, meters& m)
        : timer_(executor), idle_(idle), due_(steady_clock::now() + idle), meters_(m) {}

    void touch() { due_ = steady_clock::now() + idle_; }
    steady_clock::time_point due() const { return due_; }

    /// Returns true at the deadline, and false after `stop`.
    asio::awaitable<bool> passed() {
        while (!stopped_ && steady_clock::now() < due_) {
            timer_.expires_at(due_);
            co_await timer_.async_wait(as_result);
            ++meters_.timer_handlers;
        }
        co_return !stopped_;
    }

    void stop() {
        stopped_ = true; // The wait may have completed with success already.
        timer_.cancel();
    }

private:
    Timer timer_;
    steady_clock::duration idle_;
    steady_clock::time_point due_;
    meters& meters_;
    bool stopped_ = false;
};

/// For asio_wheel's timers: a single wait for the whole connection, which each line postpones.
template <postponable Timer>
class idle_deadline<Timer> {
public:
    idle_deadline(const asio::any_io_executor& executor, steady_clock::duration idle, meters& m)
        : timer_(executor, idle), idle_(idle), meters_(m) {}

    /// If the deadline has passed, touching changes nothing: the connection is being closed.
    void touch() { static_cast<void>(timer_.postpone(idle_)); }
    steady_clock::time_point due() const { return timer_.expiry(); }

    /// Returns true at the deadline, or if a full wheel refuses the wait. Returns false after
    /// `stop`.
    asio::awaitable<bool> passed() {
        auto [error] = co_await timer_.async_wait(as_result);
        ++meters_.timer_handlers;
        co_return error != asio::error::operation_aborted;
    }

    void stop() { timer_.cancel(); }

private:
    Timer timer_;
    steady_clock::duration idle_;
    meters& meters_;
};

} // namespace echo

#endif
