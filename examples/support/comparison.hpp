// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Compares two timers by trials that were made in turn. Tested with recorded numbers.

#ifndef DEMO_COMPARISON_HPP
#define DEMO_COMPARISON_HPP

#include "checks.hpp"
#include "figure_row.hpp"
#include "samples.hpp"
#include "verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace demo {

/// A trial of each timer, one directly after the other.
struct trial_pair {
    outcome ours;
    outcome theirs;
    trial_result checks; ///< The worse result of the two.
};

struct compared_figure {
    const figure_row* row;
    samples ours;
    samples theirs;
    verdict result;
};

/// Only pairs whose checks have all passed count. So nothing is judged by clients that were late
/// themselves.
class comparison {
public:
    comparison(const std::vector<trial_pair>& pairs, std::span<const figure_row> rows)
        : pairs_(pairs.size()) {
        for (const figure_row& row : rows) {
            figures_.push_back({&row, {}, {}, verdict::not_judged});
        }
        for (const trial_pair& p : pairs) {
            if (p.checks == trial_result::passed) {
                add(p);
            } else {
                clients_ms_ =
                    std::max({clients_ms_, p.ours.machine.clients_ms, p.theirs.machine.clients_ms});
            }
        }
        for (compared_figure& f : figures_) {
            f.result = judge(f.row->good, f.ours, f.theirs);
        }
    }

    [[nodiscard]] const std::vector<compared_figure>& figures() const { return figures_; }
    [[nodiscard]] std::size_t pairs() const { return pairs_; }
    [[nodiscard]] std::size_t counted() const { return counted_; }
    /// Returns how late the clients were in pairs that do not count.
    [[nodiscard]] double clients_ms() const { return clients_ms_; }

    /// Returns how many figures have that result.
    [[nodiscard]] std::size_t count(verdict v) const {
        return static_cast<std::size_t>(std::ranges::count(figures_, v, &compared_figure::result));
    }

    /// The verdict of the whole.
    [[nodiscard]] verdict result() const {
        const bool some_better = count(verdict::better) != 0;
        const bool some_worse = count(verdict::worse) != 0;
        return counted_ < least_runs       ? verdict::not_judged
               : some_better && some_worse ? verdict::mixed
               : some_better               ? verdict::better
               : some_worse                ? verdict::worse
                                           : verdict::within_noise;
    }

private:
    void add(const trial_pair& p) {
        ++counted_;
        for (compared_figure& f : figures_) {
            const record& mine = p.ours.*f.row->side;
            const record& other = p.theirs.*f.row->side;
            if (mine.contains(f.row->name) && other.contains(f.row->name)) {
                f.ours.push_back(figure(mine, f.row->name));
                f.theirs.push_back(figure(other, f.row->name));
            }
        }
    }

    std::size_t pairs_;
    std::size_t counted_ = 0;
    double clients_ms_ = 0;
    std::vector<compared_figure> figures_;
};

} // namespace demo

#endif
