// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timeouts that say that they are timeouts:
//
//     co_await socket.async_connect(peer, asio_wheel::timeout(2s, use_awaitable));
//     // throws system_error(error::timed_out) after two seconds

#ifndef ASIO_WHEEL_TIMEOUT_HPP
#define ASIO_WHEEL_TIMEOUT_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/timeout/timed_out.hpp>
#include <asio_wheel/detail/timeout/timed_token.hpp>
#include <asio_wheel/detail/timeout/timed_token_function.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <concepts>
#include <utility>

namespace asio_wheel {

/// The type of a token that gives its operation a deadline; `Token` is what it completes as.
template <class Token, class Clock = std::chrono::steady_clock>
using timeout_t = detail::timed_token<Token, Clock, detail::timed_out_result>;

/// The type of such a token that is not complete yet.
template <class Clock = std::chrono::steady_clock>
using partial_timeout = detail::partial_timed_token<Clock, detail::timed_out_result>;

/// timeout(d, token), timeout(d, type, token), timeout(d, why, token): a completion token. The
/// operation is cancelled if it takes longer than `d`. Then it reports error::timed_out, which
/// equals std::errc::timed_out and boost::system::errc::timed_out; or the error_code `why`. `type`
/// is another type of cancellation than terminal.
///
/// timeout(d), timeout(d, type), timeout(d, why): the same without a token, as with cancel_after().
///
/// All that is said of cancel_after() holds for this token too. Beyond that:
///
/// Completion signatures: those whose first argument is a boost::system::error_code or a
/// std::exception_ptr, with whatever follows. For any other operation there is cancel_after();
/// here, it does not compile. (So as_tuple and redirect_error belong inside: timeout(d,
/// as_tuple(token)).)
///
/// Errors: if the deadline cancelled the operation, and the operation thereupon says that it was
/// cancelled (operation_aborted, another code that equals errc::operation_canceled, or that of
/// Asio's channels), error::timed_out, or `why`, takes the place of that code; or
/// a system_error with that code takes the place of the exception. The further results, such as the
/// bytes that were transferred until then, are the operation's. In all other cases so is the error:
///  - The operation completed before the deadline had passed, even if its handler has yet to be
///    called: what it reports stands, also in the same tick.
///  - It was cancelled by somebody else before: operation_aborted, as without a deadline.
///    (By a cancellation that includes the type that the deadline sends; what is less may come to
///    nothing.)
///  - It made something else of the cancellation, as a coroutine may that catches it.
/// If the wheel refuses the wait or is drained, the operation is cancelled at once, and reports
/// error::too_many_pending, error::wheel_stopped or errc::not_enough_memory.
///
/// A duration that is not a number (NaN) throws std::invalid_argument; an infinite one never
/// passes.
///
/// Nested deadlines: the one that passes first wins. In a coroutine each sees what is its own: an
/// operation whose own deadline has passed reports timed_out; one that is cancelled because a
/// deadline round all of it has passed, operation_aborted, and what is round it, timed_out. Where
/// that is not enough, give each its own `why`:
///
///     co_await request(socket, timeout(30s, my_error::request_took_too_long, use_awaitable));
inline constexpr detail::timed_token_function<detail::relative_time, detail::timed_out_result>
    timeout("a timeout");

/// As timeout(), at a point of time of any clock: by the wheel of that clock. One deadline may be
/// shared by all steps of what has to be done by then.
///
///     const auto end = steady_clock::now() + 10s;
///     co_await async_read(socket, header, timeout_at(end, use_awaitable));
///     co_await async_read(socket, body, timeout_at(end, use_awaitable));
inline constexpr detail::timed_token_function<detail::absolute_time, detail::timed_out_result>
    timeout_at("a deadline");

/// Runs a coroutine on `where`, an executor or a context, for no longer than `d`.
///
/// Completion signature: void(std::exception_ptr), or void(std::exception_ptr, T); as with
/// co_spawn.
///
/// Completes when the coroutine has ended: with its result or its exception, at once; no timer is
/// waited for. If it was cancelled by the deadline and ended with that, with
/// system_error(error::timed_out). A coroutine is cancelled where it waits for an operation that
/// can be; it goes on until then. It may do something about it (it sees operation_aborted), and its
/// result stands if it does.
///
/// Per-operation cancellation: the coroutine's, as with co_spawn.
///
/// Executor: a coroutine and what waits for it should be on the same strand, or executor. (If
/// several threads run them on different strands, co_spawn() of some versions of Boost may look at
/// a coroutine's cancellation after its end.)
///
///     const std::string page = co_await async_with_timeout(ex, download(url), 10s);
template <class Executor, class T, class AwaitableExecutor, class Rep, class Period,
          class Token = boost::asio::use_awaitable_t<AwaitableExecutor>>
    requires(detail::is_executor<Executor> && std::convertible_to<Executor, AwaitableExecutor>)
auto async_with_timeout(const Executor& where, boost::asio::awaitable<T, AwaitableExecutor> what,
                        const std::chrono::duration<Rep, Period>& d, Token&& token = Token()) {
    return boost::asio::co_spawn(where, std::move(what), timeout(d, std::forward<Token>(token)));
}

template <class Context, class T, class AwaitableExecutor, class Rep, class Period,
          class Token = boost::asio::use_awaitable_t<AwaitableExecutor>>
    requires detail::is_context<Context>
auto async_with_timeout(Context& where, boost::asio::awaitable<T, AwaitableExecutor> what,
                        const std::chrono::duration<Rep, Period>& d, Token&& token = Token()) {
    return async_with_timeout(where.get_executor(), std::move(what), d, std::forward<Token>(token));
}

} // namespace asio_wheel

#endif
