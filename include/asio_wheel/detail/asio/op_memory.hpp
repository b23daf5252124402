// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The memory of operations. It comes from the allocator associated with the operation's handler;
// or, if the handler has none, from the block pool.
//
// The memory of an operation is freed before its handler is called, as with Asio. So an operation
// that the handler starts can use the same memory.

#ifndef ASIO_WHEEL_DETAIL_ASIO_OP_MEMORY_HPP
#define ASIO_WHEEL_DETAIL_ASIO_OP_MEMORY_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/asio/associated_allocator.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Allocates from the block pool. The default for handlers without an allocator of their own.
template <class T>
class block_allocator {
public:
    using value_type = T;

    block_allocator() = default;
    template <class U>
    block_allocator(const block_allocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t n) {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            return std::allocator<T>().allocate(n);
        } else {
            return static_cast<T*>(block_pool::allocate(n * sizeof(T)));
        }
    }

    void deallocate(T* p, std::size_t n) noexcept {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            std::allocator<T>().deallocate(p, n);
        } else {
            block_pool::deallocate(p, n * sizeof(T));
        }
    }

    friend bool operator==(const block_allocator&, const block_allocator&) noexcept { return true; }
};

/// Frees the memory of an operation that is a single object.
template <class Op>
struct single_object {
    template <class Allocator>
    static void free(Op& op, const Allocator& allocator) noexcept {
        typename std::allocator_traits<Allocator>::template rebind_alloc<Op> memory(allocator);
        op.~Op();
        std::allocator_traits<decltype(memory)>::deallocate(memory, &op, 1);
    }
};

/// Creates and frees operations of type `Op`, which returns its handler by handler(). An operation
/// with more in its memory than one object has another `Storage`, and a create() of its own.
template <class Op, class Handler, class Storage = single_object<Op>>
struct op_memory {
    using associated = boost::asio::associated_allocator_t<Handler, block_allocator<void>>;
    using allocator = typename std::allocator_traits<associated>::template rebind_alloc<Op>;
    using traits = std::allocator_traits<allocator>;

    [[nodiscard]] static allocator allocator_of(const Handler& handler) noexcept {
        return allocator(boost::asio::get_associated_allocator(handler, block_allocator<void>()));
    }

    /// If this throws, `handler` was not moved from; unless its own move constructor has thrown.
    template <class... Arguments>
    [[nodiscard]] static Op* create(Handler&& handler, Arguments&&... arguments) {
        allocator memory = allocator_of(handler);
        Op* const op = traits::allocate(memory, 1);
        scope_exit free([&] { traits::deallocate(memory, op, 1); });
        ::new (static_cast<void*>(op))
            Op(std::move(handler), std::forward<Arguments>(arguments)...);
        free.release();
        return op;
    }

    /// Frees an operation and returns its handler. If moving the handler throws, destroys both.
    [[nodiscard]] static Handler take_handler(Op& op) {
        scope_exit free_both([&op] { Storage::free(op, upstream_allocator_of(op.handler())); });
        Handler handler(std::move(op.handler()));
        free_both.release();
        // The allocator of the handler that was moved out: it may refer to what the handler owns.
        Storage::free(op, allocator_of(handler));
        return handler;
    }

    /// Frees an operation, then destroys its handler, whose destructor may run any code. If the
    /// handler cannot be moved out, both are destroyed in place.
    static void destroy(Op& op) noexcept {
        // If that throws, nothing can handle it.
        static_cast<void>(throws([&op] { static_cast<void>(take_handler(op)); }));
    }

private:
    // An allocator that can be used after the handler was destroyed. The associated allocator of a
    // handler with a kept_memory points into the handler; its own allocator does not.
    [[nodiscard]] static auto upstream_allocator_of(const Handler& handler) noexcept {
        if constexpr (requires { handler.upstream_allocator(); }) {
            return handler.upstream_allocator();
        } else {
            return allocator_of(handler);
        }
    }
};

} // namespace asio_wheel::detail

#endif
