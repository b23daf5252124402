// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What waits on a wheel: wheel_service::for_each_pending() and report() say so in these types.

#ifndef ASIO_WHEEL_PENDING_HPP
#define ASIO_WHEEL_PENDING_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/lateness.hpp>
#include <asio_wheel/stats.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_wheel {

/// A wait that is not due yet.
struct pending_wait {
    wait_kind kind = wait_kind::timer; ///< What it is part of.
    std::string_view tag; ///< As given by tag(). Empty if there is none. It lives for ever.
    /// Where the tag was written; or, with ASIO_WHEEL_TRACK_SOURCE, where the wait was started. Its
    /// line() is 0 if neither is known.
    std::source_location place;
    std::chrono::nanoseconds remaining{0}; ///< Until it is due. Negative if it is late.
    /// Whether the handler has another executor than the context's own, such as a strand.
    bool on_other_executor = false;
};

/// How often a wheel has woken its context up in one second, and why.
struct wake_ups_in_second {
    std::uint64_t due = 0;         ///< Waits had become due.
    std::uint64_t nothing_due = 0; ///< What was due had been cancelled or postponed.
    std::uint64_t moved = 0;       ///< The wake-up was moved to an earlier time, or was not needed.

    friend bool operator==(const wake_ups_in_second&, const wake_ups_in_second&) = default;
};

/// What waits on a wheel, in numbers: wheel_service::report() makes it. Its parts may be used after
/// a temporary report has ended.
///
///     std::cout << asio_wheel::use_wheel(ctx).report();
///
/// prints
///
///     250000 waits are pending.
///     lateness in the last minute
///       All is well: no wait was late.
///     by kind and tag
///       200000  timer    session idle
///        50000  timeout  login
///     the next
///          250 ms  timeout  login  (server.cpp:12)
///     …
class wheel_report {
public:
    /// Waits of one kind with one tag.
    struct group {
        wait_kind kind;                   ///< What they are part of.
        std::string_view tag;             ///< Empty if they have none.
        std::uint64_t count;              ///< How many they are.
        std::chrono::nanoseconds soonest; ///< Until the first of them is due.
        friend bool operator==(const group&, const group&) = default;
    };

    static constexpr std::size_t most_next = 10; ///< How many waits next() lists at most.
    static constexpr std::size_t seconds = 10;   ///< As far back as wake_ups() reaches.

    /// Adds a wait.
    void add(const pending_wait& wait);

    /// Sets what wake_ups() returns.
    void wake_ups(const std::array<wake_ups_in_second, seconds>& recent) noexcept {
        wake_ups_ = recent;
    }

    /// Sets what lateness() returns.
    void lateness(const recent_lateness& l) noexcept { lateness_ = l; }

    /// Sets what was measured by tag, which the verdict on the lateness uses.
    void tags(std::vector<tag_stats> measured) noexcept { tags_ = std::move(measured); }

    /// How many waits are pending.
    [[nodiscard]] std::uint64_t waits() const noexcept { return remaining_.count(); }

    /// How many there are of each kind and tag; the most first.
    [[nodiscard]] std::vector<group> groups() const;

    /// The waits that expire next, in order.
    [[nodiscard]] const std::vector<pending_wait>& next() const& noexcept { return next_; }
    [[nodiscard]] std::vector<pending_wait> next() && noexcept { return std::move(next_); }

    /// The time that remains for each wait. A wait that is late counts as zero.
    [[nodiscard]] const lateness_histogram& remaining() const& noexcept { return remaining_; }
    [[nodiscard]] lateness_histogram remaining() && noexcept { return remaining_; }

    /// How late waits were in the last minute, and why. Nothing if that was not set.
    [[nodiscard]] const std::optional<recent_lateness>& lateness() const& noexcept {
        return lateness_;
    }
    [[nodiscard]] std::optional<recent_lateness> lateness() && noexcept { return lateness_; }

    /// The wake-ups of the last seconds. The first element is the present second, which is not
    /// over. It also has those of seconds that are later, if the clock was set back.
    [[nodiscard]] const std::array<wake_ups_in_second, seconds>& wake_ups() const& noexcept {
        return wake_ups_;
    }
    [[nodiscard]] std::array<wake_ups_in_second, seconds> wake_ups() && noexcept {
        return wake_ups_;
    }

    /// Prints all of it, as text for people. Control characters of a tag, and what would turn the
    /// direction of text, are printed as `\n`, `\x1b` or `\u202e`. Of the next waits, equal lines
    /// are printed once, with their number.
    friend std::ostream& operator<<(std::ostream& out, const wheel_report& report);

private:
    std::vector<group> groups_;
    std::size_t last_group_ = 0; // Most often the next wait belongs there, too.
    std::vector<pending_wait> next_;
    lateness_histogram remaining_;
    std::optional<recent_lateness> lateness_;
    std::vector<tag_stats> tags_;
    std::array<wake_ups_in_second, seconds> wake_ups_{};
};

/// How full the slots of a wheel are: wheel_service::occupancy() tells.
struct wheel_occupancy {
    /// One level of the wheel.
    struct level {
        std::chrono::nanoseconds slot_width{0}; ///< How much time a slot covers.
        std::size_t slots = 0;                  ///< How many there are.
        std::size_t current = 0;                ///< The slot in which the present time is.
        /// For each slot 0 if it is empty; at most 8. Below, it is about the number of timers in
        /// it: those that wait, and those that did when they were filed. If there are fewer cells
        /// than slots, each cell stands for the same number of neighbouring slots.
        std::vector<std::uint8_t> fill;
    };

    std::vector<level> levels; ///< The first one has the narrowest slots.
};

} // namespace asio_wheel

#endif
