// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An allocator that takes its memory from an object. A handler has it as its associated allocator,
// so that Asio uses that object's memory.

#ifndef ASIO_WHEEL_DETAIL_MEMORY_RESOURCE_ALLOCATOR_HPP
#define ASIO_WHEEL_DETAIL_MEMORY_RESOURCE_ALLOCATOR_HPP

#include <cstddef>

namespace asio_wheel::detail {

/// Allocates from a `Resource`, which has allocate(size), deallocate(memory, size) and the constant
/// `alignment`. The resource must exist as long as any copy of the allocator is used.
template <class T, class Resource>
class resource_allocator {
    template <class, class>
    friend class resource_allocator;

public:
    using value_type = T;

    explicit resource_allocator(Resource& resource) noexcept : resource_(&resource) {}
    template <class U>
    resource_allocator(const resource_allocator<U, Resource>& other) noexcept
        : resource_(other.resource_) {}

    [[nodiscard]] T* allocate(std::size_t n) {
        static_assert(alignof(T) <= Resource::alignment);
        return static_cast<T*>(resource_->allocate(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t n) noexcept {
        resource_->deallocate(memory, n * sizeof(T));
    }

    template <class U>
    friend bool operator==(const resource_allocator& a,
                           const resource_allocator<U, Resource>& b) noexcept {
        return a.resource_ == b.resource_;
    }

private:
    Resource* resource_;
};

} // namespace asio_wheel::detail

#endif
