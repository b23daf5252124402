// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef DEMO_PRINT_COMPARISON_HPP
#define DEMO_PRINT_COMPARISON_HPP

#include "comparison.hpp"
#include "words.hpp"

#include <cstdio>

namespace demo {

/// Prints a line for each figure that both timers have, and one for the whole.
inline void print_comparison(const comparison& c) {
    if (c.counted() != 0) {
        std::printf("\n%-46s %10s %10s %8s  %s\n", "medians; how much the runs differ; verdict",
                    "asio_wheel", "Asio", "noise", "asio_wheel is");
    }
    for (const compared_figure& f : c.figures()) {
        if (!f.ours.empty()) {
            const int decimals = f.row->decimals;
            std::printf("%-46s %10.*f %10.*f %8s  %s\n", f.row->title, decimals, median(f.ours),
                        decimals, median(f.theirs), noise(f).c_str(), words(f).c_str());
        }
    }
    std::printf("\nasio_wheel is %s\n", words(c).c_str());
}

} // namespace demo

#endif
