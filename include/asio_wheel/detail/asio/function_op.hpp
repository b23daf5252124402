// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_FUNCTION_OP_HPP
#define ASIO_WHEEL_DETAIL_ASIO_FUNCTION_OP_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// An operation that calls a function, and then no longer exists. Its memory comes from
/// `Allocator`, and is returned before the call.
template <class Operation, class Function, class Allocator>
class function_op final : public Operation {
    using allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<function_op>;
    using traits = std::allocator_traits<allocator>;

public:
    template <class F>
    [[nodiscard]] static function_op& make(F&& function, const Allocator& a) {
        allocator memory(a);
        function_op* const op = traits::allocate(memory, 1);
        scope_exit give_back([&] { traits::deallocate(memory, op, 1); });
        ::new (static_cast<void*>(op)) function_op(std::forward<F>(function), a);
        give_back.release();
        return *op;
    }

private:
    template <class F>
    function_op(F&& function, const Allocator& a)
        : Operation(&function_op::run), function_(std::forward<F>(function)), allocator_(a) {}

    static void run(void* queue, Operation* self, const boost::system::error_code&, std::size_t) {
        auto* const op = static_cast<function_op*>(self);
        BOOST_ASIO_HANDLER_COMPLETION((*op));
        allocator memory(op->allocator_);
        Function function(std::move(op->function_));
        op->~function_op();
        traits::deallocate(memory, op, 1);
        if (queue != nullptr) {
            BOOST_ASIO_HANDLER_INVOCATION_BEGIN(());
            std::move(function)();
            BOOST_ASIO_HANDLER_INVOCATION_END;
        }
    }

    Function function_;
    Allocator allocator_;
};

} // namespace asio_wheel::detail

#endif
