// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A stall is not silence.
//
// After a process was stopped or suspended, or a handler has blocked, deadlines have passed, and
// data that came in time was not read yet. An event loop would look at a batch of sockets (128 with
// epoll), and then at its timers: most connections would be closed although their peers were not
// silent. So a wheel that comes much too late gives way: it arms its driver for a time that has
// passed, again and again. Each time the context looks at its sockets, and queues what it finds
// there before the driver. When nothing but the driver has run for a while, all that had arrived
// was read, and the wheel delivers what is due.
//
//     state       turn comes                              next state    the wheel
//     ---------------------------------------------------------------------------------------
//     on_time     not later than the limit                on_time       ticks
//     on_time     later: a stall                          giving_way    gives way
//     giving_way  something has run a moment ago          giving_way    gives way
//     giving_way  nothing else has run for `quiet`        on_time       ticks
//     giving_way  for as long as the stall, or `longest`  on_time       ticks
//
// The last row is for a context that never falls idle. So a deadline that a stall has made late is
// at most twice as late, and at most five seconds later.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_STALL_GUARD_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_STALL_GUARD_HPP

#include <boost/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class stall_guard {
public:
    using clock = std::chrono::steady_clock;
    using nanoseconds = std::chrono::nanoseconds;

    /// Two turns follow each other within this time, unless something else has run. To read as many
    /// sockets as a context looks at in one batch takes longer.
    static constexpr nanoseconds quick = std::chrono::microseconds(100);
    /// Handlers in other threads may take so long. They have begun before the wheel's turn.
    static constexpr nanoseconds quiet = std::chrono::microseconds(500);
    static constexpr nanoseconds longest = std::chrono::seconds(5);

    /// A turn that is late by more than `limit` is a stall; zero is no limit.
    explicit stall_guard(nanoseconds limit) noexcept : limit_(limit) {}

    [[nodiscard]] bool is_stall(nanoseconds late) const noexcept {
        return late > limit_ && limit_ != nanoseconds::zero();
    }

    [[nodiscard]] bool giving_way() const noexcept { return giving_way_; }

    /// A turn has come at `now` that is a stall. The wheel gives way.
    void begin(nanoseconds late, clock::time_point now) noexcept {
        BOOST_ASSERT(!giving_way_ && is_stall(late));
        giving_way_ = true;
        ++stalls_;
        stalled_ += late;
        end_ = now + (std::min)(late, longest);
        busy_ = last_ = now;
    }

    /// The next turn has come. Returns giving_way().
    [[nodiscard]] bool go_on(clock::time_point now) noexcept {
        BOOST_ASSERT(giving_way_);
        if (now - last_ > quick) {
            busy_ = now;
        }
        last_ = now;
        giving_way_ = now - busy_ < quiet && now < end_;
        return giving_way_;
    }

    /// Nothing is late any more: time was paused, or the wheel ends.
    void end() noexcept { giving_way_ = false; }

    [[nodiscard]] std::uint64_t stalls() const noexcept { return stalls_; }
    [[nodiscard]] nanoseconds stalled() const noexcept { return stalled_; }

private:
    nanoseconds limit_;
    bool giving_way_ = false;
    clock::time_point last_; // The turn before,
    clock::time_point busy_; // and the last one before which something else has run.
    clock::time_point end_;
    std::uint64_t stalls_ = 0;
    nanoseconds stalled_{0};
};

} // namespace asio_wheel::detail

#endif
