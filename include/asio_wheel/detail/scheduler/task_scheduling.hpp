// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_SCHEDULING_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_SCHEDULING_HPP

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/op/idle_op.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>
#include <asio_wheel/detail/scheduler/impl.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_key.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/fixed_rate.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/missed.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace asio_wheel {

/// When a burst of events ends: see basic_scheduler::debounce().
struct debounce_options {
    std::chrono::nanoseconds quiet; ///< After the last event.
    std::chrono::nanoseconds at_latest = (std::chrono::nanoseconds::max)(); ///< After the first.
};

namespace detail {

/// What a scheduler and its groups have in common.
template <class Clock, class Executor>
class task_scheduling {
public:
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().
    using handle = basic_task_handle<Clock>;       ///< Refers to a task.

    /// The executor on which functions are called.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_.get_executor();
    }

    /// Calls f after `d`.
    template <class Rep, class Period, class F>
    handle schedule_after(const std::chrono::duration<Rep, Period>& d, F&& f) {
        return schedule_after(no_key(), d, std::forward<F>(f));
    }
    template <class Key, class Rep, class Period, class F>
    handle schedule_after(Key&& key, const std::chrono::duration<Rep, Period>& d, F&& f) {
        return impl_.start_new(std::forward<Key>(key), {impl_.expiry_after(d)}, std::forward<F>(f),
                               nullptr);
    }

    /// Calls f at `t`; if that has passed, on the context's next turn.
    template <class F>
    handle schedule_at(const time_point& t, F&& f) {
        return schedule_at(no_key(), t, std::forward<F>(f));
    }
    template <class Key, class F>
    handle schedule_at(Key&& key, const time_point& t, F&& f) {
        return impl_.start_new(std::forward<Key>(key), {not_nan("the time of a task", t)},
                               std::forward<F>(f), nullptr);
    }

    /// Calls f after `initial`, and then at a fixed rate: each call is scheduled for `period` after
    /// the time for which the one before was scheduled. A negative `initial` is a first call that
    /// is late.
    ///
    /// `rule` says what becomes of calls that are late by a period or more, because the process was
    /// suspended, or because a call took long. With missed::coalesce, handle::expiry() is the last
    /// time that has passed. With missed::skip and a period below the wheel's tick, there may be no
    /// call at all. The next call after that is at a time of the rate again. On a clock that can be
    /// set, each time of the rate has one call: if the clock is set back, there is none until it
    /// comes to the next time. So for "every minute", use a steady clock.
    template <class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_at_fixed_rate(const std::chrono::duration<Rep1, Period1>& initial,
                                  const std::chrono::duration<Rep2, Period2>& period, F&& f,
                                  missed rule = missed::coalesce) {
        return schedule_at_fixed_rate(no_key(), initial, period, std::forward<F>(f), rule);
    }
    template <class Key, class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_at_fixed_rate(Key&& key, const std::chrono::duration<Rep1, Period1>& initial,
                                  const std::chrono::duration<Rep2, Period2>& period, F&& f,
                                  missed rule = missed::coalesce) {
        return impl_.start_new(std::forward<Key>(key), {impl_.expiry_after(initial)},
                               std::forward<F>(f),
                               fixed_rate<Clock>(positive_period(period), rule));
    }

    /// Calls f after `initial`, and then `delay` after it has returned.
    template <class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_with_fixed_delay(const std::chrono::duration<Rep1, Period1>& initial,
                                     const std::chrono::duration<Rep2, Period2>& delay, F&& f) {
        return schedule_with_fixed_delay(no_key(), initial, delay, std::forward<F>(f));
    }
    template <class Key, class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_with_fixed_delay(Key&& key, const std::chrono::duration<Rep1, Period1>& initial,
                                     const std::chrono::duration<Rep2, Period2>& delay, F&& f) {
        return impl_.start_new(std::forward<Key>(key), {impl_.expiry_after(initial)},
                               std::forward<F>(f),
                               [delay = positive_period(delay)](time_point, time_point now) {
                                   return std::optional(add_saturating(now, delay));
                               });
    }

    /// Calls f at the times that `next` gives, as long as it gives one. It is called as
    /// next(previous, now), if that compiles, otherwise as next(previous), and returns a
    /// std::optional<time_point>. `previous` is the time for which the last call was scheduled, and
    /// `now` the time at which that call has returned. In the first call, both are the current
    /// time. Returns a handle to nothing if `next` gives no time to begin with.
    template <class Next, class F>
        requires next_function<Next, time_point>
    handle schedule(Next&& next, F&& f) {
        return schedule(no_key(), std::forward<Next>(next), std::forward<F>(f));
    }
    template <class Key, class Next, class F>
        requires next_function<Next, time_point>
    handle schedule(Key&& key, Next&& next, F&& f) {
        return impl_.start_repeated(std::forward<Key>(key), std::forward<Next>(next),
                                    std::forward<F>(f));
    }

