// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_DRIVER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_DRIVER_HPP

#include <asio_wheel/detail/service/driver_timer.hpp>
#include <asio_wheel/tick.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace asio_wheel::detail {

/// The one Asio timer behind a wheel. Two objects take turns: the new wait starts before the old
/// one is cancelled. So if that fails, the old one is still there.
///
/// Its handlers run on the context itself, whatever executors the wheel's timers have. Guarded by
/// the wheel's lock.
template <class Clock, class WaitTraits>
class driver {
public:
    using time_point = typename Clock::time_point;
    using timer = typename driver_timer<Clock, WaitTraits>::type;

    explicit driver(boost::asio::execution_context& context)
        : timers_{timer(context_executor(context)), timer(context_executor(context))} {}

    /// The tick for which the driver is armed, or no_tick.
    [[nodiscard]] tick_t armed_for() const noexcept { return armed_for_; }
    [[nodiscard]] bool armed() const noexcept { return armed_for_ != no_tick; }

    /// Arms the driver for `time`, instead of for what it was armed before. Then it calls
    /// wake_up(turn), and fired(turn) says whether that is still wanted. If this throws, it has no
    /// effect.
    template <class WakeUp>
    void arm(tick_t tick, time_point time, WakeUp wake_up) {
        timer& next = timer_of(turn_ + 1);
        next.expires_at(time);
        next.async_wait([wake_up, turn = turn_ + 1](const boost::system::error_code&) mutable {
            wake_up(turn);
        });
        disarm();
        armed_for_ = tick;
        ++turn_;
    }

    /// Disarms the driver. Its handler still runs, soon, as aborted.
    void disarm() noexcept {
        if (armed()) {
            timer_of(turn_).cancel();
            armed_for_ = no_tick;
        }
    }

    /// Called at a wake-up. True if the driver was armed for it last, and not disarmed since.
    [[nodiscard]] bool fired(std::uint64_t turn) noexcept {
        if (turn != turn_ || !armed()) {
            return false;
        }
        armed_for_ = no_tick;
        return true;
    }

    /// Called in the child after fork(). What the child shares with its parent is replaced. A wait
    /// for it ends, and the driver wakes up.
    void after_fork() {
        if constexpr (requires { timers_[0].after_fork(); }) { // Asio takes care of its own timers.
            for (timer& t : timers_) {
                t.after_fork();
            }
        }
    }

private:
    [[nodiscard]] timer& timer_of(std::uint64_t turn) noexcept {
        return timers_[static_cast<std::size_t>(turn % timers_.size())];
    }

    std::array<timer, 2> timers_;
    std::uint64_t turn_ = 0;
    tick_t armed_for_ = no_tick;
};

} // namespace asio_wheel::detail

#endif
