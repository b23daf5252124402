// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A call of a task whose function is a coroutine: it returns an awaitable, which is spawned on the
// task's executor. The call ends when the coroutine ends. Until then the task is running, as while
// a function runs, so that all that knows of calls knows of coroutines.
//
//   the coroutine        the call
//   ends                 ends: its exception is reported, and the next wait begins
//   is destroyed         is dropped, with the task: its context has ended, or an executor has
//                        dropped it
//   cannot be spawned    ends, with what co_spawn() has thrown

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_COROUTINE_CALL_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_COROUTINE_CALL_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/scheduler/on_cancel.hpp>
#include <asio_wheel/detail/scheduler/task_wait.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// `Task` is task<Clock>.
template <class Task>
struct coroutine_call {
    using handle = typename Task::handle;

    explicit coroutine_call(const handle& h) : self(h) {}

    const handle self; ///< The argument of the coroutine, which may refer to it until it ends.
    std::optional<task_wait_handler<Task>> wait; ///< For the next wait.

    /// Whether the coroutine was destroyed, or spawn_call() knows that it was spawned. Whoever sets
    /// this second drops the call. If co_spawn() throws, it has destroyed the coroutine, and nobody
    /// drops the call. The two exchanges pair with each other.
    atomic<bool> settled{false};
};

/// The completion handler of the coroutine.
template <class Task>
class coroutine_end {
public:
    explicit coroutine_end(std::shared_ptr<coroutine_call<Task>> c) noexcept
        : call_(std::move(c)) {}
    coroutine_end(coroutine_end&&) noexcept = default;
    coroutine_end& operator=(coroutine_end&&) = delete;
    ~coroutine_end() {
        if (call_ && call_->settled.exchange(true, std::memory_order_acq_rel)) {
            Task::drop_call(call_->self);
        }
    }

    void operator()(const std::exception_ptr& thrown) noexcept {
        const auto c = std::move(call_);
        Task::end_call(c->self, thrown, *c->wait); // NOLINT(bugprone-unchecked-optional-access)
    }

private:
    std::shared_ptr<coroutine_call<Task>> call_; // Null if it was called or moved from.
};

/// Calls a function that returns an awaitable, and spawns that on `ex`. If this throws, the call
/// has ended, and `w` is as it was. Otherwise the call ends later, or has ended already.
template <class Task, class Function>
void spawn_call(const typename Task::handle& h, Function& f, const boost::asio::any_io_executor& ex,
                task_wait_handler<Task>& w) {
    const auto c = std::make_shared<coroutine_call<Task>>(h);
    auto coroutine = call_with_handle(f, c->self);
    c->wait.emplace(std::move(w));
    const std::exception_ptr thrown =
        thrown_by([&] { boost::asio::co_spawn(ex, std::move(coroutine), coroutine_end<Task>(c)); });
    if (thrown) {
        Task::end_call(c->self, thrown, *c->wait); // NOLINT(bugprone-unchecked-optional-access)
    } else if (c->settled.exchange(true, std::memory_order_acq_rel)) {
        Task::drop_call(c->self);
    }
}

} // namespace asio_wheel::detail

#endif
