// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How an operation that is taken out of its context's queue gets to another executor, in memory
// that was taken beforehand.
//
// An executor puts what it is given into memory that it allocates at that time. An operation that
// was accepted must not fail for want of it. So the memory is part of a reserve, which is made
// together with the operation, and the executor gets it by the associated allocator of what it is
// given.
//
// Some executors allocate all the same: any_io_executor does, which hides the allocator from the
// executor that it holds. Strands that it holds are looked up and used directly. With the others a
// hop may fail; then the operation goes to the end of its context's queue, and tries again.
//
// An operation goes through its context's queue first, and only one by one from there. A strand for
// which several functions wait at a time allocates when it goes on with them, where it cannot
// report a failure, and ends the program. One that finds its strand free runs in its own turn.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_DISPATCH_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_DISPATCH_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Puts an operation at the end of a context's queue. Never fails.
inline void post_to(context_queue queue, operation& op) noexcept {
    queue.work_started();
    queue.post(op);
}

/// An operation that can hop: the context's queue calls complete(), the executor arrive(); either
/// calls destroy() if it ends before.
class executor_op : public operation {
public:
    executor_op(const executor_op&) = delete;
    executor_op& operator=(const executor_op&) = delete;

    virtual void on_executor() = 0;

protected:
    explicit executor_op(func_type function) noexcept : operation(function) {}
    ~executor_op() = default;
};

/// Memory for one hop at a time: a part for the function, and one for what runs a strand. It
/// outlives its operation if the executor still has one of the blocks then.
class dispatch_reserve {
public:
    struct releaser {
        void operator()(dispatch_reserve* r) const noexcept { r->release(owned); }
    };
    /// The operation's share.
    using owner = std::unique_ptr<dispatch_reserve, releaser>;

    [[nodiscard]] static owner make() {
        return owner(::new (block_pool::allocate(sizeof(dispatch_reserve))) dispatch_reserve);
    }

    dispatch_reserve(const dispatch_reserve&) = delete;
    dispatch_reserve& operator=(const dispatch_reserve&) = delete;

    [[nodiscard]] void* allocate(std::size_t size) {
        // Only who hops takes blocks; a part that is given back meanwhile may be seen too late.
        const unsigned in_use = state_.load(std::memory_order_acquire);
        for (unsigned i = 0; i < blocks; ++i) {
            if (size <= block_size && (in_use & bit_of(i)) == 0) {
                state_.fetch_or(bit_of(i), std::memory_order_relaxed);
                return memory_[i].bytes;
            }
        }
        return ::operator new(size);
    }

    void deallocate(void* memory) noexcept {
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

    // Bits of state_: which blocks are in use, and whether the operation lives.
    [[nodiscard]] static constexpr unsigned bit_of(unsigned i) noexcept { return 1U << i; }
    static constexpr unsigned owned = 1U << blocks;

    struct alignas(std::max_align_t) block {
        std::byte bytes[block_size];
    };

    dispatch_reserve() = default;
    ~dispatch_reserve() = default;

    // The last one frees it all, and sees what the others did: each release pairs with it.
    void release(unsigned bit) noexcept {
        if (state_.fetch_and(~bit, std::memory_order_acq_rel) == bit) {
            this->~dispatch_reserve();
            block_pool::deallocate(this, sizeof(dispatch_reserve));
        }
    }

    std::array<block, blocks> memory_;
    atomic<unsigned> state_{owned};
};

template <class T>
class reserve_allocator {
    template <class>
    friend class reserve_allocator;

public:
    using value_type = T;

    explicit reserve_allocator(dispatch_reserve& reserve) noexcept : reserve_(&reserve) {}
    template <class U>
    reserve_allocator(const reserve_allocator<U>& other) noexcept : reserve_(other.reserve_) {}

    [[nodiscard]] T* allocate(std::size_t n) {
        static_assert(alignof(T) <= alignof(std::max_align_t));
        return static_cast<T*>(reserve_->allocate(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) noexcept { reserve_->deallocate(memory); }

    template <class U>
    friend bool operator==(const reserve_allocator& a, const reserve_allocator<U>& b) noexcept {
        return a.reserve_ == b.reserve_;
    }

private:
    dispatch_reserve* reserve_;
};

/// Exists while a thread gives an operation to an executor: learns whether it came back.
class dispatch_attempt {
public:
    explicit dispatch_attempt(executor_op& op) noexcept : op_(&op) { current_ = this; }
    dispatch_attempt(const dispatch_attempt&) = delete;
    dispatch_attempt& operator=(const dispatch_attempt&) = delete;
    ~dispatch_attempt() { current_ = outer_; }

    /// The executor has given it up before it was called: it is the caller's again.
    [[nodiscard]] bool returned() const noexcept { return returned_; }

    /// True if this thread is giving `op` to an executor right now.
    [[nodiscard]] static bool give_back(const executor_op& op) noexcept {
        const bool is_current = current_ != nullptr && current_->op_ == &op;
        return is_current && (current_->returned_ = true);
    }
    /// It was called; what has the same address from now on is another one.
    static void called(const executor_op& op) noexcept {
        if (current_ != nullptr && current_->op_ == &op) {
            current_->op_ = nullptr;
        }
    }

private:
    static inline thread_local constinit dispatch_attempt* current_ = nullptr;

    dispatch_attempt* outer_ = current_;
    executor_op* op_;
    bool returned_ = false;
};

/// What an executor gets of an operation.
class executor_function {
public:
    using allocator_type = reserve_allocator<void>;

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
    executor_op* op_;
    dispatch_reserve* reserve_;
};

/// Calls f(executor) with the strand that an any_io_executor holds, if it is of a usual kind and
/// tracks work or not; else with `ex`.
template <class Executor, class Function>
void visit_strand(const Executor& ex, Function f) {
    namespace asio = boost::asio;
    using io = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;
    if constexpr (requires { ex.template target<asio::strand<io>>(); }) {
        const auto use = [&]<class Target>(std::type_identity<Target>) {
            const Target* const target = ex.template target<Target>();
            if (target != nullptr) {
                f(Target(*target)); // A copy: `ex` may be gone before this returns.
            }
            return target != nullptr;
        };
        if (use(std::type_identity<asio::strand<io>>()) ||
            use(std::type_identity<asio::strand<pool>>()) ||
            use(std::type_identity<asio::strand<work_on<io>>>()) ||
            use(std::type_identity<asio::strand<work_on<pool>>>())) {
            return;
        }
    }
    f(ex);
}

/// Sends `op` from its turn in the context's queue to `ex`: arrive() is called there, perhaps at
/// once; or destroy(), if that one's context ends before. Without memory, `op` goes to the end of
/// `queue`, that of its context. What arrive() throws is the caller's, and so is what the executor
/// throws for other reasons; the operation is destroyed then.
template <class Executor>
void dispatch_to(executor_op& op, dispatch_reserve& reserve, const Executor& ex,
                 context_queue queue) {
    dispatch_attempt attempt(op);
    try {
        visit_strand(ex, [&](const auto& executor) {
            boost::asio::dispatch(executor, executor_function(op, reserve));
        });
    } catch (const std::bad_alloc&) {
        if (!attempt.returned()) {
            throw;
        }
        post_to(queue, op);
        return;
    } catch (...) {
        if (attempt.returned()) {
            op.destroy();
        }
        throw;
    }
    if (attempt.returned()) {
        op.destroy(); // The executor's context ends.
    }
}

} // namespace asio_wheel::detail

#endif
