// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Trying again until it works:
//
//     const auto connect = [&](auto token) {
//         socket.close(); // What is left of a try that has failed.
//         return socket.async_connect(peer, token);
//     };
//     co_await asio_wheel::async_retry(ex, connect, {.max_tries = 5, .try_timeout = 2s},
//                                      use_awaitable);

#ifndef ASIO_WHEEL_RETRY_HPP
#define ASIO_WHEEL_RETRY_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/retry/operation.hpp>

#include <boost/asio/async_result.hpp>

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_wheel {

namespace detail {
template <class Executor, class Signature>
class initiate_async_retry;
} // namespace detail

/// What a hook between two tries gets, and may change.
struct retry_pause {
    std::size_t tries; ///< How many tries there were: 1 after the first one.

    /// How long until the next try. A hook may change it: to what a server asks for, for instance.
    std::chrono::nanoseconds pause;
};

/// How async_retry() tries. The functions are template parameters, which the compiler deduces:
///
///     const auto if_refused = [](error_code ec) { return ec == asio::error::connection_refused; };
///     const asio_wheel::retry_options options{.max_tries = 5, .retry_if = if_refused};
template <class RetryIf = detail::retry_unless_cancelled, class OnRetry = detail::no_retry_hook>
struct retry_options {
    /// There are no more tries than this; 0 is no limit.
    std::size_t max_tries = 0;

    /// A try that takes longer is cancelled. It reports error::timed_out, as with timeout().
    std::chrono::nanoseconds try_timeout = (std::chrono::nanoseconds::max)();

    /// When this has passed since the start, the try that is under way is cancelled in the same
    /// way, and there is no other one. A pause that would not end before is not begun.
    std::chrono::nanoseconds timeout = (std::chrono::nanoseconds::max)();

    /// How long the pauses between tries are.
    backoff_options pauses{};

    /// Says whether a try that has failed is worth another one. It is called with all results of
    /// the try, if it takes them, or with the error alone. If the operation reports a
    /// std::exception_ptr, it may take an error_code instead: then it is asked if a system_error
    /// was thrown, and the answer is no if it was something else.
    ///
    /// By default each error is, but those that say that the operation was cancelled.
    ASIO_WHEEL_NO_UNIQUE_ADDRESS RetryIf retry_if{};

    /// Called before each pause as on_retry(retry_pause&), and if it takes them, with the error as
    /// well, or all results of the try.
    ASIO_WHEEL_NO_UNIQUE_ADDRESS OnRetry on_retry{};

    /// Unless null, the number of tries is stored here: when each try begins, so that it is final
    /// when the handler is called.
    std::size_t* tries = nullptr;
};

/// Runs an operation again and again, until it succeeds, or is not worth another try.
///
/// `where` is an executor, or an execution context, which stands for its get_executor(). The pauses
/// are waits on the wheel of its context.
///
/// `operation` is called with a completion token for each try: a function such as
/// `[&](auto token) { return socket.async_connect(peer, token); }`, or an operation with the token
/// boost::asio::deferred. Or it is a function without arguments that returns an awaitable; for each
/// try, that is spawned on `where`. It is kept until the handler is called; what it refers to is
/// the user's. Two tries do not call it at once. (But the first call is made by the thread that
/// starts. If that is not on the executor, the call should return before a pause can be over.)
///
/// Algorithm: exponential backoff with jitter, see backoff. A try succeeds if it reports no error.
/// One that fails is followed by another one after a pause, unless
///  - it was the last one of `max_tries`
///  - retry_if() returns false
///  - the pause would not end before `timeout`: nobody waits for what can't happen
///  - the operation was cancelled meanwhile
///
/// Completion signature: that of the operation, which must have one only, whose first argument is a
/// boost::system::error_code or a std::exception_ptr; void(std::exception_ptr, T) for a function
/// that returns an awaitable<T>.
///
/// Completes once, with all results of the last try. How many tries there were is stored in
/// retry_options::tries.
///
/// Errors: that of the last try; error::timed_out if a limit has ended it. If a pause is ended, the
/// error says by what, with the further results of the try before:
/// boost::asio::error::operation_aborted, error::too_many_pending or error::wheel_stopped, or
/// errc::not_enough_memory. Where an error is a std::exception_ptr, it is a system_error with such
/// a code; or a std::bad_alloc if there is no memory for that.
///
/// Executor: the handler is called through its associated executor, by default `where`. So are
/// retry_if() and on_retry(), and the operation is called there for each try but the first, which
/// starts in this function.
///
/// Per-operation cancellation: terminal, partial and total. There is no further try. A pause ends
/// at once. A try that is under way gets the signal as it was sent, and what it reports is
/// reported: it may have succeeded. The signal is sent from the handler's executor, as with any
/// operation of several steps.
///
/// Allocation: one by the handler's associated allocator, which is freed before the handler is
/// called, and the operation's own. The first pause allocates once by the same allocator, for all
/// pauses. The operation itself is in memory of the library. If one of these throws at the start,
/// nothing was started. Later, a try that can't be started for lack of memory has failed with
/// errc::not_enough_memory, and may be worth another one. To complete, no memory is needed.
///
/// Exceptions: what retry_if(), on_retry() and the operation throw, but std::bad_alloc, leaves
/// run(), as what a handler throws; the handler is destroyed without being called. An exception of
/// the first call of the operation leaves this function. Bad options throw std::invalid_argument,
/// see backoff.
///
/// Lifetimes: nothing but the context, what the operation refers to, and `*tries` must stay alive
/// until the handler is called. When the context ends, the handler is destroyed without being
/// called.
///
/// Thread safety: may be called from any thread. If several threads run the context, give handlers
/// of operations that need a strand one, as without async_retry(). A coroutine needs a strand, too,
/// and runs on `where`: so let `where` be the strand, and the handler's executor, too.
template <class Executor, class Operation, class Options = retry_options<>,
          class Token = typename boost::asio::default_completion_token<Executor>::type>
    requires detail::is_executor<Executor>
auto async_retry(const Executor& where, Operation&& operation, Options options,
                 Token&& token = typename boost::asio::default_completion_token<Executor>::type()) {
    using tried = detail::attempt_of<std::decay_t<Operation>, Executor>;
    detail::expect_retry<tried, Options, Token>();
    if constexpr (detail::is_retry<tried, Options, Token>) {
        using signature = detail::retried_signature<tried>;
        const backoff pauses(options.pauses);
        return boost::asio::async_initiate<Token, signature>(
            detail::initiate_async_retry<Executor, signature>(where), token,
            tried(std::forward<Operation>(operation), where), std::move(options), pauses);
    }
}

template <class Context, class Operation, class Options = retry_options<>,
          class Token = detail::default_token_of_context<Context>>
    requires detail::is_context<Context>
auto async_retry(Context& where, Operation&& operation, Options options,
                 Token&& token = detail::default_token_of_context<Context>()) {
    return async_retry(where.get_executor(), std::forward<Operation>(operation), std::move(options),
                       std::forward<Token>(token));
}

// What does not fit above: detail/asio/misuse.hpp.
template <class Where, class Operation, class Token>
    requires(!detail::is_retry_options<Token>)
auto async_retry(Where&&, Operation&&, Token&&) {
    detail::expect_retry_options<Token>();
}

} // namespace asio_wheel

#include <asio_wheel/detail/retry/op.hpp>

#endif
