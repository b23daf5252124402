// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What is set for a stream: the deadlines of its two directions, its lifetime, and the periods in
// which it has to make progress. deadline_fsm owns it, and says when each of them counts. Like
// that, this file knows no timer, no lock and no clock.
//
// There is a period for both directions, one for writes, and one for the least rate. It is counted
// from when enough was last read, written or taken, but not from before there was a period at all.
// Time in which all that it concerns is unused does not count: after it, the period goes on. With
// another connection, it begins anew: with a connect, or with the first operation after the stream
// was closed.
//
// A write is done when the system has taken the bytes, long before the peer has; and the system
// lets a stream write again only when a good part of its buffer is empty. So if a period is over,
// and the next layer has fewer bytes than the last time that the peer has not taken, or any at the
// first time, the period begins anew.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_LIMITS_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_LIMITS_HPP

#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout_stream/direction.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace asio_wheel::detail {

[[nodiscard]] inline bool has_passed(std::chrono::steady_clock::time_point deadline,
                                     std::chrono::steady_clock::time_point now) noexcept {
    return deadline != (deadline.max)() && deadline <= now;
}

/// A time in which the stream has to make progress, again and again: to transfer so many bytes. An
/// idle period is one with a single byte.
struct progress_period {
    using time_point = std::chrono::steady_clock::time_point;
    using duration = time_point::duration;

    static constexpr time_point never = (time_point::max)();
    static constexpr duration none = (duration::max)();

    duration length = none;
    std::size_t least = 1;             // How many bytes.
    time_point since;                  // When it was last counted anew, and later by each pause.
    std::size_t done = 0;              // The bytes since then: fewer than `least`.
    time_point paused;                 // When that was, or it was last counted anew.
    std::optional<std::size_t> unsent; // Set when it was counted anew because of that.

    // What takes the place of another period is counted from the same time.
    void set(duration d, std::size_t bytes, time_point now) noexcept {
        if (length == none || done >= bytes) {
            restart(now);
        }
        length = d;
        least = bytes;
    }

    void restart(time_point now) noexcept {
        since = paused = now;
        done = 0;
        unsent.reset();
    }

    // The time between these does not count.
    void pause(time_point now) noexcept { paused = now; }
    void resume(time_point now) noexcept {
        since += length == none ? duration() : now - paused;
        paused = now;
    }

    void transferred(std::size_t n, time_point now) noexcept {
        if (n >= least - done) {
            restart(now);
        } else {
            done += n;
        }
    }

    [[nodiscard]] time_point end() const noexcept {
        return length == none ? never : add_saturating(since, length);
    }

    // The next layer has `n` bytes that the peer has not taken. If the period has ended, that may
    // be a reason to count it anew. At the first look, it is not known whether there were more
    // before: so they count as taken if there are any. Later, what the peer has taken counts in
    // place of what the layer has.
    void look(std::size_t n, time_point now) noexcept {
        const bool taken = unsent ? n <= *unsent && *unsent - n >= least - done : n != 0;
        if (has_passed(end(), now) && taken) {
            restart(now);
            unsent = n;
        }
    }
};

/// The last time point and the longest period mean that there is none.
struct stream_limits {
    using time_point = progress_period::time_point;
    using duration = progress_period::duration;

    time_point read = progress_period::never;
    time_point write = progress_period::never;    ///< And connect.
    time_point lifetime = progress_period::never; ///< When the whole stream ends.
    progress_period idle;                         ///< Something is read or written.
    duration min_idle{};                          ///< The scale makes `idle` no shorter.
    progress_period write_idle;                   ///< Something is written.
    progress_period rate;                         ///< So much is read or written.
    std::optional<duration> message;              ///< From the first byte of the next one.
    bool try_late = false; ///< Try operations that begin after `read`, `write`.

    /// When an operation fails, whatever progress it makes.
    [[nodiscard]] time_point deadline_of(direction what) const noexcept {
        return (std::min)(lifetime, what == direction::read ? read : write);
    }

    /// When it fails without progress.
    [[nodiscard]] time_point end_of(direction what) const noexcept {
        const time_point end = (std::min)({deadline_of(what), idle.end(), rate.end()});
        return what == direction::read ? end : (std::min)(end, write_idle.end());
    }

    /// Whether an operation that begins too late is tried: not beyond the lifetime.
    [[nodiscard]] bool tries_late(time_point now) const noexcept {
        return try_late && !has_passed(lifetime, now);
    }

    [[nodiscard]] bool has_period() const noexcept {
        return idle.length != progress_period::none || write_idle.length != progress_period::none ||
               rate.length != progress_period::none;
    }

    void restart_periods(time_point now) noexcept {
        idle.restart(now);
        write_idle.restart(now);
        rate.restart(now);
    }

    // `unused`: no operation is pending. `no_write`: nor is a write.
    void resume_periods(bool unused, bool no_write, time_point now) noexcept {
        if (unused) {
            idle.resume(now);
            rate.resume(now);
        }
        if (no_write) {
            write_idle.resume(now);
        }
    }
    void pause_periods(bool unused, bool no_write, time_point now) noexcept {
        if (unused) {
            idle.pause(now);
            rate.pause(now);
        }
        if (no_write) {
            write_idle.pause(now);
        }
    }

    void transferred(direction what, std::size_t n, time_point now) noexcept {
        idle.transferred(n, now);
        rate.transferred(n, now);
        if (what != direction::read) {
            write_idle.transferred(n, now);
        }
    }

    // The next layer was asked, and says how many bytes the peer has not taken, if it knows.
    // `writing`: the period of writes is not paused.
    void look(std::optional<std::size_t> unsent, bool writing, time_point now) noexcept {
        if (unsent) {
            idle.look(*unsent, now);
            rate.look(*unsent, now);
            if (writing) {
                write_idle.look(*unsent, now);
            }
        }
    }
};

} // namespace asio_wheel::detail

#endif
