// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_WAKE_UP_HISTORY_HPP
#define ASIO_WHEEL_DETAIL_CORE_WAKE_UP_HISTORY_HPP

#include <asio_wheel/detail/core/recent_seconds.hpp>
#include <asio_wheel/pending.hpp>

namespace asio_wheel::detail {

/// The wake-ups of the last seconds, as wheel_report::wake_ups() has them.
using wake_up_history = recent_seconds<wake_ups_in_second, wheel_report::seconds>;

} // namespace asio_wheel::detail

#endif
