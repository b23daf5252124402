// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How an operation gets to its handler's executor.
//
// If the executor is native, the operation itself goes into the queue of the executor's context. A
// strand, or an executor of an unknown kind, is given a function object, an executor_hop. What the
// executor allocates for it comes from the block pool. If the pool has no memory, one operation at
// a time uses a reserve that the wheel has had from the beginning. Other operations wait for it in
// the queue of the wheel's context.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_EXECUTOR_HOP_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_EXECUTOR_HOP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/service/core_lifetime.hpp>
#include <asio_wheel/detail/service/hop_reserve.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>

#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace asio_wheel::detail {

/// An attempt to send an operation, on the stack of the sending thread. If the executor throws, or
/// calls nothing any more, it destroys the function. Then the operation returns to its sender.
class hop_attempt {
public:
    ASIO_WHEEL_NOINLINE hop_attempt(wait_op& op, hop_reserve& reserve) noexcept
        : op_(op), outer_(std::exchange(current_, this)) {
        // A strand that finds no memory for its turn never gets a turn. So make sure of that
        // memory.
        if (!block_pool::reserve(sizeof(hop_block), hop_reserve::blocks)) {
            reserve_ = reserve.acquire() ? &reserve : nullptr;
            has_memory_ = reserve_ != nullptr;
        }
    }
    hop_attempt(const hop_attempt&) = delete;
    hop_attempt& operator=(const hop_attempt&) = delete;
    /// Destroys an operation that has returned and was not kept.
    ASIO_WHEEL_NOINLINE ~hop_attempt() {
        current_ = outer_;
        release_reserve();
        if (returned_) {
            op_.destroy();
        }
    }

    [[nodiscard]] bool has_memory() const noexcept { return has_memory_; }

    /// True if the operation has returned. Then it belongs to the caller.
    [[nodiscard]] bool keep() noexcept { return std::exchange(returned_, false); }

    /// True if the thread that drops `op` is about to send it.
    [[nodiscard]] static bool give_back(const wait_op& op) noexcept {
        const bool here = current_ != nullptr && !current_->gone_ && &current_->op_ == &op;
        return here && (current_->returned_ = true);
    }

    /// The operation is being called. From now on, one with the same address is another one. All
    /// blocks of the hop have been returned. So the reserve can serve what the handler sends.
    static void called(const wait_op& op) noexcept {
        if (current_ != nullptr && &current_->op_ == &op) {
            current_->gone_ = true;
            current_->release_reserve();
        }
    }

    /// A block for the operation that this thread is sending.
    [[nodiscard]] static void* allocate() {
        hop_reserve* const reserve = current_ != nullptr ? current_->reserve_ : nullptr;
        return hop_reserve::allocate(reserve);
    }

private:
    void release_reserve() noexcept {
        if (reserve_ != nullptr) {
            std::exchange(reserve_, nullptr)->release();
        }
    }

    static inline thread_local constinit hop_attempt* current_ = nullptr;

    wait_op& op_;
    hop_attempt* outer_;
    hop_reserve* reserve_ = nullptr; // Acquired, if there is no other memory.
    bool has_memory_ = true;
    bool returned_ = false;
    bool gone_ = false;
};

/// Allocates what an executor needs for a hop.
template <class T>
class hop_allocator {
public:
    using value_type = T;

    hop_allocator() = default;
    template <class U>
    hop_allocator(const hop_allocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t n) {
        return static_cast<T*>(fits(n)
                                   ? hop_attempt::allocate()
                                   : ::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
    }

    void deallocate(T* p, std::size_t n) noexcept {
        if (fits(n)) {
            hop_reserve::deallocate(p);
        } else {
            ::operator delete(p, std::align_val_t(alignof(T)));
        }
    }

    friend bool operator==(const hop_allocator&, const hop_allocator&) noexcept { return true; }

private:
    [[nodiscard]] static constexpr bool fits(std::size_t n) noexcept {
        return n * sizeof(T) <= hop_block::room && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    }
};

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

/// Takes the place of a strand's inner executor, which is native, for a hop: a turn of the strand
/// goes into the queue of the same context, in memory from hop_allocator. So hops to strands are
/// the same code, whatever the strands are made of.
class strand_turns {
public:
    template <class Executor>
        requires is_native_type<Executor>
    explicit strand_turns(const Executor& ex)
        : context_(&context_of(ex)), may_block_(may_block(ex)) {
        prepare_queue(ex);
    }

    template <class Function>
    ASIO_WHEEL_NOINLINE void execute(Function&& function) const {
        if (may_block_ && context_queue::running_in_this_thread(*context_)) {
            std::forward<Function>(function)();
        } else {
            context_queue::post_to(*context_, std::forward<Function>(function),
                                   hop_allocator<void>());
        }
    }

    [[nodiscard]] boost::asio::execution_context&
    query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }
    [[nodiscard]] static hop_allocator<void>
    query(boost::asio::execution::allocator_t<void>) noexcept {
        return {};
    }
    [[nodiscard]] boost::asio::execution::blocking_t
    query(boost::asio::execution::blocking_t) const noexcept {
        using boost::asio::execution::blocking_t;
        return may_block_ ? blocking_t(blocking_t::possibly) : blocking_t(blocking_t::never);
    }
    [[nodiscard]] strand_turns require(boost::asio::execution::blocking_t::never_t) const noexcept {
        strand_turns other(*this);
        other.may_block_ = false;
        return other;
    }

    friend bool operator==(const strand_turns&, const strand_turns&) noexcept = default;

private:
    boost::asio::execution_context* context_;
    bool may_block_;
};

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
