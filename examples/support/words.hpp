// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A comparison in words.

#ifndef DEMO_WORDS_HPP
#define DEMO_WORDS_HPP

#include "checks.hpp"
#include "comparison.hpp"
#include "samples.hpp"
#include "verdict.hpp"

#include <algorithm>
#include <string>

namespace demo {

/// Returns the verdict of a figure; nothing for one that only describes the runs.
inline std::string words(const compared_figure& f) {
    const double times = factor(f.ours, f.theirs);
    const std::string how_much = times > 0 ? text(", %.3g times", times) : "";
    switch (f.result) {
    case verdict::better:
        return "better" + how_much;
    case verdict::worse:
        return "worse" + how_much;
    case verdict::within_noise:
        return "within noise";
    default:
        return f.row->good == better::neither ? "" : "not judged";
    }
}

/// Returns the verdict of the whole, as a sentence.
inline std::string words(const comparison& c) {
    const std::string of = text("%zu of %zu pairs of runs", c.counted(), c.pairs());
    if (c.result() == verdict::not_judged) {
        std::string why = text("not judged: only %s passed all checks, and %zu are needed",
                               of.c_str(), least_runs);
        return c.clients_ms() > 0
                   ? why + text("; the clients themselves were up to %.0f ms late", c.clients_ms())
                   : why;
    }
    return std::string(c.result() == verdict::better  ? "better"
                       : c.result() == verdict::worse ? "worse"
                       : c.result() == verdict::mixed ? "better in some figures, worse in others"
                                                      : "neither better nor worse") +
           text(" (figures: %zu better, %zu worse, %zu within noise; ", c.count(verdict::better),
                c.count(verdict::worse), c.count(verdict::within_noise)) +
           of + ")";
}

/// Returns how much the runs of a figure differ among themselves: the larger of the two spreads.
inline std::string noise(const compared_figure& f) {
    return text("%.0f %%", 100 * std::max(spread(f.ours), spread(f.theirs)));
}

} // namespace demo

#endif
