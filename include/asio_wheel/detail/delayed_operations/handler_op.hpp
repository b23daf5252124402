// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The function and the handler of a delayed operation, its memory, and its way to the handler.
//
// The wait of an operation ends on the executor of the owner. If the handler has another executor,
// the operation then goes there: through the queue of the context that the executor belongs to; or,
// to a strand, as the pops of a delay queue.

#ifndef ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_HANDLER_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_HANDLER_OP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/delayed_operations/op.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/executor_op.hpp>

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

// Three ways from the owner's executor to the handler's.

/// The handler has none of its own, or the same.
struct complete_in_place {
    template <class Op>
    void post_completion(Op& op) const {
        op.on_executor();
    }
    template <class Op>
    void on_turn(Op& op) const { // It is in no queue.
        op.on_executor();
    }
};

/// Through the queue of the context whose executor it is.
template <class Executor>
class post_to_context {
public:
    explicit post_to_context(const Executor& ex) : queue_(queue_of(ex)), work_(track_work(ex)) {}

    void post_completion(executor_op& op) noexcept { post_to(queue_, op); }
    template <class Op>
    void on_turn(Op& op) const {
        op.on_executor();
    }

private:
    context_queue queue_;
    work_on<Executor> work_;
};

/// Through the queue of the owner's context, and from there to a strand, or an executor of a kind
/// unknown.
template <class Executor>
class dispatch_to_executor {
public:
    dispatch_to_executor(const Executor& ex, context_queue queue)
        : queue_(queue), work_(track_work(ex)), reserve_(dispatch_reserve::make()) {}

    void post_completion(executor_op& op) noexcept { post_to(queue_, op); }
    void on_turn(executor_op& op) const {
        // Copies: the operation may be gone before dispatch_to() returns.
        const auto ex = executor_of<Executor>(work_);
        dispatch_to(op, *reserve_, ex, context_queue(queue_));
    }

private:
    context_queue queue_;
    work_on<Executor> work_;
    dispatch_reserve::owner reserve_;
};

template <class Base, class Function, class Handler, class Path>
class delayed_op_of final : public Base {
    using memory = delayed_op_memory<delayed_op_of, Handler>;

public:
    template <class F>
    delayed_op_of(Handler&& handler, std::span<typename Base::watch_type> watches,
                  typename Base::owner& o, const auto& ex, F&& function, Path&& path)
        : Base(&delayed_op_of::run, o, ex, watches), path_(std::move(path)),
          function_(std::forward<F>(function)), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

    /// On the handler's executor: frees the operation, and calls the handler. If the result cannot
    /// be moved, both are destroyed, as if the handler had thrown.
    void on_executor() override {
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
        if (queue != nullptr) {
            op.path_.on_turn(op);
        } else {
            memory::destroy(op);
        }
    }

    void post_completion() override { path_.post_completion(*this); }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Path path_;
    Function function_;
    Handler handler_;
};

} // namespace asio_wheel::detail

#endif
