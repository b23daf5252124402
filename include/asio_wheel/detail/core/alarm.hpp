// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// For which tick the driver is armed.
//
// Each time that it is armed is a turn with a number. The driver calls once for each turn: because
// its time has come, or because the turn was cancelled. The new turn begins before the old one is
// cancelled. So if there is no memory for the new one, the old one is still there.
//
//   from     to       when
//   idle     armed    arm()
//   armed    armed    arm(), for an earlier tick: the turn before was cancelled
//            idle     disarm(); or the driver calls for the last turn: take_call()

#ifndef ASIO_WHEEL_DETAIL_CORE_ALARM_HPP
#define ASIO_WHEEL_DETAIL_CORE_ALARM_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/tick.hpp>

#include <boost/assert.hpp>

#include <cstddef>
#include <cstdint>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class alarm {
public:
    explicit alarm(driver_port& driver) noexcept : driver_(driver) {}

    /// The tick for which the driver is armed, or no_tick.
    [[nodiscard]] tick_t armed_for() const noexcept { return armed_for_; }
    [[nodiscard]] bool armed() const noexcept { return armed_for_ != no_tick; }

    /// When it comes, if the context is not late. By the wheel's time.
    [[nodiscard]] time_count due() const noexcept { return due_; }

    /// For how many turns the driver has not called yet.
    [[nodiscard]] std::size_t to_come() const noexcept { return to_come_; }

    /// Arms the driver for `tick`. It is to come at `time` by the real clock, which shows `now`.
    /// False without memory: then all is as it was.
    [[nodiscard]] bool arm(tick_t tick, time_count time, time_count now, time_count due) noexcept {
        BOOST_ASSERT(tick < armed_for_);
        if (!driver_.arm(turn_ + 1, time, now)) {
            return false;
        }
        disarm();
        ++turn_;
        ++to_come_;
        armed_for_ = tick;
        due_ = due;
        return true;
    }

    void disarm() noexcept {
        if (armed()) {
            driver_.cancel(turn_);
            armed_for_ = no_tick;
        }
    }

    /// The driver calls. True if that is still wanted.
    [[nodiscard]] bool take_call(std::uint64_t turn) noexcept {
        --to_come_;
        if (turn != turn_ || !armed()) {
            return false;
        }
        armed_for_ = no_tick;
        return true;
    }

    void after_fork() { driver_.after_fork(); }

private:
    driver_port& driver_;
    tick_t armed_for_ = no_tick;
    time_count due_ = 0;
    std::uint64_t turn_ = 0;
    std::size_t to_come_ = 0;
};

} // namespace asio_wheel::detail

#endif
