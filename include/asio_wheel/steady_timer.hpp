// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_STEADY_TIMER_HPP
#define ASIO_WHEEL_STEADY_TIMER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>

#include <chrono>

namespace asio_wheel {

/// A timer on the steady clock, for timeouts: a drop-in for boost::asio::steady_timer.
using steady_timer = basic_waitable_timer<std::chrono::steady_clock>;

} // namespace asio_wheel

#endif
