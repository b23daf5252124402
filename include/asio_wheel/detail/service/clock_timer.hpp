// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_CLOCK_TIMER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_CLOCK_TIMER_HPP

#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>

namespace asio_wheel::detail {

/// A timer of the core, with an expiry of a clock. That is the number that the core has.
template <class Clock, bool = clock_counts<Clock>::is_exact>
class clock_timer : public timer_state {
public:
    using time_point = typename Clock::time_point;

    /// The expiry as it was set.
    [[nodiscard]] time_point get() const noexcept { return clock_counts<Clock>::at(expiry.get()); }

    /// Without waits, and not filed.
    void set(time_point t) noexcept { expiry.set(clock_counts<Clock>::up(t)); }

    /// Returns what the core shall set.
    [[nodiscard]] static time_count keep(time_point t) noexcept {
        return clock_counts<Clock>::up(t);
    }
};

/// For a clock whose times do not come back from their numbers. The owner's alone.
template <class Clock>
class clock_timer<Clock, false> : public timer_state {
public:
    using time_point = typename Clock::time_point;

    [[nodiscard]] time_point get() const noexcept { return expiry_; }
    void set(time_point t) noexcept { expiry.set(keep(t)); }
    [[nodiscard]] time_count keep(time_point t) noexcept {
        expiry_ = t;
        return clock_counts<Clock>::up(t);
    }

private:
    time_point expiry_{};
};

} // namespace asio_wheel::detail

#endif
