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
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/op/idle_op.hpp>
#include <asio_wheel/detail/scheduler/on_cancel.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/scheduler/task_scheduling.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_wheel {

/// The limit of a scheduler, and what it does with exceptions.
template <class Clock>
struct basic_scheduler_options {
    /// The type of `on_error`.
    using error_handler = std::function<void(const basic_task_handle<Clock>&, std::exception_ptr)>;

    /// There are no more tasks than this at once; 0 is no limit. A call that is under way does not
    /// count once another task has taken its key, and its place.
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
/// Coroutines. A function that returns boost::asio::awaitable<void> is spawned on the scheduler's
/// executor, and the call lasts until the coroutine ends. What is missed meanwhile follows the rule
/// for missed calls; a fixed delay begins at the end. To cancel or to stop does not interrupt it.
/// If the context ends, it is destroyed, and the task is over. The handle, and the function with
/// all that it has captured, are valid until then.
///
/// A task lives until it was called for the last time, or was cancelled, or its context ends. Then
/// its function is destroyed, even if there are handles, and if it holds one itself. A scheduler's
/// destructor cancels its tasks. It may outlive the context, if its executor may (no strand may).
/// Then schedule nothing any more: only after stop() or close(), that is an error.
///
/// Keys. Each function that schedules exists twice: without a key, and with a key as the first
/// argument. With a key, the task is scheduled instead of what was scheduled under this key and was
/// not called yet, and in its place if there are max_pending tasks. So under a key that leads to a
/// task, the newest is always accepted, also while the former one is being called. A key is a value
/// of any type with std::hash and ==. It is stored in its task. Keys of several types may be in use
/// at once: 1 and 1L are different keys. But what converts to std::string_view is a std::string, so
/// find("a") finds what was scheduled under std::string("a"); it needs no memory. The scheduler is
/// locked while == is called, so == must not use it. If a hash or == throws, nothing has changed.
/// Groups share the keys of their scheduler. An orphan keeps its key.
///
/// Memory. The function that schedules a task allocates all that the task needs until it is over,
/// also if it is repeated. If that throws, nothing was scheduled. Nothing else allocates: close(),
/// stop(), the destructor, and cancelling need no memory and never fail. (An executor of an unknown
/// kind may allocate for each wait; if that fails, on_error is called, and the task is over. A
/// coroutine allocates for each call; if that fails, on_error is called.)
///
/// Movable at any time, also while there are tasks. A scheduler that was moved from may be
/// destroyed and assigned to; everything else throws std::logic_error, or terminates the program if
/// it is noexcept.
///
/// Thread safety. All functions may be called from any thread at any time, but not while this same
/// scheduler is moved, assigned to or destroyed.
///
/// Errors. The functions that schedule throw boost::system::system_error: error::scheduler_stopped
/// after close() or stop(), error::scheduler_full with max_pending tasks. They throw
/// std::invalid_argument for empty functions, periods of zero or less, and durations that are NaN.
template <class Clock, class Executor = boost::asio::any_io_executor>
class basic_scheduler : public detail::task_scheduling<Clock, Executor> {
    using detail::task_scheduling<Clock, Executor>::impl_;

public:
    using clock_type = Clock;                              ///< The clock that tells the time.
    using duration = typename Clock::duration;             ///< Of the clock.
    using time_point = typename Clock::time_point;         ///< Of the clock.
    using executor_type = Executor;                        ///< The type of get_executor().
    using handle = basic_task_handle<Clock>;               ///< Refers to a task.
    using options = basic_scheduler_options<Clock>;        ///< What the constructors take.
    using error_handler = typename options::error_handler; ///< As in the options.

    /// The scheduler's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_scheduler<Clock, Executor1>;
    };

    /// Tasks that were never called when their scheduler was stopped. For adopt().
    using orphans = std::vector<handle>;

