// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Ticks, and every rounding between points of time and ticks.
//
// A wheel counts time in ticks. "Never early, at most one tick late" is decided here and nowhere
// else:
//
//     a deadline is rounded UP   to the first tick at or after it   (round_up)
//     the clock  is rounded DOWN to the last tick that has begun    (round_down)
//
// A wait is due when round_down(now) >= round_up(deadline), which implies now >= deadline.
// Nothing here overflows: what lies before the origin is tick 0, what lies beyond the last tick is
// the last tick, and what lies beyond the clock's range is the clock's last point of time.

#ifndef ASIO_WHEEL_TICK_HPP
#define ASIO_WHEEL_TICK_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <cstdint>
#include <limits>

namespace asio_wheel {

/// A point of time, counted in ticks since the wheel's origin.
using tick_t = std::uint64_t;

/// Not a point of time: the expiry of an empty wheel.
inline constexpr tick_t no_tick = (std::numeric_limits<tick_t>::max)();

/// The latest deadline a wheel keeps; later ones are brought down to it.
inline constexpr tick_t last_tick = no_tick - 1;

/// Maps points of time, given as a count of some clock's units, to ticks and back.
class tick_scale {
public:
    /// Tick 0 begins at `origin`; each tick is `length` > 0 units long.
    constexpr tick_scale(std::int64_t origin, std::int64_t length) noexcept
        : origin_(origin), length_(static_cast<std::uint64_t>(length)), most_(most_ticks()) {}

    /// The first tick that begins at or after `time`: the tick at which a deadline is due.
    [[nodiscard]] constexpr tick_t round_up(std::int64_t time) const noexcept {
        const std::uint64_t since = since_origin(time);
        const tick_t whole = since / length_;
        return clamp(whole + (whole * length_ != since ? 1 : 0));
    }

    /// The last tick that begins at or before `time`: the tick the clock shows.
    [[nodiscard]] constexpr tick_t round_down(std::int64_t time) const noexcept {
        return clamp(since_origin(time) / length_);
    }

    /// When `tick` begins, or the largest count if that is beyond it.
    [[nodiscard]] constexpr std::int64_t begin_of(tick_t tick) const noexcept {
        return tick > most_ ? latest
                            : static_cast<std::int64_t>(static_cast<std::uint64_t>(origin_) +
                                                        tick * length_);
    }

    /// Moves the origin back by `units`: the same point of time becomes a later tick. For clocks
    /// that were set back.
    constexpr void shift_origin(std::int64_t units) noexcept {
        origin_ -= units;
        most_ = most_ticks();
    }

private:
    static constexpr std::int64_t latest = (std::numeric_limits<std::int64_t>::max)();

    // How many whole ticks there are from the origin to the latest time.
    [[nodiscard]] constexpr tick_t most_ticks() const noexcept {
        return (static_cast<std::uint64_t>(latest) - static_cast<std::uint64_t>(origin_)) / length_;
    }

    // Unsigned subtraction is exact for every pair with time >= origin, also where the signed one
    // would overflow.
    [[nodiscard]] constexpr std::uint64_t since_origin(std::int64_t time) const noexcept {
        return time <= origin_
                   ? 0
                   : static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(origin_);
    }

    [[nodiscard]] static constexpr tick_t clamp(tick_t tick) noexcept {
        return tick < last_tick ? tick : last_tick;
    }

    std::int64_t origin_;
    std::uint64_t length_;
    tick_t most_;
};

} // namespace asio_wheel

#endif
