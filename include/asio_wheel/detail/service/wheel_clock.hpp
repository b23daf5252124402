// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CLOCK_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WHEEL_CLOCK_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/time/steady.hpp>
#include <asio_wheel/tick.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace asio_wheel::detail {

/// The time of a wheel, and its ticks: the time of a clock, or one that is moved by hand.
///
/// Any thread may call now(). Everything else is guarded by the wheel's lock.
template <class Clock>
class wheel_clock {
public:
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;

    explicit wheel_clock(std::chrono::nanoseconds tick)
        : length_(units_of(tick)), scale_(count_of(Clock::now()), length_) {}

    /// How long a tick is for which `wanted` was asked: not longer, unless it is one unit of the
    /// clock.
    [[nodiscard]] static constexpr std::chrono::nanoseconds
    tick_for(std::chrono::nanoseconds wanted) noexcept {
        return to_nanoseconds(unit(static_cast<typename unit::rep>(units_of(wanted))));
    }

    [[nodiscard]] time_point now() const { return corrected(Clock::now()); }

    /// What now() is when Clock::now() is `real`.
    [[nodiscard]] time_point corrected(time_point real) const {
        switch (mode_.load(
            std::memory_order_acquire)) { // Pairs with the stores in pause() and resume().
        case mode::real:
            break;
        case mode::frozen:
            return at(frozen_at_.load(std::memory_order_relaxed));
        case mode::shifted:
            return moved(real, units(shift_.load(std::memory_order_relaxed)));
        }
        return real;
    }

    [[nodiscard]] tick_t round_up(time_point t) const noexcept {
        return scale_.round_up(count_of(t));
    }
    [[nodiscard]] tick_t round_down(time_point t) const noexcept {
        return scale_.round_down(count_of(t));
    }

    /// When `tick` begins, by the real clock: for this time the driver is armed.
    [[nodiscard]] time_point real_begin_of(tick_t tick) const noexcept {
        const time_point begin = at(scale_.begin_of(tick));
        return begin == (time_point::max)()
                   ? begin
                   : moved(begin, -units(shift_.load(std::memory_order_relaxed)));
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

    [[nodiscard]] bool paused() const noexcept {
        return mode_.load(std::memory_order_relaxed) == mode::frozen;
    }

    /// From now on time stands at `t`.
    void pause(time_point t) noexcept {
        frozen_at_.store(count_of(t), std::memory_order_relaxed);
        mode_.store(mode::frozen, std::memory_order_release);
    }

    /// Tick 0 begins now, where time stands. Nothing must be filed.
    void begin_ticks() noexcept {
        scale_ = tick_scale(frozen_at_.load(std::memory_order_relaxed), length_);
    }

    /// Goes on from where time stands, so that no deadline jumps.
    void resume() {
        const counted_time frozen_at(units(frozen_at_.load(std::memory_order_relaxed)));
        const counted_time real(units(count_of(Clock::now())));
        shift_.store(until_saturating(real, frozen_at).count(), std::memory_order_relaxed);
        mode_.store(mode::shifted, std::memory_order_release);
    }

    /// Sets paused time forward to `t`; it never goes back.
    void set(time_point t) noexcept {
        const std::int64_t current = frozen_at_.load(std::memory_order_relaxed);
        std::int64_t count = count_of(t);
        while (at(count) < t) { // A fraction was cut off.
            ++count;
        }
        frozen_at_.store((std::max)(current, count), std::memory_order_relaxed);
    }

private:
    enum class mode { real, frozen, shifted };

    // A clock that counts in fractions is counted in nanoseconds.
    using unit = std::conditional_t<std::chrono::treat_as_floating_point_v<typename duration::rep>,
                                    std::chrono::nanoseconds, duration>;

    // The same unit, in the range of what the wheel counts. A clock's own durations may have no
    // negative values.
    using units = std::chrono::duration<std::int64_t, typename unit::period>;
    using counted_time = std::chrono::time_point<Clock, units>;

    // `t + d`.
    [[nodiscard]] static constexpr time_point moved(time_point t, units d) noexcept {
        if constexpr (std::is_same_v<unit, duration>) {
            const counted_time counted(units(count_of(t)));
            return at(add_saturating(counted, d).time_since_epoch().count());
        } else {
            return add_saturating(t, d);
        }
    }

    // What a clock counts and what the wheel counts need not have the same range. What is beyond
    // the other's becomes its end.
    [[nodiscard]] static constexpr std::int64_t count_of(time_point t) noexcept {
        if constexpr (std::is_same_v<unit, duration>) {
            return saturating<std::int64_t>(t.time_since_epoch().count());
        } else {
            return saturating<std::int64_t>(
                std::chrono::duration<long double, std::nano>(t.time_since_epoch()).count());
        }
    }

    [[nodiscard]] static constexpr duration span(std::int64_t count) noexcept {
        if constexpr (std::is_same_v<unit, duration>) {
            return duration(saturating<typename duration::rep>(count));
        } else {
            return std::chrono::duration_cast<duration>(unit(count));
        }
    }

    [[nodiscard]] static constexpr time_point at(std::int64_t count) noexcept {
        return count >= count_of((time_point::max)()) ? (time_point::max)()
                                                      : time_point(span(count));
    }

    // A tick is a whole number of the clock's units.
    [[nodiscard]] static constexpr std::int64_t units_of(std::chrono::nanoseconds tick) noexcept {
        return (
            std::max<std::int64_t>)(saturating<std::int64_t>(floor_saturating<unit>(tick).count()),
                                    1);
    }

    std::int64_t length_;
    tick_scale scale_;
    atomic<mode> mode_{mode::real}; // Litmus test: paused_clock.
    atomic<std::int64_t> frozen_at_{0};
    atomic<std::int64_t> shift_{0};
};

} // namespace asio_wheel::detail

#endif
