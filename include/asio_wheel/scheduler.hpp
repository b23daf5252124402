// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Functions that are called later, with handles:
//
//     asio_wheel::scheduler tasks(ctx);
//     auto reminder = tasks.schedule_after(30s, [] { remind(); });
//     reminder.cancel();

#ifndef ASIO_WHEEL_SCHEDULER_HPP
#define ASIO_WHEEL_SCHEDULER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/scheduler/impl.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio_wheel {

template <class Clock>
struct basic_scheduler_options {
    using error_handler = std::function<void(const basic_task_handle<Clock>&, std::exception_ptr)>;

    /// There are no more tasks than this at once; 0 is no limit.
    std::size_t max_pending = 0;

    /// Called with what a task has thrown; or with a system_error, if the wheel refuses a task's
    /// wait. By default the error is written to std::clog, and so is what on_error itself throws.
    /// Several threads may call it at once, if they run the context.
    error_handler on_error = nullptr;
};

/// Calls functions later, once or again and again: on its executor, never from inside the call that
/// schedules them, and each task by itself serially.
///
/// A function is called as f(handle), if that compiles, otherwise as f(). Its result is ignored. If
/// it throws, scheduler_options::on_error is called, and a repeated task goes on.
///
/// A task lives until it was called for the last time, or was cancelled, or its context ends. Then
/// its function is destroyed, even if there are handles, and if it holds one itself. A scheduler
/// that is destroyed cancels its tasks. It may outlive the context, if its executor may (a strand
/// may not).
///
/// Memory. The function that schedules a task allocates all that the task needs until it is over,
/// also if it is repeated. If that throws, nothing was scheduled. Nothing else allocates: close(),
/// stop(), the destructor, and cancelling need no memory and never fail. (An executor of an unknown
/// kind may allocate by itself for each wait. If that fails, on_error is called, and the task is
/// over.)
///
/// Movable at any time, also while there are tasks. A scheduler that was moved from may be
/// destroyed and assigned to, and nothing else.
///
/// Thread safety. All functions may be called from any thread at any time, but not while this same
/// scheduler is moved, assigned to or destroyed.
///
/// After close() or stop(), or with max_pending tasks, the functions that schedule throw
/// boost::system::system_error with error::scheduler_stopped or error::too_many_pending. Empty
/// functions, periods of zero or less, and durations that are not a number, throw
/// std::invalid_argument.
template <class Clock>
class basic_scheduler {
public:
    using clock_type = Clock;
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = boost::asio::any_io_executor;
    using handle = basic_task_handle<Clock>;
    using options = basic_scheduler_options<Clock>;
    using error_handler = typename options::error_handler;

    /// Tasks that were never called when their scheduler was stopped. For adopt().
    using orphans = std::vector<handle>;

    explicit basic_scheduler(const executor_type& ex, options o = {})
        : impl_(ex, o.max_pending, std::move(o.on_error)) {}

    template <class Context>
        requires detail::is_context<Context>
    explicit basic_scheduler(Context& context, options o = {})
        : basic_scheduler(executor_type(context.get_executor()), std::move(o)) {}

