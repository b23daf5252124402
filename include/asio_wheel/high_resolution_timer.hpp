// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_HIGH_RESOLUTION_TIMER_HPP
#define ASIO_WHEEL_HIGH_RESOLUTION_TIMER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>

#include <chrono>

namespace asio_wheel {

/// A timer on the clock with the finest resolution: a drop-in for
/// boost::asio::high_resolution_timer. Its waits are due on ticks all the same: choose
/// wheel_options::tick accordingly.
using high_resolution_timer = basic_waitable_timer<std::chrono::high_resolution_clock>;

} // namespace asio_wheel

#endif
