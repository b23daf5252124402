// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The timer types of the relay.

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
using executor = asio::io_context::executor_type; // A concrete type, so that timers are small.
using wheel_timer = asio_wheel::basic_waitable_timer<steady_clock, traits, executor>;
using asio_timer = asio::basic_waitable_timer<steady_clock, traits, executor>;

/// In place of a timer: no timeouts, to measure the cost of everything else.
struct no_timer {};

/// In place of a timer: each datagram postpones the idle timeout, instead of only recording it.
struct postponed {};

/// The timer of a request.
template <class Timer>
using plain_timer = std::conditional_t<std::is_same_v<Timer, postponed>, wheel_timer, Timer>;

} // namespace sessions

#endif
