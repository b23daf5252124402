// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of a context: what its threads run next.
//
// This is the one place where the library uses Asio's private interface: operations and the
// scheduler, as Asio's own timers do. The public interface is to post a function. For each wait
// that costs an executor, memory for a function object, and two locks. An operation is linked into
// the queue as it is, and a whole slice of a tick under one lock. The difference is a third of the
// cost of a wait.

#ifndef ASIO_WHEEL_DETAIL_ASIO_CONTEXT_QUEUE_HPP
#define ASIO_WHEEL_DETAIL_ASIO_CONTEXT_QUEUE_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>

#include <boost/asio/detail/executor_op.hpp>
#include <boost/asio/detail/op_queue.hpp>
#include <boost/asio/detail/operation.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// An element of a queue; see boost::asio::detail::scheduler_operation. A thread of the context
/// calls its function with the queue as the first argument. If the context ends before, the first
/// argument is null.
using operation = boost::asio::detail::operation;

/// Operations on their way to a queue, in order. Each counts as work of the context already.
class operation_batch {
public:
    operation_batch() = default;
    operation_batch(operation_batch&& other) noexcept
        : visible_(std::exchange(other.visible_, false)) {
        ops_.push(other.ops_);
    }
    operation_batch& operator=(operation_batch&&) = delete;

    /// For an operation that need not be found before the handler that is running has returned.
    void push(operation& op) noexcept { ops_.push(&op); }

    /// For an operation that run_one() must find if it is called inside the handler that is
    /// running. Makes the whole batch visible in this way.
    void push_visible(operation& op) noexcept {
        visible_ = true;
        push(op);
    }

    /// The first operation. The batch must not be empty.
    [[nodiscard]] operation& front() noexcept { return *ops_.front(); }

    /// Takes out the first operation. The batch must not be empty.
    [[nodiscard]] operation& pop() noexcept {
        operation* const op = ops_.front();
        ops_.pop();
        return *op;
    }

    [[nodiscard]] bool empty() const noexcept { return ops_.empty(); }

private:
    friend class context_queue;

    boost::asio::detail::op_queue<operation> ops_;
    bool visible_ = false;
};

class context_queue {
    using scheduler = boost::asio::detail::io_context_impl;

public:
    explicit context_queue(boost::asio::execution_context& context)
        : scheduler_(boost::asio::use_service<scheduler>(context)),
          one_thread_(has_one_thread(context, scheduler_)) {}

    /// Whether the threads of a boost::asio::thread_pool run its queue. (On Windows, a thread of
    /// Asio's own serves the I/O objects of a thread_pool.)
    static constexpr bool serves_thread_pools =
        std::is_same_v<scheduler, class boost::asio::detail::scheduler>;

    /// Keeps the context running until work_finished() is called, or until an operation that is
    /// posted has returned.
    void work_started() noexcept { scheduler_.work_started(); }

    /// If this was the last work, the context stops. So there must be other work, unless a handler
    /// of the context calls this.
    void work_finished() noexcept { scheduler_.work_finished(); }

    /// Puts one operation, which does not count as work yet, into the queue of any context.
    static void post_to(boost::asio::execution_context& context, operation& op) {
        boost::asio::use_service<scheduler>(context).post_immediate_completion(&op, false);
    }

    /// Puts an operation, which counts as work, into the queue. It need not be found before the
    /// handler that is running has returned.
    void post(operation& op) noexcept { scheduler_.post_deferred_completion(&op); }

    /// Puts a function into the queue of any context, in memory from `allocator`.
    template <class Function, class Allocator>
    static void post_to(boost::asio::execution_context& context, Function&& function,
                        const Allocator& allocator) {
        using op = boost::asio::detail::executor_op<std::decay_t<Function>, Allocator, operation>;
        typename op::ptr p = {std::addressof(allocator), op::ptr::allocate(allocator), nullptr};
        p.p = new (p.v) op(std::forward<Function>(function), allocator);
        BOOST_ASIO_HANDLER_CREATION((context, *p.p, "asio_wheel", &context, 0, "execute"));
        post_to(context, *p.p);
        p.v = p.p = nullptr;
    }

    /// Whether the calling thread runs the queue of `context`.
    [[nodiscard]] static bool running_in_this_thread(boost::asio::execution_context& context) {
        return boost::asio::use_service<scheduler>(context).can_dispatch();
    }

    /// Whether the calling thread runs this queue. Then it is in a handler, which counts as work.
    [[nodiscard]] bool running_in_this_thread() const noexcept { return scheduler_.can_dispatch(); }

    /// Puts a batch into the queue. It must not be empty.
    void post(operation_batch& batch) noexcept {
        if (std::exchange(batch.visible_, false) && one_thread_) {
            post_visible(batch.ops_);
        } else {
            scheduler_.post_deferred_completions(batch.ops_);
        }
    }

private:
    // On a context with one thread, what a handler posts is in a list of that thread until the
    // handler returns. A run_one() inside the handler does not see that list. do_dispatch() does
    // not use it, and counts the operation as work once more.
    [[gnu::noinline]] void post_visible(boost::asio::detail::op_queue<operation>& ops) noexcept {
        while (operation* const op = ops.front()) {
            ops.pop();
            scheduler_.do_dispatch(op);
            scheduler_.work_finished();
        }
    }

    scheduler& scheduler_;
    const bool one_thread_;
};

} // namespace asio_wheel::detail

#endif
