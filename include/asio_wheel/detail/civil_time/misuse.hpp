// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is no argument of a rule, but compiles far enough for the compiler to say what to write.

#ifndef ASIO_WHEEL_DETAIL_CIVIL_TIME_MISUSE_HPP
#define ASIO_WHEEL_DETAIL_CIVIL_TIME_MISUSE_HPP

#include <chrono>
#include <concepts>
#include <type_traits>

namespace asio_wheel::detail {

/// A number, which has no unit and is no day.
template <class T>
concept invalid_number = std::is_arithmetic_v<T>;

/// A clock that shows no civil times.
template <class Clock>
concept invalid_clock = !std::same_as<Clock, std::chrono::system_clock>;

} // namespace asio_wheel::detail

#endif
