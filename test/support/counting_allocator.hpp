// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_COUNTING_ALLOCATOR_HPP
#define ASIO_WHEEL_TEST_SUPPORT_COUNTING_ALLOCATOR_HPP

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace asio_wheel::test {

/// The counts of all counting_allocators that share this.
struct allocations {
    std::atomic<std::size_t> live{0};
    std::atomic<std::size_t> total{0};
    std::atomic<std::size_t> live_bytes{0};
    std::atomic<bool> refuse{false}; ///< Makes allocate() throw std::bad_alloc.
};

/// An allocator that counts. Associate it with a handler by bind_allocator().
template <class T = void>
class counting_allocator {
    template <class>
    friend class counting_allocator;

public:
    using value_type = T;

    explicit counting_allocator(allocations& count) noexcept : count_(&count) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) noexcept : count_(other.count_) {}

    [[nodiscard]] T* allocate(std::size_t n) {
        if (count_->refuse) {
            throw std::bad_alloc();
        }
        T* const memory = std::allocator<T>().allocate(n);
        ++count_->live;
        ++count_->total;
        count_->live_bytes += n * sizeof(T);
        return memory;
    }

    void deallocate(T* memory, std::size_t n) noexcept {
        --count_->live;
        count_->live_bytes -= n * sizeof(T);
        std::allocator<T>().deallocate(memory, n);
    }

    template <class U>
    friend bool operator==(const counting_allocator& a, const counting_allocator<U>& b) noexcept {
        return a.count_ == b.count_;
    }

private:
    allocations* count_;
};

} // namespace asio_wheel::test

#endif
