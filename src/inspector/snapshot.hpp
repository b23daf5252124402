// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What an inspector shows of a wheel, written as JSON.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_SNAPSHOT_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_SNAPSHOT_HPP

#include "json.hpp"

#include <asio_wheel/detail/metrics.hpp>
#include <asio_wheel/detail/service/watched_wheel.hpp>
#include <asio_wheel/lateness.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace asio_wheel::detail {

inline void write_metric(json_writer& json, std::string_view name, std::uint64_t count) {
    json.member(name, count);
}

inline void write_metric(json_writer& json, std::string_view name, std::chrono::nanoseconds d) {
    json.member(std::string(name) + "_ns", d);
}

inline void write_metric(json_writer& json, std::string_view name, const counts_by_kind& counts) {
    json.key(name).open('{');
    for (const wait_kind kind : all_wait_kinds) {
        json.member(to_string(kind), counts[kind]);
    }
    json.close('}');
}

inline void write_metric(json_writer& json, std::string_view name,
                         const lateness_histogram& histogram) {
    json.key(name).open('{');
    json.member("count", histogram.count());
    json.member("sum_ns", histogram.sum());
    json.member("max_ns", histogram.max());
    json.member("p50_ns", histogram.quantile(.5));
    json.member("p99_ns", histogram.quantile(.99));
    json.key("buckets").open('[');
    for (const auto& bucket : histogram.buckets()) {
        json.open('[').value(bucket.up_to).value(bucket.count).close(']');
    }
    json.close(']').close('}');
}

/// Writes all metrics that are of one of these types in wheel_stats.
template <class... Types>
void write_metrics(json_writer& json, const wheel_stats& stats) {
    for (const metric& m : metrics) {
        const auto write = [&]<class Type>(Type wheel_stats::* member) {
            if constexpr ((std::same_as<Type, Types> || ...)) {
                write_metric(json, m.name, stats.*member);
            }
        };
        std::visit(write, m.member);
    }
}

inline void write_level(json_writer& json, const wheel_occupancy::level& level) {
    json.open('{');
    json.member("slot_ns", level.slot_width);
    json.member("slots", level.slots);
    json.member("used", static_cast<std::size_t>(std::count_if(level.fill.begin(), level.fill.end(),
                                                               [](int n) { return n != 0; })));
    json.member("current", level.current);
    json.key("cells").open('[');
    for (const std::uint8_t n : level.fill) {
        json.value(int{n});
    }
    json.close(']').close('}');
}

inline void write_verdict(json_writer& json, const wheel_reading& reading,
                          const lateness_limits& limits) {
    const recent_lateness& l = reading.lateness;
    json.key("verdict").open('{');
    json.member("severity", to_string(l.severity(limits)));
    json.member("cause", to_string(l.cause()));
    json.member("text", std::string_view(l.verdict(limits, reading.tags)));
    json.member("seconds", recent_lateness::seconds);
    json.member("late_waits", l.waits);
    json.member("late_ns", l.late);
    json.member("by_loop_ns", l.by_loop);
    json.member("longest_ns", l.longest);
    json.member("longest_lag_ns", l.longest_lag);
    json.member("late_calls", l.late_calls);
    json.member("overdue_ns", l.overdue);
    json.member("warning_ns", limits.warning);
    json.member("critical_ns", limits.critical);
    json.close('}');
}

/// Empty unless handlers are measured.
inline void write_tags(json_writer& json, const std::vector<tag_stats>& tags) {
    json.key("tags").open('[');
    for (const tag_stats& t : tags) {
        json.open('{').member("kind", to_string(t.kind)).member("tag", t.tag);
        for (const tag_metric& m : tag_metrics) {
            std::visit([&](auto member) { write_metric(json, m.name, t.*member); }, m.member);
        }
        json.close('}');
    }
    json.close(']');
}

/// Writes the members of a wheel, except for the waits.
inline void write_wheel(json_writer& json, const wheel_reading& reading,
                        const lateness_limits& limits) {
    const wheel_stats& stats = reading.stats;
    json.member("paused", reading.paused);
    json.member("tick_ns", reading.options.tick);
    json.key("counts").open('{');
    write_metrics<std::uint64_t, std::chrono::nanoseconds>(json, stats);
    json.close('}');
    write_metrics<counts_by_kind>(json, stats);
    json.key("wake_ups").open('{');
    json.member("due", stats.wake_ups - stats.spurious_wake_ups);
    json.member("nothing_due", stats.spurious_wake_ups);
    json.close('}');
    write_verdict(json, reading, limits);
    write_tags(json, reading.tags);
    write_metrics<lateness_histogram>(json, stats);
    json.key("levels").open('[');
    for (const auto& level : reading.occupancy.levels) {
        write_level(json, level);
    }
    json.close(']');
}

inline void write_next(json_writer& json, const pending_wait& wait) {
    json.open('{');
    json.member("kind", to_string(wait.kind));
    json.member("tag", wait.tag);
    if (wait.place.line() != 0) {
        std::string place = wait.place.file_name();
        place.erase(0, place.find_last_of("/\\") + 1);
        json.member("place", std::string_view(place += ':' + std::to_string(wait.place.line())));
    }
    json.member("remaining_ns", wait.remaining);
    json.close('}');
}

/// Writes what waits, as the member `waits`. `age` is how long ago that was read.
inline void write_waits(json_writer& json, const wheel_report& report,
                        std::chrono::milliseconds age) {
    constexpr std::size_t most_groups = 100;
    const auto groups = report.groups();
    json.key("waits").open('{');
    json.member("age_ms", age.count());
    json.member("total", report.waits());
    json.key("rows").open('[');
    for (std::size_t i = 0; i < (std::min)(groups.size(), most_groups); ++i) {
        json.open('{');
        json.member("kind", to_string(groups[i].kind));
        json.member("tag", groups[i].tag);
        json.member("count", groups[i].count);
        json.member("next_ns", groups[i].soonest);
        json.close('}');
    }
    json.close(']').member("more_rows", groups.size() - (std::min)(groups.size(), most_groups));
    json.key("next").open('[');
    for (const pending_wait& wait : report.next()) {
        write_next(json, wait);
    }
    json.close(']').key("remaining").open('[');
    for (const auto& bucket : report.remaining().buckets()) {
        json.open('[').value(bucket.up_to).value(bucket.count).close(']');
    }
    json.close(']').close('}');
}

} // namespace asio_wheel::detail

#endif
