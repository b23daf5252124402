// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a wheel has done in each of the last minutes, so that a page that is opened at three shows
// two o'clock.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_HISTORY_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_HISTORY_HPP

#include "json.hpp"

#include <asio_wheel/detail/service/watched_wheel.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/stats.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace asio_wheel::detail {

/// The minutes of one wheel. Used by the thread of the server.
class wheel_history {
public:
    /// As long as lateness() looks back.
    static constexpr std::chrono::seconds period{recent_lateness::seconds};

    /// A period ends: called once in each. The first one begins at the first call. `now` is the
    /// time of day.
    void end_period(const wheel_reading& reading, std::chrono::system_clock::time_point now,
                    std::size_t most) {
        const counts present = counts_of(reading.stats);
        if (before_) {
            minute m{now, reading.stats.pending, present, reading.lateness};
            for (std::size_t i = 0; i < m.done.size(); ++i) {
                m.done[i] -= (*before_)[i];
            }
            minutes_.push_back(m);
        }
        before_ = present;
        while (minutes_.size() > most) {
            minutes_.pop_front();
        }
    }

    /// The names of the numbers of a minute.
    static void write_columns(json_writer& json) {
        json.open('[');
        for (const std::string_view name :
             {"time_ms", "pending", "scheduled", "fired", "cancelled", "postponed", "wake_ups",
              "spurious_wake_ups", "late_waits", "longest_ns", "longest_lag_ns", "severity"}) {
            json.value(name);
        }
        json.close(']');
    }

    /// The minutes, the earliest first.
    void write(json_writer& json, const lateness_limits& limits) const {
        json.open('[');
        for (const minute& m : minutes_) {
            using std::chrono::milliseconds;
            json.open('[');
            json.value(std::chrono::duration_cast<milliseconds>(m.end.time_since_epoch()).count());
            json.value(m.pending);
            for (const std::uint64_t n : m.done) {
                json.value(n);
            }
            json.value(m.lateness.waits).value(m.lateness.longest);
            json.value((std::max)(m.lateness.longest_lag, m.lateness.overdue));
            json.value(to_string(m.lateness.severity(limits)));
            json.close(']');
        }
        json.close(']');
    }

private:
    using counts = std::array<std::uint64_t, 6>;

    struct minute {
        std::chrono::system_clock::time_point end;
        std::uint64_t pending;
        counts done;
        recent_lateness lateness;
    };
    static_assert(sizeof(minute) <= 150, "inspector_options::history says so");

    [[nodiscard]] static counts counts_of(const wheel_stats& s) noexcept {
        return {s.scheduled, s.fired, s.cancelled, s.postponed, s.wake_ups, s.spurious_wake_ups};
    }

    std::optional<counts> before_; // At the end of the period before.
    std::deque<minute> minutes_;
};

} // namespace asio_wheel::detail

#endif
