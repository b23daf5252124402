// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of a scheduler: an executor, the wheel whose time is used, and the registry of
// the tasks.
//
// Each group of a scheduler has a copy of this, and shares the registry. So a group does not point
// to its scheduler, and the scheduler can be moved.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_IMPL_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_IMPL_HPP

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/scheduler/function_task.hpp>
#include <asio_wheel/detail/scheduler/task.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// scheduler.hpp documents the functions. A copy uses the same registry.
template <class Clock>
class scheduler_impl {
    using task_type = task<Clock>;
    using task_ptr = std::shared_ptr<task_type>;

public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = boost::asio::any_io_executor;
    using handle = basic_task_handle<Clock>;
    using registry_type = task_registry<Clock>;
    using error_handler = typename registry_type::error_handler;
    using orphans = typename registry_type::orphans;

    scheduler_impl(const executor_type& ex, std::size_t max_pending, error_handler on_error)
        : executor_(ex), wheel_(&use_wheel<Clock>(context_of(ex))),
          registry_(std::make_shared<registry_type>(max_pending, std::move(on_error))) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    /// Null if *this was moved from.
    [[nodiscard]] const std::shared_ptr<registry_type>& registry() const noexcept {
        return registry_;
    }

    template <class Rep, class Period, class F>
    handle schedule_after(const std::chrono::duration<Rep, Period>& d, F&& f) {
        return schedule_at(expiry_after(d), std::forward<F>(f));
    }

    template <class F>
    handle schedule_at(const time_point& t, F&& f) {
        return start(make(not_nan("the time of a task", t), std::forward<F>(f), nullptr));
    }

    template <class Rep, class Period, class F>
    handle schedule_after(std::string key, const std::chrono::duration<Rep, Period>& d, F&& f) {
        const task_ptr t = make(expiry_after(d), std::forward<F>(f), nullptr);
        t->key = std::move(key);
        return start(t);
    }

    template <class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_at_fixed_rate(const std::chrono::duration<Rep1, Period1>& initial,
                                  const std::chrono::duration<Rep2, Period2>& period, F&& f) {
        return start(make(expiry_after(initial), std::forward<F>(f),
                          [period = positive_period(period)](time_point previous, time_point) {
                              return std::optional(add_saturating(previous, period));
                          }));
    }

    template <class Rep1, class Period1, class Rep2, class Period2, class F>
    handle schedule_with_fixed_delay(const std::chrono::duration<Rep1, Period1>& initial,
                                     const std::chrono::duration<Rep2, Period2>& delay, F&& f) {
        return start(make(expiry_after(initial), std::forward<F>(f),
                          [delay = positive_period(delay)](time_point, time_point now) {
                              return std::optional(add_saturating(now, delay));
                          }));
    }

    template <class Next, class F>
        requires std::invocable<Next&, time_point>
    handle schedule(Next next, F&& f) {
        throw_if_empty(next);
        const std::optional<time_point> first = next(wheel_->now());
        if (!first) {
            return handle();
        }
        return start(make(*first, std::forward<F>(f),
                          [next = std::move(next)](time_point previous, time_point) mutable {
                              return std::optional<time_point>(next(previous));
                          }));
    }

    /// The handle of the task that has a key; to no task if there is none.
    [[nodiscard]] handle find(const std::string& key) const { return handle(registry_->find(key)); }

    void adopt(const orphans& tasks) {
        for (const handle& h : tasks) {
            if (h.task_) {
                start(h.task_);
            }
        }
    }

    /// Ends all tasks. If `keep_orphans` is set, returns those that were never called.
    ///
    /// The function of a task may own the scheduler, and is destroyed here. So this does not use
    /// *this after the first task was stopped.
    orphans stop(bool keep_orphans) noexcept {
        const std::shared_ptr<registry_type> registry = registry_;
        orphans stopped_orphans;
        if (registry->stop(stopped_orphans)) {
            while (const task_ptr t = registry->next_to_stop()) {
                if (t->stop(keep_orphans)) {
                    stopped_orphans.push_back(
                        handle(t)); // Does not allocate: see task_registry::add().
                }
            }
        }
        return stopped_orphans;
    }

private:
    template <class F, class Repeat>
    [[nodiscard]] task_ptr make(const time_point& first, F&& f, Repeat repeat) {
        using function = std::decay_t<F>;
        static_assert(std::invocable<function&> || std::invocable<function&, const handle&>,
                      "a task is called as f(handle) or as f()");
        throw_if_empty(f);
        return std::make_shared<function_task<Clock, function, Repeat>>(
            first, function(std::forward<F>(f)), std::move(repeat));
    }

    template <class F>
    static void throw_if_empty(const F& f) {
        if constexpr (requires { static_cast<bool>(f == nullptr); } && !std::is_function_v<F>) {
            if (f == nullptr) {
                throw std::invalid_argument("asio_wheel: the function of a task is empty");
            }
        }
    }

    handle start(const task_ptr& t) {
        t->schedule(registry_, executor_);
        return handle(t);
    }

    template <class Rep, class Period>
    [[nodiscard]] time_point expiry_after(const std::chrono::duration<Rep, Period>& d) const {
        throw_if_nan("the delay of a task", d);
        return add_saturating(wheel_->now(), d);
    }

    template <class Rep, class Period>
    [[nodiscard]] static duration
    positive_period(const std::chrono::duration<Rep, Period>& period) {
        return positive<duration>("the period of a task", period);
    }

    executor_type executor_;
    wheel_service<Clock>* wheel_;
    std::shared_ptr<registry_type> registry_; // Shared with the tasks.
};

} // namespace asio_wheel::detail

#endif