    /// Takes over `other`'s tasks. They go on; handles and groups go on leading to them.
    basic_scheduler(basic_scheduler&& other) noexcept = default;
    /// The same. Tasks that were here before are cancelled, as by the destructor.
    basic_scheduler& operator=(basic_scheduler&& other) noexcept {
        // The tasks of before are cancelled last: what their functions own may use this scheduler.
        basic_scheduler taken(std::move(other));
        std::swap(impl_, taken.impl_);
        return *this;
    }
    /// Cancels all tasks. Calls that are under way go on.
    ~basic_scheduler() {
        if (impl_.registry()) {
            static_cast<void>(impl_.stop(false));
        }
    }

    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_.get_executor();
    }

    /// Calls f after `d`.
    template <class Rep, class Period, class F>
    handle schedule_after(const std::chrono::duration<Rep, Period>& d, F&& f) {
        return impl_.schedule_after(d, std::forward<F>(f));
    }

    /// Calls f at `t`; if that has passed, on the context's next turn.
    template <class F>
    handle schedule_at(const time_point& t, F&& f) {
        return impl_.schedule_at(t, std::forward<F>(f));
    }

    /// As schedule_after(), instead of what was scheduled under this key and was not called yet,
    /// and in its place if there are max_pending tasks. (So a task may schedule itself again under
    /// its key, although it is being called and has a place.)
    template <class Rep, class Period, class F>
    handle schedule_after(std::string key, const std::chrono::duration<Rep, Period>& d, F&& f) {
        return impl_.schedule_after(std::move(key), d, std::forward<F>(f));
    }

    /// Calls f after `initial`, and then each `period` later than before: at a fixed rate, so that
    /// a late call is followed by those that were missed, one after the other. A negative `initial`
    /// is a first call that was missed. (The JDK's Timer treats a first time that has passed so,
    /// too.)
    template <class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_at_fixed_rate(const std::chrono::duration<Rep1, Period1>& initial,
                                  const std::chrono::duration<Rep2, Period2>& period, F&& f) {
        return impl_.schedule_at_fixed_rate(initial, period, std::forward<F>(f));
    }

    /// Calls f after `initial`, and then `delay` after it has returned.
    template <class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_with_fixed_delay(const std::chrono::duration<Rep1, Period1>& initial,
                                     const std::chrono::duration<Rep2, Period2>& delay, F&& f) {
        return impl_.schedule_with_fixed_delay(initial, delay, std::forward<F>(f));
    }

    /// Calls f at next(now), and then at next(previous), as long as that gives a time. Returns a
    /// handle to nothing if it gives none to begin with.
    template <class Next, class F>
        requires std::invocable<Next&, time_point>
    handle schedule(Next next, F&& f) {
        return impl_.schedule(std::move(next), std::forward<F>(f));
    }

    /// The task that was scheduled under a key last, if it is not over; otherwise a handle to no
    /// task.
    [[nodiscard]] handle find(const std::string& key) const { return impl_.find(key); }

    /// As handle::cancel() of the task under a key.
    auto cancel(const std::string& key) { return find(key).cancel(); }

    /// Whether the task under a key will be called, or called again.
    [[nodiscard]] bool is_pending(const std::string& key) const {
        const handle h = find(key);
        return h != handle() && !h.is_expired() && !h.is_cancelled();
    }

    /// How many tasks there are: those that wait, and those that are being called, until the call
    /// has returned and the function is destroyed, also if they were cancelled or stopped
    /// meanwhile. If a scheduler is closed() and has none, nothing is being called, and nothing
    /// will be.
    [[nodiscard]] std::size_t pending() const noexcept { return registry().size(); }

    /// Takes no more tasks. Those that are there go on; when the last one is over, pending() is 0.
    void close() noexcept { registry().close(); }

    /// Whether it was closed, or stopped.
    [[nodiscard]] bool closed() const noexcept { return registry().closed(); }

    /// Takes no more tasks, and no task is called any more. Calls that are under way go on; this
    /// does not wait for them: pending() says how many there are. Returns the tasks that were never
    /// called. If it was stopped already, or is being stopped by another thread, does nothing.
    ///
    /// The function of an orphan lives until the orphan is adopted and over, or cancelled, or no
    /// handle leads to it. So an orphan that holds its own handle, and is not adopted, has to be
    /// cancelled.
    [[nodiscard("these tasks were never called")]] orphans stop() noexcept {
        return impl_.stop(true);
    }

    /// Takes over what another scheduler's stop() returned: for the times they were scheduled for,
    /// or at once; under their keys, if they had any. Their handles go on leading to them. What is
    /// no orphan (any more), or was cancelled, is left where it is; so if this throws, it may be
    /// called again.
    void adopt(const orphans& tasks) { impl_.adopt(tasks); }

    /// What is scheduled through a group is cancelled with it, also if another scheduler has
    /// adopted it meanwhile.
    ///
    /// A group goes on working when its scheduler is moved. It may outlive its scheduler. When that
    /// has ended, or was assigned to, the group's functions throw as those of a scheduler that was
    /// stopped. As a scheduler, it may outlive the context, if its executor may (a strand may not).
    class group {
    public:
        explicit group(basic_scheduler& s) noexcept : impl_(s.impl_) {}
        group(const group&) = delete;
        group& operator=(const group&) = delete;
        ~group() { static_cast<void>(cancel()); }

        template <class... Args>
        handle schedule_after(Args&&... args) {
            return add([&] { return impl_.schedule_after(std::forward<Args>(args)...); });
        }
        template <class... Args>
        handle schedule_at(Args&&... args) {
            return add([&] { return impl_.schedule_at(std::forward<Args>(args)...); });
        }
        template <class... Args>
        handle schedule_at_fixed_rate(Args&&... args) {
            return add([&] { return impl_.schedule_at_fixed_rate(std::forward<Args>(args)...); });
        }
        template <class... Args>
        handle schedule_with_fixed_delay(Args&&... args) {
            return add(
                [&] { return impl_.schedule_with_fixed_delay(std::forward<Args>(args)...); });
        }
        template <class... Args>
        handle schedule(Args&&... args) {
            return add([&] { return impl_.schedule(std::forward<Args>(args)...); });
        }

        /// Cancels all. Returns how many it has cancelled. Needs no memory, and never fails.
        std::size_t cancel() noexcept {
            std::list<handle> all;
            {
                const std::lock_guard<detail::mutex> guard(mutex_);
                all.swap(handles_);
            }
            return static_cast<std::size_t>(
                std::count_if(all.begin(), all.end(), [](const handle& h) {
                    return h.cancel().result == cancel_result::cancelled;
                }));
        }

    private:
        // The node of the list is allocated first. So either the task is scheduled and in the
        // group, or nothing is scheduled.
        template <class Schedule>
        handle add(Schedule schedule) {
            std::list<handle> node(1);
            const handle h = node.front() = schedule();
            if (h.task_) {
                const std::lock_guard<detail::mutex> guard(mutex_);
                prune();
                handles_.splice(handles_.end(), node);
            }
            return h;
        }

        // Checks the two tasks that were not checked for longest, and removes those that have
        // ended. One task is added each time, so at most about half of the tasks in the list have
        // ended.
        void prune() noexcept {
            for (int i = 0; i < 2 && !handles_.empty(); ++i) {
                if (handles_.front().task_->is_over()) {
                    handles_.pop_front();
                } else {
                    handles_.splice(handles_.end(), handles_, handles_.begin());
                }
            }
        }

        detail::scheduler_impl<Clock> impl_; // A copy, so that the scheduler may be moved.
        detail::mutex mutex_;                // Guards:
        std::list<handle> handles_;
    };

private:
    [[nodiscard]] detail::task_registry<Clock>& registry() const noexcept {
        return *impl_.registry();
    }

    detail::scheduler_impl<Clock> impl_;
};

/// A scheduler on the steady clock, its options and its handles.
using scheduler = basic_scheduler<std::chrono::steady_clock>;
using scheduler_options = scheduler::options;
using task_handle = scheduler::handle;

} // namespace asio_wheel

#endif
