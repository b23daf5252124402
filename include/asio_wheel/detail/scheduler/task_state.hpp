// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The states of a scheduler's task.
//
//   state         meaning                                                    registered
//   unscheduled   new, or an orphan of a stopped scheduler: never called     no
//   waiting       one wait is pending. Its handler owns the task             yes
//   running       the function is being called, or its coroutine runs; or    yes
//                 the wheel has refused the wait, and that is being reported
//   cancelling    the same, for the last time                                yes
//   expired       final: it was called for the last time, or refused         until finalize()
//   cancelled     final: it was cancelled, or its context has ended          until finalize()
//
//   from          to            when
//   unscheduled   waiting       schedule()
//                 cancelled     cancel()
//   waiting       running       the wait ends
//                 unscheduled   stop(), if it was never called and may become an orphan
//                 cancelled     cancel(); stop(); or the handler of the wait is destroyed, as when
//                               the context ends
//   running       waiting       the call returns, and there is a next time
//                 cancelling    cancel() or stop(), if the task is repeated
//                 expired       the call returns, and there is no next time
//                 cancelled     the coroutine is destroyed, as when the context ends
//   cancelling    cancelled     the call returns, or the coroutine is destroyed

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_STATE_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_STATE_HPP

#include <cstdint>

namespace asio_wheel::detail {

enum class task_state : std::uint8_t {
    unscheduled,
    waiting,
    running,
    cancelling,
    expired,
    cancelled
};

/// Whether a task in this state has a timer, and is in its scheduler's registry.
[[nodiscard]] constexpr bool is_registered(task_state s) noexcept {
    using enum task_state;
    return s == waiting || s == running || s == cancelling;
}

[[nodiscard]] constexpr bool may_follow(task_state from, task_state to) noexcept {
    using enum task_state;
    switch (from) {
    case unscheduled:
        return to == waiting || to == cancelled;
    case waiting:
        return to == running || to == unscheduled || to == cancelled;
    case running:
        return to == waiting || to == cancelling || to == expired || to == cancelled;
    case cancelling:
        return to == cancelled;
    case expired:
    case cancelled:
        break;
    }
    return false;
}

} // namespace asio_wheel::detail

#endif
