// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_STATS_HPP
#define ASIO_WHEEL_STATS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/wait_kind.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace asio_wheel {

/// How late things happened: counts of durations on a log-linear scale.
///
/// Every power of two is divided into eight equal cells, so a quantile is at most 12.5 % above the
/// true value, from 1 ns to 292 years, in 4 kB. Adding is a few instructions and never allocates.
/// Not synchronised.
///
/// The difference of two snapshots is what was counted in between:
///
///     const asio_wheel::lateness_histogram of_last_minute = now.lateness - before.lateness;
class lateness_histogram {
public:
    /// A cell that has counted something.
    struct bucket {
        std::chrono::nanoseconds up_to; ///< The largest value that it counts.
        std::uint64_t count;            ///< How many values it has counted.
        friend bool operator==(const bucket&, const bucket&) = default;
    };

    /// Counts `value`; a negative one counts as zero.
    void add(std::chrono::nanoseconds value) noexcept {
        const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
        ++cells_[cell_of(ns)];
        ++count_;
        sum_ += (std::min)(ns, longest - sum_);
        max_ = (std::max)(max_, ns);
    }

    /// How many values were counted.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    /// The sum of all values, exactly. It stays at 292 years when it has come there.
    [[nodiscard]] std::chrono::nanoseconds sum() const noexcept {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(sum_));
    }

    /// The largest value, exactly; zero if there is none. (Of a difference: at most 12.5 % above.)
    // In parentheses, because max may be a macro of windows.h.
    [[nodiscard]] std::chrono::nanoseconds(max)() const noexcept {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(max_));
    }

    /// The value that a share of `q` (0 … 1, clamped) of all values does not exceed; zero if there
    /// is none.
    [[nodiscard]] std::chrono::nanoseconds quantile(double q) const noexcept;

    /// The value that `q` (0 … 1, clamped) of the sum of all values does not exceed: each value
    /// weighs as much as it is long. Of the lags of a loop, half of all waiting was in lags up to
    /// quantile_of_sum(.5), however many short ones there are besides.
    [[nodiscard]] std::chrono::nanoseconds quantile_of_sum(double q) const noexcept;

    /// How many values did not exceed `d`. Exact if `d` is the largest value of a cell, such as a
    /// power of two less one; otherwise the values in the cell of `d` are missing.
    [[nodiscard]] std::uint64_t count_up_to(std::chrono::nanoseconds d) const noexcept;

    /// All cells that have counted something, in ascending order.
    [[nodiscard]] std::vector<bucket> buckets() const;

    /// Takes out what was counted in an `earlier` snapshot of the same histogram.
    lateness_histogram& operator-=(const lateness_histogram& earlier) noexcept;
    /// What was counted in between.
    [[nodiscard]] friend lateness_histogram operator-(lateness_histogram later,
                                                      const lateness_histogram& earlier) noexcept {
        return later -= earlier;
    }
    friend bool operator==(const lateness_histogram&, const lateness_histogram&) = default;

private:
    static constexpr unsigned cell_bits = 3;
    static constexpr std::uint64_t longest = (std::numeric_limits<std::int64_t>::max)();

    [[nodiscard]] static constexpr std::size_t cell_of(std::uint64_t ns) noexcept {
        if (ns < (1U << cell_bits)) {
            return static_cast<std::size_t>(ns);
        }
        const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - cell_bits;
        return (std::size_t{shift} << cell_bits) + static_cast<std::size_t>(ns >> shift);
    }

    /// The largest value of a cell: the inverse of cell_of().
    [[nodiscard]] static constexpr std::uint64_t last_of(std::size_t cell) noexcept {
        constexpr std::size_t linear = std::size_t{1} << (cell_bits + 1);
        const std::size_t shift = cell < linear ? 0 : (cell >> cell_bits) - 1;
        const std::uint64_t base = cell - (shift << cell_bits);
        return ((base + 1) << shift) - 1;
    }

    std::array<std::uint64_t, ((64 - cell_bits) << cell_bits)> cells_{};
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t max_ = 0;
};

