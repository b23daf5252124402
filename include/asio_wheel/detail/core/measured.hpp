// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_MEASURED_HPP
#define ASIO_WHEEL_DETAIL_CORE_MEASURED_HPP

#include <asio_wheel/detail/core/lateness_meter.hpp>
#include <asio_wheel/detail/core/wake_up_history.hpp>
#include <asio_wheel/stats.hpp>

#include <chrono>
#include <optional>

namespace asio_wheel::detail {

/// What a wheel always measures. These pages of memory are not touched before the first
/// wake-up, so a new wheel costs less. Guarded by the wheel's lock.
class measured {
public:
    struct everything {
        lateness_histogram lateness;
        lateness_histogram loop_lag;
        lateness_meter meter;
        wake_up_history wake_ups;

        void woke_up(std::chrono::nanoseconds lag, std::chrono::nanoseconds now) noexcept {
            loop_lag.add(lag);
            meter.woke_up(lag, now);
        }
    };

    [[nodiscard]] everything& get() noexcept { return all_ ? *all_ : all_.emplace(); }

    /// None before get() was called.
    [[nodiscard]] const std::optional<everything>& if_any() const noexcept { return all_; }

private:
    std::optional<everything> all_;
};

} // namespace asio_wheel::detail

#endif
