// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_SYSTEM_TIMER_HPP
#define ASIO_WHEEL_SYSTEM_TIMER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>

#include <chrono>

namespace asio_wheel {

/// A timer on the wall clock: a drop-in for boost::asio::system_timer. It follows the clock when
/// that is set: set back, no wait completes early; set forward, waits complete as soon as Asio's
/// own timer notices (within five minutes at most).
using system_timer = basic_waitable_timer<std::chrono::system_clock>;

} // namespace asio_wheel

#endif
