// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A clock that the test sets. In contrast to paused time, the wheel and the driver use the clock
// itself: time passes while the context is not running, and the driver notices that.
//
//     using clock = manual_clock<struct this_test>;
//     using timer = asio_wheel::basic_waitable_timer<clock, impatient<clock>>;
//     timer t(ctx, 1h);
//     t.async_wait(handler);
//     clock::advance(1h);
//     look(ctx); // calls handler

#ifndef ASIO_WHEEL_TEST_SUPPORT_MANUAL_CLOCK_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MANUAL_CLOCK_HPP

#include "support/backend.hpp"

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_wheel::test {

/// Each `Tag` makes a separate clock.
template <class Tag, class Duration = std::chrono::nanoseconds, bool Steady = true>
struct manual_clock {
    using duration = Duration;
    using rep = typename duration::rep;
    using period = typename duration::period;
    using time_point = std::chrono::time_point<manual_clock>;
    static constexpr bool is_steady = Steady;

    static time_point now() noexcept {
        reads.fetch_add(1, std::memory_order_relaxed);
        return time_point(duration(current.load(std::memory_order_relaxed)));
    }
    static void set(time_point t) noexcept { current = t.time_since_epoch().count(); }
    static void advance(duration d) noexcept { set(now() + d); }

    static inline std::atomic<rep> current{0};
    static inline std::atomic<std::size_t> reads{0}; ///< The number of calls of now().
};

/// Makes the driver read the clock on each turn of the context, because nothing else reports that
/// it was set. Where polls are slow, a poll() ends only when no timer of Asio has expired since its
/// last look, so it might never end. There the clock is read when any timer of Asio expires, as in
/// look(), and seldom by itself.
template <class Clock>
struct impatient {
    static constexpr typename Clock::duration often = std::chrono::ceil<typename Clock::duration>(
        std::chrono::milliseconds(polls_are_slow ? 20 : 0));

    static typename Clock::duration to_wait_duration(const typename Clock::duration&) {
        return often;
    }
    static typename Clock::duration to_wait_duration(const typename Clock::time_point&) {
        return often;
    }
};

/// Runs what is due: one turn for the driver to notice the time, and the turns that follow from it.
/// Returns how many handlers ran, as Asio counts them.
inline std::size_t look(boost::asio::io_context& ctx) {
    std::size_t ran = 0;
    for (int i = 0; i < 4; ++i) {
        ctx.restart();
        ran += poll_with_timers(ctx);
    }
    return ran;
}

} // namespace asio_wheel::test

#endif
