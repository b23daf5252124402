// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which timer wakes a wheel up: Asio's, unless a clock needs another one.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_DRIVER_TIMER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_DRIVER_TIMER_HPP

#include <asio_wheel/detail/asio/context_executor.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

namespace asio_wheel::detail {

/// The timer that drives wheels of a clock. Has expires_at(), async_wait() and cancel(), as Asio's
/// timers do.
template <class Clock, class WaitTraits>
struct driver_timer {
    using type = boost::asio::basic_waitable_timer<Clock, WaitTraits, context_executor>;
};

} // namespace asio_wheel::detail

#endif
