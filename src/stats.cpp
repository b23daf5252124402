// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is computed when statistics are read.

#include <asio_wheel/stats.hpp>

#include <asio_wheel/detail/metrics.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace asio_wheel {

std::chrono::nanoseconds lateness_histogram::quantile(double q) const noexcept {
    if (count_ == 0) {
        return std::chrono::nanoseconds::zero();
    }
    // The rank of the wanted value. The factor below 1 undoes the rounding error of a product that
    // should be a whole number, so that ceil() does not raise it.
    const double share = (q > 0.0 ? (std::min)(q, 1.0) : 0.0) * static_cast<double>(count_);
    const auto rank = static_cast<std::uint64_t>(std::ceil(share * (1.0 - 1e-12)));
    const auto wanted = std::clamp<std::uint64_t>(rank, 1, count_);
    std::size_t cell = 0;
    for (std::uint64_t passed = cells_[cell]; passed < wanted; passed += cells_[cell]) {
        ++cell; // Stays in range: all cells together hold count_ values.
    }
    return std::chrono::nanoseconds(static_cast<std::int64_t>((std::min)(last_of(cell), max_)));
}

std::chrono::nanoseconds lateness_histogram::quantile_of_sum(double q) const noexcept {
    // A value is in the middle of its cell, on average. These are sums of doubles, since those of
    // integers could overflow.
    const auto sum_of = [this](std::size_t cell) {
        const std::uint64_t first = cell == 0 ? 0 : last_of(cell - 1) + 1;
        return static_cast<double>(cells_[cell]) *
               (static_cast<double>(first) * .5 + static_cast<double>(last_of(cell)) * .5);
    };
    double all = 0;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        all += sum_of(cell);
    }
    const double wanted = (q > 0.0 ? (std::min)(q, 1.0) : 0.0) * all;
    double passed = 0;
    std::uint64_t found = 0;
    for (std::size_t cell = 0; cell < cells_.size() && (passed < wanted || found == 0); ++cell) {
        if (cells_[cell] != 0) {
            passed += sum_of(cell);
            found = last_of(cell);
        }
    }
    return std::chrono::nanoseconds(static_cast<std::int64_t>((std::min)(found, max_)));
}

std::uint64_t lateness_histogram::count_up_to(std::chrono::nanoseconds d) const noexcept {
    std::uint64_t total = 0;
    if (d.count() >= 0) {
        const auto limit = static_cast<std::uint64_t>(d.count());
        for (std::size_t cell = 0; cell < cells_.size() && last_of(cell) <= limit; ++cell) {
            total += cells_[cell];
        }
    }
    return total;
}

std::vector<lateness_histogram::bucket> lateness_histogram::buckets() const {
    std::vector<bucket> found;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        if (cells_[cell] != 0) {
            const auto up_to = static_cast<std::int64_t>(last_of(cell));
            found.push_back({std::chrono::nanoseconds(up_to), cells_[cell]});
        }
    }
    return found;
}

lateness_histogram& lateness_histogram::operator-=(const lateness_histogram& earlier) noexcept {
    std::uint64_t largest = 0;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        cells_[cell] -= earlier.cells_[cell];
        if (cells_[cell] != 0) {
            largest = last_of(cell);
        }
    }
    count_ -= earlier.count_;
    sum_ -= earlier.sum_;
    max_ = (std::min)(max_, largest);
    return *this;
}

wheel_stats& wheel_stats::operator-=(const wheel_stats& earlier) noexcept {
    for (const detail::metric& m : detail::metrics) {
        if (m.type != "gauge") {
            std::visit([&](auto member) { this->*member -= earlier.*member; }, m.member);
        }
    }
    return *this;
}

} // namespace asio_wheel
