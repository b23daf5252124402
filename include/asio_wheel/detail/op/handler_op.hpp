// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An operation of a utility, with its handler.
//
// All memory that the operation needs is allocated when it starts. So ending it cannot fail: its
// results are in the operation by then, and the operation itself goes to its handler. Where it
// arrives, its memory is freed, and then the handler is called. If the results or the handler
// cannot be moved out, both are destroyed, as if the handler had thrown.
//
// The base class of an operation has all that its owner knows. It does not depend on the handler,
// nor on the way to it.

#ifndef ASIO_WHEEL_DETAIL_OP_HANDLER_OP_HPP
#define ASIO_WHEEL_DETAIL_OP_HANDLER_OP_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// An operation, without its results, its handler and its way.
class ending_op : public executor_op {
public:
    /// The results are final. Sends the operation to its handler, and so gives it up. Throws only
    /// if the handler is called at once.
    virtual void send() = 0;

    [[nodiscard]] const boost::system::error_code& error() const noexcept { return error_; }
    void set_error(const boost::system::error_code& ec) noexcept { error_ = ec; }

protected:
    using executor_op::executor_op;
    ~ending_op() = default;

private:
    boost::system::error_code error_;
};

/// `Base` is derived from ending_op. Its take_results() moves out what the handler gets: a tuple
/// that begins with the error. `Way`: see executor_op.hpp.
template <class Base, class Handler, class Way>
class handler_op final : public Base {
    using memory = op_memory<handler_op, Handler>;

public:
    template <class... Arguments>
    handler_op(Handler&& handler, Way&& way, Arguments&&... arguments)
        : Base(&handler_op::run, std::forward<Arguments>(arguments)...), way_(std::move(way)),
          handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

    void send() override { way_.post(*this); }

private:
    // Called by the queue, or the executor; or, with null, when a context ends.
    static void run(void* queue, operation* self, const boost::system::error_code&, std::size_t) {
        auto& op = *static_cast<handler_op*>(self);
        if (queue == nullptr) {
            memory::destroy(op);
        } else if (op.way_.arrives(op)) {
            op.deliver();
        }
    }

    void deliver() {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        scope_exit drop([this] { memory::destroy(*this); });
        auto results = this->take_results();
        drop.release();
        // The memory is free before the upcall, so that an operation that starts there can have it.
        // So is work on the executor: its context may end while the handler is being called.
        Handler handler(memory::take_handler(*this));
        BOOST_ASIO_HANDLER_INVOCATION_BEGIN((std::get<0>(results)));
        const auto call = [&](const boost::system::error_code& ec, auto&&... values) {
            std::move(handler)(ec, std::forward<decltype(values)>(values)...);
        };
        std::apply(call, std::move(results));
        BOOST_ASIO_HANDLER_INVOCATION_END;
    }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Way way_;
    Handler handler_;
};

/// Calls make(way) with the way to `handler` of an operation that is used on `ex`. If the handler
/// is called there, too, calls here(make), which chooses the way.
template <class Handler, class Executor, class Here, class Make>
decltype(auto) choose_way([[maybe_unused]] const Handler& handler,
                          [[maybe_unused]] const Executor& ex, Here here, Make make) {
    if constexpr (has_own_executor<Handler>) {
        const auto bound = boost::asio::get_associated_executor(handler, ex);
        const auto* const home = native_context(bound);
        const bool is_here =
            home != nullptr ? home == native_context(ex) : is_same_executor(ex, bound);
        if (!is_here) {
            return make(to_executor<std::decay_t<decltype(bound)>>(
                bound, home != nullptr ? queue_of(bound) : queue_of(ex)));
        }
    }
    return here(make);
}

} // namespace asio_wheel::detail

#endif
