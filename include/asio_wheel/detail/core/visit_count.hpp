// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the owner of a timer learns, without the lock, of a visit.
//
// A visit is a slice of work by a thread that holds the lock and changes timers of other threads.
// An owner without the lock may meet a visit. The visit drops a tombstone by a compare-exchange:
// either the visit makes it `inactive`, and the owner that starts a wait takes the lock; or the
// owner makes it `waiting`, and the visit sees the wait. All other changes by a visit are plain
// stores, so that it needs no read-modify-write for each of many waits. They may overwrite what an
// owner does to a wait, when it cancels or postpones it. So each visit is counted when it begins
// and when it ends. The owner reads that count before and after it changes the state. If no visit
// was under way, the next visit sees the change. Otherwise the owner takes the lock, and looks what
// the visit has made of the timer.

#ifndef ASIO_WHEEL_DETAIL_CORE_VISIT_COUNT_HPP
#define ASIO_WHEEL_DETAIL_CORE_VISIT_COUNT_HPP

#include <asio_wheel/detail/threads/sync.hpp>

#include <atomic>
#include <cstdint>

namespace asio_wheel::detail {

/// How many visits have begun or ended. Odd during a visit.
class visit_count {
public:
    /// A visit begins. By a thread that holds the lock.
    void begin() noexcept { add(stays_odd() ? 2 : 1, std::memory_order_seq_cst); }

    /// The visit ends. `stay_odd`: owners shall go on taking the lock, as if it had not.
    void end(bool stay_odd) noexcept { add(stay_odd ? 2 : 1, std::memory_order_release); }

    /// Made by a timer's owner before it uses the timer without the lock.
    class glance {
    public:
        explicit glance(const visit_count& visits) noexcept
            : visits_(visits), before_(visits.count_.load(std::memory_order_acquire)) {}

        /// Asked after the change. True if no visit was under way: then the next one sees the
        /// change.
        [[nodiscard]] bool met_none() const noexcept {
            return before_ % 2 == 0 && visits_.count_.load(std::memory_order_seq_cst) == before_;
        }

    private:
        const visit_count& visits_;
        const std::uint32_t before_;
    };

private:
    [[nodiscard]] bool stays_odd() const noexcept {
        return count_.load(std::memory_order_relaxed) % 2 != 0;
    }
    void add(std::uint32_t steps, std::memory_order order) noexcept {
        count_.store(count_.load(std::memory_order_relaxed) + steps, order);
    }

    atomic<std::uint32_t> count_{0}; // Litmus tests: cancel_visit, postpone_visit, visit_end.
};

} // namespace asio_wheel::detail

#endif
