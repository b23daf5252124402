// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Why waits were late: because of the loop, of the wheel, or of the processor.
//
//     std::cout << asio_wheel::use_wheel(ctx).lateness();

#ifndef ASIO_WHEEL_LATENESS_HPP
#define ASIO_WHEEL_LATENESS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
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

/// How late waits were, and what speaks for which cause: wheel_service::lateness() tells for the
/// last minute.
///
/// A wait is late if it was found due more than a tick and 2 ms after its deadline. The tick is the
/// wheel's promise, and 2 ms are for the timers of operating systems. The rest is split, wait by
/// wait. As long as the driver was due and the context did not call the wheel, the loop is the
/// cause: all sockets were as late. What is left is the wheel's.
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

    // Of the thread that was last late with calling the wheel, and since it was last looked at more
    // than half a minute ago, or else since it began. All are zero where the system does not tell,
    // which only Linux does.
    std::chrono::nanoseconds lag{0};    ///< How late the context called the wheel, all together.
    std::chrono::nanoseconds ran{0};    ///< How long the thread has used a processor.
    std::chrono::nanoseconds waited{0}; ///< How long it was ready to run, and had none.

    /// The main cause. It is the loop if that explains half of how late the waits were; but the
    /// processor, if the thread has waited for one longer than it ran, and for at least half of the
    /// lag.
    [[nodiscard]] lateness_cause cause() const noexcept;

    friend bool operator==(const recent_lateness&, const recent_lateness&) = default;

    /// Prints the verdict as a sentence or two:
    ///
    ///     320 waits were late because of the loop: by 41.2 ms on average, 40.9 ms of it before
    ///     the context called the wheel. It called up to 80.0 ms late: a handler took long, or
    ///     blocked, or the process was stopped.
    friend std::ostream& operator<<(std::ostream& out, const recent_lateness& l);
};

} // namespace asio_wheel

#endif