    /// A scheduler without tasks, which calls functions on the executor.
    explicit basic_scheduler(const executor_type& ex, options o = {})
        : detail::task_scheduling<Clock, Executor>({ex, o.max_pending, std::move(o.on_error)}) {}

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
        if (impl_) {
            static_cast<void>(impl_.stop(false));
        }
    }

    /// The task that was scheduled under a key last, if it is not over; otherwise a handle to no
    /// task.
    template <class Key>
    [[nodiscard]] handle find(const Key& key) const {
        return impl_.find(key);
    }

    /// As handle::cancel() of the task under a key.
    template <class Key>
    auto cancel(const Key& key) {
        return find(key).cancel();
    }

    /// Whether the task under a key will be called, or called again.
    template <class Key>
    [[nodiscard]] bool is_pending(const Key& key) const {
        const handle h = find(key);
        return h != handle() && !h.is_expired() && !h.is_cancelled();
    }

    /// How many tasks there are: those that wait, and those that are being called, until the call
    /// has returned and the function is destroyed, also if they were cancelled or stopped
    /// meanwhile. If a scheduler is closed() and has none, nothing is being called, and nothing
    /// will be.
    [[nodiscard]] std::size_t pending() const noexcept { return registry().size(); }

    /// How many calls have ended so far, also those that have thrown, and those of coroutines. What
    /// was cancelled before its call is not counted.
    [[nodiscard]] std::uint64_t completed() const noexcept { return registry().calls(); }

    /// Calls f(handle) for each task that pending() counts, those of groups included. No lock is
    /// held meanwhile: f may use the scheduler, and tasks may end. Allocates once.
    ///
    ///     tasks.for_each([&](const task_handle& h) { repeated += h.is_repeated() ? 1 : 0; });
    template <class Function>
    void for_each(Function f) const {
        impl_.for_each(std::move(f));
    }

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
    /// adopted it meanwhile. Keys are those of the scheduler.
    ///
    /// The destructor cancels, but does not wait. A call that is under way on another thread
    /// continues after it. So if the functions use what is destroyed with the group, first wait
    /// until none of them is being called: by async_stop(), or by cancel() and wait_idle().
    ///
    /// A group goes on working when its scheduler is moved. It may outlive its scheduler. When that
    /// has ended, or was assigned to, the group's functions throw as those of a scheduler that was
    /// stopped. As a scheduler, it may outlive the context, if its executor may (a strand may not).
    class group : public detail::task_scheduling<Clock, Executor> {
    public:
        /// A group of tasks of `s`, which has none yet.
        explicit group(basic_scheduler& s)
            : detail::task_scheduling<Clock, Executor>(s.impl_.for_group()) {}
        group(const group&) = delete;
        group& operator=(const group&) = delete;
        /// As cancel(). Nothing is scheduled any more: if on_cancel tries to, that throws.
        ~group() {
            this->impl_.group()->stop();
            static_cast<void>(cancel());
        }

        /// Cancels all. Returns how many it has cancelled. Needs no memory, and never fails.
        std::size_t cancel() noexcept { return this->impl_.cancel_group(); }

        /// Takes no more tasks: functions that schedule throw error::scheduler_stopped from now on.
        /// Cancels all, and then waits as async_wait_idle(). If memory for the wait is lacking,
        /// throws and does nothing. If the wait is aborted, the group is stopped all the same.
        template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                      Token = typename boost::asio::default_completion_token<executor_type>::type>
            requires detail::wait_token<Token>
        auto async_stop(
            Token&& token = typename boost::asio::default_completion_token<executor_type>::type()) {
            // The group is busy meanwhile. So the wait begins before, and what is told of its
            // cancellation may abort it.
            const auto stop = [group = this->impl_.group()] {
                group->begin_cancelling();
                return detail::scope_exit([group] {
                    group->stop();
                    group->cancel_all();
                    group->rest();
                });
            };
            return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
                detail::initiate_idle_wait(this->get_executor(), this->impl_.group(), stop), token);
        }

        // For any other handler. The name of the return type is a part of the compiler's message.
        template <class Handler>
            requires(!detail::wait_token<Handler>)
        detail::the_handler_must_be_callable_with_one_error_code async_stop(Handler&&)
            ASIO_WHEEL_DELETED("the handler must be callable with one error_code");
    };

private:
    [[nodiscard]] detail::task_registry<Clock>& registry() const noexcept {
        return *impl_.registry();
    }
};

/// A function of a task that is told when the task is cancelled: the task calls f, as usual, and
/// g(handle), or g(), if it is cancelled before its last call.
///
///     tasks.schedule_after(30s, on_cancel([&] { deliver(); }, [&] { return_to_sender(); }));
///
/// That is: by cancel() of its handle, its key or its group; by the end of its scheduler or of its
/// group; by stop(), unless it becomes an orphan; or because another task is scheduled under its
/// key. g is called once, by the thread that cancels, before that call returns; but if a repeated
/// task is cancelled while it is being called, when that call has returned. The function, with all
/// that f and g own, is destroyed after that. What g throws goes to on_error.
///
/// g is not called when the context ends. There, functions are only destroyed, as handlers are.
///
/// Any function object with a member on_cancel(), or on_cancel(handle), is told in the same way.
template <class F, class G>
[[nodiscard]] auto on_cancel(F&& f, G&& g) {
    return detail::cancellable_function<std::decay_t<F>, std::decay_t<G>>(std::forward<F>(f),
                                                                          std::forward<G>(g));
}

/// A scheduler on the steady clock.
using scheduler = basic_scheduler<std::chrono::steady_clock>;
using scheduler_options = scheduler::options; ///< The options of a scheduler.
using task_handle = scheduler::handle;        ///< Refers to a task of a scheduler.

/// A scheduler on the system clock: calls come when the wall clock shows their times. For times of
/// day, civil_time.hpp has functions for schedule().
using system_scheduler = basic_scheduler<std::chrono::system_clock>;

} // namespace asio_wheel

#endif
