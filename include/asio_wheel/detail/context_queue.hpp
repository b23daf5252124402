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
    operation_batch(operation_batch&& other) noexcept : size_(std::exchange(other.size_, 0)) {
        ops_.push(other.ops_);
    }
    operation_batch& operator=(operation_batch&&) = delete;

    void push(operation& op) noexcept {
        ops_.push(&op);
        ++size_;
    }

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
};

class context_queue {
    using scheduler = boost::asio::detail::io_context_impl;

public:
    explicit context_queue(boost::asio::execution_context& context)
        : scheduler_(boost::asio::use_service<scheduler>(context)) {}

    /// Whether the threads of a boost::asio::thread_pool are those that empty its queue. (On
    /// Windows, I/O objects of a thread_pool are served by a thread of Asio's.)
    static constexpr bool is_that_of_pools =
        std::is_same_v<scheduler, class boost::asio::detail::scheduler>;

    /// Keeps the context running until post() is called.
    void announce() noexcept { scheduler_.work_started(); }

    /// Puts all of a batch, which is not empty and was announced once, into the queue. Each
    /// operation keeps the context running until it has returned.
    void post(operation_batch& batch) noexcept {
        const std::size_t others = batch.size_ - 1;
        batch.size_ = 0;
        if (others != 0) {
            if constexpr (requires {
                              scheduler_.post_immediate_completions(others, batch.ops_, false);
                          }) {
                return scheduler_.post_immediate_completions(others, batch.ops_, false);
            }
            for (std::size_t i = 0; i < others; ++i) {
                scheduler_.work_started();
            }
        }
        scheduler_.post_deferred_completions(batch.ops_);
    }

private:
    scheduler& scheduler_;
};

} // namespace asio_wheel::detail

#endif
