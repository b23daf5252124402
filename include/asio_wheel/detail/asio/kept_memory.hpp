// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory of an operation that consists of several waits, one after the other.
//
// The memory of a wait is freed before its handler is called. If the operation continues, its next
// wait needs as much memory again. That allocation must not fail, because the operation was
// accepted long ago. So the handler keeps the block of the wait that has ended, and the next wait
// takes it.

#ifndef ASIO_WHEEL_DETAIL_ASIO_KEPT_MEMORY_HPP
#define ASIO_WHEEL_DETAIL_ASIO_KEPT_MEMORY_HPP

#include <asio_wheel/detail/attributes.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace asio_wheel::detail {

/// A member of such a handler, or of an object that it owns. Keeps at most one block, which
/// comes from the handler's own allocator, `Allocator`.
///
/// The allocator associated with the handler is a kept_memory_allocator, which points to this. So
/// if this is a member of the handler, that allocator must not be used after the handler was moved.
template <class Allocator>
class kept_memory {
public:
    explicit kept_memory(const Allocator& allocator) noexcept : allocator_(allocator) {}
    kept_memory(kept_memory&& other) noexcept
        : allocator_(other.allocator_), block_(std::exchange(other.block_, nullptr)),
          free_(other.free_) {}
    kept_memory& operator=(kept_memory&&) = delete;
    ~kept_memory() { release(); }

    /// The handler's own allocator.
    [[nodiscard]] const Allocator& upstream() const noexcept { return allocator_; }

    /// Frees the block, if one is kept. Call it when the operation ends.
    void release() noexcept {
        if (block_ != nullptr) {
            free_(*this);
        }
    }

    template <class T>
    [[nodiscard]] T* allocate(std::size_t n) {
        if (n == 1 && has_block_of<T>()) {
            return static_cast<T*>(std::exchange(block_, nullptr));
        }
        auto rebound = allocator_for<T>();
        return traits<T>::allocate(rebound, n);
    }

    template <class T>
    void deallocate(T* p, std::size_t n) noexcept {
        if (n == 1 && block_ == nullptr) {
            block_ = p;
            free_ = &kept_memory::free_block_as<T>;
            return;
        }
        auto rebound = allocator_for<T>();
        traits<T>::deallocate(rebound, p, n);
    }

private:
    template <class T>
    using traits = typename std::allocator_traits<Allocator>::template rebind_traits<T>;

    template <class T>
    [[nodiscard]] auto allocator_for() const noexcept {
        return typename traits<T>::allocator_type(allocator_);
    }

    template <class T>
    [[nodiscard]] bool has_block_of() const noexcept {
        return block_ != nullptr && free_ == &kept_memory::free_block_as<T>;
    }

    template <class T>
    static void free_block_as(kept_memory& self) noexcept {
        auto rebound = self.template allocator_for<T>();
        traits<T>::deallocate(rebound, static_cast<T*>(std::exchange(self.block_, nullptr)), 1);
    }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Allocator allocator_;
    void* block_ = nullptr;
    void (*free_)(kept_memory&) noexcept = nullptr; // free_block_as<T>, for the block's type T.
};

/// Allocates the kept block, if it is of the right type. Otherwise from the handler's own
/// allocator.
template <class T, class Allocator>
class kept_memory_allocator {
    template <class, class>
    friend class kept_memory_allocator;

public:
    using value_type = T;

    explicit kept_memory_allocator(kept_memory<Allocator>& memory) noexcept : memory_(&memory) {}
    template <class U>
    kept_memory_allocator(const kept_memory_allocator<U, Allocator>& other) noexcept
        : memory_(other.memory_) {}

    [[nodiscard]] T* allocate(std::size_t n) { return memory_->template allocate<T>(n); }
    void deallocate(T* p, std::size_t n) noexcept { memory_->template deallocate<T>(p, n); }

    friend bool operator==(const kept_memory_allocator&,
                           const kept_memory_allocator&) noexcept = default;

private:
    kept_memory<Allocator>* memory_;
};

} // namespace asio_wheel::detail

#endif
