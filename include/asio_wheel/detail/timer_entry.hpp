// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_TIMER_ENTRY_HPP
#define ASIO_WHEEL_DETAIL_TIMER_ENTRY_HPP

#include <asio_wheel/detail/sync.hpp>
#include <asio_wheel/detail/wait_op.hpp>
#include <asio_wheel/wheel.hpp>

#include <atomic>

namespace asio_wheel::detail {

/// What the service knows of a timer. Guarded by the wheel's lock, but for reading `linked`.
///
/// Invariant: linked == (filed() || !ops.empty()); while it is false the service neither knows of
/// the timer nor touches it, and the timer needs neither lock nor service, which may be gone. The
/// timer's owner sets it, by starting a wait. If another thread ends the last wait, clearing it is
/// the last thing that thread does with the timer (release; the owner's reads acquire).
struct timer_entry : wheel_entry {
    atomic<bool> linked{false};
    bool native = false; ///< The timer's executor has a native_context(). The owner's alone.
    /// It is in the core's list of timers whose operations are on their way to other executors. It
    /// is not filed then: the list uses the wheel's links.
    bool listed = false;
    op_list ops;

    void relink() noexcept { linked.store(filed() || !ops.empty(), std::memory_order_release); }
};

/// What the service keeps in a timer.
template <class Clock>
struct timer_state : timer_entry {
    typename Clock::time_point
        expiry{}; ///< Written by the timer's owner; under the lock while linked.
};

} // namespace asio_wheel::detail

#endif
