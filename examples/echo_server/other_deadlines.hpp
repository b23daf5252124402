// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the server is compared with, beside itself on another timer: no deadlines at all, and
// deadlines as they are often written.

#ifndef ECHO_OTHER_DEADLINES_HPP
#define ECHO_OTHER_DEADLINES_HPP

#include "../support/coroutine.hpp"
#include "idle_deadline.hpp"
#include "meters.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace echo {

using namespace demo;

/// In the place of a timer: nobody is closed for idleness.
struct no_timer {};

template <>
class idle_deadline<no_timer> {
public:
    idle_deadline(const asio::any_io_executor&, steady_clock::duration, meters&) {}

    void touch() {}
    void stop() {}
};

/// In the place of a timer: each line sets the timer anew, which aborts a wait and starts another.
template <class Timer>
struct per_line {};

template <class Timer>
class idle_deadline<per_line<Timer>> {
public:
    idle_deadline(const asio::any_io_executor& executor, steady_clock::duration idle, meters& m)
        : timer_(executor, idle), idle_(idle), meters_(m) {}

    void touch() { timer_.expires_after(idle_); }
    steady_clock::time_point due() const { return timer_.expiry(); }

    /// True at the deadline, false after `stop`.
    asio::awaitable<bool> passed() {
        while (!stopped_) {
            auto [error] = co_await timer_.async_wait(as_result);
            ++meters_.timer_handlers;
            // A wait may have completed with success just before its timer was set anew.
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

/// The timer that a server so configured uses for other things.
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
