// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How an operation of a utility gets from its context's queue to another executor, in memory that
// was allocated when the operation was made. (Waits are smaller, and many more. They share a
// reserve: see executor_hop.hpp.)
//
// An executor allocates memory for each function that it is given. An operation that was accepted
// must not fail because there is none. So the memory is in a reserve, which is made together with
// the operation. The executor gets it through the associated allocator of the function.
//
// Some executors allocate by themselves all the same, and that may fail. any_io_executor does: it
// hides the allocator from the executor inside. So if the executor inside is a strand, it is used
// directly. If any other executor fails, the operation goes to the end of its context's queue and
// tries again.
//
// Operations go to a strand one by one, each when its turn in the context's queue comes. The reason
// is how a strand works: if several functions are waiting, it allocates to continue with the next
// one, cannot report a failure there, and ends the program. If it is not busy, it runs the function
// immediately.
//
// An operation is in one of three locations.
//
//   location   meaning
//   owner      its owner has it: a pop waits in its delay queue, a driver is idle
//   queue      in a context's queue; or, for a pop, in the driver's list of finished pops
//   executor   an executor has it, or is being given it
//
//   from       to         when
//   owner      queue      it is posted
//   queue      executor   its turn comes, and it belongs on another executor
//   executor   queue      the executor had no memory
//   queue      owner      a driver's turn comes
//   executor   owner      a driver arrives on its executor
//
// A pop never returns to its owner: it is freed when it arrives. The location belongs to the thread
// that has the operation. The context's queue and the executors hand it from thread to thread.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_EXECUTOR_OP_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_EXECUTOR_OP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/memory/resource_allocator.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/assert.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// An operation that can be dispatched to an executor. The context's queue calls its function, and
/// the executor calls on_executor(). If either ends first, it calls destroy() instead.
class executor_op : public operation {
public:
    enum class location : std::uint8_t { owner, queue, executor };

    /// The table above.
    [[nodiscard]] static constexpr bool may_follow(location from, location to) noexcept {
        switch (from) {
        case location::owner:
            return to == location::queue;
        case location::queue:
            return to == location::executor || to == location::owner;
        case location::executor:
            return to == location::queue || to == location::owner;
        }
        return false;
    }

    executor_op(const executor_op&) = delete;
    executor_op& operator=(const executor_op&) = delete;

    virtual void on_executor() = 0;

    [[nodiscard]] location where() const noexcept { return where_; }
    void move_to(location to) noexcept {
        BOOST_ASSERT(may_follow(where_, to));
        where_ = to;
    }

protected:
    explicit executor_op(func_type function) noexcept : operation(function) {}
    ~executor_op() = default;

private:
    location where_ = location::owner;
};

/// Puts an operation at the end of a context's queue. Never fails.
inline void post_to(context_queue queue, executor_op& op) noexcept {
    op.move_to(executor_op::location::queue);
    queue.work_started();
    queue.post(op);
}

/// Memory for one dispatch at a time: one block for the function, and one for the turn of a strand.
///
/// It is freed when its operation has ended and the executor has returned both blocks, in any
/// order. The bits of state_ say what is left:
///
///   bits             set while
///   bit_of(block)    the executor has that block
///   owned            the operation lives
class dispatch_reserve {
public:
    struct releaser {
        void operator()(dispatch_reserve* r) const noexcept { r->release(owned); }
    };
    static constexpr std::size_t alignment = alignof(std::max_align_t);

    /// The operation's pointer to its reserve.
    using owner = std::unique_ptr<dispatch_reserve, releaser>;

    [[nodiscard]] static owner make() {
        return owner(::new (block_pool::allocate(sizeof(dispatch_reserve))) dispatch_reserve);
    }

    dispatch_reserve(const dispatch_reserve&) = delete;
    dispatch_reserve& operator=(const dispatch_reserve&) = delete;

    /// Called by the thread that dispatches the operation, and by no other. May throw
    /// std::bad_alloc, if a block is too small or none is free.
    [[nodiscard]] void* allocate(std::size_t size) {
        // Only this thread takes blocks. Other threads may return blocks at the same time; if one
        // is seen too late, it is not used. Acquires what the thread that returned a block has
        // done: pairs with release().
        const unsigned in_use = state_.load(std::memory_order_acquire);
        for (unsigned i = 0; i < blocks; ++i) {
            if (size <= block_size && (in_use & bit_of(i)) == 0) {
                state_.fetch_or(bit_of(i), std::memory_order_relaxed);
                return memory_[i].bytes;
            }
        }
        return ::operator new(size);
    }

    void deallocate(void* memory, std::size_t) noexcept {
        for (unsigned i = 0; i < blocks; ++i) {
            if (memory == memory_[i].bytes) {
                release(bit_of(i));
                return;
            }
        }
        ::operator delete(memory);
    }

private:
    static constexpr unsigned blocks = 2;
    static constexpr std::size_t block_size = 112; // Asio's strands need 48 and 72 of it.

    [[nodiscard]] static constexpr unsigned bit_of(unsigned i) noexcept { return 1U << i; }
    static constexpr unsigned owned = 1U << blocks;

    struct alignas(alignment) block {
        std::byte bytes[block_size];
    };

