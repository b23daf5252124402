// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Whether a clock can be set.

#ifndef ASIO_WHEEL_DETAIL_TIME_STEADY_HPP
#define ASIO_WHEEL_DETAIL_TIME_STEADY_HPP

#include <concepts>
#include <type_traits>

namespace asio_wheel::detail {

/// A clock that is never set: it says so by a constant of type bool. Asio's timers do not ask, so
/// there are clocks that do not say it, and clocks where `is_steady` is a function. Those may be
/// set: to look for that costs little, and to miss it stops their timers.
template <class Clock>
concept steady_clock = requires {
    requires std::same_as<std::remove_cv_t<decltype(Clock::is_steady)>, bool>;
} && requires { typename std::bool_constant<Clock::is_steady>; } && Clock::is_steady;

} // namespace asio_wheel::detail

#endif
