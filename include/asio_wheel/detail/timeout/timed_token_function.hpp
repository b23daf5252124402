// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// timeout(), timeout_at(), cancel_after() and cancel_at() are objects of one class template. They
// differ in two parameters: how the time is given, and how an expired deadline changes the
// operation's result.
//
// The arguments of each are: a timer of the user's, which may be left out; the time; options; and a
// token, which may be left out. An option is a type of cancellation; and for timeout() and
// timeout_at(), an error or a mapping.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_FUNCTION_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_FUNCTION_HPP

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/timeout/mapped_result.hpp>
#include <asio_wheel/detail/timeout/time_limit.hpp>
#include <asio_wheel/detail/timeout/timed_token.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel {

template <class Clock, class WaitTraits, class Executor>
class basic_waitable_timer;

} // namespace asio_wheel

namespace asio_wheel::detail {

/// The time is a duration from the operation's start, by the steady clock or the timer's.
struct relative_time {
    template <class T>
    static constexpr bool accepts = is_duration<T>;
    template <class T, class Clock>
    static constexpr bool accepts_for = is_duration<T>;

    template <class T>
    using clock_of = std::chrono::steady_clock; // Without a timer of the user's.

    template <class T>
    static constexpr auto expect() {
        expect_duration<T>();
    }
};

template <class T, class Clock>
inline constexpr bool is_time_point_of = false;
template <class Clock, class Duration>
inline constexpr bool is_time_point_of<std::chrono::time_point<Clock, Duration>, Clock> = true;

/// The time is a time point of any clock, or of the timer's.
struct absolute_time {
    template <class T>
    static constexpr bool accepts = is_time_point<T>;
    template <class T, class Clock>
    static constexpr bool accepts_for = is_time_point_of<T, Clock>;

    template <class T>
    using clock_of = typename T::clock; // Without a timer of the user's.

    template <class T>
    static constexpr auto expect() {
        if constexpr (is_time_point<T>) {
            static_assert(!is_time_point<T>,
                          "asio_wheel: this time_point is of another clock than the timer");
        } else {
            expect_time_point<T>();
        }
    }
};

template <class Clock, class WaitTraits, class Executor>
void accept_wheel_timer(const basic_waitable_timer<Clock, WaitTraits, Executor>&);

/// A timer of the library, or of a class that is derived from one.
template <class T>
concept wheel_timer = requires(const T& timer) { accept_wheel_timer(timer); };

/// What may be between the time and the token.
template <class T>
inline constexpr bool is_type_option =
    std::is_same_v<std::remove_cvref_t<T>, boost::asio::cancellation_type>;
template <class T>
inline constexpr bool is_error_option = std::is_convertible_v<T, boost::system::error_code>;

/// Before a token, a function can only be a mapping. Without a token, it is a handler; so a mapping
/// is a map_result then.
template <class T>
inline constexpr bool is_function_option =
    (std::is_class_v<std::remove_cvref_t<T>> ||
     std::is_function_v<std::remove_pointer_t<std::decay_t<T>>>) &&
    !is_duration<std::remove_cvref_t<T>> && !is_time_point<std::remove_cvref_t<T>> &&
    !is_error_option<T>;

/// Whether `T` is an option, and no token.
template <class T, class Result>
concept time_option =
    is_type_option<T> ||
    (Result::reports && (is_error_option<T> || is_mapping<std::remove_cvref_t<T>>));

/// Whether each kind of option is there at most once.
template <class... T>
inline constexpr bool are_distinct =
    (int{is_type_option<T>} + ... + 0) <= 1 && (int{is_error_option<T>} + ... + 0) <= 1 &&
    (int{is_function_option<T>} + ... + 0) <= 1;

/// Whether `Last...` and what follows are distinct options and a token. `Options` come before.
template <class Result, class Options, class... Last>
inline constexpr bool is_token_after = false;
template <class Result, class... Options, class Token>
inline constexpr bool is_token_after<Result, std::tuple<Options...>, Token> =
    !time_option<Token, Result> && are_distinct<Options...>;
template <class Result, class... Options, class Option, class Next, class... More>
inline constexpr bool is_token_after<Result, std::tuple<Options...>, Option, Next, More...> =
    (time_option<Option, Result> || (Result::reports && is_function_option<Option>)) &&
    is_token_after<Result, std::tuple<Options..., Option>, Next, More...>;

/// Whether `T` are distinct options; or such options and a token.
template <class Result, class... T>
concept time_arguments = ((time_option<T, Result> && ...) && are_distinct<T...>) ||
                         is_token_after<Result, std::tuple<>, T...>;

template <class When, class Result>
class timed_token_function {
public:
    /// `what` is the name of the time in the message of the exception for NaN.
    constexpr explicit timed_token_function(const char* what) noexcept : what_(what) {}

    template <class Time, class... More>
        requires(When::template accepts<Time> && time_arguments<Result, More...>)
    [[nodiscard]] constexpr auto operator()(const Time& t, More&&... more) const {
        using clock = typename When::template clock_of<Time>;
        return make(time_limit<clock>(not_nan(what_, t)), std::forward<More>(more)...);
    }

    // The same on a timer of the user's.
    template <class Clock, class WaitTraits, class Executor, class Time, class... More>
        requires(When::template accepts_for<Time, Clock> && time_arguments<Result, More...>)
    [[nodiscard]] auto operator()(basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
                                  const Time& t, More&&... more) const {
        using timer_type = basic_waitable_timer<Clock, WaitTraits, Executor>;
        return make(timer_limit<timer_type>(timer, not_nan(what_, t)), std::forward<More>(more)...);
    }

    // A time of a wrong type. The compiler explains it: see misuse.hpp.
    template <class Time, class... More>
        requires(!When::template accepts<Time> && !wheel_timer<Time>)
    constexpr auto operator()(const Time&, More&&...) const {
        When::template expect<Time>();
    }

    template <class Clock, class WaitTraits, class Executor, class Time, class... More>
        requires(!When::template accepts_for<Time, Clock>)
    constexpr auto operator()(basic_waitable_timer<Clock, WaitTraits, Executor>&, const Time&,
                              More&&...) const {
        When::template expect<Time>();
    }

private:
    template <class Limit, class... More>
    [[nodiscard]] static constexpr auto make(const Limit& limit, More&&... more) {
        return finish(timed_options<Limit, Result>{.limit = limit}, std::forward<More>(more)...);
    }

    template <class Limit, class R>
    [[nodiscard]] static constexpr auto finish(timed_options<Limit, R> options) {
        return partial_timed_token<Limit, R>(std::move(options));
    }

    template <class Limit, class R, class First, class... More>
    [[nodiscard]] static constexpr auto finish(timed_options<Limit, R> options, First&& first,
                                               More&&... more) {
        if constexpr (sizeof...(More) == 0 && !time_option<First, Result>) {
            return timed_token<std::decay_t<First>, Limit, R>(std::forward<First>(first),
                                                              std::move(options));
        } else if constexpr (is_type_option<First>) {
            options.type = first;
            return finish(std::move(options), std::forward<More>(more)...);
        } else if constexpr (is_error_option<First>) {
            options.result.error = first;
            return finish(std::move(options), std::forward<More>(more)...);
        } else {
            using result = mapped_result<std::decay_t<First>>;
            return finish(
                timed_options<Limit, result>{
                    .limit = options.limit,
                    .type = options.type,
                    .result = {.error = options.result.error, .map = std::forward<First>(first)}},
                std::forward<More>(more)...);
        }
    }

    const char* what_;
};

} // namespace asio_wheel::detail

#endif
