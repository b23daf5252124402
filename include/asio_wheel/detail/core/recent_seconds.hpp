// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_RECENT_SECONDS_HPP
#define ASIO_WHEEL_DETAIL_CORE_RECENT_SECONDS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace asio_wheel::detail {

/// What has happened in each of the last seconds. A second is a number that does not become
/// smaller, as long as the clock is not set back.
template <class Counts, std::size_t Seconds>
class recent_seconds {
public:
    using counts = std::array<Counts, Seconds>;

    /// The counts of a second, to be increased.
    [[nodiscard]] Counts& at(std::int64_t second) noexcept {
        advance(second);
        return counts_.front();
    }

    /// Those of this second, and of the seconds before. If the clock was set back, what is of later
    /// seconds counts for the first one; or for as long ago as before, if it was set back further
    /// than these seconds reach.
    [[nodiscard]] counts until(std::int64_t second) const noexcept {
        recent_seconds copy(*this);
        copy.advance(second);
        return copy.counts_;
    }

private:
    void advance(std::int64_t second) noexcept {
        const auto over = static_cast<std::uint64_t>(second) - static_cast<std::uint64_t>(newest_);
        if (second <= newest_) {
            // Or else, if the clock was set back by a year, nothing would be forgotten for a year.
            newest_ = std::uint64_t{0} - over > counts_.size() ? second : newest_;
            return;
        }
        const auto kept = counts_.size() - (std::min<std::uint64_t>)(over, counts_.size());
        std::move_backward(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(kept),
                           counts_.end());
        std::fill(counts_.begin(), counts_.end() - static_cast<std::ptrdiff_t>(kept), Counts());
        newest_ = second;
    }

    counts counts_{};
    std::int64_t newest_ = (std::numeric_limits<std::int64_t>::min)(); // Of the first element.
};

} // namespace asio_wheel::detail

#endif
