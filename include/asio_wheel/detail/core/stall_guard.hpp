// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A stall is not silence.
//
// After a process was stopped or suspended, or a handler has blocked, deadlines have passed, and
// data that came in time was not read yet. An event loop would look at a batch of sockets (128 with
// epoll), and then at its timers: most connections would be closed although their peers were not
// silent. So a wheel that wakes up much too late gives way: it arms its driver for a time that has
// passed, again and again. Each time the context looks at its sockets, and queues what it finds
// there before the driver.
//
// Giving way is worth its time only while it saves somebody: while waits that are due are moved,
// touched or cancelled, because their data is being read. A loop that is late at each wake-up is
// not stalled, it is loaded. There, giving way would double what is late already.
//
//     state       a wake-up comes                              next state    the wheel
//     --------------------------------------------------------------------------------------------
//     on_time     not later than the limit                     on_time       delivers
//     on_time     later: a stall                               giving_way    gives way
//     giving_way  nothing else has run for `quiet`
//                   and somebody was saved                     on_time       delivers
//                   and nobody was                             loaded        delivers
//     giving_way  since the last wake-up but one, and for      loaded        delivers
//                 `grace`, nobody was saved
//     giving_way  for as long as the stall, or `longest`       loaded        delivers
//     giving_way  otherwise                                    giving_way    gives way
//     giving_way  (nothing that guards data is due any more)   loaded
//     loaded      wake-ups are punctual again, on average      on_time       delivers
//     loaded      more than `often` times later than they are  giving_way    gives way
//                 on average: a stall
//     loaded      otherwise                                    loaded        delivers
//     any         (none will come: see end())                  on_time
//
// If nothing else has run for `quiet`, all that had arrived was read. A single wake-up that saves
// nobody shows nothing: it may come together with what the context has found at its sockets, and
// before it.
//
// The wake-up that begins a stall judges it once: what was due then is delivered without another
// judgement, however many turns that takes.

#ifndef ASIO_WHEEL_DETAIL_CORE_STALL_GUARD_HPP
#define ASIO_WHEEL_DETAIL_CORE_STALL_GUARD_HPP

#include <boost/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class stall_guard {
public:
    using clock = std::chrono::steady_clock;
    using nanoseconds = std::chrono::nanoseconds;

    /// Two wake-ups follow each other within this time, unless something else has run. To read as
    /// many sockets as a context looks at in one batch takes longer.
    static constexpr nanoseconds quick = std::chrono::microseconds(100);
    /// Handlers in other threads may take so long. They have begun before the wheel's turn.
    static constexpr nanoseconds quiet = std::chrono::microseconds(500);
    /// Data may need some handlers, one after the other, before a deadline is moved.
    static constexpr nanoseconds grace = std::chrono::milliseconds(5);
    static constexpr nanoseconds longest = std::chrono::seconds(5);
    static constexpr int often = 4;

    /// A wake-up that is late by more than `limit` is a stall; zero is no limit. A limit of years
    /// is as good as none.
    explicit stall_guard(nanoseconds limit) noexcept
        : limit_((std::min<nanoseconds>)(limit, std::chrono::hours(24 * 365))) {}

    [[nodiscard]] bool giving_way() const noexcept { return state_ == state::giving_way; }

    /// Whether what takes others so long is a stall, and not the load of a busy loop.
    [[nodiscard]] bool is_stall(nanoseconds late) const noexcept {
        return limit_ != nanoseconds::zero() &&
               late > (state_ == state::loaded ? often * usual() : usual());
    }

    /// A wake-up has come at `now`, which is late. Returns giving_way().
    [[nodiscard]] bool wake_up(nanoseconds late, clock::time_point now) noexcept {
        if (giving_way()) {
            go_on(now);
        } else if (is_stall(late)) {
            begin(late, now);
        } else if (state_ == state::loaded) {
            mean_ = with(late, mean_);
            state_ = mean_ < limit_ / 2 ? state::on_time : state::loaded;
        }
        return giving_way();
    }

    /// While the wheel gives way, a wait that was due was moved, touched or cancelled.
    void saved() noexcept { saved_ = true; }

    /// Nothing is held back: giving way saves nobody.
    void give_up() noexcept {
        BOOST_ASSERT(giving_way());
        state_ = state::loaded;
    }

    /// No wake-up is going to judge: time was paused, nothing waits, the wheel ends, or there is no
    /// memory for the driver.
    void end() noexcept { state_ = state::on_time; }

    [[nodiscard]] std::uint64_t stalls() const noexcept { return stalls_; }
    [[nodiscard]] nanoseconds stalled() const noexcept { return stalled_; }

private:
    enum class state : std::uint8_t { on_time, giving_way, loaded };

    void begin(nanoseconds late, clock::time_point now) noexcept {
        BOOST_ASSERT(!giving_way() && is_stall(late));
        // This may be load. One stall does not make all later ones look short.
        mean_ = with((std::min)(late, often * usual()), usual());
        state_ = state::giving_way;
        saved_ = saved_any_ = false;
        ++stalls_;
        stalled_ += (std::min)(late, (nanoseconds::max)() - stalled_);
        end_ = now + (std::min)(late, longest);
        last_ = busy_ = useful_ = now;
    }

    void go_on(clock::time_point now) noexcept {
        const clock::time_point previous = std::exchange(last_, now);
        const nanoseconds pass = now - previous;
        if (pass > quick) {
            busy_ = now;
        }
        if (std::exchange(saved_, false)) {
            useful_ = now;
            saved_any_ = true;
        }
        if (now - busy_ >= quiet) {
            state_ = saved_any_ ? state::on_time : state::loaded;
        } else if ((useful_ < previous && now - useful_ >= grace) || now >= end_) {
            state_ = state::loaded;
            mean_ = (std::max)((std::min)(pass, longest), mean_);
        }
    }

    // How late wake-ups are that are no stall: no later than the limit. On a loaded loop, they are
    // as late as on average, if that is more.
    [[nodiscard]] nanoseconds usual() const noexcept {
        return state_ == state::loaded ? (std::max)(mean_, limit_) : limit_;
    }

    // The mean, after one more wake-up that was so late.
    [[nodiscard]] static nanoseconds with(nanoseconds late, nanoseconds mean) noexcept {
        return (3 * mean + late) / 4;
    }

    nanoseconds limit_;
    state state_ = state::on_time;
    bool saved_ = false;       // Since the last wake-up.
    bool saved_any_ = false;   // Since the stall began.
    clock::time_point last_;   // The last wake-up,
    clock::time_point busy_;   // the last one before which something else has run,
    clock::time_point useful_; // and the last one before which somebody was saved, or the first.
    clock::time_point end_;
    nanoseconds mean_{0}; // Of how late wake-ups are, since a stall that may be load.
    std::uint64_t stalls_ = 0;
    nanoseconds stalled_{0};
};

} // namespace asio_wheel::detail

#endif
