// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Why waits were late: because of the loop, of the wheel, or of the processor.
//
//     std::cout << asio_wheel::use_wheel(ctx).lateness();

#ifndef ASIO_WHEEL_LATENESS_HPP
#define ASIO_WHEEL_LATENESS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/stats.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace asio_wheel {

/// What made waits late.
enum class lateness_cause : unsigned char {
    none,      ///< None was late.
    loop,      ///< The context did not call the wheel: handlers took long, or blocked.
    wheel,     ///< The wheel was called, and delivered later than that.
    processor, ///< The thread could not run: others had the processors.
};

/// The name of a cause, such as `loop`.
[[nodiscard]] std::string_view to_string(lateness_cause cause) noexcept;

/// How bad it is that waits, or the loop, were late.
enum class lateness_severity : unsigned char {
    ok,      ///< All is well.
    warning, ///< Somebody should look at it.
    critical ///< Users notice.
};

/// The name of a severity, such as `warning`.
[[nodiscard]] std::string_view to_string(lateness_severity severity) noexcept;

/// From when on lateness is bad. A program whose timeouts are minutes may allow more; so may a
/// wheel with a long tick, which counts as lateness.
struct lateness_limits {
    std::chrono::nanoseconds warning{std::chrono::milliseconds(20)};   ///< From this on.
    std::chrono::nanoseconds critical{std::chrono::milliseconds(200)}; ///< From this on.
};

/// How late waits were, and what speaks for which cause: wheel_service::lateness() tells for the
/// last minute.
///
/// A wait is late if it was found due more than a tick and 2 ms after its deadline. The tick is the
/// wheel's promise, and 2 ms are for the timers of operating systems. The rest is split, wait by
/// wait. As long as the driver was due and the context did not call the wheel, or other handlers
/// kept a turn of the wheel waiting in the context's queue, the loop is the cause: all sockets were
/// as late. What is left is the wheel's: more was due at once than one turn delivers.
///
/// That is not the same as a comparison of wheel_stats::lateness with wheel_stats::loop_lag. The
/// one counts waits, the other wake-ups: if 4 of 10,000 wake-ups are late by 80 ms, then 3 of 100
/// waits are late, but no quantile of the lag below the last shows why.
struct recent_lateness {
    static constexpr std::size_t seconds = 60;             ///< As far back as it reaches.
    static constexpr std::chrono::milliseconds allowed{2}; ///< Besides the tick.

    std::uint64_t waits = 0;                 ///< How many waits were late.
    std::chrono::nanoseconds late{0};        ///< How late they were, all together.
    std::chrono::nanoseconds by_loop{0};     ///< How much of that is because of the loop.
    std::chrono::nanoseconds longest_lag{0}; ///< The longest lag of the loop.
    std::uint64_t late_calls = 0;            ///< How often it was longer than `allowed`.
    std::chrono::nanoseconds longest{0};     ///< How late a wait was at most.
    /// How long ago the context should have called the wheel, and has not yet: a handler blocks
    /// now, or nobody runs the context. Zero if it is not longer than `allowed`. Another thread
    /// sees that while it lasts.
    std::chrono::nanoseconds overdue{0};

    // Of the thread that was last late with calling the wheel, and since it was last looked at more
    // than half a minute ago, or else since it began. `ran` and `waited` are zero where the system
    // does not tell, which only Linux does.
    std::chrono::nanoseconds lag{0};    ///< How late the context called the wheel, all together.
    std::chrono::nanoseconds ran{0};    ///< How long the thread has used a processor.
    std::chrono::nanoseconds waited{0}; ///< How long it was ready to run, and had none.

    /// The main cause. It is the loop if that explains half of how late the waits were; but the
    /// processor, if the thread has waited for one longer than it ran, and for at least half of the
    /// lag. It is the loop, too, if no wait was late yet, but the context is overdue.
    [[nodiscard]] lateness_cause cause() const noexcept;

    /// How bad that is, by what is longest: how late a wait was, the lag of the loop, or for how
    /// long the context is overdue.
    [[nodiscard]] lateness_severity severity(const lateness_limits& limits = {}) const noexcept {
        const auto most = (std::max)({longest, longest_lag, overdue});
        return most >= limits.critical  ? lateness_severity::critical
               : most >= limits.warning ? lateness_severity::warning
                                        : lateness_severity::ok;
    }

    /// The severity, what has happened, and the cause, in a sentence or two:
    ///
    ///     Warning: 320 waits were late because of the loop: by 41.2 ms on average, 40.9 ms of it
    ///     before the context called the wheel. It called late 25 times, by up to 80.0 ms: handlers
    ///     take long, or block.
    ///
    /// With what wheel_service::stats_by_tag() has returned, it also names the longest handler of a
    /// wait, if that explains the lags of the loop; or says that none does.
    [[nodiscard]] std::string verdict(const lateness_limits& limits = {},
                                      std::span<const tag_stats> tags = {}) const;

    friend bool operator==(const recent_lateness&, const recent_lateness&) = default;

    /// Prints the verdict, with the limits of a default lateness_limits.
    friend std::ostream& operator<<(std::ostream& out, const recent_lateness& l);
};

} // namespace asio_wheel

#endif
