// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The histogram of lateness: what is computed when statistics are read.

#include <asio_wheel/stats.hpp>

#include <cmath>

namespace asio_wheel {

std::chrono::nanoseconds lateness_histogram::quantile(double q) const noexcept {
    if (count_ == 0) {
        return std::chrono::nanoseconds::zero();
    }
    // The rank of the wanted value. The factor below 1 undoes the rounding error of a product that
    // should be a whole number, so that ceil() does not raise it.
    const double share = (q > 0.0 ? std::min(q, 1.0) : 0.0) * static_cast<double>(count_);
    const auto rank = static_cast<std::uint64_t>(std::ceil(share * (1.0 - 1e-12)));
    const auto wanted = std::clamp<std::uint64_t>(rank, 1, count_);
    std::size_t cell = 0;
    for (std::uint64_t passed = cells_[cell]; passed < wanted; passed += cells_[cell]) {
        ++cell; // Stays in range: all cells together hold count_ values.
    }
    // The largest value that the cell stands for: the inverse of cell_of().
    constexpr std::size_t linear = std::size_t{1} << (cell_bits + 1);
    const std::size_t shift = cell < linear ? 0 : (cell >> cell_bits) - 1;
    const std::uint64_t base = cell - (shift << cell_bits);
    const std::uint64_t upper = ((base + 1) << shift) - 1;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(upper, max_)));
}

} // namespace asio_wheel
