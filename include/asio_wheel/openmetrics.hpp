// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The statistics of wheels as text for Prometheus and everything else that reads OpenMetrics:
//
//     asio_wheel::to_openmetrics(out, asio_wheel::use_wheel(ctx).stats());

#ifndef ASIO_WHEEL_OPENMETRICS_HPP
#define ASIO_WHEEL_OPENMETRICS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/stats.hpp>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel {

/// The statistics of one wheel of several, with labels that tell them apart.
struct labelled_stats {
    using label = std::pair<std::string, std::string>; ///< Name and value.

    std::vector<label> labels; ///< Those of each metric of this wheel.
    wheel_stats stats;         ///< As wheel_service::stats() returned them.
    /// As wheel_service::stats_by_tag() returned them, if they are to be written, too.
    // NOLINTNEXTLINE(readability-redundant-member-init): so that it can be left out.
    std::vector<tag_stats> tags{};
};

/// Writes a document in the OpenMetrics text format, version 1.0.0, to be served as
/// `application/openmetrics-text; version=1.0.0; charset=utf-8`.
///
/// The numbers are those of wheel_stats. `asio_wheel_pending` and `asio_wheel_peak_pending` are
/// gauges; the other counts are counters, `asio_wheel_waits_scheduled_total` and the like, and
/// `asio_wheel_expired_total{kind="idle"}` for each kind. The
/// histograms are `asio_wheel_lateness_seconds`, `asio_wheel_loop_lag_seconds` and
/// `asio_wheel_handler_delay_seconds`, with a bucket for each power of two from 8 µs to 34 s. The
/// counts in the buckets are exact. If there are any tags, the numbers of tag_stats are
/// `asio_wheel_tag_handler_seconds_total{kind="timer",tag="session"}` and the like: for each tag.
///
/// A locale of the stream changes nothing.
void to_openmetrics(std::ostream& out, const wheel_stats& stats);

/// As above, for several wheels. Throws std::invalid_argument, and writes nothing, if two wheels
/// have the same labels, or if the name of a label is there twice, is `le`, `kind` or `tag`, or is
/// none: a letter or `_`, and then letters, digits and `_`, but not `__` first. The values are any
/// text. A byte that is not UTF-8 is written as U+FFFD, since a reader refuses the whole document
/// for it; in a tag, as `\xff`.
///
///     asio_wheel::to_openmetrics(out, {{{{"context", "front"}}, use_wheel(front).stats()},
///                                      {{{"context", "back"}}, use_wheel(back).stats()}});
void to_openmetrics(std::ostream& out, const std::vector<labelled_stats>& wheels);

/// As above, without the line `# EOF`, with which a document ends: for a document that also has
/// metrics of the program's own.
void append_openmetrics(std::ostream& out, const std::vector<labelled_stats>& wheels);

/// The same numbers in the text format of Prometheus, version 0.0.4, which is served as
/// `text/plain; version=0.0.4`. More metrics may come before and after.
void to_prometheus(std::ostream& out, const wheel_stats& stats);
void to_prometheus(std::ostream& out, const std::vector<labelled_stats>& wheels);

} // namespace asio_wheel

#endif
