// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An operation that waits until an idle source is idle.
//
// It goes to its handler (handler_op.hpp) through the queue of the context of the handler's
// executor; and, if that is not native, from there to the executor.
//
//   state       meaning                                              location (executor_op.hpp)
//   waiting     in the list of its idle source                       owner
//   finished    has its result. Freed where it arrives               queue or executor
//
//   from        to           when
//   waiting     finished     finish(): the source is idle, or the operation was aborted
//   finished    delivered    it arrives: its handler is called
//   finished    destroyed    the context of its handler's executor ends
//
// A source becomes idle at the latest when the contexts of its functions end. So an operation never
// waits for ever.
//
// A cancellation slot leads to the operation by the source and a number, not by its address. So a
// signal can come at any time, from any thread, also when the operation and the source are gone.

#ifndef ASIO_WHEEL_DETAIL_OP_IDLE_OP_HPP
#define ASIO_WHEEL_DETAIL_OP_IDLE_OP_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/cancellation.hpp>
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// A context from whose queue an operation gets to `ex`.
template <class Executor>
[[nodiscard]] boost::asio::execution_context& context_before(const Executor& ex) {
    if constexpr (has_context<Executor>) {
        return context_of(ex);
    } else if (auto* const native = native_context(ex)) {
        return *native;
    } else {
        return context_of(boost::asio::system_executor());
    }
}

/// The queue of that context.
template <class Executor>
[[nodiscard]] context_queue queue_before(const Executor& ex) {
    if constexpr (has_context<Executor>) {
        return queue_of(ex);
    } else if (is_native(ex)) {
        prepare_queue(ex);
        return context_queue(context_before(ex));
    } else {
        return queue_of(boost::asio::system_executor());
    }
}

/// The operation, without its handler and its way.
class idle_op : public ending_op, public idle_wait {
public:
    void finish(const boost::system::error_code& ec) noexcept override {
        BOOST_ASSERT(this->where() == executor_op::location::owner);
        set_error(ec);
        send();
    }

protected:
    using ending_op::ending_op;
    ~idle_op() = default;

    [[nodiscard]] std::tuple<boost::system::error_code> take_results() const { return {error()}; }
};

/// Makes the operation for `handler`, which is called on its executor, by default `ex`; calls
/// prepare(), and waits for `source`. What prepare() returns is destroyed last: a cancellation that
/// comes from there finds the operation. If this throws, prepare() was not called. A source that is
/// null is idle.
template <class Handler, class Executor, class Prepare>
void start_idle_op(const std::shared_ptr<idle_source>& source, Handler&& handler,
                   const Executor& ex, Prepare prepare) {
    const auto bound = boost::asio::get_associated_executor(handler, ex);
    using way = to_executor<std::decay_t<decltype(bound)>>;
    using op_type = handler_op<idle_op, Handler, way>;
    op_type* const op = op_memory<op_type, Handler>::create(std::forward<Handler>(handler),
                                                            way(bound, queue_before(bound)));
    BOOST_ASIO_HANDLER_CREATION(
        (context_before(bound), *op, "idle_source", source.get(), 0, "async_wait_idle"));
    const std::uint64_t id = source ? source->new_id() : 0;
    scope_exit undo([op] { op->destroy(); });
    auto slot = boost::asio::get_associated_cancellation_slot(op->handler());
    if (source && slot.is_connected()) {
        slot.assign([weak = std::weak_ptr(source), id](boost::asio::cancellation_type type) {
            if (const std::shared_ptr<idle_source> s = aborts(type) ? weak.lock() : nullptr) {
                s->abort(id);
            }
        });
    }
    undo.release();
    [[maybe_unused]] const auto prepared = prepare();
    if (source) {
        source->start(*op, id);
    } else {
        op->finish({});
    }
}

/// The same for what has no executor. So the handler must have one.
template <class Token>
auto async_idle_wait(std::shared_ptr<idle_source> source, Token&& token) {
    auto initiation = [source = std::move(source)]<class Handler>(Handler&& handler) {
        expect_storable<Handler>();
        static_assert(has_own_executor<std::decay_t<Handler>>,
                      "asio_wheel: there is no executor to call the handler on. Write "
                      "bind_executor(executor, handler)");
        start_idle_op(source, std::decay_t<Handler>(std::forward<Handler>(handler)),
                      boost::asio::system_executor(), [] { return nullptr; });
    };
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
        std::move(initiation), token);
}

/// Starts it with a handler, by default on `ex`.
template <class Executor, class Prepare>
class initiate_idle_wait {
public:
    using executor_type = Executor;

    initiate_idle_wait(const executor_type& ex, std::shared_ptr<idle_source> source,
                       Prepare prepare)
        : executor_(ex), source_(std::move(source)), prepare_(std::move(prepare)) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
        expect_storable<Handler>();
        start_idle_op(source_, std::decay_t<Handler>(std::forward<Handler>(handler)), executor_,
                      prepare_);
    }

private:
    executor_type executor_;
    std::shared_ptr<idle_source> source_;
    Prepare prepare_;
};

} // namespace asio_wheel::detail

#endif
