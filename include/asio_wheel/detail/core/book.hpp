// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which timers are filed, and for when: the wheel, its time, and walks over it. It knows nothing of
// waits, queues or drivers.
//
// A timer is filed for a tick that is not later than its expiry. When that tick comes, it is due,
// or is filed again; a tombstone is dropped.
//
// A pass over what is due may take many slices. What a pass holds back is visited by the next pass
// again. The passes are those of turns, of drain(), and of the end of the context.
//
// Walks for those who ask what waits. A walk takes the lock for one slice of `budget` timers at a
// time, and timers move meanwhile. So each walk has a number, and marks the timers that it has
// seen. If a timer that it has not seen is filed again, it may be where the walk has been already:
// then another pass follows. A timer that is filed anew has a wait that started during the walk, or
// that was due; so it counts as seen. Outside of walks, a timer that is filed anew gets the number
// 0, which no walk has.

#ifndef ASIO_WHEEL_DETAIL_CORE_BOOK_HPP
#define ASIO_WHEEL_DETAIL_CORE_BOOK_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wheel_clock.hpp>
#include <asio_wheel/tick.hpp>
#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace asio_wheel::detail {

/// Guarded by the wheel's lock.
class book {
public:
    /// A timer that is due. Ordered by expiry; equals as the wheel has handed them out. The expiry
    /// is a copy: an owner may write another one at any time, and looks for the visit after that.
    struct due_timer {
        time_count expiry;
        std::size_t place;
        timer_state* timer;

        friend bool operator<(const due_timer& a, const due_timer& b) noexcept {
            return a.expiry < b.expiry || (a.expiry == b.expiry && a.place < b.place);
        }
    };

    /// What one slice has found.
    struct slice {
        std::span<const due_timer> due;
        std::size_t looked_at; ///< Entries.
        bool more;             ///< Whether the budget ended before the work did.
    };

    book(const wheel_options& options, wheel_clock& clock);

    [[nodiscard]] const wheel& entries() const noexcept { return wheel_; }
    [[nodiscard]] wheel& entries() noexcept { return wheel_; }

    /// The tick to which the wheel is advanced. Paused time may stand in the middle of a tick. Then
    /// that tick is visited, too, and expiries are compared exactly.
    [[nodiscard]] tick_t tick_at(time_count now) const noexcept {
        return clock_.paused() ? clock_.round_up(now) : clock_.round_down(now);
    }
    /// The end of the clock's range never comes.
    [[nodiscard]] static bool is_due(time_count expiry, time_count now) noexcept {
        return expiry <= now && expiry != never;
    }
    /// Whether a timer was due at the last slice.
    [[nodiscard]] bool was_due(time_count expiry) const noexcept {
        return is_due(expiry, pass_time_);
    }

    /// The time, and the tick, of the last reading.
    [[nodiscard]] time_count pass_time() const noexcept { return pass_time_; }
    [[nodiscard]] tick_t tick_read() const noexcept { return tick_read_; }
    void note_reading(time_count now) noexcept { tick_read_ = tick_at(now); }

    /// When the next turn has to come, or no_tick. What is held back is visited again when its tick
    /// has begun, not at once.
    [[nodiscard]] tick_t next() const noexcept;

    /// Files a timer by its expiry, or moves it.
    void file(timer_state& s) noexcept;
    /// Files a timer that is filed for another tick.
    void file_at(timer_state& s, tick_t tick) noexcept { wheel_.reschedule(s, tick); }
    /// What is due does not wait until its own tick begins.
    void file_due(timer_state& s) noexcept {
        if (s.deadline() > tick_read_) {
            file_at(s, tick_read_);
        }
    }
    void remove(timer_state& s) noexcept {
        if (s.filed()) {
            wheel_.erase(s);
        }
    }
    void replace(timer_state& from, timer_state& to) noexcept;

