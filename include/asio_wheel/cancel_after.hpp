// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Cancelling an operation when its time has passed:
//
//     socket.async_read_some(buffer, asio_wheel::cancel_after(5s, handler));

#ifndef ASIO_WHEEL_CANCEL_AFTER_HPP
#define ASIO_WHEEL_CANCEL_AFTER_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/timeout/time_limit.hpp>
#include <asio_wheel/detail/timeout/timed_token.hpp>
#include <asio_wheel/detail/timeout/timed_token_function.hpp>

#include <chrono>

namespace asio_wheel {

/// The type of a token that cancels its operation at a time; `Token` is what it completes as.
template <class Token, class Clock = std::chrono::steady_clock>
using cancel_after_t = detail::timed_token<Token, detail::time_limit<Clock>, detail::keep_result>;

/// The type of such a token that is not complete yet.
template <class Clock = std::chrono::steady_clock>
using partial_cancel_after =
    detail::partial_timed_token<detail::time_limit<Clock>, detail::keep_result>;

/// cancel_after(d, token), cancel_after(d, type, token): a completion token. The operation is
/// cancelled if it takes longer than `d`.
///
/// cancel_after(d), cancel_after(d, type): the same without a token. May be given to an operation
/// as it is, for the default token of the operation's executor, or boost::asio::deferred where that
/// has none; or called with a token.
///
/// cancel_after(timer, d[, type][, token]): the same on a timer of the user's, see below.
///
/// (These are function objects. So a using-declaration names these alone, and not Asio's functions
/// of the same names, too.)
///
/// The same as boost::asio::cancel_after of Boost 1.86, on the wheel of the operation's context,
/// with any version of Boost. The operation may have any completion signature. If it has not
/// completed when `d` has passed since its start, it gets a cancellation of type `type`, by default
/// terminal. Then it completes as it does when it is cancelled, most often with operation_aborted.
/// An operation that does not support this cancellation goes on. To tell a timeout from another
/// cancellation, use timeout().
///
/// Completion: the operation's own result is delivered as soon as it is there. The wrapped token's
/// handler is called in the operation's handler, without a turn in between. The timer's wait is
/// removed, and delays nothing. An operation that has completed is not cancelled any more, also if
/// its handler was not called yet and the deadline passes meanwhile. (But a wait on a wheel can be
/// aborted until its handler's turn: if several threads run the context, by a deadline in the same
/// tick, too. And on a context for one thread, what completes inside a handler has its turn when
/// that handler has returned: so a deadline that passes in the same handler may come before it.)
///
/// Errors: the operation's. If the wheel refuses the wait (error::too_many_pending,
/// error::wheel_stopped, or no memory), or is drained, the operation is cancelled at once, because
/// it would have no deadline.
///
/// Executor: what is associated with the handler is associated with the operation, too. The
/// cancellation is sent through the handler's associated executor, by default the operation's, as
/// Asio does. One of the two must exist: an initiation without get_executor() needs bind_executor.
///
/// Per-operation cancellation: what is sent to the handler's own cancellation slot reaches the
/// operation, whatever the type, before and after the deadline. Nothing does when it has completed.
/// (bind_cancellation_slot() belongs inside, round the handler. Outside it would put its slot in
/// the place of the deadline's, as with Asio's cancel_after.)
///
/// Allocation: the operation's own, by the handler's associated allocator; it grows by a pointer.
/// The deadline is in memory of the library, which is used again.
///
/// Thread safety. The timer and the operation's end exclude each other: no cancellation is on its
/// way in the operation once its handler is being called, and none begins thereafter. So what the
/// handler destroys, such as the socket, is not touched any more. If both happen at once on two
/// threads, one waits for the other, for no longer than the call of the operation's own
/// cancellation function takes. What is left to the user, on a context that several threads run, is
/// that the operation may be cancelled from the handler's executor:
///  - A composed operation (async_read(), async_connect() of a range, async_compose()) and a
///    coroutine (co_spawn()) change their cancellation slots as they go. They need a strand, on
///    which both they and the handler are. So they do without a deadline, if anybody is to cancel
///    them.
///  - A single operation needs no strand, if its object allows cancelling from another thread:
///    wheel timers do; Asio's sockets and timers do as long as nobody uses or destroys the object
///    at the same time.
///  - The handler's own slot must not be signalled concurrently with the operation's steps: that is
///    so with any operation. That the deadline passes at the same time does not matter.
///
/// Exceptions. If the operation's cancellation throws, or its handler, because the operation ends
/// inside the cancellation, then the exception leaves run(), or the emit() that has cancelled. Of
/// what Asio has, only a coroutine's cancellation can throw: std::bad_alloc, if it is on another
/// executor. The operation goes on then. If there is no memory for the wait, so that the operation
/// is cancelled when it starts, its handler must not throw: std::bad_alloc is lost then, and
/// anything else ends the program.
///
/// Lifetimes: nothing but the operation's. If the operation is destroyed without having completed,
/// so is the wait. What is left in the handler's slot is of no more use; but do not destroy the
/// signal at the same time, on another thread, as the context. If the operation's object and the
/// handler's executor have different contexts, neither may be destroyed while the operation
/// completes on a thread of the other, as with Asio's cancel_after.
///
/// A timer of the user's. `timer` is a basic_waitable_timer of any clock, executor and context. The
/// operation's start sets its expiry, which aborts the timer's pending waits; and starts a wait on
/// it. When the operation ends, that wait alone is aborted, which takes a turn of the context, but
/// delays nothing; then the timer may be used for the next operation. Meanwhile the timer may be
/// postponed, moved and waited on. To cancel or re-arm it, or to destroy it, cancels the operation,
/// as with Asio. (Beyond Asio: a timer that is used again at once, because the operation has ended,
/// does not lose its new waits; and one that was postponed moves the deadline.) If neither the
/// operation nor its handler has an executor, the timer's is used.
///
///     asio_wheel::steady_timer limit(socket.get_executor());
///     socket.async_connect(peer, cancel_after(limit, 2s, handler));
///
/// A duration that is not a number (NaN) throws std::invalid_argument; an infinite one never
/// passes.
///
///     co_await socket.async_connect(peer, cancel_after(2s, use_awaitable));
///     co_await socket.async_connect(peer, cancel_after(2s)); // deferred, or the default token
inline constexpr detail::timed_token_function<detail::relative_time, detail::keep_result>
    cancel_after("the time of cancel_after()");

/// As cancel_after(), at a point of time of any clock: by the wheel of that clock.
inline constexpr detail::timed_token_function<detail::absolute_time, detail::keep_result>
    cancel_at("the time of cancel_at()");

} // namespace asio_wheel

#endif
