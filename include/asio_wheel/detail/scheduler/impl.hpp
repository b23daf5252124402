// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of a scheduler: an executor, the wheel whose time is used, and the registry of
// the tasks.
//
// Each group of a scheduler has a copy of this, which schedules tasks of the group, and shares the
// registry. So a group does not point to its scheduler, and the scheduler can be moved.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_IMPL_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_IMPL_HPP

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/scheduler/first_call.hpp>
#include <asio_wheel/detail/scheduler/function_task.hpp>
#include <asio_wheel/detail/scheduler/on_cancel.hpp>
#include <asio_wheel/detail/scheduler/task.hpp>
#include <asio_wheel/detail/scheduler/task_group.hpp>
#include <asio_wheel/detail/scheduler/task_handle.hpp>
#include <asio_wheel/detail/scheduler/task_key.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/throw_exception.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// A function that gives the next time of a task: next(previous, now), or next(previous).
template <class Next, class TimePoint>
concept next_function = std::invocable<std::decay_t<Next>&, TimePoint, TimePoint> ||
                        std::invocable<std::decay_t<Next>&, TimePoint>;

/// A copy uses the same registry.
template <class Clock, class Executor>
class scheduler_impl {
    using task_type = task<Clock>;
    using task_ptr = std::shared_ptr<task_type>;
    using group_ptr = typename task_type::group_ptr;
    template <class Key>
    using key_type =
        std::conditional_t<std::is_same_v<std::decay_t<Key>, no_key>, no_key, stored_key<Key>>;

public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using handle = basic_task_handle<Clock>;
    using registry_type = task_registry<Clock>;
    using error_handler = typename registry_type::error_handler;
    using orphans = typename registry_type::orphans;

    scheduler_impl(const executor_type& ex, std::size_t max_pending, error_handler on_error)
        : executor_(ex), wheel_(&anchor_of<Clock>(ex)),
          registry_(std::make_shared<registry_type>(max_pending, std::move(on_error))) {}

    /// Schedules tasks of a new group.
    [[nodiscard]] scheduler_impl for_group() const {
        static_cast<void>(registry());
        scheduler_impl copy(*this);
        copy.group_ = std::make_shared<task_group<task_type>>();
        return copy;
    }

    [[nodiscard]] const executor_type& get_executor() const noexcept {
        static_cast<void>(registry());
        return executor_;
    }

    /// Cancels all tasks of the group. Returns how many it has cancelled.
    std::size_t cancel_group() noexcept {
        const group_ptr group = group_; // The function of a task may own the group.
        return group->cancel_all();
    }

    /// False if *this was moved from.
    [[nodiscard]] explicit operator bool() const noexcept { return registry_ != nullptr; }

    /// Throws std::logic_error if *this was moved from.
    [[nodiscard]] const std::shared_ptr<registry_type>& registry() const {
        if (registry_ == nullptr) {
            throw_moved_from();
        }
        return registry_;
    }

    /// What is idle when all tasks of the group, or else of the scheduler, are over.
    [[nodiscard]] std::shared_ptr<idle_source> idle() const {
        return group_ ? std::shared_ptr<idle_source>(group_) : registry();
    }

    /// Null, unless this is a part of a group.
    [[nodiscard]] const group_ptr& group() const noexcept { return group_; }

    /// `d` from now.
    template <class Rep, class Period>
    [[nodiscard]] time_point expiry_after(const std::chrono::duration<Rep, Period>& d) const {
        throw_if_nan("the delay of a task", d);
        return add_saturating(now(), d);
    }

    /// The burst that has the key waits until `quiet` from now; if there is none, a new one does.
    template <class Key, class F>
    handle debounce(Key&& key, const duration& quiet, const duration& at_latest, F&& f) {
        if constexpr (is_tagged_token<std::decay_t<F>>) {
            throw_if_empty(f.token_);
        } else {
            throw_if_empty(f);
        }
        const handle pending = find(key);
        const bool stopped = registry()->closed() || (group_ && group_->stopped());
        if (pending.task_ && !stopped && pending.task_->postpone_burst(group_, quiet)) {
            return pending;
        }
        const time_point latest = expiry_after(at_latest);
        const first_call<time_point> first{(std::min)(expiry_after(quiet), latest), latest, true};
        return start_new(std::forward<Key>(key), first, std::forward<F>(f), nullptr);
    }

