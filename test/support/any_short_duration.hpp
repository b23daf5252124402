// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_ANY_SHORT_DURATION_HPP
#define ASIO_WHEEL_TEST_SUPPORT_ANY_SHORT_DURATION_HPP

#include "choices.hpp"

#include <array>
#include <chrono>
#include <cstddef>

namespace asio_wheel::test {

/// Whole ticks of a millisecond, some also within a tick or just beyond it.
inline std::chrono::steady_clock::duration any_short_duration(choices& in) {
    using namespace std::chrono_literals;
    constexpr std::array<std::chrono::steady_clock::duration, 4> odd{1ns, 500ns, 999'999ns,
                                                                     1'000'001ns};
    const auto n = static_cast<std::size_t>(in.below(64));
    return n < 60 ? std::chrono::milliseconds(n) : odd[n - 60];
}

} // namespace asio_wheel::test

#endif
