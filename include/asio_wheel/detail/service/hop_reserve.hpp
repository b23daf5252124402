// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Memory for a function that is sent through an executor, and a reserve of it.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_HOP_RESERVE_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_HOP_RESERVE_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/threads/sync.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>

namespace asio_wheel::detail {

class hop_reserve;

/// A block that knows where it came from, so that any thread can return it.
struct hop_block {
    // Asio's strands need 32 bytes of it, and 32 more than an operation.
    static constexpr std::size_t room = sizeof(operation) + 88;

    hop_reserve* origin = nullptr; // Null: the block pool.
    alignas(std::max_align_t) std::byte memory[room];
};

/// Three blocks, for one hop at a time, for when a thread has no other memory. An executor
/// allocates up to two for a function: a strand one for its queue and one for its turn, which it
/// keeps while the handler runs. So a third one is there for what that handler sends.
///
/// It ends when its owner has left it, no hop has acquired it, and no block of it is taken.
class hop_reserve {
public:
    static constexpr std::size_t blocks = 3;
    static constexpr std::size_t blocks_of_a_hop = 2;

    struct leave {
        void operator()(hop_reserve* r) const noexcept { r->clear(owned); }
    };
    using owner = std::unique_ptr<hop_reserve, leave>;

    [[nodiscard]] static owner make() { return owner(new hop_reserve); }

    hop_reserve(const hop_reserve&) = delete;
    hop_reserve& operator=(const hop_reserve&) = delete;

    /// For the owner, who sends something: false if another hop has the reserve, or too many of its
    /// blocks.
    [[nodiscard]] bool acquire() noexcept {
        // Acquires what those did who gave blocks back.
        unsigned state = state_.load(std::memory_order_relaxed);
        while (!is_acquired(state) && free_blocks(state) >= blocks_of_a_hop) {
            if (state_.compare_exchange_weak(state, state | acquired, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }
    /// The hop takes no more blocks.
    void release() noexcept { clear(acquired); }

    /// The memory of a block: of `reserve`, for the hop that has acquired it, or of the block pool
    /// if that is null. May throw std::bad_alloc.
    [[nodiscard]] ASIO_WHEEL_NOINLINE static void* allocate(hop_reserve* reserve) {
        hop_block* block = reserve != nullptr ? reserve->take() : nullptr;
        if (block == nullptr) {
            block = ::new (block_pool::allocate(sizeof(hop_block))) hop_block;
        }
        return block->memory;
    }

    ASIO_WHEEL_NOINLINE static void deallocate(void* memory) noexcept {
        auto* const block = reinterpret_cast<hop_block*>(static_cast<std::byte*>(memory) -
                                                         offsetof(hop_block, memory));
        if (hop_reserve* const origin = block->origin) {
            origin->clear(taken(static_cast<std::size_t>(block - origin->blocks_.data())));
        } else {
            block_pool::deallocate(block, sizeof(hop_block));
        }
    }

private:
    // Bits of state_.
    static constexpr unsigned owned = 1;
    static constexpr unsigned acquired = 2;
    [[nodiscard]] static constexpr unsigned taken(std::size_t i) noexcept { return 4U << i; }

    [[nodiscard]] static constexpr bool is_acquired(unsigned state) noexcept {
        return (state & acquired) != 0;
    }
    [[nodiscard]] static constexpr std::size_t free_blocks(unsigned state) noexcept {
        return blocks - static_cast<std::size_t>(std::popcount(state & ~(owned | acquired)));
    }

    // Null if all blocks are taken.
    [[nodiscard]] hop_block* take() noexcept {
        // A block that is given back meanwhile may be seen too late.
        const unsigned state = state_.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < blocks; ++i) {
            if ((state & taken(i)) == 0) {
                state_.fetch_or(taken(i), std::memory_order_relaxed);
                return &blocks_[i];
            }
        }
        return nullptr;
    }

    hop_reserve() noexcept {
        for (hop_block& block : blocks_) {
            block.origin = this;
        }
    }
    ~hop_reserve() = default;

    // The last one frees it, and sees what the others did: each of these pairs with it.
    ASIO_WHEEL_NOINLINE void clear(unsigned bit) noexcept {
        if (state_.fetch_and(~bit, std::memory_order_acq_rel) == bit) {
            delete this;
        }
    }

    std::array<hop_block, blocks> blocks_;
    atomic<unsigned> state_{owned}; // Litmus tests: lifetime, reserve, reserve_of_a_hop.
};

} // namespace asio_wheel::detail

#endif
