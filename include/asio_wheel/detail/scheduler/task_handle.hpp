// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What leads to a task of a scheduler.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HANDLE_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HANDLE_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace asio_wheel {

template <class Clock>
class basic_scheduler;

/// What task_handle::cancel() came to.
enum class cancel_result {
    cancelled,        ///< It will not be called (any more).
    already_fired,    ///< It was called, or is being called, for the last time.
    already_cancelled ///< By another cancel(), its scheduler's stop(), or its context's end.
};

namespace detail {
template <class Clock>
class task;
template <class Clock>
class scheduler_impl;
} // namespace detail

/// A task of a scheduler: a reference that is cheap to copy. It may outlive the task, the scheduler
/// and the context. All functions may be called from any thread.
template <class Clock>
class basic_task_handle {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;

    /// Refers to nothing.
    basic_task_handle() noexcept = default;

    struct outcome {
        cancel_result result;
        duration remaining; ///< How long it would have been; zero unless it was cancelled.
    };

    /// The task is not called any more. A call that is under way goes on. What its function holds
    /// is let go, by this call or at the end of that one. An orphan can't be adopted any more.
    ///
    /// Needs no memory, and never fails.
    outcome cancel() const noexcept { // NOLINT(modernize-use-nodiscard)
        return task_ ? task_->cancel() : outcome{cancel_result::already_cancelled, {}};
    }

    /// It was called for the last time, or is being so; or the wheel refused it.
    [[nodiscard]] bool is_expired() const noexcept { return task_ && task_->is_expired(); }

    /// It was cancelled, or its scheduler was stopped, or its context has ended.
    [[nodiscard]] bool is_cancelled() const noexcept { return task_ && task_->is_cancelled(); }

    /// How long it is until its next call; zero if there is none.
    [[nodiscard]] duration remaining() const {
        return task_ ? task_->remaining() : duration::zero();
    }

    /// When its next call is due; while it is being called, and when it is over, when that call
    /// was.
    [[nodiscard]] time_point expiry() const noexcept {
        return task_ ? task_->expiry() : time_point();
    }

    /// It is called again and again, unless it is cancelled.
    [[nodiscard]] bool is_repeated() const noexcept { return task_ && task_->is_repeated(); }

    friend bool operator==(const basic_task_handle&, const basic_task_handle&) noexcept = default;

private:
    friend class detail::task<Clock>;
    friend class detail::scheduler_impl<Clock>;
    friend class basic_scheduler<Clock>;
    friend struct std::hash<basic_task_handle>;

    explicit basic_task_handle(std::shared_ptr<detail::task<Clock>> t) noexcept
        : task_(std::move(t)) {}

    std::shared_ptr<detail::task<Clock>> task_;
};

} // namespace asio_wheel

/// So that handles can be keys of what belongs to their tasks.
template <class Clock>
struct std::hash<asio_wheel::basic_task_handle<Clock>> {
    [[nodiscard]] std::size_t
    operator()(const asio_wheel::basic_task_handle<Clock>& h) const noexcept {
        return std::hash<std::shared_ptr<asio_wheel::detail::task<Clock>>>()(h.task_);
    }
};

#endif
