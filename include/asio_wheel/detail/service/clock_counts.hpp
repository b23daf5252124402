// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the times of a clock become the numbers of the core, and back.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_CLOCK_COUNTS_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_CLOCK_COUNTS_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/time/steady.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <ratio>
#include <type_traits>

namespace asio_wheel::detail {

template <class Clock>
struct clock_counts {
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using rep = typename duration::rep;

    /// Whether a clock counts in whole numbers that the core can have, too. Any other clock is
    /// counted in nanoseconds: one that counts in fractions, or in 128 bits.
    static constexpr bool is_whole = std::is_integral_v<rep> &&
                                     !std::chrono::treat_as_floating_point_v<rep> &&
                                     std::numeric_limits<rep>::digits <= 64;

    /// Whether a time comes back from its number as it was.
    static constexpr bool is_exact =
        is_whole && (std::numeric_limits<rep>::is_signed || std::numeric_limits<rep>::digits < 64);

    using unit = std::conditional_t<is_whole, duration, std::chrono::nanoseconds>;

    /// The number of an expiry: it is not earlier. What is beyond the range of numbers becomes its
    /// end. The end of the clock's range never comes.
    [[nodiscard]] static constexpr time_count up(time_point t) noexcept {
        if (t >= (time_point::max)()) {
            return never;
        }
        if constexpr (is_whole) {
            return saturating<time_count>(t.time_since_epoch().count());
        } else {
            return saturating<time_count>(std::ceil(nanos_of(t)));
        }
    }

    /// The number of a reading: it is not later.
    [[nodiscard]] static constexpr time_count down(time_point t) noexcept {
        if constexpr (is_whole) {
            return saturating<time_count>(t.time_since_epoch().count());
        } else {
            return saturating<time_count>(std::floor(nanos_of(t)));
        }
    }

    /// The same; but the end of the clock's range is that of the numbers.
    [[nodiscard]] static constexpr time_count reading(time_point t) noexcept {
        return t >= (time_point::max)() ? never : down(t);
    }

    [[nodiscard]] static constexpr time_point at(time_count count) noexcept {
        if (count >= down((time_point::max)())) {
            return (time_point::max)();
        }
        if constexpr (is_whole) {
            return time_point(duration(saturating<rep>(count)));
        } else {
            return time_point(
                std::chrono::duration_cast<duration>(std::chrono::nanoseconds(count)));
        }
    }

    /// What now() is, by a wheel's time, when the clock shows `real`.
    [[nodiscard]] static time_point corrected(const wheel_time& time, time_point real) {
        return time.is_real() ? real : at(time.corrected(reading(real)));
    }

    /// How long a tick is for which `wanted` was asked, in units: not longer, unless it is one
    /// unit.
    [[nodiscard]] static constexpr time_count tick_for(std::chrono::nanoseconds wanted) noexcept {
        return (
            std::max<time_count>)(saturating<time_count>(floor_saturating<unit>(wanted).count()),
                                  1);
    }

    [[nodiscard]] static clock_port port(std::chrono::nanoseconds tick) noexcept {
        using period = typename unit::period;
        return {.now = [] { return reading(Clock::now()); },
                .nanos_of_a_unit = static_cast<long double>(period::num) * std::nano::den /
                                   static_cast<long double>(period::den),
                .tick = tick_for(tick),
                .is_steady = steady_clock<Clock>};
    }

private:
    [[nodiscard]] static constexpr long double nanos_of(time_point t) noexcept {
        return std::chrono::duration<long double, std::nano>(t.time_since_epoch()).count();
    }
};

} // namespace asio_wheel::detail

#endif
