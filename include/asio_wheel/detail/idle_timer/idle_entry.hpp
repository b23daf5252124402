// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// When the period of an idle timer ends, as the idle timer and the scale compute it.

#ifndef ASIO_WHEEL_DETAIL_IDLE_TIMER_IDLE_ENTRY_HPP
#define ASIO_WHEEL_DETAIL_IDLE_TIMER_IDLE_ENTRY_HPP

#include <asio_wheel/detail/idle_timer/activity.hpp>
#include <asio_wheel/detail/service/idle_scale.hpp>
#include <asio_wheel/detail/threads/relaxed_atomic.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <cstdint>
#include <type_traits>

namespace asio_wheel::detail {

/// What the scale knows about an idle timer.
template <class Core>
struct idle_entry : scaled_wait<Core> {
    using duration = typename Core::duration;
    using time_point = typename Core::time_point;

    idle_entry(const activity<Core>& a, typename Core::state& s, duration p, duration least)
        : scaled_wait<Core>(s, &expiry_of), last_activity(&a), period(p), min_period(least) {}

    /// When the period ends, shortened by `scale`.
    [[nodiscard]] time_point expiry(double scale) const noexcept { return expiry(scale, 1); }

    /// When so many periods are over.
    [[nodiscard]] time_point expiry(double scale, std::uint64_t periods) const noexcept {
        const duration one = period_at(scale);
        using rep = typename duration::rep;
        const bool endless = one > (duration::max)() / static_cast<rep>(periods);
        return add_saturating(last_activity->last(),
                              endless ? (duration::max)() : one * static_cast<rep>(periods));
    }

    /// How many periods are over, if each ends `late`.
    [[nodiscard]] std::uint64_t periods(double scale, time_point now,
                                        duration late) const noexcept {
        const duration idle = until_or_zero(last_activity->last(), now);
        if (idle < late) {
            return 0;
        }
        const auto n =
            static_cast<std::uint64_t>(saturating<std::int64_t>((idle - late) / period_at(scale)));
        if constexpr (std::is_floating_point_v<typename duration::rep>) {
            // The quotient may have been rounded down. What a wait has waited for is over.
            return add_saturating(expiry(scale, n + 1), late) <= now ? n + 1 : n;
        }
        return n;
    }

    [[nodiscard]] duration period_at(double scale) const noexcept {
        return scaled_period<duration>(period, scale, min_period);
    }

    // The owner is the idle timer. It writes these under the scale's lock, and may read them
    // without it. On a clock that can be set, so does any thread that touches, which needs only a
    // period that was set.
    const activity<Core>* last_activity;
    relaxed_atomic<duration> period;
    const duration min_period;

private:
    static time_point expiry_of(scaled_wait<Core>& self, double scale) noexcept {
        return static_cast<const idle_entry&>(self).expiry(scale);
    }
};

} // namespace asio_wheel::detail

#endif
