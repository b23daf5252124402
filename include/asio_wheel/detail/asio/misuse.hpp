// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What the compiler says about common mistakes.
//
// Without this file, a mistake ends in a list of all overloads that do not match, or in an error
// deep inside Asio. Instead, each common mistake has one of these:
//
//  - An overload that only accepts the mistake. Its static_assert says what to write instead. Its
//    return type is deduced, so the compiler must compile its body at once, before it reports
//    anything that follows from the mistake.
//  - A deleted overload, where programs may ask whether a call compiles. The answer stays "no".
//
// test/compile_fail/ has a case for each message.

#ifndef ASIO_WHEEL_DETAIL_ASIO_MISUSE_HPP
#define ASIO_WHEEL_DETAIL_ASIO_MISUSE_HPP

#include <asio_wheel/detail/asio/executors.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <type_traits>

/// Deletes a function and says why. Only clang 19 and later can print the reason. Other compilers
/// print the function's return type, so its name says the same.
#if defined(__cpp_deleted_function) && defined(__clang__)
#define ASIO_WHEEL_DELETED(why)                                                                    \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") =  \
        delete (why)_Pragma("clang diagnostic pop")
#else
#define ASIO_WHEEL_DELETED(why) = delete
#endif

namespace asio_wheel::detail {

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

template <class T>
inline constexpr bool is_time_point = false;
template <class Clock, class Duration>
inline constexpr bool is_time_point<std::chrono::time_point<Clock, Duration>> = true;

template <class T>
concept duration_argument = is_duration<std::remove_cvref_t<T>>;

template <class T>
concept time_point_argument = is_time_point<std::remove_cvref_t<T>>;

/// A duration, or a time point of the same clock as `TimePoint`, in any unit.
template <class T, class TimePoint>
concept time_for =
    duration_argument<T> ||
    (time_point_argument<T> && std::same_as<typename T::clock, typename TimePoint::clock>);

template <class T>
concept steady_time_point_argument =
    time_point_argument<T> && std::same_as<typename T::clock, std::chrono::steady_clock>;

template <class T>
concept executor_or_context =
    is_executor<std::remove_cvref_t<T>> || is_context<std::remove_reference_t<T>>;

#if defined(BOOST_ASIO_HAS_CONCEPTS)
template <class Token, class... Signatures>
concept token_for = boost::asio::completion_token_for<Token, Signatures...>;
#else // Without concepts, Asio does not check tokens either.
template <class Token, class... Signatures>
concept token_for = true;
#endif

template <class Token>
concept wait_token = token_for<Token, void(boost::system::error_code)>;

template <class Executor>
concept has_default_token =
    !std::is_void_v<typename boost::asio::default_completion_token<Executor>::type>;

/// Whether a sleep on `Where` has no valid token: the given one is wrong, or none is given and
/// there is no default token.
template <class Where, class... Token>
inline constexpr bool lacks_sleep_token = !(wait_token<Token> && ...);
template <class Where>
inline constexpr bool lacks_sleep_token<Where> = !has_default_token<Where>;
template <is_context Where>
inline constexpr bool lacks_sleep_token<Where> = !has_default_token<typename Where::executor_type>;

/// Whether the arguments of a sleep are wrong. `ValidTime`: the second argument, the time, is
/// right.
template <class Where, bool ValidTime, class... Token>
concept invalid_sleep_call =
    sizeof...(Token) <= 1 && (!executor_or_context<Where> || !ValidTime ||
                              lacks_sleep_token<std::remove_cvref_t<Where>, Token...>);

// Each function below is called with what a user has passed. It fails to compile, with an
// explanation, if that is not what its name says.

template <class T>
constexpr auto expect_duration() {
    if constexpr (std::is_arithmetic_v<T>) {
        static_assert(is_duration<T>,
                      "asio_wheel: a number has no unit and is not a duration. Write "
                      "5s or std::chrono::seconds(n)");
    } else if constexpr (is_time_point<T>) {
        static_assert(is_duration<T>, "asio_wheel: this takes a duration, not a time_point. For a "
                                      "time_point use async_sleep_until, cancel_at, timeout_at or "
                                      "expires_at");
    } else {
        static_assert(is_duration<T>,
                      "asio_wheel: a std::chrono::duration belongs here. Check the "
                      "order of the arguments: the duration comes before the token");
    }
}

template <class T>
constexpr auto expect_time_point() {
    if constexpr (std::is_arithmetic_v<T>) {
        static_assert(is_time_point<T>, "asio_wheel: a number is not a time_point. Write "
                                        "Clock::now() + 5s");
    } else if constexpr (is_duration<T>) {
        static_assert(is_time_point<T>,
                      "asio_wheel: this takes a time_point, not a duration. For a "
                      "duration use async_sleep_for, cancel_after, timeout or "
                      "expires_after");
    } else {
        static_assert(is_time_point<T>,
                      "asio_wheel: a std::chrono::time_point belongs here. Check the order of the "
                      "arguments: the time_point comes before the token");
    }
}

template <class T>
constexpr auto expect_steady_time_point() {
    if constexpr (is_time_point<T>) {
        static_assert(
            steady_time_point_argument<T>,
            "asio_wheel: this time_point is of another clock. The deadlines of a stream are "
            "on std::chrono::steady_clock");
    } else {
        expect_time_point<T>();
    }
}

template <class T>
constexpr auto expect_executor_or_context() {
    static_assert(
        executor_or_context<T>,
        "asio_wheel: the first argument must be an executor or an execution context, such "
        "as an io_context");
}

/// A token for an operation that completes with an error_code. No argument: the default token.
template <class... Token>
constexpr auto expect_wait_token() {
    if constexpr (sizeof...(Token) == 0) {
        static_assert(sizeof...(Token) != 0,
                      "asio_wheel: a completion token must be given, because "
                      "this executor has no default token");
    } else {
        static_assert((wait_token<Token> && ...),
                      "asio_wheel: the handler must be callable with one error_code");
    }
}

/// An operation stores the handler: it moves an rvalue, and copies an lvalue.
template <class Handler>
constexpr auto expect_storable() {
    static_assert(std::constructible_from<std::decay_t<Handler>, Handler>,
                  "asio_wheel: the operation keeps the handler, which can't be copied. Write "
                  "std::move(handler)");
}

// Return types of deleted functions. Their names are the messages of compilers that print no
// reason.
struct the_handler_must_be_callable_with_one_error_code;
struct the_handler_must_be_callable_with_an_error_code_and_a_size_t;
struct the_handler_must_be_callable_with_an_error_code_and_a_heartbeat_event;
struct the_handler_must_be_callable_with_an_error_code_and_a_value;
struct the_handler_must_be_callable_with_an_error_code_and_a_result;

} // namespace asio_wheel::detail

#endif
