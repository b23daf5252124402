// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_BAD_ARGUMENT_HPP
#define ASIO_WHEEL_DETAIL_BAD_ARGUMENT_HPP

#include <chrono>
#include <string>

namespace asio_wheel::detail {

/// Throws std::invalid_argument: "asio_wheel: <what> is <value>, but must be <allowed>".
[[noreturn]] void bad_argument(const std::string& what, const std::string& value,
                               const std::string& allowed);

/// A duration as a message shows it.
[[nodiscard]] std::string in_ns(std::chrono::nanoseconds d);

} // namespace asio_wheel::detail

#endif
