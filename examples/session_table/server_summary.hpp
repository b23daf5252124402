// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The figures of the relay.

#ifndef SESSIONS_SERVER_SUMMARY_HPP
#define SESSIONS_SERVER_SUMMARY_HPP

#include "../support/record.hpp"
#include "meters.hpp"
#include "relay.hpp"
#include "timers.hpp"

#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace sessions {

inline double number(std::uint64_t n) {
    return static_cast<double>(n);
}

inline void add(record& values, const std::string& what, const lateness& seen) {
    values[what + "_early"] = number(seen.early);
    values[what + "_count"] = number(seen.late.count());
    values[what + "_p50_ms"] = milliseconds(seen.late.quantile(0.50));
    values[what + "_p99_ms"] = milliseconds(seen.late.quantile(0.99));
    values[what + "_max_ms"] = milliseconds(seen.late.max());
}

/// Adds the cost of a datagram while all sessions were active.
inline void add_costs(record& values, const meters& m) {
    const snapshot& from = m.marks[warmed_up];
    const snapshot& to = m.marks[talked];
    const double datagrams = number(to.datagrams - from.datagrams);
    if (datagrams > 0) {
        const double cpu = to.used.cpu_seconds - from.used.cpu_seconds;
        const double kernel = to.used.kernel_seconds - from.used.kernel_seconds;
        values["cpu_ns"] = cpu * 1e9 / datagrams;
        values["kernel_ns"] = kernel * 1e9 / datagrams;
        values["user_ns"] = (cpu - kernel) * 1e9 / datagrams;
        values["measured_datagrams"] = datagrams;
        values["handlers_per_datagram"] =
            number(to.timer_handlers - from.timer_handlers) / datagrams;
    }
    const double bytes = m.marks[opened].resident_bytes - m.marks[begun].resident_bytes;
    const std::uint64_t sessions = m.marks[opened].sessions;
    values["sessions_opened"] = number(sessions);
    values["sessions_talking"] = number(to.sessions);
    values["bytes_per_session"] = sessions == 0 ? 0 : bytes / number(sessions);
}

template <class Timer>
record summary(const meters& m, const relay<Timer>& r, asio::io_context& io) {
    record values{
        {"datagrams", number(m.datagrams)},
        {"dropped", number(r.dropped())},
        {"made", number(m.made)},
        {"expired", number(m.expired)},
        {"sessions_left", number(m.sessions())},
        {"requests", number(m.requests)},
        {"answered", number(m.answered)},
        {"timed_out", number(m.timed_out)},
        {"given_up", number(m.given_up)},
        {"late_answers", number(m.late_answers)},
        {"timer_handlers", number(m.timer_handlers)},
        {"pause_ms", r.paused().longest_ms()},
        {"pause_cpu_ms", r.paused().longest_cpu_ms()},
        {"together_took_ms", r.together_took_ms()},
        {"tick_ms", 0},
    };
    add(values, "idle", m.idle_late);
    add(values, "deadline", m.deadline_late);
    add(values, "together", m.together_late);
    add_costs(values, m);
    if constexpr (std::is_same_v<plain_timer<Timer>, wheel_timer>) {
        const auto& wheel = asio_wheel::use_wheel(io);
        values["tick_ms"] = milliseconds(wheel.options().tick);
        values["waits_left"] = number(wheel.pending());
    }
    return values;
}

} // namespace sessions

#endif
