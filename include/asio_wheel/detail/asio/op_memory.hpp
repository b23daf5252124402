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
#include <type_traits>
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

/// Whether an operation has more in its memory than itself. size_behind() says how many bytes.
template <class Op>
concept has_more_behind = requires(const Op& op) { op.size_behind(); };

/// Creates and frees operations of type `Op`, which returns its handler by handler().
template <class Op, class Handler>
class op_memory {
public:
    /// If this throws, `handler` was not moved from; unless its own move constructor has thrown.
    template <class... Arguments>
    [[nodiscard]] static Op* create(Handler&& handler, Arguments&&... arguments) {
        return create_with(0, std::move(handler), std::forward<Arguments>(arguments)...);
    }

    /// The same, with this many bytes behind the operation.
    template <class... Arguments>
    [[nodiscard]] static Op* create_with(std::size_t behind, Handler&& handler,
                                         Arguments&&... arguments) {
        auto memory = rebind(allocator_of(handler));
        auto* const block = traits<decltype(memory)>::allocate(memory, units(behind));
        scope_exit free(
            [&] { traits<decltype(memory)>::deallocate(memory, block, units(behind)); });
        Op* const op = ::new (static_cast<void*>(block))
            Op(std::move(handler), std::forward<Arguments>(arguments)...);
        free.release();
        return op;
    }

    /// Frees an operation and returns its handler. If moving the handler throws, destroys both.
    [[nodiscard]] static Handler take_handler(Op& op) {
        scope_exit free_both([&op] { free(op, upstream_allocator_of(op.handler())); });
        Handler handler(std::move(op.handler()));
        free_both.release();
        // The allocator of the handler that was moved out: it may refer to what the handler owns.
        free(op, allocator_of(handler));
        return handler;
    }

    /// Frees an operation, then destroys its handler, whose destructor may run any code. If the
    /// handler cannot be moved out, both are destroyed in place.
    static void destroy(Op& op) noexcept {
        // If that throws, nothing can handle it.
        static_cast<void>(throws([&op] { static_cast<void>(take_handler(op)); }));
    }

private:
    // What is allocated: one operation; or, with more behind it, as many parts as both need.
    struct alignas(Op) part {
        std::byte bytes[alignof(Op)];
    };
    using unit = std::conditional_t<has_more_behind<Op>, part, Op>;

    [[nodiscard]] static constexpr std::size_t units(std::size_t behind) noexcept {
        return (sizeof(Op) + behind + sizeof(unit) - 1) / sizeof(unit);
    }

    template <class Allocator>
    using traits = std::allocator_traits<Allocator>;

    template <class Allocator>
    [[nodiscard]] static auto rebind(const Allocator& allocator) noexcept {
        return typename traits<Allocator>::template rebind_alloc<unit>(allocator);
    }

    template <class Allocator>
    static void free(Op& op, const Allocator& allocator) noexcept {
        auto memory = rebind(allocator);
        std::size_t behind = 0;
        if constexpr (has_more_behind<Op>) {
            behind = op.size_behind();
        }
        op.~Op();
        void* const block = &op;
        traits<decltype(memory)>::deallocate(memory, static_cast<unit*>(block), units(behind));
    }

    [[nodiscard]] static auto allocator_of(const Handler& handler) noexcept {
        return boost::asio::get_associated_allocator(handler, block_allocator<void>());
    }

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