    /// For events that come in bursts: calls f when there was no event under the key for
    /// debounce_options::quiet, but not later than debounce_options::at_latest after the first of
    /// them. An event is a call of this function. The first of a burst schedules f. Those that
    /// follow postpone it, and their f is dropped: what is to be seen of the last event belongs
    /// into what f refers to. An event during the call begins a new burst. If another task has the
    /// key, or a burst of another group, the new burst is scheduled instead of it.
    ///
    ///     tasks.debounce("save", {.quiet = 500ms, .at_latest = 5s}, [&] { file.save(); });
    ///
    /// With `at_latest` as long as `quiet`, f is called once in this time, however many events
    /// there are: that throttles.
    ///
    /// postpone() of the handle does not go beyond `at_latest`, either. Throws
    /// std::invalid_argument unless both times are greater than zero; and what schedule_after()
    /// throws.
    template <class Key, class F>
    handle debounce(Key&& key, const debounce_options& options, F&& f) {
        using duration = typename Clock::duration;
        const auto quiet = positive<duration>("debounce_options::quiet", options.quiet);
        const auto at_latest = positive<duration>("debounce_options::at_latest", options.at_latest);
        return impl_.debounce(std::forward<Key>(key), quiet, at_latest, std::forward<F>(f));
    }

    /// Waits until the scheduler, or the group, is idle: no task of it is scheduled, no function is
    /// being called, and those of all tasks are destroyed. (Orphans are no tasks of a scheduler any
    /// more; they count for their group while they are adopted.) After close(), or stop(), that
    /// stays so: what the functions use may be destroyed then. This is awaitTermination() of the
    /// JDK.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Completes never from inside this function: as if by post().
    ///
    /// Errors: boost::asio::error::operation_aborted after a signal to the handler's cancellation
    /// slot (terminal, partial or total; from any thread). The end of the scheduler cancels its
    /// tasks, so the operation completes as usual.
    ///
    /// Executor: the handler's associated executor, by default this object's. It has outstanding
    /// work until the handler is called. If its context runs the tasks and ends, the handler is
    /// destroyed with them. If it is another context, it must exist until the threads that run or
    /// cancel the tasks have returned from that: one of them posts the handler.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is called.
    /// If it throws, there is no operation. The completion needs no memory of ours. (A strand
    /// allocates for each handler. If it has no memory, the operation is sent to it again later.)
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
        requires wait_token<Token>
    auto async_wait_idle(
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type()) {
        auto idle = impl_.idle(); // Throws if *this was moved from, unlike get_executor().
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            initiate_idle_wait(get_executor(), std::move(idle), [] { return nullptr; }), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!wait_token<Handler>)
    the_handler_must_be_callable_with_one_error_code async_wait_idle(Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with one error_code");

    /// Blocks until it is idle, as async_wait_idle(). Other threads must run its context meanwhile,
    /// or cancel its tasks.
    ///
    /// Throws boost::system::system_error with errc::resource_deadlock_would_occur if a task of the
    /// scheduler calls this (a coroutine, before it was suspended): it would wait for itself.
    void wait_idle() { block_until_idle(impl_.idle()); }
    /// The same, but not for longer than `d`: in real time, also while the wheel's time is paused.
    /// Returns whether it is idle.
    template <class Rep, class Period>
    [[nodiscard("false: it is not idle")]] bool
    wait_idle(const std::chrono::duration<Rep, Period>& d) {
        return block_until_idle(impl_.idle(), d);
    }

protected:
    using impl = scheduler_impl<Clock, Executor>;

    explicit task_scheduling(impl&& i) : impl_(std::move(i)) {}
    task_scheduling(task_scheduling&&) noexcept = default;
    task_scheduling& operator=(task_scheduling&&) noexcept = default;
    ~task_scheduling() = default;

    impl impl_;

private:
    template <class Rep, class Period>
    [[nodiscard]] static auto positive_period(const std::chrono::duration<Rep, Period>& period) {
        return positive<typename Clock::duration>("the period of a task", period);
    }
};

} // namespace detail

} // namespace asio_wheel

#endif
