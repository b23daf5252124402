// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the service keeps in a timer, and what the timer's owner does without the lock.
//
// Each function tries one row of the table in timer_entry.hpp:
//
//   function        from       to          if a visit was under way
//   try_start()     tombstone  waiting     either the visit sees the wait, or the start fails
//   try_cancel()    waiting    tombstone   the owner takes the lock, and asks was_cancelled()
//   try_postpone()  waiting    (the same)  the owner takes the lock, and postpones again
//
// A timer can be re-armed without changing the wheel, because it is filed for a tick that is not
// later than its expiry. When that tick comes, the wheel asks for the expiry, and files the timer
// again if the expiry is later. An expiry before that tick, and an earlier one of a wait, needs the
// lock.

#ifndef ASIO_WHEEL_DETAIL_CORE_TIMER_STATE_HPP
#define ASIO_WHEEL_DETAIL_CORE_TIMER_STATE_HPP

#include <asio_wheel/detail/core/expiry_cell.hpp>
#include <asio_wheel/detail/core/timer_entry.hpp>
#include <asio_wheel/detail/core/visit_count.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>

#include <cstdint>

namespace asio_wheel::detail {

/// What came of a change without the lock.
enum class unlocked : std::uint8_t {
    done,     ///< No visit has met it: the next one sees the change.
    refused,  ///< The timer is in another state. Nothing was changed.
    met_visit ///< Only the lock can tell.
};

/// `concurrent`: more than one thread may use the wheel.
class timer_state : public timer_entry {
public:
    expiry_cell expiry;

    /// Starts a wait. False if the timer is no tombstone, or no longer. After success, neither the
    /// timer nor the wait may be touched: the handler may run at once, and destroy both.
    [[nodiscard]] bool try_start(wait_node& wait, bool concurrent) noexcept {
        if (life() != timer_life::tombstone) {
            return false;
        }
        wait.owner = this;
        waits.push_back(wait);
        if (!change_life(timer_life::tombstone, timer_life::waiting, concurrent)) {
            waits.clear(); // A visit has just taken the timer out of the wheel.
            wait.owner = nullptr;
            return false;
        }
        return true;
    }

    /// Ends the wait, which stays in `waits`. The timer stays filed: a wait for a new expiry most
    /// likely follows.
    [[nodiscard]] unlocked try_cancel(const visit_count::glance& visits, bool concurrent) noexcept {
        if (life() != timer_life::waiting ||
            !change_life(timer_life::waiting, timer_life::tombstone, concurrent)) {
            return unlocked::refused;
        }
        return visits.met_none() ? unlocked::done : unlocked::met_visit;
    }

    /// With the lock, after try_cancel() has met a visit: whether the visit saw the cancellation.
    /// Otherwise it saw the timer waiting, and decided about the wait.
    [[nodiscard]] bool was_cancelled() const noexcept {
        const timer_life now = life();
        return !waits.empty() && (now == timer_life::tombstone || now == timer_life::inactive);
    }

    /// Makes a wait wait longer: it goes on, or was due by the old expiry. An earlier time needs
    /// the lock. Otherwise a visit could make the wait due by the new expiry before the owner looks
    /// for a visit, and nothing would tell by which of the two it was due.
    [[nodiscard]] unlocked try_postpone(time_count t, const visit_count::glance& visits,
                                        bool concurrent) noexcept {
        if (life() != timer_life::waiting || t < expiry.get()) {
            return unlocked::refused;
        }
        expiry.set_then_look(t, concurrent);
        return visits.met_none() ? unlocked::done : unlocked::met_visit;
    }
};

} // namespace asio_wheel::detail

#endif
