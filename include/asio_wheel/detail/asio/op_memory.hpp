// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Where operations live: in memory from the allocator associated with their handler or, if it has
// none, from the pool.

#ifndef ASIO_WHEEL_DETAIL_ASIO_OP_MEMORY_HPP
#define ASIO_WHEEL_DETAIL_ASIO_OP_MEMORY_HPP

#include <asio_wheel/detail/memory/block_pool.hpp>

#include <boost/asio/associated_allocator.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// The allocator of a handler that has none of its own.
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

/// Makes and frees operations with the allocator associated with their handler().
template <class Op, class Handler>
struct op_memory {
    using associated = boost::asio::associated_allocator_t<Handler, block_allocator<void>>;
    using allocator = typename std::allocator_traits<associated>::template rebind_alloc<Op>;
    using traits = std::allocator_traits<allocator>;

    [[nodiscard]] static allocator allocator_of(const Handler& handler) noexcept {
        return allocator(boost::asio::get_associated_allocator(handler, block_allocator<void>()));
    }

    // If this throws, `handler` has not been moved from, unless it was its own move that threw.
    template <class... Arguments>
    [[nodiscard]] static Op* create(Handler&& handler, Arguments&&... arguments) {
        allocator memory = allocator_of(handler);
        Op* const op = traits::allocate(memory, 1);
        try {
            return ::new (static_cast<void*>(op))
                Op(std::move(handler), std::forward<Arguments>(arguments)...);
        } catch (...) {
            traits::deallocate(memory, op, 1);
            throw;
        }
    }

    /// Frees an operation, and gives back its handler. If moving the handler throws, both are
    /// destroyed.
    [[nodiscard]] static Handler take_handler(Op& op) {
        Handler handler = [&op] {
            try {
                return Handler(std::move(op.handler()));
            } catch (...) {
                free(op, upstream_allocator_of(op.handler()));
                throw;
            }
        }();
        free(op, allocator_of(handler)); // The handler may own what the allocator refers to.
        return handler;
    }

    /// Frees an operation and its handler. The handler is the last to go, because its destructor
    /// may do anything; unless it cannot be moved away.
    static void destroy(Op& op) noexcept {
        try {
            static_cast<void>(take_handler(op));
        } catch (...) { // NOLINT(bugprone-empty-catch): there is nobody to tell.
        }
    }

private:
    template <class Allocator>
    static void free(Op& op, const Allocator& allocator) noexcept {
        typename std::allocator_traits<Allocator>::template rebind_alloc<Op> memory(allocator);
        op.~Op();
        std::allocator_traits<decltype(memory)>::deallocate(memory, &op, 1);
    }

    // An allocator that works when the handler has ended: see kept_memory.
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
