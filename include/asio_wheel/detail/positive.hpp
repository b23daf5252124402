// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_POSITIVE_HPP
#define ASIO_WHEEL_DETAIL_POSITIVE_HPP

#include <asio_wheel/detail/wheel_clock.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace asio_wheel::detail {

/// A period, in a clock's units. Throws std::invalid_argument unless it is greater than zero.
template <class Duration, class Rep, class Period>
[[nodiscard]] Duration positive(const char* what, const std::chrono::duration<Rep, Period>& d) {
    if (d <= d.zero()) {
        throw std::invalid_argument("asio_wheel: " + std::string(what) + " is " +
                                    std::to_string(to_nanoseconds(d).count()) +
                                    " ns, but must be greater than 0 ns");
    }
    return ceil_saturating<Duration>(d);
}

} // namespace asio_wheel::detail

#endif
