// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A pop of a delay queue: it waits for an element, gets its value, and takes it to its handler.
//
// All that a pop will need is allocated when it starts. Finishing one never fails: the value has
// been moved into the operation by then, and the operation itself goes into the context's queue, or
// to its handler's executor. Until it is finished the queue owns it, thereafter it owns itself.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/delay_queue/pop_dispatch.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

template <class T>
class pop_cancel_link;

/// What a queue knows of a pop; its handler is in a derived class. It ends by finish(), or without
/// a call by destroy().
template <class T>
class pop_op : public executor_op,
               public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::normal_link>> {
public:
    using value_type = T;

    /// Where its value is put.
    [[nodiscard]] std::optional<T>& value() noexcept { return value_; }

    /// From now on its cancellation slot leads nowhere.
    void disconnect_slot() noexcept {
        if (link_ != nullptr) {
            link_->pop_ = nullptr;
            link_ = nullptr;
        }
    }

    /// Sends it to its handler, with its value or, if it has none, with `ec`.
    void finish(const boost::system::error_code& ec) noexcept {
        result_ = ec;
        post_completion();
    }

    [[nodiscard]] const boost::system::error_code& result() const noexcept { return result_; }

protected:
    explicit pop_op(operation::func_type function) noexcept : executor_op(function) {}
    ~pop_op() { disconnect_slot(); }

private:
    friend pop_cancel_link<T>;

    virtual void post_completion() noexcept = 0;

    pop_cancel_link<T>* link_ = nullptr;
    boost::system::error_code result_;
    std::optional<T> value_;
};

/// What leads from a cancellation slot to a pop. Each knows of the other, for either may end first:
/// the slot may be given to another operation.
template <class T>
class pop_cancel_link {
public:
    explicit pop_cancel_link(pop_op<T>& pop) noexcept : pop_(&pop) { pop.link_ = this; }
    pop_cancel_link(const pop_cancel_link&) = delete;
    pop_cancel_link& operator=(const pop_cancel_link&) = delete;

    /// Null when the pop no longer waits.
    [[nodiscard]] pop_op<T>* pop() const noexcept { return pop_; }

protected:
    ~pop_cancel_link() {
        if (pop_ != nullptr) {
            pop_->link_ = nullptr;
        }
    }

private:
    friend pop_op<T>;
    pop_op<T>* pop_;
};

/// What a cancellation slot holds for a pop: calls abort(pop).
template <class T, class Abort>
class pop_cancellation : public pop_cancel_link<T> {
public:
    pop_cancellation(pop_op<T>& pop, Abort abort) noexcept
        : pop_cancel_link<T>(pop), abort_(abort) {}

    void operator()(boost::asio::cancellation_type type) noexcept {
        if (this->pop() != nullptr && type != boost::asio::cancellation_type::none) {
            abort_(*this->pop());
        }
    }

private:
    Abort abort_;
};

/// Frees a finished pop, and calls its handler. If the value cannot be moved, the pop and its
/// handler are destroyed, and the exception is the caller's, as if the handler had thrown it.
template <class Op, class Handler>
void deliver_pop(Op& op) {
    BOOST_ASIO_HANDLER_COMPLETION((op));
    auto value = [&op] {
        try {
            if (!op.value()) {
                op.value().emplace();
            }
            return std::move(op.value());
        } catch (...) {
            op.destroy();
            throw;
        }
    }();
    const boost::system::error_code result = op.result();
    // The memory is free before the upcall, so that a pop started there can have it. So is work on
    // the executor: its context may end while the handler is being called.
    Handler handler(op_memory<Op, Handler>::take_handler(op));
    BOOST_ASIO_HANDLER_INVOCATION_BEGIN((result));
    std::move(handler)(result, std::move(*value)); // NOLINT(bugprone-unchecked-optional-access)
    BOOST_ASIO_HANDLER_INVOCATION_END;
}

/// Brings pops to the executor of their queue, one by one in the order in which they are finished.
template <class T>
class pop_dispatcher {
public:
    virtual void dispatch(pop_op<T>& pop) noexcept = 0;

protected:
    ~pop_dispatcher() = default;
};

/// A pop whose handler is called in its own turn in a context's queue, or brought by the
/// dispatcher. `Work` keeps the handler's executor working until then, where the queue does not.
template <class T, class Work, class Handler>
class queued_pop final : public pop_op<T> {
    using memory = op_memory<queued_pop, Handler>;

public:
    queued_pop(Handler&& handler, context_queue queue, Work work)
        : pop_op<T>(&queued_pop::run), queue_(queue), work_(std::move(work)),
          handler_(std::move(handler)) {}
    queued_pop(Handler&& handler, context_queue queue, pop_dispatcher<T>& dispatcher, Work work)
        : pop_op<T>(&queued_pop::run), queue_(queue), dispatcher_(&dispatcher),
          work_(std::move(work)), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<queued_pop*>(self);
        if (queue != nullptr) {
            op.on_executor();
        } else {
            memory::destroy(op);
        }
    }

    void on_executor() override { deliver_pop<queued_pop, Handler>(*this); }

    void post_completion() noexcept override {
        if (dispatcher_ != nullptr) {
            dispatcher_->dispatch(*this);
        } else {
            post_to(queue_, *this);
        }
    }

    context_queue queue_;
    pop_dispatcher<T>* dispatcher_ = nullptr;
    [[no_unique_address]] Work work_;
    Handler handler_;
};

