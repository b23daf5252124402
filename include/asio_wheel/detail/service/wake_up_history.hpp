// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WAKE_UP_HISTORY_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WAKE_UP_HISTORY_HPP

#include <asio_wheel/pending.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace asio_wheel::detail {

/// The wake-ups of the last seconds. A second is a number that does not become smaller, as long as
/// the clock is not set back.
class wake_up_history {
public:
    using counts = std::array<wake_ups_in_second, wheel_report::seconds>;

    /// The counts of a second, to be increased.
    [[nodiscard]] wake_ups_in_second& at(std::int64_t second) noexcept {
        advance(second);
        return counts_.front();
    }

    /// As wheel_report::wake_ups().
    [[nodiscard]] counts until(std::int64_t second) const noexcept {
        wake_up_history copy(*this);
        copy.advance(second);
        return copy.counts_;
    }

private:
    void advance(std::int64_t second) noexcept {
        if (second <= newest_) {
            return;
        }
        const auto over = static_cast<std::uint64_t>(second) - static_cast<std::uint64_t>(newest_);
        const auto kept = counts_.size() - (std::min<std::uint64_t>)(over, counts_.size());
        std::move_backward(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(kept),
                           counts_.end());
        std::fill(counts_.begin(), counts_.end() - static_cast<std::ptrdiff_t>(kept),
                  wake_ups_in_second());
        newest_ = second;
    }

    counts counts_{};
    std::int64_t newest_ = (std::numeric_limits<std::int64_t>::min)(); // Of the first element.
};

} // namespace asio_wheel::detail

#endif
