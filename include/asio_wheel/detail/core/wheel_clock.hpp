// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_WHEEL_CLOCK_HPP
#define ASIO_WHEEL_DETAIL_CORE_WHEEL_CLOCK_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/tick.hpp>

#include <chrono>

namespace asio_wheel::detail {

/// The time of a wheel, and its ticks.
///
/// Any thread may call now() and real(), and begin_of() if the clock is steady. Everything else is
/// guarded by the wheel's lock.
class wheel_clock {
public:
    wheel_clock(wheel_time& time, const clock_port& port)
        : time_(time), port_(port), scale_(port.now(), port.tick) {}

    [[nodiscard]] const clock_port& unit() const noexcept { return port_; }

    [[nodiscard]] time_count real() const { return port_.now(); }
    [[nodiscard]] time_count now() const { return corrected(real()); }
    [[nodiscard]] time_count corrected(time_count real) const noexcept {
        return time_.corrected(real);
    }

    [[nodiscard]] tick_t round_up(time_count t) const noexcept { return scale_.round_up(t); }
    [[nodiscard]] tick_t round_down(time_count t) const noexcept { return scale_.round_down(t); }

    /// When `tick` begins, by now().
    [[nodiscard]] time_count begin_of(tick_t tick) const noexcept { return scale_.begin_of(tick); }

    /// The same by the real clock: for this time the driver is armed.
    [[nodiscard]] time_count real_begin_of(tick_t tick) const noexcept {
        const time_count begin = begin_of(tick);
        return begin == never ? never : sum_saturating(begin, -time_.shift());
    }

    /// The earliest time that is rounded up to `tick`, which is not the first one.
    [[nodiscard]] time_count first_in(tick_t tick) const noexcept {
        return sum_saturating(begin_of(tick - 1), 1);
    }

    /// If `now` is before tick `passed`, because the clock was set back, makes that tick begin now.
    /// Then ticks that were computed before mean an earlier time than they did. Returns whether the
    /// clock was set back.
    [[nodiscard]] bool follow_set_back(time_count now, tick_t passed) noexcept {
        const bool set_back = !port_.is_steady && now < begin_of(passed);
        if (set_back) {
            scale_.shift_origin(begin_of(passed) - now);
        }
        return set_back;
    }

    [[nodiscard]] bool paused() const noexcept { return time_.paused(); }

    void pause(time_count t) noexcept { time_.pause(t); }
    void resume() { time_.resume(real()); }
    void set(time_count t) noexcept { time_.set(t); }

    /// Tick 0 begins now, where time stands. Nothing must be filed.
    void begin_ticks() noexcept { scale_ = tick_scale(time_.frozen_at(), port_.tick); }

private:
    wheel_time& time_;
    const clock_port port_;
    tick_scale scale_;
};

} // namespace asio_wheel::detail

#endif
