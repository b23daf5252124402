// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The exception for arguments that are not allowed. Compiled once, so that the code that builds the
// message is not in each program's templates.

#include <asio_wheel/detail/bad_argument.hpp>

#include <boost/throw_exception.hpp>

#include <stdexcept>

namespace asio_wheel::detail {

void bad_argument(const std::string& what, const std::string& value, const std::string& allowed) {
    BOOST_THROW_EXCEPTION(
        std::invalid_argument("asio_wheel: " + what + " is " + value + ", but must be " + allowed));
}

std::string in_ns(std::chrono::nanoseconds d) {
    return std::to_string(d.count()) + " ns";
}

} // namespace asio_wheel::detail
