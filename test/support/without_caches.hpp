// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Replaces operator new, and makes Asio and the library's pool keep no free memory. So each
// allocation calls operator new, and can be made to fail. Include it in one source file of a test
// program, before all other headers (// pch: off).

#ifndef ASIO_WHEEL_TEST_SUPPORT_WITHOUT_CACHES_HPP
#define ASIO_WHEEL_TEST_SUPPORT_WITHOUT_CACHES_HPP

#include "support/operator_new.hpp"

#include <array>
#include <cstddef>
#include <new>

// The number of blocks that each of Asio's threads keeps for each of several purposes.
#define BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE 0
// Asio before 1.83 uses this where handlers are allocated.
#define BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING 1

// Replaces detail/memory/block_pool.hpp.
#ifdef ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP
#error "support/failing.hpp has to come before asio-wheel"
#endif
#define ASIO_WHEEL_DETAIL_MEMORY_BLOCK_POOL_HPP

namespace asio_wheel::detail {

/// Keeps the memory that reserve() has reserved, and no other.
class block_pool {
public:
    [[nodiscard]] static void* allocate(std::size_t size) {
        if (size != reserved_size_ || reserved_ == 0) {
            return ::operator new(size);
        }
        return blocks_[--reserved_];
    }

    [[nodiscard]] static bool reserve(std::size_t size, std::size_t count) noexcept {
        if (size != reserved_size_ || count > blocks_.size()) {
            forget();
            reserved_size_ = size;
        }
        while (reserved_ < count && reserved_ < blocks_.size()) {
            void* const block = ::operator new(size, std::nothrow);
            if (block == nullptr) {
                return false;
            }
            blocks_[reserved_++] = block;
        }
        return reserved_ >= count;
    }

    static void deallocate(void* memory, std::size_t size) noexcept {
        ::operator delete(memory, size);
    }

    /// For the harness: everything reserved has been used.
    static void forget() noexcept {
        while (reserved_ != 0) {
            ::operator delete(blocks_[--reserved_], reserved_size_);
        }
    }

private:
    static inline std::array<void*, 4> blocks_{};
    static inline std::size_t reserved_size_ = 0;
    static inline std::size_t reserved_ = 0;
};

} // namespace asio_wheel::detail

#endif