    /// Schedules a task for `first`, and then for what repeat(previous, now) returns. `repeat` is
    /// null for a task that is called once, and `key` is no_key for one without.
    template <class Key, class F, class Repeat>
    handle start_new(Key&& key, const first_call<time_point>& first, F&& f, Repeat repeat) {
        if constexpr (is_tagged_token<std::decay_t<F>>) {
            return start_tagged(std::forward<Key>(key), first, std::forward<F>(f).token_,
                                std::move(repeat), f.tag_);
        } else {
            return start_tagged(std::forward<Key>(key), first, std::forward<F>(f),
                                std::move(repeat), no_tag());
        }
    }

    /// Schedules a task for the times that `next` gives.
    template <class Key, class Next, class F>
    handle start_repeated(Key&& key, Next&& next, F&& f) {
        static_cast<void>(registry());
        throw_if_empty(next);
        std::decay_t<Next> repeat(std::forward<Next>(next));
        const time_point start = now();
        const std::optional<time_point> first = next_of(repeat, start, start);
        if (!first) {
            return handle();
        }
        return start_new(std::forward<Key>(key), {*first}, std::forward<F>(f),
                         [repeat = std::move(repeat)](time_point previous, time_point t) mutable {
                             return next_of(repeat, previous, t);
                         });
    }

    /// Calls f(handle) for each task.
    template <class Function>
    void for_each(Function f) const {
        for (task_ptr& t : registry()->tasks()) {
            f(handle(std::move(t)));
        }
    }

    /// The handle of the task that has a key; to no task if there is none.
    template <class Key>
    [[nodiscard]] handle find(const Key& key) const {
        expect_key<Key>();
        return handle(with_key(key, [this](const key_view& k) { return registry()->find(k); }));
    }

    /// A task may take the key of another one, whose function is destroyed then, and may own the
    /// scheduler. So this does not use *this after the first task was scheduled.
    void adopt(const orphans& tasks) {
        const std::shared_ptr<registry_type> kept = registry();
        const executor_type ex = executor_;
        for (const handle& h : tasks) {
            if (h.task_) {
                h.task_->schedule(kept, ex);
            }
        }
    }

    /// Ends all tasks. If `keep_orphans` is set, returns those that were never called.
    ///
    /// The function of a task may own the scheduler, and is destroyed here. So this does not use
    /// *this after the first task was stopped.
    orphans stop(bool keep_orphans) noexcept {
        const std::shared_ptr<registry_type> kept = registry();
        orphans stopped_orphans;
        if (kept->stop(stopped_orphans)) {
            while (const task_ptr t = kept->next_to_stop()) {
                if (t->stop(keep_orphans)) {
                    stopped_orphans.push_back(
                        handle(t)); // Does not allocate: see task_registry::add().
                }
            }
        }
        return stopped_orphans;
    }

private:
    // Also after the context's end.
    [[nodiscard]] time_point now() const { return now_of<Clock>(*wheel_, executor_); }

    template <class Key, class F, class Repeat, class Tag>
    handle start_tagged(Key&& key, const first_call<time_point>& first, F&& f, Repeat repeat,
                        const Tag& tag) {
        using function = std::decay_t<F>;
        if constexpr (!std::is_same_v<key_type<Key>, no_key>) {
            expect_key<Key>();
        }
        static_assert(std::invocable<function&> || std::invocable<function&, const handle&>,
                      "a task is called as f(handle) or as f()");
        expect_result_of_task<result_with_handle<function, handle>>();
        throw_if_empty(f);
        using task_of = function_task<Clock, function, Repeat, key_type<Key>, Tag>;
        const task_ptr t =
            std::make_shared<task_of>(group_, std::forward<Key>(key), first,
                                      function(std::forward<F>(f)), std::move(repeat), tag);
        // Destroys the function, also if a wait of the task is queued.
        scope_exit undo([&t] { t->cancel(false); });
        t->schedule(registry(), executor_);
        undo.release();
        return handle(t);
    }

    // Calls next(previous, now), or next(previous).
    template <class Next>
    [[nodiscard]] static std::optional<time_point> next_of(Next& next, const time_point& previous,
                                                           const time_point& now) {
        if constexpr (std::invocable<Next&, time_point, time_point>) {
            return next(previous, now);
        } else {
            return next(previous);
        }
    }

    template <class F>
    static void throw_if_empty(const F& f) {
        if (is_empty_function(f)) {
            BOOST_THROW_EXCEPTION(
                std::invalid_argument("asio_wheel: the function of a task is empty"));
        }
    }

    executor_type executor_;
    const wheel_anchor* wheel_;
    std::shared_ptr<registry_type> registry_; // Shared with the tasks.
    group_ptr group_;                         // Null, unless this is a part of a group.
};

} // namespace asio_wheel::detail

#endif
