// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What threads do at a core without its lock: the owners of timers, and those that run handlers.
// See core.hpp for the ground rules, and timer_state.hpp for what an owner does to a timer.

#ifndef ASIO_WHEEL_DETAIL_CORE_CORE_UNLOCKED_HPP
#define ASIO_WHEEL_DETAIL_CORE_CORE_UNLOCKED_HPP

#include <asio_wheel/detail/core/core.hpp>

namespace asio_wheel::detail {

// Lives while a timer is used without the lock. On a wheel for one thread it asserts that there is
// one.
class core::sole_use {
public:
    sole_use(core& c, const char* purpose) noexcept : core_(c) {
        if (!core_.options_.locking) {
            core_.lock_->mutex.enter(purpose);
        }
    }
    sole_use(const sole_use&) = delete;
    sole_use& operator=(const sole_use&) = delete;
    ~sole_use() {
        if (!core_.options_.locking) {
            core_.lock_->mutex.leave();
        }
    }

private:
    core& core_;
};

/// Lives while a thread of the context runs a handler for the wheel. Its end disarms the driver if
/// no wait is pending any more. If the handler has cancelled waits, these are in the queue, and the
/// turn of the last one does it.
class core::handler_scope {
public:
    explicit handler_scope(core& c) noexcept
        : core_(c), counts_(c.counts_.here()), cancelled_(counts_.cancelled_so_far()) {
        core_.lock_->mutex.enter("running handlers");
    }
    handler_scope(const handler_scope&) = delete;
    handler_scope& operator=(const handler_scope&) = delete;
    ~handler_scope() {
        if (measured_ != nullptr) {
            core_.note_run(*measured_, began_);
        }
        if (core_.must_not_guess() ||
            (!core_.idle_.load(std::memory_order_relaxed) && counts_.balance() == 0 &&
             counts_.cancelled_so_far() == cancelled_)) {
            core_.disarm_if_idle();
        }
        core_.lock_->mutex.leave();
    }

    /// The handler of a wait, which `of` counts, is called next.
    void measure(measured_tag& of, time_count now) noexcept {
        measured_ = &of;
        began_ = now;
    }

private:
    core& core_;
    thread_block& counts_;
    const std::uint64_t cancelled_;
    measured_tag* measured_ = nullptr; // Null if the handler is not measured.
    time_count began_ = 0;
};

// Starts a wait on a tombstone. False if the timer is none. After success nothing but the core is
// touched: see try_start(). The wait is counted before, because it may be over at once.
inline bool core::start_unlocked(timer_state& s, wait_node& wait) noexcept {
    if (!lock_free_ || wait.link() != nullptr || s.life() != timer_life::tombstone) {
        return false;
    }
    const sole_use use(*this, "async_wait()");
    thread_block& counts = counts_.here();
    counts.scheduled();
    if (!s.try_start(wait, options_.locking)) {
        counts.not_scheduled();
        return false;
    }
    if (idle_.load(std::memory_order_seq_cst)) {
        arm_for_new_wait();
    }
    return true;
}

inline wait_node* core::end_unlocked(timer_state& s) noexcept {
    const visit_count::glance visits(visits_);
    if (!lock_free_ || s.life() != timer_life::waiting) {
        return nullptr;
    }
    const sole_use use(*this, "cancel()");
    const unlocked cancelled = s.try_cancel(visits, options_.locking);
    if (cancelled == unlocked::refused || (cancelled == unlocked::met_visit && !was_cancelled(s))) {
        return nullptr;
    }
    wait_node& wait = s.waits.front();
    s.waits.clear();
    counts_.here().cancelled();
    ASIO_WHEEL_PROBE2(cancel, &s, 1);
    return &wait;
}

// If a tombstone is filed early enough for its new expiry, it stays there: no visit files it for
// another tick, and earlier visits have ended. The origin of ticks may change if the clock can be
// set.
inline bool core::set_expiry_unlocked(timer_state& s, time_count expiry) noexcept {
    if (!lock_free_ || s.life() != timer_life::tombstone) {
        return false;
    }
    const bool filed_for_it = expiry >= s.expiry.get() ||
                              (clock_.unit().is_steady && expiry > clock_.begin_of(s.deadline()));
    if (filed_for_it) {
        s.expiry.set(expiry);
    }
    return filed_for_it;
}

inline std::size_t core::postpone(timer_state& s, time_count expiry) noexcept {
    const visit_count::glance visits(visits_);
    const time_count before = s.expiry.get();
    if (lock_free_ && s.life() == timer_life::waiting) {
        const sole_use use(*this, "postpone()");
        if (s.try_postpone(expiry, visits, options_.locking) == unlocked::done) {
            counts_.here().postponed(1);
            ASIO_WHEEL_PROBE2(postpone, &s, expiry);
            return 1;
        }
    }
    return postpone(s, expiry, before);
}

// A thread guesses by its own counts, and by the flag `idle_`, whether any wait is pending. The
// guess is wrong if it has ended what another thread has started, if a wait is on its way to
// another executor, for which no driver is needed, or if another thread has set the flag for a
// moment only.
//
// That does not matter if an armed driver is no work of the context. If it is, the context would
// not stop before the driver wakes up. Then only the core, with its lock, can tell.
inline bool core::must_not_guess() const noexcept {
    return queue_.driver_is_work &&
           (counts_.size() > 1 || has_dispatched_.load(std::memory_order_relaxed));
}

} // namespace asio_wheel::detail

#endif
