// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The handler of each wait of an operation that consists of several waits, one after the other.
//
// The operation has been accepted, so it must not fail between two waits. Therefore the memory of
// the first wait serves all of them: see kept_memory.hpp.

#ifndef ASIO_WHEEL_DETAIL_ASIO_INTERMEDIATE_HANDLER_HPP
#define ASIO_WHEEL_DETAIL_ASIO_INTERMEDIATE_HANDLER_HPP

#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Has the operation's handler inside. When a wait ends, calls step(*this, error code), which
/// either moves *this into the next wait or calls complete(). Step names the kind of the waits.
///
/// It has the executor, the cancellation slot and so on of the operation's handler. It also has the
/// handler's allocator, but asks it for memory only once, for however many waits.
template <class Handler, class Step>
class intermediate_handler {
    using upstream = boost::asio::associated_allocator_t<Handler, block_allocator<void>>;

public:
    using wrapped_handler = Handler;
    static constexpr wait_kind kind_of_wait = Step::kind_of_wait;
    using allocator_type = kept_memory_allocator<void, upstream>;

    intermediate_handler(Handler&& handler, Step step)
        : handler_(std::move(handler)), step_(std::move(step)),
          memory_(boost::asio::get_associated_allocator(handler_, block_allocator<void>())) {}

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(memory_); }
    [[nodiscard]] auto upstream_allocator() const noexcept { return memory_.upstream(); }

    void operator()(const boost::system::error_code& ec) { step_(*this, ec); }

    /// The operation ends: frees its memory, then calls its handler.
    template <class... Args>
    void complete(Args&&... args) {
        memory_.release();
        std::move(handler_)(std::forward<Args>(args)...);
    }

private:
    Handler handler_;
    Step step_;
    // Mutable: Asio asks a const handler for its allocator.
    mutable kept_memory<upstream> memory_;
};

/// Starts the next wait of an operation by wait(), which moves from `op`.
///
/// There is memory for the wait itself. But the handler's executor may allocate when work on it is
/// counted, which happens before `op` is moved from. If that fails, completes the operation with
/// errc::not_enough_memory and `args`.
template <class Operation, class Wait, class... Args>
void start_next_wait(Operation& op, Wait wait, const Args&... args) {
    if (throws<std::bad_alloc>(std::move(wait))) {
        op.complete(make_error_code(boost::system::errc::not_enough_memory), args...);
    }
}

} // namespace asio_wheel::detail

#endif