    dispatch_reserve() = default;
    ~dispatch_reserve() = default;

    // Clears a bit. The thread that clears the last one frees the reserve. It acquires what the
    // other threads have done before they cleared their bits.
    void release(unsigned bit) noexcept {
        const unsigned before = state_.fetch_and(~bit, std::memory_order_acq_rel);
        BOOST_ASSERT((before & bit) != 0);
        if (before == bit) {
            this->~dispatch_reserve();
            block_pool::deallocate(this, sizeof(dispatch_reserve));
        }
    }

    std::array<block, blocks> memory_;
    // Pairs with itself: see allocate() and release(), and the litmus tests lifetime and reserve.
    atomic<unsigned> state_{owned};
};

/// Lives on the stack of the thread that gives an operation to an executor. If the executor throws,
/// or runs nothing any more, it destroys the function on this thread. Then the operation returns to
/// the caller.
class dispatch_attempt {
public:
    explicit dispatch_attempt(executor_op& op) noexcept : op_(&op) { current_ = this; }
    dispatch_attempt(const dispatch_attempt&) = delete;
    dispatch_attempt& operator=(const dispatch_attempt&) = delete;
    ~dispatch_attempt() { current_ = outer_; }

    /// Whether the operation has returned. Then it belongs to the caller.
    [[nodiscard]] bool returned() const noexcept { return returned_; }

    /// Returns an operation to its caller. False if the calling thread is not dispatching `op`.
    [[nodiscard]] static bool give_back(const executor_op& op) noexcept {
        const bool is_current = current_ != nullptr && current_->op_ == &op;
        return is_current && (current_->returned_ = true);
    }

    /// Called before the operation runs. From then on, an operation with the same address is
    /// another one.
    static void called(const executor_op& op) noexcept {
        if (current_ != nullptr && current_->op_ == &op) {
            current_->op_ = nullptr;
        }
    }

private:
    static inline thread_local constinit dispatch_attempt* current_ = nullptr;

    dispatch_attempt* outer_ = current_; // That of a handler that dispatches inside another one.
    executor_op* op_;
    bool returned_ = false;
};

/// The function that an executor is given for an operation.
class executor_function {
public:
    using allocator_type = resource_allocator<void, dispatch_reserve>;

    executor_function(executor_op& op, dispatch_reserve& reserve) noexcept
        : op_(&op), reserve_(&reserve) {}
    executor_function(executor_function&& other) noexcept
        : op_(std::exchange(other.op_, nullptr)), reserve_(other.reserve_) {}
    executor_function& operator=(executor_function&&) = delete;
    ~executor_function() {
        if (op_ != nullptr && !dispatch_attempt::give_back(*op_)) {
            op_->destroy(); // The executor's context ends.
        }
    }

    void operator()() {
        executor_op& op = *std::exchange(op_, nullptr);
        dispatch_attempt::called(op);
        op.on_executor();
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return allocator_type(*reserve_);
    }

private:
    executor_op* op_; // Null if the function was called or moved from.
    dispatch_reserve* reserve_;
};

/// Calls f(strand) if `ex` is an any_io_executor with a strand of a native executor inside, one
/// that tracks work or not. Otherwise calls f(ex).
template <class Executor, class Function>
void visit_strand(const Executor& ex, Function f) {
    namespace asio = boost::asio;
    using io = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;
    if constexpr (requires { ex.template target<asio::strand<io>>(); }) {
        const auto visit = [&]<class Target>(std::type_identity<Target>) {
            const Target* const target = ex.template target<Target>();
            if (target != nullptr) {
                f(Target(*target)); // A copy: `ex` may be destroyed before this returns.
            }
            return target != nullptr;
        };
        if (visit(std::type_identity<asio::strand<io>>()) ||
            visit(std::type_identity<asio::strand<pool>>()) ||
            visit(std::type_identity<asio::strand<work_on<io>>>()) ||
            visit(std::type_identity<asio::strand<work_on<pool>>>())) {
            return;
        }
    }
    f(ex);
}

/// Dispatches `op`, whose turn in the context's queue has come, to `ex`. The executor calls
/// on_executor(), maybe before this returns; or destroy(), if the executor's context ends first. If
/// there is no memory, `op` goes to the end of `queue`, the queue of its context.
///
/// What on_executor() throws leaves this function. So does any other exception of the executor;
/// then `op` was destroyed.
template <class Executor>
void dispatch_to(executor_op& op, dispatch_reserve& reserve, const Executor& ex,
                 context_queue queue) {
    op.move_to(executor_op::location::executor);
    dispatch_attempt attempt(op);
    scope_exit drop([&] {
        if (attempt.returned()) {
            op.destroy(); // The executor's context ends, or the executor has thrown.
        }
    });
    const auto dispatch = [&] {
        visit_strand(ex, [&](const auto& executor) {
            boost::asio::dispatch(executor, executor_function(op, reserve));
        });
    };
    // What on_executor() throws, or the executor after it has taken the function, leaves this.
    if (throws<std::bad_alloc>(dispatch, [&] { return attempt.returned(); })) {
        drop.release();
        post_to(queue, op);
    }
}

} // namespace asio_wheel::detail

#endif
