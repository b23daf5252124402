// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_FIRST_CALL_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_FIRST_CALL_HPP

namespace asio_wheel::detail {

/// When a task is called first. It may be postponed until `latest`.
template <class TimePoint>
struct first_call {
    TimePoint at;
    TimePoint latest = (TimePoint::max)();
    bool is_burst = false; // Of events: each one postpones it.
};

} // namespace asio_wheel::detail

#endif
