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

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_HOP_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_HOP_HPP

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
class hop_op : public operation {
public:
    hop_op(const hop_op&) = delete;
    hop_op& operator=(const hop_op&) = delete;

    virtual void arrive() = 0;

protected:
    explicit hop_op(func_type function) noexcept : operation(function) {}
    ~hop_op() = default;
};

/// Memory for one hop at a time: a part for the function, and one for what runs a strand. It
/// outlives its operation if the executor still has one of the parts then.
class pop_reserve {
public:
    struct leave {
        void operator()(pop_reserve* r) const noexcept { r->release(owned); }
    };
    /// The operation's share.
    using owner = std::unique_ptr<pop_reserve, leave>;

    [[nodiscard]] static owner make() {
        return owner(::new (block_pool::allocate(sizeof(pop_reserve))) pop_reserve);
    }

    pop_reserve(const pop_reserve&) = delete;
    pop_reserve& operator=(const pop_reserve&) = delete;

    [[nodiscard]] void* allocate(std::size_t size) {
        // Only who hops takes parts; a part that is given back meanwhile may be seen too late.
        const unsigned taken = state_.load(std::memory_order_acquire);
        for (unsigned i = 0; i < parts; ++i) {
            if (size <= part_size && (taken & part(i)) == 0) {
                state_.fetch_or(part(i), std::memory_order_relaxed);
                return memory_[i].bytes;
            }
        }
        return ::operator new(size);
    }

    void deallocate(void* memory) noexcept {
        for (unsigned i = 0; i < parts; ++i) {
            if (memory == memory_[i].bytes) {
                release(part(i));
                return;
            }
        }
        ::operator delete(memory);
    }

private:
    static constexpr unsigned parts = 2;
    static constexpr std::size_t part_size = 112; // Asio's strands need 48 and 72 of it.

    // Bits of state_: which parts are in use, and whether the operation lives.
    [[nodiscard]] static constexpr unsigned part(unsigned i) noexcept { return 1U << i; }
    static constexpr unsigned owned = 1U << parts;

    struct alignas(std::max_align_t) piece {
        std::byte bytes[part_size];
    };

    pop_reserve() = default;
    ~pop_reserve() = default;

    // The last one frees it all, and sees what the others did: each release pairs with it.
    void release(unsigned bit) noexcept {
        if (state_.fetch_and(~bit, std::memory_order_acq_rel) == bit) {
            this->~pop_reserve();
            block_pool::deallocate(this, sizeof(pop_reserve));
        }
    }

    std::array<piece, parts> memory_;
    atomic<unsigned> state_{owned};
};

template <class T>
class pop_allocator {
    template <class>
    friend class pop_allocator;

public:
    using value_type = T;

    explicit pop_allocator(pop_reserve& reserve) noexcept : reserve_(&reserve) {}
    template <class U>
    pop_allocator(const pop_allocator<U>& other) noexcept : reserve_(other.reserve_) {}

    [[nodiscard]] T* allocate(std::size_t n) {
        static_assert(alignof(T) <= alignof(std::max_align_t));
        return static_cast<T*>(reserve_->allocate(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) noexcept { reserve_->deallocate(memory); }

    template <class U>
    friend bool operator==(const pop_allocator& a, const pop_allocator<U>& b) noexcept {
        return a.reserve_ == b.reserve_;
    }

private:
    pop_reserve* reserve_;
};

/// Exists while a thread gives an operation to an executor: learns whether it came back.
class hop_scope {
public:
    explicit hop_scope(hop_op& op) noexcept : op_(&op) { innermost_ = this; }
    hop_scope(const hop_scope&) = delete;
    hop_scope& operator=(const hop_scope&) = delete;
    ~hop_scope() { innermost_ = outer_; }

    /// The executor has given it up before it was called: it is the caller's again.
    [[nodiscard]] bool came_back() const noexcept { return came_back_; }

    /// True if this thread is giving `op` to an executor right now.
    [[nodiscard]] static bool comes_back(const hop_op& op) noexcept {
        const bool here = innermost_ != nullptr && innermost_->op_ == &op;
        return here && (innermost_->came_back_ = true);
    }
    /// It was called; what has the same address from now on is another one.
    static void called(const hop_op& op) noexcept {
        if (innermost_ != nullptr && innermost_->op_ == &op) {
            innermost_->op_ = nullptr;
        }
    }

private:
    static inline thread_local constinit hop_scope* innermost_ = nullptr;

    hop_scope* outer_ = innermost_;
    hop_op* op_;
    bool came_back_ = false;
};

/// What an executor gets of an operation.
class hop_ticket {
public:
    using allocator_type = pop_allocator<void>;

    hop_ticket(hop_op& op, pop_reserve& reserve) noexcept : op_(&op), reserve_(&reserve) {}
    hop_ticket(hop_ticket&& other) noexcept
        : op_(std::exchange(other.op_, nullptr)), reserve_(other.reserve_) {}
    hop_ticket& operator=(hop_ticket&&) = delete;
    ~hop_ticket() {
        if (op_ != nullptr && !hop_scope::comes_back(*op_)) {
            op_->destroy(); // The executor's context ends.
        }
    }

    void operator()() {
        hop_op& op = *std::exchange(op_, nullptr);
        hop_scope::called(op);
        op.arrive();
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return allocator_type(*reserve_);
    }

private:
    hop_op* op_;
    pop_reserve* reserve_;
};

/// Calls f(executor) with the strand that an any_io_executor holds, if it is of a usual kind and
/// tracks work or not; else with `ex`.
template <class Executor, class Function>
void with_strand_in(const Executor& ex, Function f) {
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
void hop(hop_op& op, pop_reserve& reserve, const Executor& ex, context_queue queue) {
    hop_scope scope(op);
    try {
        with_strand_in(ex, [&](const auto& executor) {
            boost::asio::dispatch(executor, hop_ticket(op, reserve));
        });
    } catch (const std::bad_alloc&) {
        if (!scope.came_back()) {
            throw;
        }
        post_to(queue, op);
        return;
    } catch (...) {
        if (scope.came_back()) {
            op.destroy();
        }
        throw;
    }
    if (scope.came_back()) {
        op.destroy(); // The executor's context ends.
    }
}

} // namespace asio_wheel::detail

#endif