/// A pop whose handler belongs on an executor of its own: another strand, or one unknown.
template <class T, class Executor, class Handler>
class dispatched_pop final : public pop_op<T> {
    using memory = op_memory<dispatched_pop, Handler>;

public:
    dispatched_pop(Handler&& handler, context_queue queue, const Executor& ex)
        : pop_op<T>(&dispatched_pop::run), queue_(queue), work_(track_work(ex)),
          reserve_(dispatch_reserve::make()), handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<dispatched_pop*>(self);
        if (queue != nullptr) {
            // Copies: the operation may be gone before hop() returns.
            const auto ex = executor_of<Executor>(op.work_);
            dispatch_to(op, *op.reserve_, ex, context_queue(op.queue_));
        } else {
            memory::destroy(op);
        }
    }

    void on_executor() override { deliver_pop<dispatched_pop, Handler>(*this); }
    void post_completion() noexcept override { post_to(queue_, *this); }

    context_queue queue_; // Of the delay queue's context.
    work_on<Executor> work_;
    dispatch_reserve::owner reserve_;
    Handler handler_;
};

/// Makes a pop of type `Op`, and lets its handler's cancellation slot, if it has one, call
/// abort(pop).
template <class Op, class Handler, class Executor, class Abort, class... Arguments>
[[nodiscard]] Op& create_pop(Handler&& handler, [[maybe_unused]] const Executor& ex, Abort abort,
                             Arguments&&... arguments) {
    Op* const op = op_memory<Op, Handler>::create(std::forward<Handler>(handler),
                                                  std::forward<Arguments>(arguments)...);
    BOOST_ASIO_HANDLER_CREATION((context_of(ex), *op, "delay_queue", abort.queue, 0, "async_pop"));
    try {
        if (auto slot = boost::asio::get_associated_cancellation_slot(op->handler());
            slot.is_connected()) {
            slot.template emplace<pop_cancellation<typename Op::value_type, Abort>>(*op, abort);
        }
    } catch (...) {
        op->destroy();
        throw;
    }
    return *op;
}

/// Whether what is given to one executor goes the same way as what is given to the other.
template <class Executor, class Other>
[[nodiscard]] bool is_same_executor(const Executor& ex, const Other& other) noexcept {
    if constexpr (std::is_same_v<Executor, Other>) {
        return ex == other;
    } else if constexpr (requires { ex.template target<Other>(); }) {
        const Other* const target = ex.template target<Other>();
        return target != nullptr && *target == other;
    } else {
        return false;
    }
}

/// A pop of the kind that reaches `handler`, for a delay queue that is used through `ex`; `queue`
/// is that of its context, and `dispatcher` brings pops to `ex`.
template <class T, class Handler, class Executor, class Abort>
[[nodiscard]] pop_op<T>& make_pop(Handler&& handler, const Executor& ex, context_queue queue,
                                  pop_dispatcher<T>& dispatcher, Abort abort) {
    const auto bound = boost::asio::get_associated_executor(handler, ex);
    using bound_executor = std::decay_t<decltype(bound)>;
    using untracked = queued_pop<T, no_work, Handler>;
    using queued = queued_pop<T, work_on<bound_executor>, Handler>;
    using dispatched = dispatched_pop<T, bound_executor, Handler>;
    constexpr bool unbound =
        std::is_same_v<boost::asio::associated_executor_t<Handler, pop_op<T>>, pop_op<T>>;
    if constexpr (unbound && is_io_context_executor<Executor>) {
        return create_pop<untracked>(std::forward<Handler>(handler), ex, abort, queue, no_work());
    } else {
        const boost::asio::execution_context* const native = native_context(bound);
        if (native != nullptr && native == native_context(ex)) {
            return create_pop<untracked>(std::forward<Handler>(handler), ex, abort, queue,
                                         no_work());
        }
        if (native != nullptr) { // Another context.
            return create_pop<queued>(std::forward<Handler>(handler), ex, abort,
                                      context_queue(context_of(bound)), track_work(bound));
        }
        if (is_same_executor(ex, bound)) {
            return create_pop<queued>(std::forward<Handler>(handler), ex, abort, queue, dispatcher,
                                      track_work(bound));
        }
        return create_pop<dispatched>(std::forward<Handler>(handler), ex, abort, queue, bound);
    }
}

} // namespace asio_wheel::detail

#endif