    /// Sets the expiry of a timer without waits. If the timer is filed too late for it, files it
    /// again. But for a tick not after `armed_for` only takes it out: a wait that starts files it.
    void set_idle_expiry(timer_state& s, time_count expiry, tick_t armed_for) noexcept;

    // In a visit:

    /// One slice of what is due at `now`, in order. `hold`: timers whose waits guard I/O are held
    /// back.
    [[nodiscard]] slice collect(time_count now, bool hold) noexcept;

    /// One slice of all timers. For each that has waits calls take(timer). From then on its owner
    /// needs the lock to reach them. If take() is false, the timer comes again. True if there is
    /// another slice.
    template <class Take>
    bool take_all(Take take);

    /// One slice of a search for the earliest expiry among what is due by `tick`, which becomes
    /// `first`. Holds these timers back. Files those that were held back before and have a later
    /// expiry now. True if there is another slice.
    bool find_first(tick_t tick, std::optional<time_count>& first) noexcept;

    /// Whether there is another slice of the pass that is under way.
    [[nodiscard]] bool in_pass() const noexcept { return in_pass_; }
    /// Time has jumped: the next slice visits again what was held back.
    void release_held() noexcept { wheel_.release_held(); }

    /// If the clock was set back, moves the origin of ticks, so that ticks never go back. What is
    /// filed then comes up too early, and is filed again. True if the clock was set back.
    bool follow_set_back(time_count now) noexcept {
        return !clock_.paused() && clock_.follow_set_back(now, wheel_.now());
    }

    [[nodiscard]] std::uint64_t cascaded() const noexcept { return refiled_ + wheel_.cascaded(); }

    // For walks:

    /// Begins a walk, or with the number 0 ends one.
    void begin_walk(std::uint8_t number) noexcept;
    [[nodiscard]] std::uint8_t walk() const noexcept { return walk_; }
    /// Whether the walk may have missed a timer that was moved; and forgets it.
    [[nodiscard]] bool take_walk_missed() noexcept { return std::exchange(walk_missed_, false); }

private:
    [[nodiscard]] static tick_t query_deadline(void* self, wheel_entry& entry) noexcept;

    [[nodiscard]] bool make_due_or_refile(timer_state& s, time_count now, bool hold) noexcept;
    bool file_again(timer_state& s) noexcept;
    [[nodiscard]] static bool take_over(timer_state& s) noexcept;
    void begin_pass() noexcept;
    [[nodiscard]] std::span<wheel_entry*> found() const noexcept { return {found_.get(), budget_}; }
    void note_moved(const timer_state& s) noexcept {
        walk_missed_ = walk_missed_ || s.seen_by_walk != walk_;
    }

    wheel_clock& clock_;
    wheel wheel_;
    // Where a slice's expired entries are put, and in which order they complete. Not vectors: with
    // the library's debug mode, those of headers and of the compiled core would differ.
    const std::size_t budget_;
    const std::unique_ptr<wheel_entry*[]> found_;
    const std::unique_ptr<due_timer[]> order_;
    bool in_pass_ = false; // The last slice did not finish its pass.
    bool walk_missed_ = false;
    std::uint8_t walk_ = 0; // The number of the walk that is under way, or 0.
    tick_t tick_read_ = 0;
    time_count pass_time_ = before_all;
    std::uint64_t refiled_ = 0;
};

template <class Take>
bool book::take_all(Take take) {
    wheel_.release_held(); // Also what a turn has held back since the slice before.
    const wheel::progress passed = wheel_.advance(last_tick, budget_, found());
    in_pass_ = passed.more;
    for (std::size_t i = 0; i < passed.expired; ++i) {
        auto& s = static_cast<timer_state&>(*found_[i]);
        if (take_over(s) && !take(s)) {
            wheel_.insert(s, last_tick);
        }
    }
    return in_pass_ || passed.expired != 0;
}

} // namespace asio_wheel::detail

#endif
