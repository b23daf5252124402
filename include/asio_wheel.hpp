// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All of asio-wheel, from the ground up.

#ifndef ASIO_WHEEL_HPP
#define ASIO_WHEEL_HPP

// The wheel: ticks, slots and levels. Knows neither Asio nor any clock.
#include <asio_wheel/error.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/missed.hpp>
#include <asio_wheel/openmetrics.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/tick.hpp>
#include <asio_wheel/version.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

// The service: one wheel, and one Asio timer, for each context and clock.
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wheel_service.hpp>

// The timers, sleeps, timeouts, and virtual time.
#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/boottime_clock.hpp>
#include <asio_wheel/boottime_timer.hpp>
#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/deadline.hpp>
#include <asio_wheel/high_resolution_timer.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/virtual_time.hpp>

// The utilities.
#include <asio_wheel/backoff.hpp>
#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/delayed_operations.hpp>
#include <asio_wheel/handler_group.hpp>
#include <asio_wheel/heartbeat.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/rate_limiter.hpp>
#include <asio_wheel/retry.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/timeout_stream.hpp>

// Apart from these: asio_wheel/beast.hpp, for those who use Beast; asio_wheel/inspector.hpp, which
// is a library of its own; and asio_wheel/replace_asio_timers.hpp, which must be included first.

#endif
