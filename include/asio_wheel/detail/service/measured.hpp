// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_MEASURED_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_MEASURED_HPP

#include <asio_wheel/stats.hpp>

#include <optional>

namespace asio_wheel::detail {

/// The histograms that a wheel always has. Their two pages of memory are not touched before the
/// first wake-up, so a new wheel costs less. Guarded by the wheel's lock.
class measured {
public:
    struct both {
        lateness_histogram lateness;
        lateness_histogram loop_lag;
    };

    [[nodiscard]] both& get() noexcept { return both_ ? *both_ : both_.emplace(); }

    /// None before get() was called.
    [[nodiscard]] const std::optional<both>& histograms() const noexcept { return both_; }

private:
    std::optional<both> both_;
};

} // namespace asio_wheel::detail

#endif
