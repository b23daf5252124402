// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How an operation gets to its handler's executor.
//
// Where the executor is native, the operation itself goes into the queue of the executor's context.
// A strand, and any executor of an unknown kind, is given a function object, an executor_hop. What
// the executor allocates for that comes from the block pool. If that has no memory, a reserve which
// the wheel has had from the beginning serves one hop at a time, and the other operations wait for
// it in the queue of the wheel's context.

#ifndef ASIO_WHEEL_DETAIL_EXECUTOR_HOP_HPP
#define ASIO_WHEEL_DETAIL_EXECUTOR_HOP_HPP

#include <asio_wheel/detail/block_pool.hpp>
#include <asio_wheel/detail/context_queue.hpp>
#include <asio_wheel/detail/core_lifetime.hpp>
#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/wait_op.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Allocates what an executor needs for a hop.
template <class T, class Core>
class hop_allocator {
public:
    using value_type = T;

    explicit hop_allocator(const lifetime_ptr<Core>& l) noexcept : lifetime_(l) {}
    template <class U>
    hop_allocator(const hop_allocator<U, Core>& other) noexcept : lifetime_(other.lifetime_) {}

    [[nodiscard]] T* allocate(std::size_t n) {
        if (!fits(n)) {
            return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
        }
        try {
            return static_cast<T*>(block_pool::allocate(hop_reserve::block_size));
        } catch (const std::bad_alloc&) {
            const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
            if (void* const memory = lifetime_->reserve.take()) {
                return static_cast<T*>(memory);
            }
            throw;
        }
    }

    void deallocate(T* p, std::size_t n) noexcept {
        if (!fits(n)) {
            ::operator delete(p, std::align_val_t(alignof(T)));
        } else if (!lifetime_->reserve.contains(p)) {
            block_pool::deallocate(p, hop_reserve::block_size);
        } else {
            const std::lock_guard<optional_mutex> guard(lifetime_->mutex);
            lifetime_->reserve.give_back(p);
        }
    }

    friend bool operator==(const hop_allocator& a, const hop_allocator& b) noexcept {
        return a.lifetime_ == b.lifetime_;
    }

private:
    template <class, class>
    friend class hop_allocator;

    [[nodiscard]] static constexpr bool fits(std::size_t n) noexcept {
        return n * sizeof(T) <= hop_reserve::block_size &&
               alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    }

    lifetime_ptr<Core> lifetime_;
};

/// An attempt to send an operation, on the stack of the thread that makes it. If the executor
/// throws, it usually destroys the function first: then the operation returns to its sender.
class hop_attempt {
public:
    explicit hop_attempt(wait_op& op) noexcept : op_(&op), outer_(std::exchange(current_, this)) {}
    hop_attempt(const hop_attempt&) = delete;
    hop_attempt& operator=(const hop_attempt&) = delete;
    ~hop_attempt() { current_ = outer_; }

    [[nodiscard]] bool returned() const noexcept { return op_ == nullptr; }

    /// True if the thread that drops `op` is about to send it.
    [[nodiscard]] static bool give_back(const wait_op& op) noexcept {
        if (current_ == nullptr || current_->op_ != &op) {
            return false;
        }
        current_->op_ = nullptr;
        return true;
    }

private:
    static inline thread_local constinit hop_attempt* current_ = nullptr;

    const wait_op* op_;
    hop_attempt* outer_;
};

/// The function object that carries an operation. If its executor drops it, the operation is
/// dropped, too.
template <class Core>
class executor_hop {
public:
    using allocator_type = hop_allocator<void, Core>;

    executor_hop(wait_op& op, const lifetime_ptr<Core>& l) noexcept : op_(&op), lifetime_(l) {}
    executor_hop(executor_hop&& other) noexcept
        : op_(std::exchange(other.op_, nullptr)), lifetime_(std::move(other.lifetime_)) {}
    executor_hop& operator=(executor_hop&&) = delete;
    ~executor_hop() {
        if (op_ != nullptr) {
            op_->destroy();
        }
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return allocator_type(lifetime_);
    }

    void operator()() {
        wait_op* const op = std::exchange(op_, nullptr);
        op->complete(op, {}, 0); // Any queue: it only must not be null.
    }

private:
    wait_op* op_;
    lifetime_ptr<Core> lifetime_;
};

/// Sends an operation to an executor. True if the operation is the executor's from now on, or gone
/// already. False if there was no memory, and the operation is the caller's still.
template <class Core, class Executor>
[[nodiscard]] bool hop_to(const Executor& ex, wait_op& op, const lifetime_ptr<Core>& lifetime) {
    namespace asio = boost::asio;
    using io_strand = asio::strand<asio::io_context::executor_type>;
    using pool_strand = asio::strand<asio::thread_pool::executor_type>;
    if (asio::execution_context* const context = native_context(ex)) {
        if (native_runs_here(ex)) {
            op.complete(context, {}, 0);
        } else {
            context_queue::post_to(*context, op);
        }
        return true;
    }
    // An executor that hides another one allocates by itself, and not from our memory.
    if constexpr (requires { ex.template target<io_strand>(); }) {
        if (const auto* const strand = ex.template target<io_strand>()) {
            return hop_to(*strand, op, lifetime);
        }
        if (const auto* const strand = ex.template target<pool_strand>()) {
            return hop_to(*strand, op, lifetime);
        }
    }
    // A strand that finds no memory for its turn never gets one. So that memory is made sure of.
    if (!block_pool::prepare(hop_reserve::block_size, 2)) {
        const std::lock_guard<optional_mutex> guard(lifetime->mutex);
        if (!lifetime->reserve.complete()) {
            return false;
        }
    }
    hop_attempt attempt(op);
    try {
        asio::dispatch(ex, executor_hop<Core>(op, lifetime));
    } catch (const std::bad_alloc&) {
        if (attempt.returned()) {
            return false;
        }
        throw; // By the handler itself, or after the executor has taken the function.
    } catch (...) {
        if (attempt.returned()) {
            op.destroy();
        }
        throw;
    }
    if (attempt.returned()) {
        op.destroy(); // The executor calls nothing any more.
    }
    return true;
}

} // namespace asio_wheel::detail

#endif
