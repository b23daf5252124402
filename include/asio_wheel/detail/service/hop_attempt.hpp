// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory for the functions by which an operation gets to another executor.
//
// An executor must not run out of memory after it has accepted the first of them. So a thread that
// sends an operation first makes sure of two blocks: a strand takes one for the operation, and one
// for its turn. The block of a turn is kept until the turn ends. If the strand then has more to do,
// it posts another turn, in the same block.
//
// Where the blocks come from, in this order:
//
//   the thread's cache of blocks
//   the reserve of the wheel       if the thread caches no blocks (see block_pool.hpp), or if there
//                                  is no memory. It serves one hop at a time
//   a reserve for this hop alone   if another hop has the wheel's. A busy strand may keep it long

#ifndef ASIO_WHEEL_DETAIL_SERVICE_HOP_ATTEMPT_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_HOP_ATTEMPT_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/service/hop_reserve.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Keeps the block of a strand's turn, on the stack of the thread that runs the turn.
class turn_memory {
public:
    explicit turn_memory(void* block) noexcept
        : block_(block), outer_(std::exchange(current_, this)) {}
    turn_memory(const turn_memory&) = delete;
    turn_memory& operator=(const turn_memory&) = delete;
    ~turn_memory() {
        current_ = outer_;
        if (block_ != nullptr) {
            hop_reserve::deallocate(block_);
        }
    }

    /// The block of the turn that this thread runs. Null if there is none, or if it was taken.
    [[nodiscard]] static void* take() noexcept {
        return current_ != nullptr ? std::exchange(current_->block_, nullptr) : nullptr;
    }

private:
    static inline thread_local constinit turn_memory* current_ = nullptr;

    void* block_;
    turn_memory* outer_; // Of a turn whose handler runs the context.
};

/// An attempt to send an operation, on the stack of the sending thread. If the executor throws, or
/// calls nothing any more, it destroys the function. Then the operation returns to its sender.
class hop_attempt {
public:
    ASIO_WHEEL_NOINLINE hop_attempt(wait_op& op, hop_reserve& reserve) noexcept
        : op_(op), outer_(std::exchange(current_, this)) {
        // A strand that finds no memory for its turn never gets a turn. So make sure of that
        // memory.
        if (!block_pool::reserve(sizeof(hop_block), hop_reserve::blocks_of_a_hop)) {
            reserve_ = reserve.acquire() ? &reserve : make_own();
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

    /// The operation is being called. From now on, one with the same address is another one. Of the
    /// hop's blocks, at most that of a strand's turn is still taken. So the reserve can serve what
    /// the handler sends.
    static void called(const wait_op& op) noexcept {
        if (current_ != nullptr && &current_->op_ == &op) {
            current_->gone_ = true;
            current_->release_reserve();
        }
    }

    /// A block for the operation that this thread is sending; or else for a turn of the strand
    /// whose turn is ending.
    [[nodiscard]] static void* allocate() {
        if (current_ != nullptr && !current_->gone_) {
            return hop_reserve::allocate(current_->reserve_);
        }
        void* const block = turn_memory::take();
        return block != nullptr ? block : hop_reserve::allocate(nullptr);
    }

private:
    // Null if there is no memory.
    [[nodiscard]] hop_reserve* make_own() noexcept {
        const bool failed = throws<std::bad_alloc>([this] { own_ = hop_reserve::make(); });
        return !failed && own_->acquire() ? own_.get() : nullptr;
    }

    void release_reserve() noexcept {
        if (reserve_ != nullptr) {
            std::exchange(reserve_, nullptr)->release();
        }
    }

    static inline thread_local constinit hop_attempt* current_ = nullptr;

    wait_op& op_;
    hop_attempt* outer_;
    hop_reserve::owner own_;         // Usually null.
    hop_reserve* reserve_ = nullptr; // Acquired, if the thread has no cached blocks.
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

    /// Whether this many objects fit into a block.
    [[nodiscard]] static constexpr bool fits(std::size_t n) noexcept {
        return n * sizeof(T) <= hop_block::room && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    }
};

} // namespace asio_wheel::detail

#endif
