// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The two kinds of operation, which differ in how their handler is reached.
//
// direct_op: its handler is bound to the context's own executor, if to any. A token calls it, on a
// thread of the context.
//
// hopping_op: its handler belongs on a strand or on another context. A token sends a ticket through
// that executor, and the ticket calls it. Until the ticket arrives, the wait can still be cancelled
// or postponed.

#ifndef ASIO_WHEEL_DETAIL_HANDLER_OPS_HPP
#define ASIO_WHEEL_DETAIL_HANDLER_OPS_HPP

#include <asio_wheel/detail/native_executor.hpp>
#include <asio_wheel/detail/wait_op.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/system/error_code.hpp>

#include <memory>
#include <utility>

namespace asio_wheel::detail {

/// Makes and frees operations with the allocator associated with their handler.
template <class Op, class Handler>
struct op_memory {
    using associated =
        boost::asio::associated_allocator_t<Handler, boost::asio::recycling_allocator<void>>;
    using allocator = typename std::allocator_traits<associated>::template rebind_alloc<Op>;
    using traits = std::allocator_traits<allocator>;

    [[nodiscard]] static allocator allocator_of(const Handler& handler) noexcept {
        return allocator(boost::asio::get_associated_allocator(
            handler, boost::asio::recycling_allocator<void>()));
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

    static void free(Op* op, const Handler& handler) noexcept {
        allocator memory = allocator_of(handler);
        op->~Op();
        traits::deallocate(memory, op, 1);
    }
};

template <class Handler>
class direct_op final : public wait_op {
public:
    explicit direct_op(Handler&& handler) : wait_op(false), handler_(std::move(handler)) {}

    void complete(const boost::system::error_code& ec) override {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        // The memory is free before the upcall, so that a wait started there can have it.
        Handler handler(std::move(handler_));
        op_memory<direct_op, Handler>::free(this, handler);
        BOOST_ASIO_HANDLER_INVOCATION_BEGIN((ec));
        std::move(handler)(ec);
        BOOST_ASIO_HANDLER_INVOCATION_END;
    }

    void destroy() noexcept override {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        Handler handler(
            std::move(handler_)); // Its destructor may do anything: let the operation go first.
        op_memory<direct_op, Handler>::free(this, handler);
    }

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    Handler handler_;
};

/// An operation whose handler is reached through an executor. `Ticket` is what it sends there.
template <class Ticket>
class hopping_op_base : public wait_op {
public:
    /// Sends `ticket` to the handler's executor. It may run there before this returns, and free the
    /// operation.
    virtual void send(Ticket ticket) = 0;

protected:
    hopping_op_base() noexcept : wait_op(true) {}
    ~hopping_op_base() = default;
};

struct no_work {};

/// `Work` is what keeps the timer's own executor working where the handler has another one.
template <class Ticket, class Handler, class Executor, class Work>
class hopping_op final : public hopping_op_base<Ticket> {
public:
    hopping_op(Handler&& handler, const Executor& ex, Work work)
        : executor_(track_work(ex)), work_(std::move(work)), handler_(std::move(handler)) {}

    void send(Ticket ticket) override {
        // A copy: the operation may be gone before dispatch() returns.
        const auto ex = executor_of<Executor>(executor_);
        boost::asio::dispatch(ex, std::move(ticket));
    }

    void complete(const boost::system::error_code& ec) override {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        // Work on the executors lasts until the handler has returned.
        [[maybe_unused]] const work_on<Executor> executor(std::move(executor_));
        [[maybe_unused]] const Work work(std::move(work_));
        Handler handler(std::move(handler_));
        op_memory<hopping_op, Handler>::free(this, handler);
        BOOST_ASIO_HANDLER_INVOCATION_BEGIN((ec));
        std::move(handler)(ec);
        BOOST_ASIO_HANDLER_INVOCATION_END;
    }

    void destroy() noexcept override {
        BOOST_ASIO_HANDLER_COMPLETION((*this));
        Handler handler(std::move(handler_));
        op_memory<hopping_op, Handler>::free(this, handler);
    }

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

private:
    work_on<Executor> executor_;
    [[no_unique_address]] Work work_;
    Handler handler_;
};

} // namespace asio_wheel::detail

#endif