/// What a wheel has done since it was made. All counts, but for `pending`, only grow. (A wait whose
/// start meets a turn of the wheel on another thread may for a moment be counted twice.)
///
/// The difference of two snapshots is what the wheel has done in between:
///
///     const asio_wheel::wheel_stats last_minute = now - before;
struct wheel_stats {
    /// Waits that have neither expired nor been cancelled nor dropped, now. So this is what was
    /// scheduled, less what has fired, and what was cancelled and dropped.
    std::uint64_t pending = 0;
    /// The most there ever were at once. The wheel compares when it files a timer. If n threads use
    /// the wheel, it compares at each n-th timer that it files.
    std::uint64_t peak_pending = 0;
    std::uint64_t scheduled = 0; ///< Waits accepted.
    std::uint64_t fired = 0;     ///< Waits delivered because their deadline had passed.
    counts_by_kind expired;      ///< What has expired for users, by kind.
    std::uint64_t cancelled = 0; ///< Waits delivered with operation_aborted.
    std::uint64_t dropped = 0;   ///< Waits whose handlers were destroyed by their executor.
    std::uint64_t postponed = 0; ///< Waits moved to another deadline without completing.
    std::uint64_t rejected = 0;  ///< Waits refused because of max_pending or after drain().
    std::uint64_t cascaded = 0;  ///< Entries filed again while time advanced.
    /// Times the one Asio timer behind the wheel expired. While the wheel gives way after a stall,
    /// they do not count.
    std::uint64_t wake_ups = 0;
    std::uint64_t spurious_wake_ups = 0; ///< Those of them that found nothing due.
    /// Times the wheel came later than wheel_options::stall allows. On a loaded context, only what
    /// is much later than usual counts.
    std::uint64_t stalls = 0;
    std::chrono::nanoseconds stalled{0}; ///< How late it was, all these times together.
    /// From a wait's deadline to the tick that found it due. If a wait begins after its deadline,
    /// the time before counts, too; wheel_service::lateness() leaves that out.
    lateness_histogram lateness;
    /// How late the context called the wheel when the one Asio timer had expired: how long its
    /// handlers keep everything waiting, sockets and timers alike. One value for each wake-up,
    /// unless the rest of a turn is in the queue then. (If the wheel needs no wake-ups, an interval
    /// of a second makes it measure.) To learn whether it explains `lateness`, do not compare their
    /// quantiles, since one long lag delays many waits: ask wheel_service::lateness().
    lateness_histogram loop_lag;
    /// From that tick to the call of the handler: how long other handlers have kept it waiting, of
    /// its context and of its executor. Counts with wheel_options::measure_handlers only.
    lateness_histogram handler_delay;

    /// Takes out what an `earlier` snapshot of the same wheel has. `pending` and `peak_pending` are
    /// no sums, and stay.
    wheel_stats& operator-=(const wheel_stats& earlier) noexcept;
    /// What the wheel has done in between.
    [[nodiscard]] friend wheel_stats operator-(wheel_stats later,
                                               const wheel_stats& earlier) noexcept {
        return later -= earlier;
    }
};

/// What was measured of the waits of one kind with one tag: wheel_service::stats_by_tag() tells,
/// with wheel_options::measure_handlers.
struct tag_stats {
    /// In place of the tag, for what a wheel has no room for.
    static constexpr std::string_view others = "other tags";

    wait_kind kind = wait_kind::timer;        ///< What the waits are part of.
    std::string_view tag;                     ///< Empty if they have none. It lives for ever.
    std::uint64_t fired = 0;                  ///< As wheel_stats::fired.
    std::uint64_t wake_ups = 0;               ///< Those at which such a wait was due first.
    std::chrono::nanoseconds late{0};         ///< How late they were found due, all together.
    std::chrono::nanoseconds longest_late{0}; ///< The most of these.
    /// From that tick to the call of the handler, all together.
    std::chrono::nanoseconds delayed{0};
    std::chrono::nanoseconds longest_delay{0}; ///< The most of these.
    std::uint64_t handlers = 0;      ///< Those that ran, and not on an executor such as a strand.
    std::chrono::nanoseconds ran{0}; ///< How long these ran, all together.
    std::chrono::nanoseconds longest_run{0}; ///< The most of these.
    /// The most in this minute and in the one before; not what only grows.
    std::chrono::nanoseconds recent_run{0};

    friend bool operator==(const tag_stats&, const tag_stats&) = default;
};

} // namespace asio_wheel

#endif
