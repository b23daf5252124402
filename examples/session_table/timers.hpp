// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The types of timers that a relay can have.

#ifndef SESSIONS_TIMERS_HPP
#define SESSIONS_TIMERS_HPP

#include "protocol.hpp"

#include <asio_wheel/basic_waitable_timer.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/wait_traits.hpp>

#include <type_traits>

namespace sessions {

using traits = asio::wait_traits<steady_clock>;
using executor = asio::io_context::executor_type; // known, so that timers are small
using wheel_timer = asio_wheel::basic_waitable_timer<steady_clock, traits, executor>;
using asio_timer = asio::basic_waitable_timer<steady_clock, traits, executor>;

/// A type for no timeouts at all: what everything else costs.
struct no_timer {};

/// In the place of a timer: idle timeouts are moved by postpone(), not only noted.
struct postponed {};

/// The timer of a request.
template <class Timer>
using plain_timer = std::conditional_t<std::is_same_v<Timer, postponed>, wheel_timer, Timer>;

} // namespace sessions

#endif
