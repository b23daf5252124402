// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Waiting until no handler runs any more: to destroy what handlers use.
//
//     asio_wheel::handler_group handlers;
//     timer.async_wait(handlers([this](error_code ec) { on_timeout(ec); }));
//     …
//     timer.cancel();
//     handlers.wait_idle(); // on_timeout() does not run, and will not run.

#ifndef ASIO_WHEEL_HANDLER_GROUP_HPP
#define ASIO_WHEEL_HANDLER_GROUP_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/handler_group/grouped_token.hpp>
#include <asio_wheel/detail/op/idle_op.hpp>
#include <asio_wheel/detail/op/idle_source.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// Knows which handlers are pending or being called, and waits until there is none: whatever their
/// operations are, ours, Asio's or others.
///
/// With several threads, cancel() of a timer does not help to destroy what its handler uses: that
/// may be running at this moment. Cancel, and then wait until the group is idle.
///
/// handlers(token) is a completion token that behaves as `token`: its executor, allocator,
/// cancellation slot and tag are as before. The handler belongs to the group from the start of the
/// operation until it was called and destroyed, or was destroyed without being called. (For a
/// coroutine, a call lasts until it is suspended again or has ended.) If a move of the handler is a
/// copy, because it has a const member, the group does not know of what was moved from, which
/// another thread may destroy a little later.
///
/// A group neither cancels nor refuses anything: it counts. It costs a lock at the start and at the
/// end of each operation, and no memory but that of two pointers in the handler.
///
/// Copyable: copies are the same group, and a move is a copy. Handlers may outlive the group.
/// Constructing one allocates; nothing else does, but async_wait_idle().
///
/// Thread safety. All functions may be called from any thread at any time, but not while this same
/// object is assigned to.
class handler_group {
public:
    /// A group without handlers.
    handler_group() : handlers_(std::make_shared<detail::group_of_handlers>()) {}
    handler_group(const handler_group& other) noexcept = default; ///< The same group.
    /// The same group from now on. Handlers stay in the one of before.
    handler_group& operator=(const handler_group& other) noexcept = default;
    ~handler_group() = default; ///< Waits for nothing.

    /// A token for any operation, whose handler belongs to the group.
    ///
    ///     socket.async_read_some(buffer, handlers(bind_executor(strand, handler)));
    template <class Token>
    [[nodiscard]] auto operator()(Token&& token) const {
        return detail::grouped_token<std::decay_t<Token>>(std::forward<Token>(token), handlers_);
    }

    /// How many handlers are pending or being called.
    [[nodiscard]] std::size_t pending() const noexcept { return handlers_->size(); }

    /// Waits until no handler of the group is pending or being called, and all are destroyed. What
    /// starts meanwhile is waited for, too.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Completes never from inside this function: as if by post().
    ///
    /// Errors: boost::asio::error::operation_aborted after a signal to the handler's cancellation
    /// slot (terminal, partial or total; from any thread).
    ///
    /// Executor: that of the handler. A group has none, so the handler must: write bind_executor(),
    /// or use a coroutine. It has outstanding work until the handler is called.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is called.
    /// If it throws, there is no operation.
    ///
    ///     timer.cancel();
    ///     co_await handlers.async_wait_idle(use_awaitable);
    template <BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code)) Token>
        requires detail::wait_token<Token>
    auto async_wait_idle(Token&& token) const {
        return detail::async_idle_wait(handlers_, std::forward<Token>(token));
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class Handler>
        requires(!detail::wait_token<Handler>)
    detail::the_handler_must_be_callable_with_one_error_code async_wait_idle(Handler&&) const
        ASIO_WHEEL_DELETED("the handler must be callable with one error_code");

    /// Blocks until the group is idle, as async_wait_idle(). Other threads must run the contexts of
    /// the operations meanwhile.
    ///
    /// Throws boost::system::system_error with errc::resource_deadlock_would_occur if a handler of
    /// the group calls this: it would wait for itself.
    void wait_idle() const { detail::block_until_idle(handlers_); }
    /// The same, but not for longer than `d`, in real time. Returns whether the group is idle.
    template <class Rep, class Period>
    [[nodiscard("false: the group is not idle")]] bool
    wait_idle(const std::chrono::duration<Rep, Period>& d) const {
        return detail::block_until_idle(handlers_, d);
    }

private:
    std::shared_ptr<detail::group_of_handlers> handlers_;
};

} // namespace asio_wheel

#endif
