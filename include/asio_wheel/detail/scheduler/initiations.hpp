// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The initiations of the operations that wait until a scheduler or a group is idle.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_INITIATIONS_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_INITIATIONS_HPP

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/scheduler/idle_op.hpp>
#include <asio_wheel/detail/scheduler/idle_source.hpp>
#include <asio_wheel/detail/scheduler/task_group.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Waits until an idle source is idle.
template <class Executor>
class initiate_async_wait_idle {
public:
    using executor_type = Executor;

    initiate_async_wait_idle(const executor_type& ex, std::shared_ptr<idle_source> source)
        : executor_(ex), source_(std::move(source)) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
        expect_storable<Handler>();
        start_idle_op(source_, std::decay_t<Handler>(std::forward<Handler>(handler)), executor_,
                      [] {});
    }

private:
    executor_type executor_;
    std::shared_ptr<idle_source> source_;
};

/// Stops a group, and then waits until it is idle.
template <class Executor, class Task>
class initiate_async_stop {
public:
    using executor_type = Executor;
    using group = task_group<Task>;

    initiate_async_stop(const executor_type& ex, std::shared_ptr<group> g)
        : executor_(ex), group_(std::move(g)) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
        expect_storable<Handler>();
        start_idle_op(group_, std::decay_t<Handler>(std::forward<Handler>(handler)), executor_,
                      [this] {
                          group_->stop();
                          group_->cancel_all();
                      });
    }

private:
    executor_type executor_;
    std::shared_ptr<group> group_;
};

} // namespace asio_wheel::detail

#endif
