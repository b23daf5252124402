// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is measured of each kind and tag, if wheel_options::measure_handlers asks for it. A tag is
// found by the address of its text, because that is quick. Texts are compared when the numbers are
// read. What the table has no room for is counted by kind alone.

#ifndef ASIO_WHEEL_DETAIL_CORE_TAG_METER_HPP
#define ASIO_WHEEL_DETAIL_CORE_TAG_METER_HPP

#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/stats.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace asio_wheel::detail {

/// The numbers of a tag, without its recent_run.
struct measured_tag {
    tag_stats numbers;
    std::int64_t minute = (std::numeric_limits<std::int64_t>::min)(); // Of the last run.
    std::chrono::nanoseconds most{0};                                 // In that minute,
    std::chrono::nanoseconds most_before{0};                          // and in the one before.
};

/// Guarded by the wheel's lock.
class tag_meter {
    using nanoseconds = std::chrono::nanoseconds;

public:
    static constexpr std::size_t slots = 64; ///< Each for a kind with a tag, or without.

    /// Where a wait is counted. That stays where it is.
    [[nodiscard]] measured_tag& of(const wait_node& wait) noexcept;

    /// Begins a wake-up: whose wait is due first has caused it.
    void woke_up() noexcept { woke_up_ = true; }
    /// All that was due at the wake-up was delivered. What is due from now on has not caused it.
    void end_wake_up() noexcept { woke_up_ = false; }
    /// A wait has become due.
    void found_due(const wait_node& wait) noexcept {
        if (woke_up_) {
            woke_up_ = false;
            ++of(wait).numbers.wake_ups;
        }
    }

    static void fired(measured_tag& of, nanoseconds late, nanoseconds delay) noexcept;
    static void ran(measured_tag& of, nanoseconds d, std::int64_t minute) noexcept;

    /// Each kind with a tag once; those with the most time in handlers first.
    [[nodiscard]] std::vector<tag_stats> all(std::int64_t minute) const;

private:
    static void add_to(nanoseconds& sum, nanoseconds d) noexcept { sum = add_saturating(sum, d); }
    static void raise_to(nanoseconds& most, nanoseconds d) noexcept { most = (std::max)(most, d); }

    struct slot {
        const char* tag = nullptr;
        bool used = false;
        measured_tag counted;
    };

    std::array<slot, slots> slots_{};
    std::array<measured_tag, all_wait_kinds.size()> others_{}; // By kind.
    bool woke_up_ = false;
};

} // namespace asio_wheel::detail

#endif
