// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timeouts that say that they are timeouts:
//
//     co_await socket.async_connect(peer, asio_wheel::timeout(2s, use_awaitable));
//     // throws system_error(error::timed_out) after two seconds

#ifndef ASIO_WHEEL_TIMEOUT_HPP
#define ASIO_WHEEL_TIMEOUT_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/timeout/mapped_result.hpp>
#include <asio_wheel/detail/timeout/time_limit.hpp>
#include <asio_wheel/detail/timeout/timed_out.hpp>
#include <asio_wheel/detail/timeout/timed_token.hpp>
#include <asio_wheel/detail/timeout/timed_token_function.hpp>
#include <asio_wheel/error.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <utility>

namespace asio_wheel {

/// The type of a token that gives its operation a deadline; `Token` is what it completes as.
template <class Token, class Clock = std::chrono::steady_clock>
using timeout_t = detail::timed_token<Token, detail::time_limit<Clock>, detail::timed_out_result>;

/// The type of such a token that is not complete yet.
template <class Clock = std::chrono::steady_clock>
using partial_timeout =
    detail::partial_timed_token<detail::time_limit<Clock>, detail::timed_out_result>;

/// A mapping: a function that says how the results of an operation report that its deadline has
/// expired. It is called as function(why, results...), in the operation's handler, just before the
/// token's handler. `why` is an error_code; `results` are references, and the function may change
/// them.
///
/// It is called exactly if the deadline was the first cause of the operation's cancellation,
/// whatever the operation made of it. (For one that has completed, but whose handler was not called
/// yet, see cancel_after().) `why` is error::timed_out, or the error that timeout() was given. If
/// the wheel refused the wait or was drained, it is the wheel's error instead.
///
/// The function should not throw. If it does, the exception leaves run(), as that of a handler
/// does, and the token's handler is destroyed without being called.
///
///     const auto no_answer = [](error_code, std::string& answer) { answer = "none"; };
///     ask(peer, timeout(2s, no_answer, token));
template <class Function>
class map_result {
public:
    /// The mapping that calls `function`.
    constexpr explicit map_result(Function function) : function_(std::move(function)) {}

    /// Calls the function. The operation does so, once.
    template <class... Results>
        requires std::invocable<Function, const boost::system::error_code&, Results&...>
    constexpr void operator()(const boost::system::error_code& why, Results&... results) && {
        std::invoke(std::move(function_), why, results...);
    }

private:
    Function function_;
};

/// The mapping for parallel groups, and for other operations with several errors: each error_code
/// and each exception_ptr that says "cancelled" becomes `why`, also those in vectors, arrays,
/// tuples, pairs and optionals. Other results stay as they are.
///
///     const auto token = timeout(2s, each_error, use_awaitable);
///     const auto [order, a, b] = co_await group.async_wait(wait_for_all(), token);
inline constexpr map_result each_error{detail::map_each_error()};

/// timeout(d, token): a completion token. The operation is cancelled if it takes longer than `d`.
/// Then it reports error::timed_out, which equals std::errc::timed_out and
/// boost::system::errc::timed_out.
///
/// timeout(d): the same without a token, as with cancel_after().
///
/// timeout(timer, d, token), timeout(timer, d): the same on a timer of the user's, as with
/// cancel_after().
///
/// After the time there may be options, each at most once:
///  - a cancellation type, other than terminal
///  - an error_code, `why`, to report in place of error::timed_out
///  - a mapping, for operations whose first result is no error; see map_result. Before a token, any
///    function is a mapping. Without a token it is a handler; so write map_result(function).
///
/// All that is said of cancel_after() holds for this token too. Beyond that:
///
/// Completion signatures: those whose first argument is a boost::system::error_code or a
/// std::exception_ptr, with whatever follows. With a mapping, all that it can be called with. Any
/// other operation does not compile; if it has no error at all, there is cancel_after(). (So
/// as_tuple and redirect_error belong inside: timeout(d, as_tuple(token)).)
///
/// Errors: if the deadline cancelled the operation, and the operation thereupon says that it was
/// cancelled, error::timed_out, or `why`, takes the place of its error: that code, or a
/// system_error with it. An operation says so by operation_aborted, by another code that equals
/// errc::operation_canceled, or by that of Asio's channels; by a system_error with such a code; or
/// by a boost::asio::multiple_exceptions that holds one, as `a && b` and `a || b` of coroutines
/// throw. (If there is no memory for a system_error, it is a std::bad_alloc.) The further results,
/// such as the bytes that were transferred until then, are the operation's. In all other cases so
/// is the error:
///  - The operation completed before the deadline had passed, even if its handler has yet to be
///    called: what it reports stands, also in the same tick. (A wait on a wheel completes at its
///    handler's turn. If several threads run the context, that of a deadline in the same tick may
///    come first.)
///  - It was cancelled by somebody else before: operation_aborted, as without a deadline.
///    (By a cancellation that includes the type that the deadline sends; what is less may come to
///    nothing.) To end the wait on a timer of the user's is such a cancellation, too.
///  - It made something else of the cancellation, as a coroutine may that catches it.
/// If the wheel refuses the wait or is drained, the operation is cancelled at once, and reports
/// error::too_many_pending, error::wheel_stopped or errc::not_enough_memory. (On a timer of the
/// user's, to drain the wheel ends the wait as cancel() does.)
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
///
/// A coroutine with a deadline is spawned with this token:
///
///     const auto page = co_await co_spawn(ex, download(url), timeout(10s, use_awaitable));
///
/// Completes when the coroutine has ended. A coroutine is cancelled where it waits for an operation
/// that can be; it goes on until then. It may do something about it (it sees operation_aborted),
/// and its result stands if it does. (A coroutine that Asio spawns is only cancelled by the type
/// terminal, unless it resets its cancellation state.) A coroutine and what waits for it should be
/// on the same strand, or executor. With Boost 1.81 they must be: its co_spawn() may look at a
/// coroutine's cancellation after its end otherwise, even if one thread runs both.
inline constexpr detail::timed_token_function<detail::relative_time, detail::timed_out_result>
    timeout("a timeout");

/// As timeout(), at a point of time of any clock: by the wheel of that clock. One deadline may be
/// shared by all steps of what has to be done by then.
///
///     const auto end = asio_wheel::now(socket.get_executor()) + 10s;
///     co_await async_read(socket, header, timeout_at(end, use_awaitable));
///     co_await async_read(socket, body, timeout_at(end, use_awaitable));
inline constexpr detail::timed_token_function<detail::absolute_time, detail::timed_out_result>
    timeout_at("a deadline");

} // namespace asio_wheel

#endif
