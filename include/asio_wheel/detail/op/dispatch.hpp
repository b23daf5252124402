// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How an operation gets to its handler's executor.
//
// If the executor is native, the operation itself goes into the queue of the executor's context, or
// is completed at once. Any other executor, such as a strand, is given a function object. What the
// executor allocates for that comes from the block pool.
//
// If the executor has no memory, and gives the function back, the operation still belongs to its
// sender, who tries again later. What an executor has accepted is its own affair. If a strand of
// another context cannot post its turn, it keeps the function and is locked for ever, whatever
// function that is.

#ifndef ASIO_WHEEL_DETAIL_OP_DISPATCH_HPP
#define ASIO_WHEEL_DETAIL_OP_DISPATCH_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/exceptions.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>

#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Lives on the stack of the thread that gives an operation to an executor. If the executor throws,
/// or calls nothing any more, it destroys the function on this thread. Then the operation returns
/// to its sender. Unless it is kept, it is destroyed.
class dispatch_attempt {
public:
    explicit dispatch_attempt(operation& op) noexcept
        : op_(&op), outer_(std::exchange(current_, this)) {}
    dispatch_attempt(const dispatch_attempt&) = delete;
    dispatch_attempt& operator=(const dispatch_attempt&) = delete;
    ~dispatch_attempt() {
        current_ = outer_;
        if (returned_) {
            op_->destroy();
        }
    }

    /// True if the operation has returned. Then it belongs to the caller.
    [[nodiscard]] bool keep() noexcept { return std::exchange(returned_, false); }

    /// Returns an operation to its sender. False if this thread is not dispatching `op`.
    [[nodiscard]] static bool give_back(const operation& op) noexcept {
        const bool here = current_ != nullptr && current_->op_ == &op;
        return here && (current_->returned_ = true);
    }

    /// The operation is about to run. From now on, one with the same address is another one.
    static void called(const operation& op) noexcept {
        if (current_ != nullptr && current_->op_ == &op) {
            current_->op_ = nullptr;
        }
    }

private:
    static inline thread_local constinit dispatch_attempt* current_ = nullptr;

    operation* op_;
    dispatch_attempt* outer_; // That of a handler that dispatches inside another one.
    bool returned_ = false;
};

/// The function that an executor is given for an operation.
class dispatched_function {
public:
    using allocator_type = block_allocator<void>;

    explicit dispatched_function(operation& op) noexcept : op_(&op) {}
    dispatched_function(dispatched_function&& other) noexcept
        : op_(std::exchange(other.op_, nullptr)) {}
    dispatched_function& operator=(dispatched_function&&) = delete;
    ~dispatched_function() {
        if (op_ != nullptr && !dispatch_attempt::give_back(*op_)) {
            op_->destroy(); // The executor's context ends.
        }
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }

    void operator()() {
        operation* const op = std::exchange(op_, nullptr);
        dispatch_attempt::called(*op);
        op->complete(op, {}, 0); // Any queue: it only must not be null.
    }

private:
    operation* op_; // Null if the function was called or moved from.
};

/// Called before an operation is accepted that will be dispatched to `ex`: if only public functions
/// of Asio may be used, the queue of another context takes memory at its first use.
template <class Executor>
void prepare_dispatch([[maybe_unused]] const Executor& ex) {
    if constexpr (context_queue::is_public) {
        if (is_native(ex)) {
            prepare_queue(ex);
        }
    }
}

/// As dispatch_to(), to an executor that is not native.
template <class Executor>
[[nodiscard]] bool dispatch_by_function(const Executor& ex, operation& op) {
    dispatch_attempt attempt(op);
    const auto dispatch = [&] {
        dispatched_function f(op); // First: whatever throws, the operation returns.
        if constexpr (is_ts_executor<Executor>) {
            ex.dispatch(std::move(f), block_allocator<void>());
        } else {
            namespace execution = boost::asio::execution;
            boost::asio::prefer(ex, execution::allocator(block_allocator<void>()))
                .execute(std::move(f));
        }
    };
    return !throws<std::bad_alloc>(dispatch, [&] { return attempt.keep(); });
}

/// True if the operation belongs to the executor from now on, or has ended already. False if there
/// was no memory: then it still belongs to the caller. `ex` must not be a part of the operation.
///
/// The executor completes the operation, or destroys it. What the completion throws leaves this
/// function. So does any other exception of the executor; then the operation was destroyed.
template <class Executor>
[[nodiscard]] bool dispatch_to(const Executor& ex, operation& op) {
    switch (native_execution_of(ex)) {
    case native_execution::none:
        break;
    case native_execution::inline_now:
        op.complete(&op, {}, 0); // Any queue: it only must not be null.
        return true;
    case native_execution::queued:
        context_queue::post_to(*native_context(ex), op); // prepare_dispatch() has prepared it.
        return true;
    }
    // An any_io_executor puts each function into memory from the heap. A coroutine's most often has
    // a strand inside, which does not.
    using io_strand = boost::asio::strand<boost::asio::io_context::executor_type>;
    if constexpr (requires { ex.template target<io_strand>(); }) {
        if (const auto* const inside = ex.template target<io_strand>()) {
            const io_strand strand(*inside);
            return dispatch_by_function(strand, op);
        }
    }
    return dispatch_by_function(ex, op);
}

} // namespace asio_wheel::detail

#endif
