// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_TIME_DURATION_CHECK_HPP
#define ASIO_WHEEL_DETAIL_TIME_DURATION_CHECK_HPP

#include <chrono>
#include <stdexcept>
#include <string>

namespace asio_wheel::detail {

/// Throws std::invalid_argument if `d` is not a number: converting it to an integer would be
/// undefined behaviour. `what` names the argument in the message. Does nothing for integers.
template <class Rep, class Period>
void refuse_nan([[maybe_unused]] const char* what,
                [[maybe_unused]] std::chrono::duration<Rep, Period> d) {
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
        const bool is_number = d <= d.zero() || d >= d.zero(); // NaN compares false to everything.
        if (!is_number) {
            throw std::invalid_argument("asio_wheel: " + std::string(what) +
                                        " is not a number (NaN)");
        }
    }
}

} // namespace asio_wheel::detail

#endif
