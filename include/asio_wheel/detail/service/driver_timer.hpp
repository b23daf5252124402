// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which timer wakes a wheel up: Asio's, unless a clock needs another one.
//
// Its traits have a type of their own. So replace_asio_timers.hpp never puts this timer on a wheel.
// And if nothing else in a program uses Asio's timers, no symbol of them is for the user's traits:
// asio_wheel_check_replaced() of CMake looks for those.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_DRIVER_TIMER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_DRIVER_TIMER_HPP

#include <asio_wheel/detail/asio/context_executor.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>

namespace asio_wheel::detail {

template <class WaitTraits>
struct driver_traits { // WaitTraits may be final.
    template <class Time>
    [[nodiscard]] static auto to_wait_duration(const Time& t) {
        return WaitTraits::to_wait_duration(t);
    }
};

/// The timer that drives wheels of a clock. Has expires_at(), async_wait() and cancel(), as Asio's
/// timers do.
template <class Clock, class WaitTraits>
struct driver_timer {
    using type =
        boost::asio::basic_waitable_timer<Clock, driver_traits<WaitTraits>, context_executor>;
    /// After so long, a thread that sleeps until a time of the clock looks at it again.
    static constexpr std::chrono::hours longest_sleep{24};
};

} // namespace asio_wheel::detail

#endif
