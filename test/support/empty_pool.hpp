// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_EMPTY_POOL_HPP
#define ASIO_WHEEL_TEST_SUPPORT_EMPTY_POOL_HPP

#include "operator_new.hpp"

#include <asio_wheel/detail/memory/block_pool.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace asio_wheel::test {

/// While this exists, the pool of operations has no free blocks, so the next operation needs the
/// heap.
class empty_pool {
public:
    empty_pool() {
        for (std::size_t size = 16; size <= 256; size += 16) {
            try {
                for (;;) {
                    const fail_after none(0);
                    void* const memory = detail::block_pool::allocate(size);
                    first_ = ::new (memory) taken{first_, size};
                }
            } catch (const std::bad_alloc&) {
            }
        }
    }
    empty_pool(const empty_pool&) = delete;
    empty_pool& operator=(const empty_pool&) = delete;
    ~empty_pool() {
        while (first_ != nullptr) {
            taken* const memory = std::exchange(first_, first_->next);
            detail::block_pool::deallocate(memory, memory->size);
        }
    }

private:
    struct taken {
        taken* next;
        std::size_t size;
    };
    taken* first_ = nullptr;
};

} // namespace asio_wheel::test

#endif
