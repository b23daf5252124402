// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The tables of metrics: every member of wheel_stats, in the order of the members, and what is
// measured by tag. What lists them iterates over a table, so that no list lacks one: subtraction,
// OpenMetrics, and the inspector's JSON. Tests compare the first with wheel_stats, and both with
// the tables in docs/guide/operations.md.

#ifndef ASIO_WHEEL_DETAIL_METRICS_HPP
#define ASIO_WHEEL_DETAIL_METRICS_HPP

#include <asio_wheel/stats.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

namespace asio_wheel::detail {

/// A member of `Stats`, which has one of these types.
template <class Stats, class... Types>
struct metric_of {
    std::string_view name;        ///< Of the member, and in JSON.
    std::string_view openmetrics; ///< After `asio_wheel_`. Ends with the unit, `_seconds`, if any.
    std::string_view type; ///< In OpenMetrics. A gauge tells what is now, and is not subtracted.
    std::string_view help;
    std::variant<Types Stats::*...> member;
};

using metric = metric_of<wheel_stats, std::uint64_t, std::chrono::nanoseconds, counts_by_kind,
                         lateness_histogram>;
/// In OpenMetrics, it has the labels `kind` and `tag`.
using tag_metric = metric_of<tag_stats, std::uint64_t, std::chrono::nanoseconds>;

inline constexpr auto metrics = std::to_array<metric>({
    {"pending", "pending", "gauge", "Waits that have neither expired nor been cancelled.",
     &wheel_stats::pending},
    {"peak_pending", "peak_pending", "gauge", "The most waits that were pending at once.",
     &wheel_stats::peak_pending},
    {"scheduled", "waits_scheduled", "counter", "Waits accepted.", &wheel_stats::scheduled},
    {"fired", "waits_fired", "counter", "Waits delivered because their deadline had passed.",
     &wheel_stats::fired},
    {"expired", "expired", "counter", "What has expired for users of the wheel, by kind.",
     &wheel_stats::expired},
    {"cancelled", "waits_cancelled", "counter", "Waits delivered with operation_aborted.",
     &wheel_stats::cancelled},
    {"dropped", "waits_dropped", "counter",
     "Waits whose handlers were destroyed by their executor.", &wheel_stats::dropped},
    {"postponed", "waits_postponed", "counter",
     "Waits moved to another deadline without completing.", &wheel_stats::postponed},
    {"rejected", "waits_rejected", "counter",
     "Waits refused because of max_pending or after drain().", &wheel_stats::rejected},
    {"cascaded", "entries_cascaded", "counter", "Entries filed again while time advanced.",
     &wheel_stats::cascaded},
    {"wake_ups", "wake_ups", "counter", "Times the one Asio timer behind the wheel expired.",
     &wheel_stats::wake_ups},
    {"spurious_wake_ups", "spurious_wake_ups", "counter", "Wake-ups that found nothing due.",
     &wheel_stats::spurious_wake_ups},
    {"stalls", "stalls", "counter", "Times the wheel came later than the option stall allows.",
     &wheel_stats::stalls},
    {"stalled", "stalled_seconds", "counter", "How late the wheel was in all stalls together.",
     &wheel_stats::stalled},
    {"lateness", "lateness_seconds", "histogram",
     "From a wait's deadline to the tick that found it due.", &wheel_stats::lateness},
    {"loop_lag", "loop_lag_seconds", "histogram",
     "How late the context called the wheel at a wake-up.", &wheel_stats::loop_lag},
    {"handler_delay", "handler_delay_seconds", "histogram",
     "From a tick to the call of a handler, with the option measure_handlers.",
     &wheel_stats::handler_delay},
});

inline constexpr auto tag_metrics = std::to_array<tag_metric>({
    {"fired", "tag_waits_fired", "counter",
     "Waits delivered because their deadline had passed, by kind and tag.", &tag_stats::fired},
    {"wake_ups", "tag_wake_ups", "counter",
     "Wake-ups at which such a wait was due first, by kind and tag.", &tag_stats::wake_ups},
    {"late", "tag_late_seconds", "counter",
     "How late waits were found due, all together, by kind and tag.", &tag_stats::late},
    {"longest_late", "tag_longest_late_seconds", "gauge",
     "The most that a wait was found due late, by kind and tag.", &tag_stats::longest_late},
    {"delayed", "tag_delayed_seconds", "counter",
     "From a tick to the calls of handlers, all together, by kind and tag.", &tag_stats::delayed},
    {"longest_delay", "tag_longest_delay_seconds", "gauge",
     "The longest from a tick to the call of a handler, by kind and tag.",
     &tag_stats::longest_delay},
    {"handlers", "tag_handlers", "counter", "Handlers whose time was measured, by kind and tag.",
     &tag_stats::handlers},
    {"ran", "tag_handler_seconds", "counter",
     "How long handlers ran, all together, by kind and tag.", &tag_stats::ran},
    {"longest_run", "tag_longest_handler_seconds", "gauge",
     "The longest that a handler ran, by kind and tag.", &tag_stats::longest_run},
});

} // namespace asio_wheel::detail

#endif
