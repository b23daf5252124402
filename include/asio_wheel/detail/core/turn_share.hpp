// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How many entries of a wheel one turn of its context looks at.
//
// On an idle context, a turn is one slice of `budget` entries, so that what comes meanwhile waits
// for one slice only. On a busy context, each turn has to wait for the handlers of others. If it
// looked at one slice there, too, the wheel would get less time the busier the context is, and what
// is due would pile up. So a turn is a share of the time of the context: together with the handlers
// that it makes ready, it may take a quarter of the time that others have taken since the turn
// before. A quarter, because a context may have several wheels, and each counts the others. No more
// than a second of the others counts: they should not wait for longer than a quarter of that, and
// if the clock was set forward, they were not busy at all.
//
// A turn begins with the driver's wake-up, or is the rest of the turn before. The order in the
// context's queue then is
//
//     the turn ends | handlers of others | the handlers that it made ready | the rest
//
// So others have had their time when the first of the turn's own handlers comes, and what follows
// until the rest is what the turn's entries have cost. That cost is learned, because it decides how
// many entries fit into a share.
//
// The time of others is also how long a handler waits in the queue. On a busy context it comes
// twice before a handler is called: first the wake-up is in the queue, and then what it has made
// ready. So the driver is armed earlier by that `delay`. If it then comes too early, because the
// context is no longer so busy, the delay becomes shorter by as much; and by half, if it comes too
// early again. Otherwise, after an hour's delay, the driver would come at once, again and again.

#ifndef ASIO_WHEEL_DETAIL_CORE_TURN_SHARE_HPP
#define ASIO_WHEEL_DETAIL_CORE_TURN_SHARE_HPP

#include <asio_wheel/detail/core/clock_port.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class turn_share {
public:
    using nanoseconds = std::chrono::nanoseconds;

    turn_share(std::size_t budget, const clock_port& unit) noexcept
        : unit_(unit), budget_(budget) {}

    /// How many entries a turn may look at if others have taken so long.
    [[nodiscard]] std::size_t entries(nanoseconds others) const noexcept {
        const nanoseconds counted = std::clamp(others, nanoseconds(0), longest);
        const auto share = static_cast<std::uint64_t>(counted.count()) / one_part_of;
        return (std::max)(budget_, static_cast<std::size_t>(share / cost_));
    }

    /// A turn begins.
    void begin_turn(time_count now) noexcept {
        began_ = now;
        first_ = nullptr;
        stage_ = stage::nothing_due;
    }

    /// Time has jumped. What was before it is no time for which others were busy.
    void begin_anew(time_count now) noexcept {
        begin_turn(now);
        end_turn(now, 0);
    }

    /// The turn makes a wait ready. As a rule, it completes the first one itself, and queues all
    /// others.
    void make_ready(const void* wait) noexcept {
        if (stage_ == stage::nothing_due) {
            stage_ = stage::nothing_queued;
        } else if (stage_ == stage::nothing_queued) {
            first_ = wait;
            stage_ = stage::queued;
        }
    }

    /// Of the last turn.
    [[nodiscard]] bool nothing_was_due() const noexcept { return stage_ == stage::nothing_due; }

    /// The turn ends, after it has looked at so many entries.
    void end_turn(time_count now, std::size_t looked_at) noexcept {
        ended_ = now;
        looked_at_ = looked_at;
    }

    /// Whether the wait is the first one that the turn has queued. Then its turn has come: come().
    [[nodiscard]] bool awaits(const void* wait) const noexcept { return wait == first_; }
    void come(time_count now) noexcept {
        first_ = nullptr;
        came_ = now;
        stage_ = stage::came;
        early_ = false;
        before_last_delay_ = std::exchange(last_delay_, unit_.between(ended_, now));
    }

    /// How long a handler waits in the queue of a busy context; zero if that is not long. It is the
    /// shorter one of the last two delays, so that a stall is not taken for the rule.
    [[nodiscard]] nanoseconds delay() const noexcept {
        const nanoseconds shorter = (std::min)(last_delay_, before_last_delay_);
        return shorter >= long_delay ? shorter : nanoseconds(0);
    }
    /// A wake-up came before it was due: `late` is negative.
    void come_early(nanoseconds late) noexcept {
        last_delay_ = (std::min)(delay() + late, early_ ? delay() / 2 : delay());
        early_ = true;
    }

    /// When the last turn began, and when it ended.
    [[nodiscard]] time_count began() const noexcept { return began_; }
    [[nodiscard]] time_count ended() const noexcept { return ended_; }

    /// The rest of the turn begins. Returns for how long others were busy since the turn.
    [[nodiscard]] nanoseconds begin_rest(time_count now) noexcept {
        switch (stage_) {
        case stage::nothing_due:
        case stage::nothing_queued:
            return unit_.between(ended_, now);
        case stage::queued: // The first one was replaced or destroyed: this is unknown.
            break;
        case stage::came:
            const nanoseconds others =
                (std::max)(unit_.between(ended_, came_), nanoseconds(0)); // Or during the turn.
            learn(unit_.between(began_, now) - others);
            return others;
        }
        return nanoseconds(0);
    }

    /// For how long others were busy until a wake-up at `now` that was expected at `due`.
    [[nodiscard]] nanoseconds until_wake_up(time_count due, time_count now) const noexcept {
        return unit_.between((std::max)(due, ended_), now);
    }

private:
    enum class stage : std::uint8_t { nothing_due, nothing_queued, queued, came };

    void learn(nanoseconds took) noexcept {
        if (looked_at_ >= budget_ && took > nanoseconds(0)) {
            const auto each = static_cast<std::uint64_t>(took.count()) / looked_at_;
            cost_ = (std::max<std::uint64_t>)((cost_ + each) / 2, 1);
        }
    }

    static constexpr std::uint64_t one_part_of = 4;
    static constexpr nanoseconds long_delay = std::chrono::milliseconds(10);
    static constexpr nanoseconds longest = std::chrono::seconds(1);

    const clock_port& unit_;
    std::size_t budget_;
    std::uint64_t cost_ = 1'000; // Of an entry and its handler, in nanoseconds.
    stage stage_ = stage::nothing_due;
    const void* first_ = nullptr;
    std::size_t looked_at_ = 0;
    nanoseconds last_delay_{0};
    nanoseconds before_last_delay_{0};
    bool early_ = false; // The last wake-up came early, and no handler has come since.
    time_count began_ = before_all;
    time_count ended_ = before_all;
    time_count came_ = before_all;
};

} // namespace asio_wheel::detail

#endif
