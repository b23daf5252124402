// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_ASIO_DRIVER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_ASIO_DRIVER_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/service/asio_queue.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/service/driver_timer.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_wheel::detail {

/// The one Asio timer behind a wheel. Two objects take turns.
///
/// Its handlers run on the context itself, whatever executors the wheel's timers have.
template <class Clock, class WaitTraits>
class asio_driver final : public driver_port {
    using counts = clock_counts<Clock>;
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;
    using timer = typename driver_timer<Clock, WaitTraits>::type;

public:
    /// The core need not exist before it is called.
    asio_driver(boost::asio::execution_context& context, core& c)
        : timers_{timer(context_executor(context)), timer(context_executor(context))}, core_(c) {}

    [[nodiscard]] bool arm(std::uint64_t turn, time_count time, time_count now) noexcept override {
        return !throws([&] {
            timer& next = timer_of(turn);
            next.expires_at((std::min)(horizon(counts::at(now)), counts::at(time)));
            next.async_wait([this, turn](const boost::system::error_code&) {
                asio_queue::complete_first(core_.on_wake_up(turn));
            });
        });
    }

    void cancel(std::uint64_t turn) noexcept override { timer_of(turn).cancel(); }

    void after_fork() override {
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

    // Some of Asio's conversions overflow for times at the end of a coarse clock's range. A wake-up
    // in a hundred years, or half-way to the end of the clock, does no harm. Half-way is rounded
    // up: a unit before the end it would be now, and the next one, too, and so on.
    [[nodiscard]] static time_point horizon(time_point real) {
        const duration century = ceil_saturating<duration>(std::chrono::hours(24) * 365 * 100);
        const duration to_end = until_saturating(real, (time_point::max)());
        return real + (std::min<duration>)(century, to_end - to_end / 2);
    }

    std::array<timer, 2> timers_;
    core& core_;
};

} // namespace asio_wheel::detail

#endif
