// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How an operation gets to its handler's executor.
//
// If the executor is native, the operation itself goes into the queue of the executor's context. A
// strand, or an executor of an unknown kind, is given a function object, an executor_hop. What the
// executor allocates for it comes from the block pool. If there is no memory, one operation at a
// time uses a reserve that the wheel has had from the beginning. Other operations wait for it in
// the queue of the wheel's context.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_EXECUTOR_HOP_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_EXECUTOR_HOP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/service/core_lifetime.hpp>
#include <asio_wheel/detail/service/hop_attempt.hpp>
#include <asio_wheel/detail/service/hop_reserve.hpp>
#include <asio_wheel/detail/service/strand_turns.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <new>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// The function object that carries an operation. If its executor drops it, the operation is
/// dropped, too.
class executor_hop {
public:
    using allocator_type = hop_allocator<void>;

    explicit executor_hop(wait_op& op) noexcept : op_(&op) {}
    executor_hop(executor_hop&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
    executor_hop& operator=(executor_hop&&) = delete;
    ~executor_hop() {
        if (op_ != nullptr) {
            op_->destroy();
        }
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }

    void operator()() {
        wait_op* const op = std::exchange(op_, nullptr);
        hop_attempt::called(*op);
        op->complete(op, {}, 0); // Any queue: it only must not be null.
    }

private:
    wait_op* op_;
};

template <class Executor>
inline constexpr bool is_strand_of_native = false;
template <class Executor>
inline constexpr bool is_strand_of_native<boost::asio::strand<Executor>> = is_native_type<Executor>;

using io_strand = boost::asio::strand<boost::asio::io_context::executor_type>;
using pool_strand = boost::asio::strand<boost::asio::thread_pool::executor_type>;

/// hop_to() by a function object.
template <class Executor>
[[nodiscard]] bool hop_by_function(const Executor& ex, wait_op& op, hop_reserve& reserve) {
    hop_attempt attempt(op, reserve);
    if (!attempt.has_memory()) {
        return false;
    }
    const auto hop = [&] {
        if constexpr (is_ts_executor<Executor>) {
            ex.dispatch(executor_hop(op), hop_allocator<void>());
        } else {
            namespace execution = boost::asio::execution;
            boost::asio::prefer(ex, execution::allocator(hop_allocator<void>()))
                .execute(executor_hop(op));
        }
    };
    // What the handler itself throws, or the executor after it has taken the function, leaves this.
    return !throws<std::bad_alloc>(hop, [&] { return attempt.keep(); });
}

/// The strand of a native executor that `ex` is or hides, if there is one. An executor that hides
/// another one allocates by itself, and not from our memory; so the strand is used in its place.
template <class Executor>
[[nodiscard]] std::optional<boost::asio::strand<strand_turns>> strand_in(const Executor& ex) {
    std::optional<boost::asio::strand<strand_turns>> result;
    if constexpr (is_strand_of_native<Executor>) {
        result.emplace(ex);
    } else if constexpr (requires { ex.template target<io_strand>(); }) {
        if (const auto* const io = ex.template target<io_strand>()) {
            result.emplace(*io);
        }
        if constexpr (is_strand_of_native<pool_strand>) {
            if (const auto* const pool = ex.template target<pool_strand>()) {
                result.emplace(*pool);
            }
        }
    }
    return result;
}

/// Called before an operation is accepted that will be sent to `ex`: if only public functions of
/// Asio may be used, the queue of another context takes memory at its first use.
template <class Executor>
void prepare_hop([[maybe_unused]] const Executor& ex) {
    if constexpr (context_queue::is_public) {
        if (is_native(ex)) {
            prepare_queue(ex);
        } else {
            static_cast<void>(strand_in(ex)); // Its inner executor prepares the queue.
        }
    }
}

/// Sends an operation to an executor. True if it belongs to the executor from now on, or has ended
/// already. False if there was no memory. Then it still belongs to the caller.
template <class Core, class Executor>
[[nodiscard]] bool hop_to(const Executor& ex, wait_op& op, const lifetime_ptr<Core>& lifetime) {
    switch (native_execution_of(ex)) {
    case native_execution::none:
        break;
    case native_execution::inline_now:
        op.complete(&op, {}, 0); // Any queue: it only must not be null.
        return true;
    case native_execution::queued:
        context_queue::post_to(*native_context(ex), op); // prepare_hop() has prepared it.
        return true;
    }
    if (const auto strand = strand_in(ex)) {
        return hop_by_function(*strand, op, *lifetime->reserve);
    }
    if constexpr (!is_strand_of_native<pool_strand> &&
                  requires { ex.template target<pool_strand>(); }) {
        if (const auto* const pool = ex.template target<pool_strand>()) { // As on Windows.
            return hop_by_function(*pool, op, *lifetime->reserve);
        }
    }
    return hop_by_function(ex, op, *lifetime->reserve);
}

} // namespace asio_wheel::detail

#endif
