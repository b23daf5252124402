// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A fixed rate, and what becomes of its times that were missed.
//
// The times of a rate are first, first + period, first + 2 * period and so on. When a wait for one
// of them ends, the clock may be past several. The rule is applied then, in constant time.

#ifndef ASIO_WHEEL_DETAIL_TIME_FIXED_RATE_HPP
#define ASIO_WHEEL_DETAIL_TIME_FIXED_RATE_HPP

#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/missed.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace asio_wheel::detail {

/// What remains when `d`, which is not negative, is divided by `period`.
template <class Duration>
[[nodiscard]] Duration remainder_of(Duration d, Duration period) noexcept {
    if constexpr (std::chrono::treat_as_floating_point_v<typename Duration::rep>) {
        return Duration(std::fmod(d.count(), period.count()));
    } else {
        return d % period;
    }
}

/// How many periods there are between two times of a rate, `b` not before `a`.
template <class TimePoint>
[[nodiscard]] std::uint64_t periods_between(const TimePoint& a, const TimePoint& b,
                                            typename TimePoint::duration period) noexcept {
    const auto n = until_or_zero(a, b) / period;
    if constexpr (std::is_floating_point_v<decltype(n)>) {
        return saturating<std::uint64_t>(std::round(n));
    } else {
        return static_cast<std::uint64_t>(n);
    }
}

template <class Clock>
class fixed_rate {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    fixed_rate(const duration& period, missed rule) noexcept : period_(period), rule_(rule) {}

    /// The time after `previous`. (With the arguments of a function that says when a task is called
    /// next.)
    [[nodiscard]] std::optional<time_point> operator()(const time_point& previous,
                                                       const time_point&) const noexcept {
        return add_saturating(previous, period_);
    }

    /// The wait for the time `expiry` has ended. Returns whether there is a call, or a tick, now.
    /// Changes `expiry` to the time that it counts for; or, if there is none, to the time of the
    /// next one. clock() returns the time.
    template <class Now>
    [[nodiscard]] bool begin_call(time_point& expiry, const Now& clock) const noexcept {
        if (rule_ == missed::catch_up) {
            return true;
        }
        const time_point now = clock();
        const duration late = until_or_zero(expiry, now);
        if (late < period_) {
            return true;
        }
        // (If the difference is out of the clock's range, the times of the rate change. It is then
        // a rate that began centuries ago.)
        expiry = now - remainder_of(late, period_);
        if (rule_ == missed::coalesce) {
            return true;
        }
        expiry = add_saturating(expiry, period_);
        return false;
    }

private:
    duration period_;
    missed rule_;
};

} // namespace asio_wheel::detail

#endif
