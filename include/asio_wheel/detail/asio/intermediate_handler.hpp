// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_INTERMEDIATE_HANDLER_HPP
#define ASIO_WHEEL_DETAIL_ASIO_INTERMEDIATE_HANDLER_HPP

#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Stands between a wait and the handler of an operation that is made of waits: calls
/// step(*this, error code), which moves it into the next wait or calls complete(). Its executor,
/// cancellation slot and so on are those of the handler. So is its allocator, but it is asked for
/// memory once, however many waits there are.
template <class Handler, class Step>
class intermediate_handler {
    using memory = kept_memory<boost::asio::associated_allocator_t<Handler, block_allocator<void>>>;

public:
    using wrapped_handler = Handler;
    using allocator_type =
        kept_memory_allocator<void,
                              boost::asio::associated_allocator_t<Handler, block_allocator<void>>>;

    intermediate_handler(Handler&& handler, Step step)
        : handler_(std::move(handler)), step_(std::move(step)),
          memory_(boost::asio::get_associated_allocator(handler_, block_allocator<void>())) {}

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(memory_); }
    [[nodiscard]] auto upstream_allocator() const noexcept { return memory_.upstream(); }

    void operator()(const boost::system::error_code& ec) { step_(*this, ec); }

    /// The operation is over: gives its memory back, and calls its handler.
    template <class... Args>
    void complete(Args&&... args) {
        memory_.release();
        std::move(handler_)(std::forward<Args>(args)...);
    }

private:
    Handler handler_;
    Step step_;
    mutable memory memory_; // Allocators ask for nothing but a const handler.
};

/// Begins the next wait of an operation by wait(), which moves `op` away. There is memory for the
/// wait itself. But its executor may need some, to keep its context working; this is before `op`
/// has been moved. Without that memory the operation ends with an error, and `args`.
template <class Operation, class Wait, class... Args>
void start_next_wait(Operation& op, Wait wait, const Args&... args) {
    try {
        wait();
    } catch (const std::bad_alloc&) {
        namespace errc = boost::system::errc;
        op.complete(errc::make_error_code(errc::not_enough_memory), args...);
    }
}

} // namespace asio_wheel::detail

#endif
