// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of an execution context: the operations that its threads run next.
//
// This is the only file that uses Asio's private interface: operations, and the scheduler that
// queues them, as Asio's own timers do. The public way would be to post a function for each wait.
// That takes an executor, memory for a function object and two locks, a third of the cost of a
// wait. An operation is linked into the queue as it is, and all operations of a slice are linked
// under one lock.
//
// The queue may be used from any thread: Asio's scheduler has a lock of its own. A context runs
// until its count of work is zero. Each operation in the queue counts as one.

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

/// An element of a queue: boost::asio::detail::scheduler_operation. A thread of the context calls
/// its function with the queue as the first argument. If the context ends first, the function is
/// called with null instead, and must free the operation.
using operation = boost::asio::detail::operation;

/// Operations that are about to be queued, in order. Each is counted as work already.
class operation_batch {
public:
    operation_batch() = default;
    operation_batch(operation_batch&& other) noexcept
        : visible_(std::exchange(other.visible_, false)) {
        ops_.push(other.ops_);
    }
    operation_batch& operator=(operation_batch&&) = delete;

    /// Adds an operation. It may stay hidden from the queue until the handler that is running has
    /// returned.
    void push(operation& op) noexcept { ops_.push(&op); }

    /// Adds an operation that is not hidden: a run_one() inside the handler that is running must
    /// find it. Then no operation of the batch is hidden.
    void push_visible(operation& op) noexcept {
        visible_ = true;
        push(op);
    }

    /// Returns the first operation. The batch must not be empty.
    [[nodiscard]] operation& front() noexcept { return *ops_.front(); }

    /// Removes the first operation and returns it. The batch must not be empty.
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

    /// Whether a boost::asio::thread_pool runs its queue by its own threads. (It does not on
    /// Windows: there, an internal thread of Asio serves the I/O objects of a thread_pool.)
    static constexpr bool serves_thread_pools =
        std::is_same_v<scheduler, class boost::asio::detail::scheduler>;

    /// Adds one to the count of work. It is subtracted by work_finished(), or when an operation
    /// that was posted has returned.
    void work_started() noexcept { scheduler_.work_started(); }

    /// If the count becomes zero, the context stops. A handler that is running counts as work. So
    /// call this inside a handler of the context, or while there is other work.
    void work_finished() noexcept { scheduler_.work_finished(); }

    /// Queues an operation on any context, and counts it as work.
    static void post_to(boost::asio::execution_context& context, operation& op) {
        boost::asio::use_service<scheduler>(context).post_immediate_completion(&op, false);
    }

    /// Queues an operation that is counted as work already. It may stay hidden until the handler
    /// that is running has returned.
    void post(operation& op) noexcept { scheduler_.post_deferred_completion(&op); }

    /// Queues a function on any context, in memory from `allocator`.
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

    /// Whether the calling thread is running the queue of `context`.
    [[nodiscard]] static bool running_in_this_thread(boost::asio::execution_context& context) {
        return boost::asio::use_service<scheduler>(context).can_dispatch();
    }

    /// Whether the calling thread is running this queue. Then it is inside a handler, which counts
    /// as work.
    [[nodiscard]] bool running_in_this_thread() const noexcept { return scheduler_.can_dispatch(); }

    /// Queues all operations of a batch, which must not be empty.
    void post(operation_batch& batch) noexcept {
        if (std::exchange(batch.visible_, false) && one_thread_) {
            post_visible(batch.ops_);
        } else {
            scheduler_.post_deferred_completions(batch.ops_);
        }
    }

private:
    // On a context with one thread, Asio keeps what a handler posts in a private list of the thread
    // until the handler returns. A run_one() inside the handler does not see that list. Asio's
    // do_dispatch() does not use the list. It counts the operation as work once more, so that is
    // subtracted again.
    [[gnu::noinline]] void post_visible(boost::asio::detail::op_queue<operation>& ops) noexcept {
        while (operation* const op = ops.front()) {
            ops.pop();
            scheduler_.do_dispatch(op);
            scheduler_.work_finished();
        }
    }

    scheduler& scheduler_;
    const bool one_thread_; // The context promises that only one thread runs it.
};

} // namespace asio_wheel::detail

#endif
