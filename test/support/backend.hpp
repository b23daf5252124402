// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What Asio does differently where its context waits for events by other means than epoll or
// kqueue. On Windows it is an I/O completion port; on Linux it may be an io_uring; everywhere it
// may be select(). Tests name the difference that they have to know of.

#ifndef ASIO_WHEEL_TEST_SUPPORT_BACKEND_HPP
#define ASIO_WHEEL_TEST_SUPPORT_BACKEND_HPP

#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>

namespace asio_wheel::test {

#ifdef BOOST_ASIO_HAS_IOCP
inline constexpr bool on_completion_port = true;
#else
inline constexpr bool on_completion_port = false;
#endif

#ifdef BOOST_ASIO_HAS_IO_URING_AS_DEFAULT
inline constexpr bool on_io_uring = true;
#else
inline constexpr bool on_io_uring = false;
#endif

/// select() looks at all sockets at once, and at not more than about a thousand.
#if defined(BOOST_ASIO_HAS_EPOLL) || defined(BOOST_ASIO_HAS_KQUEUE)
inline constexpr bool on_select = false;
#else
inline constexpr bool on_select = !on_completion_port && !on_io_uring;
#endif

/// A thread of Asio, or the kernel, waits for the timers, so poll() need not find one that has just
/// expired. A test that polls has to wait for that, and random tests with very many polls take
/// fewer steps.
inline constexpr bool polls_are_slow = on_completion_port || on_io_uring;

/// With io_uring, Asio has handlers of its own, which run() and poll() count, and run_one() calls.
inline constexpr bool counts_only_handlers = !on_io_uring;

/// stop(), and the end of the last work, queue an event behind what is ready. That is still called,
/// even by the next poll() without restart().
inline constexpr bool stops_behind_what_is_ready = on_completion_port;

/// Each handler goes through the system (by Wine, through another process). Returns `usual`, or
/// fewer where so many handlers would take minutes.
template <class Number>
[[nodiscard]] constexpr Number fewer_on_windows(Number usual) {
    return on_completion_port ? usual / 50 : usual;
}

/// wheel_options::stall for a clock that a test steps. Where polls are slow, a turn takes so long
/// that a wheel may take it for that of a busy context, and give way for seconds.
inline constexpr std::chrono::nanoseconds stall_for_steps =
    polls_are_slow ? std::chrono::nanoseconds::zero() : wheel_options().stall;

/// Runs one handler, after which ran() is true. With io_uring, Asio's own handlers may come before
/// it. Returns what run_one() has returned at last.
template <class Condition>
std::size_t run_one_handler(boost::asio::io_context& ctx, Condition ran) {
    std::size_t count = ctx.run_one();
    while (!counts_only_handlers && count != 0 && !ran()) {
        count = ctx.run_one();
    }
    return count;
}

/// Tells a context the time. Where polls are slow, poll() does not find the handlers of expired
/// timers until then.
///
/// It is a timer that expires now: when its handler is called, those of all earlier timers are in
/// the queue.
class time_signal {
public:
    explicit time_signal(boost::asio::io_context& ctx)
        : ctx_(ctx), timer_(ctx, std::chrono::steady_clock::now()),
          told_(std::make_shared<bool>(false)) {
        timer_.async_wait([told = told_](const boost::system::error_code&) { *told = true; });
    }

    /// Runs the context until it was told. Returns how many other handlers ran.
    std::size_t run() {
        std::size_t ran = 0;
        while (!*told_ && !ctx_.stopped()) {
            ran += ctx_.run_one();
        }
        return ran - (*told_ ? 1 : 0);
    }

private:
    boost::asio::io_context& ctx_;
    boost::asio::steady_timer timer_;
    const std::shared_ptr<bool> told_;
};

/// Runs all ready handlers, and those of timers that have expired. Returns the number that Asio
/// reports.
inline std::size_t poll_with_timers(boost::asio::io_context& ctx) {
    std::size_t sum = ctx.poll();
    if (!polls_are_slow || ctx.stopped()) {
        return sum;
    }
    // What ran may have started other timers, so repeat this until it finds nothing, or several
    // times where Asio's own handlers are always found.
    auto work = boost::asio::make_work_guard(ctx); // So only a handler stops the context.
    int rounds = counts_only_handlers ? std::numeric_limits<int>::max() : 4;
    for (std::size_t found = 1; found != 0 && rounds-- > 0 && !ctx.stopped(); sum += found) {
        found = time_signal(ctx).run();
        found += ctx.poll();
    }
    work.reset();
    return sum + ctx.poll();
}

} // namespace asio_wheel::test

#endif
