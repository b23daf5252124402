// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The figures of the server.

#ifndef ECHO_SERVER_SUMMARY_HPP
#define ECHO_SERVER_SUMMARY_HPP

#include "../support/coroutine.hpp"
#include "../support/process_usage.hpp"
#include "../support/record.hpp"
#include "idle_deadline.hpp"
#include "meters.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdint>

namespace echo {

inline double number(std::uint64_t n) {
    return static_cast<double>(n);
}

template <class Timer>
std::uint64_t waits_pending(asio::io_context& io, const meters& m) {
    if constexpr (postponable<Timer>) {
        return asio_wheel::use_wheel(io).pending();
    } else {
        return m.waits; // Asio does not report it.
    }
}

template <class Timer>
record summary(asio::io_context& io, const meters& m) {
    const auto used = process_usage::now();
    const auto& late = m.lateness;
    record values{
        {"accepted", number(m.accepted)},
        {"not_accepted", number(m.not_accepted)},
        {"given_up", number(m.given_up)},
        {"connections_left", number(m.connections)},
        {"waits_left", number(waits_pending<Timer>(io, m))},
        {"lines", number(m.lines)},
        {"timer_handlers", number(m.timer_handlers)},
        {"idle_closes", number(m.idle_closes)},
        {"early_closes", number(m.early_closes)},
        {"late_p50_ms", milliseconds(late.quantile(0.50))},
        {"late_p99_ms", milliseconds(late.quantile(0.99))},
        {"late_max_ms", milliseconds(late.max())},
        {"cpu_seconds", used.cpu_seconds},
        {"wake_ups", number(used.wake_ups)},
        {"peak_megabytes", used.peak_megabytes},
        {"tick_ms", 0},
    };
    if constexpr (postponable<Timer>) {
        const auto& wheel = asio_wheel::use_wheel(io);
        const auto stats = wheel.stats();
        values["tick_ms"] = milliseconds(wheel.options().tick);
        values["wheel_postponed"] = number(stats.postponed);
        values["wheel_wake_ups"] = number(stats.wake_ups);
        values["wheel_late_p99_ms"] = milliseconds(stats.lateness.quantile(0.99));
    }
    return values;
}

} // namespace echo

#endif
