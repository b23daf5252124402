// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The queue of a context: what its threads run next.
//
// This is the one place where the library uses what Asio keeps to itself: its operations and its
// scheduler, just as Asio's own timers do. The public way is to post a function. It costs an
// executor, a function object in memory of its own and two locks for each wait; whereas an
// operation is linked into the queue as it is, and a whole slice of a tick under one lock. That is
// a third of what a wait costs in the end.

#ifndef ASIO_WHEEL_DETAIL_CONTEXT_QUEUE_HPP
#define ASIO_WHEEL_DETAIL_CONTEXT_QUEUE_HPP

#include <asio_wheel/detail/asio_compat.hpp>

#include <boost/asio/detail/op_queue.hpp>
#include <boost/asio/detail/operation.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// What a queue holds; see boost::asio::detail::scheduler_operation. Its function is called with
/// the queue as its first argument, on a thread of the context; or with null if the context ends
/// before.
using operation = boost::asio::detail::operation;

/// Operations on their way to a queue, in order.
class operation_batch {
public:
    operation_batch() = default;
    operation_batch(operation_batch&& other) noexcept
        : size_(std::exchange(other.size_, 0)), visible_(std::exchange(other.visible_, false)) {
        ops_.push(other.ops_);
    }
    operation_batch& operator=(operation_batch&&) = delete;

    /// For an operation that nobody has to see before the handler that is running has returned.
    void push(operation& op) noexcept {
        ops_.push(&op);
        ++size_;
    }

    /// For an operation that run_one() must find when it is called inside the handler that is
    /// running. The whole batch becomes as visible.
    void push_visible(operation& op) noexcept {
        visible_ = true;
        push(op);
    }

    /// The first one, which there must be.
    [[nodiscard]] operation& front() noexcept { return *ops_.front(); }

    /// Takes out the first one, which there must be.
    [[nodiscard]] operation& pop() noexcept {
        operation* const op = ops_.front();
        ops_.pop();
        --size_;
        return *op;
    }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

private:
    friend class context_queue;

    boost::asio::detail::op_queue<operation> ops_;
    std::size_t size_ = 0;
    bool visible_ = false;
};

class context_queue {
    using scheduler = boost::asio::detail::io_context_impl;

public:
    explicit context_queue(boost::asio::execution_context& context)
        : scheduler_(boost::asio::use_service<scheduler>(context)),
          one_thread_(has_one_thread(context, scheduler_)) {}

    /// Whether the threads of a boost::asio::thread_pool are those that empty its queue. (On
    /// Windows, I/O objects of a thread_pool are served by a thread of Asio's.)
    static constexpr bool is_that_of_pools =
        std::is_same_v<scheduler, class boost::asio::detail::scheduler>;

    /// Keeps the context running until post() is called.
    void announce() noexcept { scheduler_.work_started(); }

    /// Puts one operation, which was not announced, into the queue of any context.
    static void post_to(boost::asio::execution_context& context, operation& op) {
        boost::asio::use_service<scheduler>(context).post_immediate_completion(&op, false);
    }

    /// Puts all of a batch, which is not empty and was announced once, into the queue. Each
    /// operation keeps the context running until it has returned.
    void post(operation_batch& batch) noexcept {
        const std::size_t size = std::exchange(batch.size_, 0);
        const bool visible = std::exchange(batch.visible_, false);
        if (one_thread_ && visible) {
            post_visible(batch.ops_);
        } else {
            if (size != 1) {
                // With one thread, Asio would count the others in a list of the thread, which a
                // poll() inside the handler that is running does not see: it would run out of work.
                if (!one_thread_ && post_announced(scheduler_, size - 1, batch.ops_)) {
                    return;
                }
                for (std::size_t i = 1; i < size; ++i) {
                    scheduler_.work_started();
                }
            }
            scheduler_.post_deferred_completions(batch.ops_);
        }
    }

private:
    // A template, for not each scheduler has this function: without it, nothing is posted.
    template <class Scheduler, class Operations>
    [[nodiscard]] static bool post_announced(Scheduler& s, std::size_t others, Operations& ops) {
        if constexpr (requires { s.post_immediate_completions(others, ops, false); }) {
            s.post_immediate_completions(others, ops, false);
            return true;
        } else {
            return false;
        }
    }

    // A context with one thread keeps what its handlers post in a list of the thread until they
    // have returned. A run_one() inside a handler does not see that list. do_dispatch() passes it
    // by.
    void post_visible(boost::asio::detail::op_queue<operation>& ops) noexcept {
        while (operation* const op = ops.front()) {
            ops.pop();
            scheduler_.do_dispatch(op);
        }
        scheduler_.work_finished(); // Each operation counts for itself now.
    }

    scheduler& scheduler_;
    const bool one_thread_;
};

} // namespace asio_wheel::detail

#endif
