// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Judges a figure of two timers that were measured in turn, several times each. Its test,
// test/demo/comparison.cpp, uses recorded numbers.

#ifndef DEMO_VERDICT_HPP
#define DEMO_VERDICT_HPP

#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace demo {

/// Which values of a figure are the better ones. A figure that only describes a run has none.
enum class better { less, more, neither };

enum class verdict {
    better,
    worse,
    mixed, ///< Of all figures: some are better, and some are worse.
    within_noise,
    not_judged
};

/// Chance alone separates four runs of each in 2 of 70 cases, and three in 2 of 20.
constexpr std::size_t least_runs = 4;

/// A smaller difference, as a share of the larger median, is noise, however regular it is.
constexpr double least_difference = 0.05;

/// Judges our values against theirs. A difference is more than noise if it separates them: each
/// value of the one is better than each value of the other.
inline verdict judge(better good, const samples& ours, const samples& theirs) {
    if (good == better::neither || std::min(ours.size(), theirs.size()) < least_runs) {
        return verdict::not_judged;
    }
    const double mine = median(ours);
    const double other = median(theirs);
    if (std::abs(mine - other) <= least_difference * std::max(mine, other)) {
        return verdict::within_noise;
    }
    const bool below = std::ranges::max(ours) < std::ranges::min(theirs);
    const bool above = std::ranges::min(ours) > std::ranges::max(theirs);
    if (!below && !above) {
        return verdict::within_noise;
    }
    return below == (good == better::less) ? verdict::better : verdict::worse;
}

/// Returns how many times better the better one of two medians is, or 0 if that is no number.
inline double factor(const samples& ours, const samples& theirs) {
    const double mine = median(ours);
    const double other = median(theirs);
    const double less = std::min(mine, other);
    return less > 0 ? std::max(mine, other) / less : 0;
}

} // namespace demo

#endif
