// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The clock by itself, for src/boottime_clock.cpp, which knows no Asio. Programs include
// boottime_clock.hpp.

#ifndef ASIO_WHEEL_DETAIL_TIME_BOOTTIME_CLOCK_HPP
#define ASIO_WHEEL_DETAIL_TIME_BOOTTIME_CLOCK_HPP

#include <chrono>

namespace asio_wheel {

/// The time since the machine was started. It also passes while the machine is suspended, and is
/// never set. (On Linux and macOS, std::chrono::steady_clock stands still during a suspend.)
///
/// It is CLOCK_BOOTTIME on Linux, mach_continuous_time() on macOS, and QueryInterruptTime() on
/// Windows, or GetTickCount64(), in steps of about 15 ms, where there is none. Elsewhere it is the
/// steady clock, and includes_suspend is false.
///
/// A TrivialClock: now() may be called from any thread, and does not throw.
class boottime_clock {
public:
    using duration = std::chrono::nanoseconds; ///< The unit of the clock.
    using rep = duration::rep;                 ///< The arithmetic type of `duration`.
    using period = duration::period;           ///< The unit in seconds.
    using time_point = std::chrono::time_point<boottime_clock>; ///< A time of this clock only.

    /// It is never set.
    static constexpr bool is_steady = true;

    /// Whether the clock continues while the machine is suspended.
    static constexpr bool includes_suspend =
#if defined(__linux__) || defined(__APPLE__) || defined(_WIN32)
        true;
#else
        false;
#endif

    /// The time since the machine was started.
    [[nodiscard]] static time_point now() noexcept;
};

} // namespace asio_wheel

#endif
