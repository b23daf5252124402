// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_WHEEL_CLOCK_HPP
#define ASIO_WHEEL_DETAIL_CORE_WHEEL_CLOCK_HPP

#include <asio_wheel/detail/core/wheel_time.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/tick.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace asio_wheel::detail {

/// The time of a wheel, and its ticks.
///
/// Any thread may call now(). Everything else is guarded by the wheel's lock.
template <class Clock>
class wheel_clock : clock_counts<Clock> {
    using counts = clock_counts<Clock>;
    using counts::at, counts::count_of, counts::moved;
    using typename counts::unit, typename counts::units;

public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;

    wheel_clock(wheel_time<Clock>& time, std::chrono::nanoseconds tick)
        : time_(time), length_(units_of(tick)), scale_(count_of(Clock::now()), length_) {}

    /// How long a tick is for which `wanted` was asked: not longer, unless it is one unit of the
    /// clock.
    [[nodiscard]] static constexpr std::chrono::nanoseconds
    tick_for(std::chrono::nanoseconds wanted) noexcept {
        return to_nanoseconds(unit(static_cast<typename unit::rep>(units_of(wanted))));
    }

    [[nodiscard]] time_point now() const { return time_.now(); }
    [[nodiscard]] time_point corrected(time_point real) const { return time_.corrected(real); }

    [[nodiscard]] tick_t round_up(time_point t) const noexcept {
        return scale_.round_up(count_of(t));
    }
    [[nodiscard]] tick_t round_down(time_point t) const noexcept {
        return scale_.round_down(count_of(t));
    }

    /// When `tick` begins, by the real clock: for this time the driver is armed.
    [[nodiscard]] time_point real_begin_of(tick_t tick) const noexcept {
        const time_point begin = at(scale_.begin_of(tick));
        return begin == (time_point::max)() ? begin : moved(begin, -units(time_.shift()));
    }

    /// When `tick` begins, by now().
    [[nodiscard]] time_point begin_of(tick_t tick) const noexcept {
        return at(scale_.begin_of(tick));
    }

    /// The earliest time that is rounded up to `tick`, which is not the first one. (A time in
    /// fractions may count one less than the nanoseconds that it was made of.)
    [[nodiscard]] time_point first_in(tick_t tick) const noexcept {
        const std::int64_t before = scale_.begin_of(tick - 1);
        std::int64_t count = before + 1;
        while (count_of(at(count)) <= before) {
            ++count;
        }
        return at(count);
    }

    /// If `now` is before tick `passed`, because the clock was set back, makes that tick begin now.
    /// Then ticks that were computed before mean an earlier time than they did. Returns whether the
    /// clock was set back.
    [[nodiscard]] bool follow_set_back(time_point now, tick_t passed) noexcept {
        if constexpr (!steady_clock<Clock>) {
            const std::int64_t begin = scale_.begin_of(passed);
            if (count_of(now) < begin) {
                scale_.shift_origin(begin - count_of(now));
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool paused() const noexcept { return time_.paused(); }

    void pause(time_point t) noexcept { time_.pause(t); }
    void resume() { time_.resume(); }
    void set(time_point t) noexcept { time_.set(t); }

    /// Tick 0 begins now, where time stands. Nothing must be filed.
    void begin_ticks() noexcept { scale_ = tick_scale(time_.frozen_at(), length_); }

private:
    // A tick is a whole number of the clock's units.
    [[nodiscard]] static constexpr std::int64_t units_of(std::chrono::nanoseconds tick) noexcept {
        return (
            std::max<std::int64_t>)(saturating<std::int64_t>(floor_saturating<unit>(tick).count()),
                                    1);
    }

    wheel_time<Clock>& time_;
    std::int64_t length_;
    tick_scale scale_;
};

} // namespace asio_wheel::detail

#endif
