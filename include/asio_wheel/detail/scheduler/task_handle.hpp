// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The handle of a scheduler's task. It shares the ownership of the task. So it stays valid when the
// task, the scheduler and the context have ended.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HANDLE_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_HANDLE_HPP

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/op/idle_op.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace asio_wheel {

/// The result of task_handle::cancel().
enum class cancel_result {
    cancelled,        ///< The task will not be called, or not again.
    already_fired,    ///< The task was called, or is being called, for the last time.
    already_cancelled ///< By another cancel(), by the scheduler's stop(), or by the context's end.
};

namespace detail {
template <class Clock>
class task;
template <class Clock, class Executor>
class scheduler_impl;
} // namespace detail

/// Refers to a task of a scheduler. Cheap to copy. May outlive the task, the scheduler and the
/// context. All functions may be called from any thread.
template <class Clock>
class basic_task_handle {
public:
    using duration = typename Clock::duration;     ///< Of the scheduler's clock.
    using time_point = typename Clock::time_point; ///< Of the scheduler's clock.

    /// Refers to no task.
    basic_task_handle() noexcept = default;

    /// What cancel() has done.
    struct outcome {
        cancel_result result; ///< Why it will not be called (again).
        duration remaining; ///< The time that was left until the next call; zero unless cancelled.
    };

    /// Cancels the task: it is not called any more. A call that is under way continues. The
    /// function is destroyed by this call, or when the call under way has returned. An orphan
    /// cannot be adopted any more.
    ///
    /// Allocates nothing and never fails.
    outcome cancel() const noexcept { // NOLINT(modernize-use-nodiscard)
        return task_ ? task_->cancel() : outcome{cancel_result::already_cancelled, {}};
    }

    /// Moves the next call to `d` from now, later or earlier; of a repeated task, also the calls
    /// after that, which are counted from it. False if there is no next call to move: the task is
    /// being called, or is over, or its scheduler was stopped.
    ///
    /// For bursts of events, see basic_scheduler::debounce(). Allocates nothing. Throws
    /// std::invalid_argument if `d` is not a number; then the task keeps its time.
    template <class Rep, class Period>
    [[nodiscard("false: there is no next call")]] bool
    postpone(const std::chrono::duration<Rep, Period>& d) const {
        detail::throw_if_nan("the delay of a task", d);
        return task_ && task_->postpone(d);
    }
    /// Moves the next call to `t`, as postpone() does.
    [[nodiscard("false: there is no next call")]] bool postpone_until(const time_point& t) const {
        return task_ && task_->postpone_until(t);
    }

    /// Whether the task was called for the last time, or is being called for the last time; or the
    /// wheel has refused it.
    [[nodiscard]] bool is_expired() const noexcept { return task_ && task_->is_expired(); }

    /// Whether the task was cancelled, or its scheduler was stopped, or its context has ended.
    [[nodiscard]] bool is_cancelled() const noexcept { return task_ && task_->is_cancelled(); }

    /// The time until the next call; zero if there is none.
    [[nodiscard]] duration remaining() const {
        return task_ ? task_->remaining() : duration::zero();
    }

    /// The time of the next call. While the task is being called, and when it has ended: the time
    /// for which the last call was scheduled; or, if it was cancelled, that of the call that it
    /// would have been.
    [[nodiscard]] time_point expiry() const noexcept {
        return task_ ? task_->expiry() : time_point();
    }

    /// Whether the task is called repeatedly, until it is cancelled.
    [[nodiscard]] bool is_repeated() const noexcept { return task_ && task_->is_repeated(); }

    /// Waits until the task is idle: it is neither scheduled nor being called, and its function is
    /// destroyed. An orphan is idle until it is adopted, and so is a handle to no task.
    ///
    /// As basic_scheduler::async_wait_idle(), but a handle has no executor. So the handler must
    /// have one: write bind_executor(), or use a coroutine.
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code)) Token>
        requires detail::wait_token<Token>
    auto async_wait_idle(Token&& token) const {
        return detail::async_idle_wait(task_, std::forward<Token>(token));
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::wait_token<Handler>)
    detail::the_handler_must_be_callable_with_one_error_code async_wait_idle(Handler&&) const
        ASIO_WHEEL_DELETED("the handler must be callable with one error_code");

    /// Blocks until the task is idle: see basic_scheduler::wait_idle().
    void wait_idle() const { detail::block_until_idle(task_); }
    /// The same, but not for longer than `d`. Returns whether the task is idle.
    template <class Rep, class Period>
    [[nodiscard("false: the task is not idle")]] bool
    wait_idle(const std::chrono::duration<Rep, Period>& d) const {
        return detail::block_until_idle(task_, d);
    }

    friend bool operator==(const basic_task_handle&, const basic_task_handle&) noexcept = default;

private:
    friend class detail::task<Clock>;
    template <class, class>
    friend class detail::scheduler_impl;
    friend struct std::hash<basic_task_handle>;

    explicit basic_task_handle(std::shared_ptr<detail::task<Clock>> t) noexcept
        : task_(std::move(t)) {}

    std::shared_ptr<detail::task<Clock>> task_;
};

} // namespace asio_wheel

/// Handles can be keys of unordered containers.
template <class Clock>
struct std::hash<asio_wheel::basic_task_handle<Clock>> {
    [[nodiscard]] std::size_t
    operator()(const asio_wheel::basic_task_handle<Clock>& h) const noexcept {
        return std::hash<std::shared_ptr<asio_wheel::detail::task<Clock>>>()(h.task_);
    }
};

#endif
