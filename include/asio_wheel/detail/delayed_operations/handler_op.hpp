// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The function and the handler of a delayed operation, its memory, and its way to the handler.
//
// The wait of an operation ends on the executor of the owner. If the handler has another executor,
// the operation then goes there: see executor_op.hpp.

#ifndef ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_HANDLER_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_HANDLER_OP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/delayed_operations/op.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The memory of an operation with its watches behind it.
template <class Op>
struct op_with_watches {
    using watch_type = typename Op::watch_type;
    struct alignas(Op) unit {
        std::byte bytes[alignof(Op)];
    };
    static_assert(alignof(watch_type) <= alignof(Op));

    [[nodiscard]] static constexpr std::size_t units(std::size_t watches) noexcept {
        return (sizeof(Op) + watches * sizeof(watch_type) + sizeof(unit) - 1) / sizeof(unit);
    }

    template <class Allocator>
    static void free(Op& op, const Allocator& allocator) noexcept {
        typename std::allocator_traits<Allocator>::template rebind_alloc<unit> memory(allocator);
        const std::span<watch_type> watches = op.watches();
        op.~Op();
        std::destroy(watches.begin(), watches.end());
        void* const block = &op;
        std::allocator_traits<decltype(memory)>::deallocate(memory, static_cast<unit*>(block),
                                                            units(watches.size()));
    }
};

/// Creates and frees operations, together with their watches.
template <class Op, class Handler>
struct delayed_op_memory : op_memory<Op, Handler, op_with_watches<Op>> {
    template <class... Arguments>
    [[nodiscard]] static Op* create(Handler&& handler, std::size_t watches,
                                    Arguments&&... arguments) {
        using storage = op_with_watches<Op>;
        using watch_type = typename storage::watch_type;
        using allocator = typename std::allocator_traits<decltype(delayed_op_memory::allocator_of(
            handler))>::template rebind_alloc<typename storage::unit>;
        using traits = std::allocator_traits<allocator>;
        allocator memory(delayed_op_memory::allocator_of(handler));
        auto* const block = traits::allocate(memory, storage::units(watches));
        void* const behind = reinterpret_cast<std::byte*>(block) + sizeof(Op);
        auto* const first = static_cast<watch_type*>(behind);
        std::uninitialized_default_construct_n(first, watches);
        scope_exit undo([&] {
            std::destroy_n(first, watches);
            traits::deallocate(memory, block, storage::units(watches));
        });
        Op* const op = ::new (static_cast<void*>(block)) Op(
            std::move(handler), std::span(first, watches), std::forward<Arguments>(arguments)...);
        undo.release();
        return op;
    }
};

/// The way of an operation whose handler has the executor of its owner. It is there already.
class in_place {
public:
    void post(operation& op) const { op.complete(&op, {}, 0); } // The queue must not be null.
    [[nodiscard]] bool arrives(const executor_op&) const noexcept { return true; }
};

/// `Way`: how it gets to its handler. See executor_op.hpp.
template <class Base, class Function, class Handler, class Way>
class delayed_op_of final : public Base {
    using memory = delayed_op_memory<delayed_op_of, Handler>;

public:
    template <class F>
    delayed_op_of(Handler&& handler, std::span<typename Base::watch_type> watches,
                  typename Base::owner& o, const auto& ex, F&& function, Way&& way)
        : Base(&delayed_op_of::run, o, ex, watches), way_(std::move(way)),
          function_(std::forward<F>(function)), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

    void try_to_complete(attempt which) override {
        auto result = [&] {
            if constexpr (std::is_invocable_v<Function&, attempt>) {
                return function_(which);
            } else {
                return function_();
            }
        }();
        if (result) {
            this->value().emplace(std::move(*result));
        }
    }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<delayed_op_of*>(self);
        if (queue == nullptr) {
            memory::destroy(op);
        } else if (op.way_.arrives(op)) {
            op.deliver();
        }
    }

    // Frees the operation, and calls the handler. If the result cannot be moved, both are
    // destroyed, as if the handler had thrown.
    void deliver() {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        scope_exit drop([this] { this->destroy(); });
        if (!this->value()) {
            this->value().emplace();
        }
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has one.
        typename Base::result_type value(std::move(*this->value()));
        drop.release();
        const boost::system::error_code result = this->error();
        // The memory is free before the upcall, so that an operation started there can have it. So
        // is work on the executor: its context may end while the handler is being called.
        Handler handler(memory::take_handler(*this));
        BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
        std::move(handler)(result, std::move(value));
        BOOST_ASIO_HANDLER_INVOCATION_END;
    }

    void post_completion() override { way_.post(*this); }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Way way_;
    Function function_;
    Handler handler_;
};

} // namespace asio_wheel::detail

#endif
