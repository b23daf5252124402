// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A clock that continues while the machine is suspended, with all that a wheel needs to wake up by
// it: for boottime_timer, and for the utilities.
//
//     using asio_wheel::boottime_clock;
//     asio_wheel::basic_scheduler<boottime_clock> tasks(ctx);

#ifndef ASIO_WHEEL_BOOTTIME_CLOCK_HPP
#define ASIO_WHEEL_BOOTTIME_CLOCK_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/service/boottime_driver_timer.hpp>
#include <asio_wheel/detail/time/boottime_clock.hpp>

#endif
