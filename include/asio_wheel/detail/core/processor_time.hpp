// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the system's scheduler treats a thread.

#ifndef ASIO_WHEEL_DETAIL_CORE_PROCESSOR_TIME_HPP
#define ASIO_WHEEL_DETAIL_CORE_PROCESSOR_TIME_HPP

#include <chrono>

namespace asio_wheel::detail {

/// Of a thread, since it began.
struct processor_time {
    std::chrono::nanoseconds ran{0};    ///< It used a processor.
    std::chrono::nanoseconds waited{0}; ///< It was ready to run, and had none.
};

/// The number by which the system knows this thread; 0 if that says nothing. One call of the
/// system.
[[nodiscard]] long this_thread_number() noexcept;

/// Of the thread of this process that has the number; all zero if the system does not tell. It
/// reads a file, so it is for those who ask a wheel, and not for the wheel's own turns.
[[nodiscard]] processor_time processor_time_of(long thread) noexcept;

} // namespace asio_wheel::detail

#endif
