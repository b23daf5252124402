// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The values of a figure in several runs.

#ifndef DEMO_SAMPLES_HPP
#define DEMO_SAMPLES_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

namespace demo {

using samples = std::vector<double>;

/// Returns a quantile of sorted values, or 0 if there are none.
inline double quantile(const samples& sorted, double q) {
    const auto last = static_cast<double>(sorted.empty() ? 0 : sorted.size() - 1);
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * last)];
}

inline double median(samples values) {
    std::ranges::sort(values);
    const std::size_t n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// Returns the difference between the largest and the smallest value, as a share of the median.
inline double spread(const samples& values) {
    const double middle = median(values);
    if (values.empty() || middle == 0) {
        return 0;
    }
    return (std::ranges::max(values) - std::ranges::min(values)) / middle;
}

} // namespace demo

#endif
