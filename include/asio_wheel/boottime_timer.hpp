// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_BOOTTIME_TIMER_HPP
#define ASIO_WHEEL_BOOTTIME_TIMER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/boottime_clock.hpp>

namespace asio_wheel {

/// A timer for deadlines that do not wait while the machine is suspended: leases, tokens, sessions.
/// In all else as steady_timer.
///
/// A wait whose deadline passes during a suspend completes right after the resume: on Linux by
/// timerfd, two file descriptors for each context that has such timers. Where there is no timerfd,
/// or no descriptor is free when the context's first boottime_timer is made, or in a child process,
/// the context looks at the clock each second while such waits are pending. So they are late by up
/// to a second after a resume. The same holds for wait(), which blocks a thread, on any system.
///
/// After fork(), Asio's notify_fork() is needed, as for everything else of a context.
///
///     asio_wheel::boottime_timer lease(ctx, 1h);
///     lease.async_wait(handler);
using boottime_timer = basic_waitable_timer<boottime_clock>;

} // namespace asio_wheel

#endif
