// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What becomes of the calls that a task with a fixed rate has missed.
//
// The times of a rate are first, first + period, first + 2 * period and so on. When a wait of the
// task ends, the wheel's clock may be past several of them: the process was suspended, or a call
// took long. The rule is applied then, under the task's mutex, in constant time.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_MISSED_CALL_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_MISSED_CALL_HPP

#include <asio_wheel/detail/time/saturating.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

namespace asio_wheel {

/// What a task with a fixed rate does about calls that it has missed.
enum class missed_call : std::uint8_t {
    coalesce, ///< One call for all times that have passed. It counts as the call of the last one.
    catch_up, ///< All of them, one after the other.
    skip      ///< None: a call that is late by a period or more is not made.
};

namespace detail {

/// What remains when `d`, which is not negative, is divided by `period`.
template <class Duration>
[[nodiscard]] Duration remainder_of(Duration d, Duration period) noexcept {
    if constexpr (std::chrono::treat_as_floating_point_v<typename Duration::rep>) {
        return Duration(std::fmod(d.count(), period.count()));
    } else {
        return d % period;
    }
}

/// When a task with a fixed rate is called: the last argument of function_task.
template <class Clock>
class fixed_rate {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    fixed_rate(const duration& period, missed_call rule) noexcept : period_(period), rule_(rule) {}

    /// The time after `previous`.
    [[nodiscard]] std::optional<time_point> operator()(const time_point& previous,
                                                       const time_point&) const noexcept {
        return add_saturating(previous, period_);
    }

    /// A call that was scheduled for `expiry` is about to begin. Returns whether it is made.
    /// Changes `expiry` to the time that the call counts for; or, if it is not made, to the time of
    /// the next one. clock() returns the time.
    template <class Now>
    [[nodiscard]] bool begin_call(time_point& expiry, const Now& clock) const noexcept {
        if (rule_ == missed_call::catch_up) {
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
        if (rule_ == missed_call::coalesce) {
            return true;
        }
        expiry = add_saturating(expiry, period_);
        return false;
    }

private:
    duration period_;
    missed_call rule_;
};

} // namespace detail

} // namespace asio_wheel

#endif
