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
#include <cstdint>
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

    /// The last time whose up() is not more than `count`: what is due at `count` is due then, and
    /// nothing else.
    [[nodiscard]] static constexpr time_point at(time_count count) noexcept {
        if (count >= down((time_point::max)())) {
            return (time_point::max)();
        }
        if constexpr (is_whole) {
            return time_point(duration(saturating<rep>(count)));
        } else if constexpr (std::is_floating_point_v<rep>) {
            return last_of(count);
        } else {
            return time_point(floor_saturating<duration>(std::chrono::nanoseconds(count)));
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
        clock_port result{.now = [] { return reading(Clock::now()); },
                          .tick = tick_for(tick),
                          .is_steady = steady_clock<Clock>};
        if constexpr (!std::is_same_v<typename units::period, std::nano>) {
            result.to_nanoseconds = [](time_count n) { return to_nanoseconds(units(n)); };
            result.to_units = [](std::chrono::nanoseconds d) {
                return floor_saturating<units>(d).count();
            };
            result.to_seconds = [](time_count n) {
                return std::int64_t{floor_saturating<std::chrono::seconds>(units(n)).count()};
            };
        }
        return result;
    }

private:
    // The unit, in the range of what the core counts.
    using units = std::chrono::duration<time_count, typename unit::period>;

    // For a clock that counts in fractions. The division is off by some of its steps at most.
    [[nodiscard]] static time_point last_of(time_count count) noexcept {
        const auto time = [](rep n) { return time_point(duration(n)); };
        const auto next = [](rep n, rep towards) { return std::nextafter(n, towards); };
        constexpr rep end = (std::numeric_limits<rep>::max)();
        auto n = static_cast<rep>(
            std::chrono::duration<long double, typename duration::period>(
                std::chrono::duration<long double, std::nano>(static_cast<long double>(count)))
                .count());
        while (up(time(n)) > count) {
            n = next(n, -end);
        }
        while (up(time(next(n, end))) <= count) {
            n = next(n, end);
        }
        return time(n);
    }

    [[nodiscard]] static constexpr long double nanos_of(time_point t) noexcept {
        return std::chrono::duration<long double, std::nano>(t.time_since_epoch()).count();
    }
};

} // namespace asio_wheel::detail

#endif
