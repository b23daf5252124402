// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Alternatives for comparison: no deadlines at all, and deadlines in a common but slower form.

#ifndef ECHO_OTHER_DEADLINES_HPP
#define ECHO_OTHER_DEADLINES_HPP

#include "../support/coroutine.hpp"
#include "idle_deadline.hpp"
#include "meters.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace echo {

using namespace demo;

/// In place of a timer: idle connections are never closed.
struct no_timer {};

template <>
class idle_deadline<no_timer> {
public:
    idle_deadline(const asio::any_io_executor&, steady_clock::duration, meters&) {}

    void touch() {}
    void stop() {}
};

/// In place of a timer: each line re-arms the timer, which aborts a wait and starts another one.
template <class Timer>
struct per_line {};

template <class Timer>
class idle_deadline<per_line<Timer>> {
public:
    idle_deadline(const asio::any_io_executor& executor, steady_clock::duration idle, meters& m)
        : timer_(executor, idle), idle_(idle), meters_(m) {}

    void touch() { timer_.expires_after(idle_); }
    steady_clock::time_point due() const { return timer_.expiry(); }

    /// Returns true at the deadline, and false after `stop`.
    asio::awaitable<bool> passed() {
        while (!stopped_) {
            auto [error] = co_await timer_.async_wait(as_result);
            ++meters_.timer_handlers;
            // A wait may have completed with success just before its timer was re-armed.
            if (!error && !stopped_ && timer_.expiry() <= steady_clock::now()) {
                co_return true;
            }
        }
        co_return false;
    }

    void stop() {
        stopped_ = true;
        timer_.cancel();
    }

private:
    Timer timer_;
    steady_clock::duration idle_;
    meters& meters_;
    bool stopped_ = false;
};

/// The timer type that such a server uses for other purposes.
template <class Timer>
struct plain_timer {
    using type = Timer;
};
template <>
struct plain_timer<no_timer> {
    using type = asio::steady_timer;
};
template <class Timer>
struct plain_timer<per_line<Timer>> {
    using type = Timer;
};

} // namespace echo

#endif
