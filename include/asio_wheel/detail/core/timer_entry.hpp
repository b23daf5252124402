// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The life of a timer as its wheel sees it: one state, in one byte.
//
//   state      is filed  its waits                             is changed
//   inactive   no        none                                  by the owner, with the wheel's lock
//   tombstone  yes       none                                  by the owner, most often without the
//   waiting    yes       one, which only the owner can cancel      lock; by anybody with it
//   guarded    yes       some: several, or with a              with the lock
//                        cancellation slot, or postponed late,
//                        or due when it was started
//   due        no        some, in the context's queue or on    with the lock
//                        their way to other executors
//
//   from       to         when
//   inactive   waiting    a wait starts, and the timer is filed
//              guarded    the same, for a wait with a cancellation slot, or one that is due already
//              tombstone  it is filed as the bookmark of a walk
//   tombstone  waiting    a wait starts, for the last expiry or a later one: without the lock
//              guarded    a wait with a slot starts, or one that is due already
//              inactive   its tick comes; the timer ends, is moved, or gets an earlier expiry; the
//                         wheel is drained, or ends; the walk ends whose bookmark it is
//   waiting    tombstone  the wait is cancelled: without the lock
//              guarded    another wait starts; or the wheel is drained, or ends
//              due        its time has come
//              inactive   the timer ends, is moved, or gets an earlier expiry; the wait is
//                         withdrawn
//   guarded    tombstone  the owner cancels the last wait
//              due        its time has come
//              inactive   the last wait ends otherwise: by its slot, withdrawn, or dropped; the
//                         timer ends, is moved, or gets an earlier expiry; the wheel is drained, or
//                         ends
//   due        guarded    the wait is postponed before its handler was called; another one starts
//                         when the clock was set back
//              inactive   the last wait is delivered, cancelled or dropped; the timer is moved; the
//                         wheel ends
//
// Two transitions are not in the table. A timer that is inactive takes over any life from the timer
// whose place it takes. And in memory, a tombstone may become guarded or due, if a visit has seen
// it waiting, and its owner has cancelled the wait since: the owner meets the visit, and looks
// again with the lock.
//
// The owner of a timer is the thread that uses it. There is one owner at a time. A timer that is
// `inactive` needs neither the lock nor the service, which may have ended. A thread of the context
// that makes a timer `inactive` does not touch it again. A thread that makes a timer `waiting` does
// not touch it again either, nor the wait: the handler may run at once on another thread, and
// destroy the timer.
//
// timer_state.hpp has what an owner does without the lock, and visit_count.hpp how it learns of
// visits.

#ifndef ASIO_WHEEL_DETAIL_CORE_TIMER_ENTRY_HPP
#define ASIO_WHEEL_DETAIL_CORE_TIMER_ENTRY_HPP

#include <asio_wheel/detail/core/wait_list.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/wheel/wheel_entry.hpp>

#include <boost/assert.hpp>

#include <atomic>
#include <cstdint>

namespace asio_wheel::detail {

enum class timer_life : std::uint8_t { inactive, tombstone, waiting, guarded, due };

/// The table above.
[[nodiscard]] constexpr bool may_follow(timer_life from, timer_life to) noexcept {
    using enum timer_life;
    switch (from) {
    case inactive:
        return to == waiting || to == guarded || to == tombstone;
    case tombstone:
        return to == waiting || to == guarded || to == inactive;
    case waiting:
        return to != waiting;
    case guarded:
        return to == tombstone || to == due || to == inactive;
    case due:
        return to == guarded || to == inactive;
    }
    return false;
}

/// What the service knows of a timer. Guarded by the wheel's lock, but for `life` and, while that
/// says `tombstone` or `waiting`, the list of waits, which is the owner's.
class timer_entry : public wheel_entry {
    // First: an entry's last word has room for it. What each order is for is in litmus tests:
    // cancel_visit, start_visit, start_scale, start_drop, drop_then_end and settle_then_end.
    atomic<timer_life> life_{timer_life::inactive};

public:
    // The owner's alone:
    bool native : 1 = false;         ///< The timer's executor has a native_context().
    bool replaces_asios : 1 = false; ///< A wait that is refused ends as aborted, as Asio's may end.
    /// It is in the core's list of timers whose operations are on their way to other executors. It
    /// is not filed then: the list uses the wheel's links.
    bool listed = false;
    std::uint8_t seen_by_walk = 0; ///< The last walk that has seen it: see book.hpp.
    wait_list waits;

    /// Acquires what the thread has released that was the last to change it.
    [[nodiscard]] timer_life life() const noexcept { return life_.load(std::memory_order_acquire); }

    /// What a visit sees. Pairs with change_life().
    [[nodiscard]] timer_life life_in_visit() const noexcept {
        return life_.load(std::memory_order_seq_cst);
    }

    /// By a visit that has seen `from`. An owner that sees what it has made of the timer takes the
    /// lock.
    void overwrite_life([[maybe_unused]] timer_life from, timer_life to) noexcept {
        BOOST_ASSERT(may_follow(from, to) && to != timer_life::inactive);
        life_.store(to, std::memory_order_relaxed);
    }

    /// Where nobody else can change it.
    void set_life(timer_life to) noexcept {
        const timer_life from = life_.load(std::memory_order_relaxed);
        if (from != to) {
            BOOST_ASSERT(may_follow(from, to));
            life_.store(to, std::memory_order_release);
        }
    }

    /// By the owner of both with the lock, for a timer that takes the place of another.
    void take_life(timer_entry& from) noexcept {
        life_.store(from.life(), std::memory_order_relaxed);
        from.life_.store(timer_life::inactive, std::memory_order_relaxed);
    }

    /// By the owner without the lock. False if a visit was faster. `concurrent`: there is more than
    /// one thread. An owner that ends a wait looks for a visit afterwards. One that starts a wait
    /// looks whether the wheel is idle: see thread_count.
    [[nodiscard]] bool change_life(timer_life from, timer_life to, bool concurrent) noexcept {
        BOOST_ASSERT(may_follow(from, to));
        if (!concurrent) {
            life_.store(to, std::memory_order_relaxed);
            return true;
        }
        return life_.compare_exchange_strong(from, to, std::memory_order_seq_cst,
                                             std::memory_order_relaxed);
    }

    /// As life_in_visit(), for a timer that the visit has taken out of the wheel. A tombstone
    /// becomes inactive: then the visit must not touch the timer any more.
    [[nodiscard]] timer_life drop_if_tombstone() noexcept {
        timer_life life = life_in_visit();
        if (life == timer_life::tombstone && drop_tombstone(life)) {
            return timer_life::inactive;
        }
        return life;
    }

private:
    // Pairs with change_life(). Releases the timer to an owner that destroys it without the lock.
    // If a wait was faster, acquires it, and sets `seen` to what it has made of the timer.
    [[nodiscard]] bool drop_tombstone(timer_life& seen) noexcept {
        return life_.compare_exchange_strong(seen, timer_life::inactive, std::memory_order_release,
                                             std::memory_order_acquire);
    }
};

} // namespace asio_wheel::detail

#endif
