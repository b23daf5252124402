// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// timeout(), timeout_at(), cancel_after() and cancel_at() are objects of one class template. They
// differ in two parameters: how the time is given, and how an expired deadline changes the
// operation's result.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_FUNCTION_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_TOKEN_FUNCTION_HPP

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/timeout/timed_token.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The time is a duration from the operation's start, by the steady clock.
struct relative_time {
    template <class T>
    static constexpr bool accepts = is_duration<T>;

    template <class Duration>
    [[nodiscard]] static constexpr time_limit<std::chrono::steady_clock> limit(const char* what,
                                                                               const Duration& d) {
        return time_limit<std::chrono::steady_clock>(not_nan(what, d));
    }

    template <class T>
    static constexpr auto expect() {
        expect_duration<T>();
    }
};

/// The time is a time point of any clock.
struct absolute_time {
    template <class T>
    static constexpr bool accepts = is_time_point<T>;

    template <class TimePoint>
    [[nodiscard]] static constexpr time_limit<typename TimePoint::clock> limit(const char* what,
                                                                               const TimePoint& t) {
        return time_limit<typename TimePoint::clock>(not_nan(what, t));
    }

    template <class T>
    static constexpr auto expect() {
        expect_time_point<T>();
    }
};

/// What may be passed between the time and the token: a type of cancellation, or the error to
/// report.
template <class T, class Result>
concept time_option = std::same_as<std::remove_cvref_t<T>, boost::asio::cancellation_type> ||
                      (Result::has_error && std::convertible_to<T, boost::system::error_code>);

template <class When, class Result>
class timed_token_function {
public:
    /// `what` is the name of the time in the message of the exception for NaN.
    constexpr explicit timed_token_function(const char* what) noexcept : what_(what) {}

    template <class Time>
        requires(When::template accepts<Time>)
    [[nodiscard]] constexpr auto operator()(const Time& t) const {
        return partial_token(options(t));
    }

    template <class Time, time_option<Result> Option>
        requires(When::template accepts<Time>)
    [[nodiscard]] constexpr auto operator()(const Time& t, const Option& option) const {
        return partial_token(options(t, option));
    }

    template <class Time, class Token>
        requires(When::template accepts<Time> && !time_option<Token, Result>)
    [[nodiscard]] constexpr auto operator()(const Time& t, Token&& token) const {
        return full_token(options(t), std::forward<Token>(token));
    }

    template <class Time, time_option<Result> Option, class Token>
        requires(When::template accepts<Time>)
    [[nodiscard]] constexpr auto operator()(const Time& t, const Option& option,
                                            Token&& token) const {
        return full_token(options(t, option), std::forward<Token>(token));
    }

    // A time of a wrong type. The compiler explains it: see misuse.hpp.
    template <class Time, class... More>
        requires(!When::template accepts<Time>)
    constexpr auto operator()(const Time&, More&&...) const {
        When::template expect<Time>();
    }

private:
    template <class Time>
    [[nodiscard]] constexpr auto options(const Time& t) const {
        const auto limit = When::limit(what_, t);
        return timed_options<typename decltype(limit)::clock, Result>{.limit = limit};
    }

    template <class Time, class Option>
    [[nodiscard]] constexpr auto options(const Time& t, const Option& option) const {
        auto result = options(t);
        if constexpr (std::same_as<Option, boost::asio::cancellation_type>) {
            result.type = option;
        } else {
            result.result.error = option;
        }
        return result;
    }

    template <class Clock>
    [[nodiscard]] static constexpr auto partial_token(const timed_options<Clock, Result>& options) {
        return partial_timed_token<Clock, Result>(options);
    }

    template <class Clock, class Token>
    [[nodiscard]] static constexpr auto full_token(const timed_options<Clock, Result>& options,
                                                   Token&& token) {
        return timed_token<std::decay_t<Token>, Clock, Result>(std::forward<Token>(token), options);
    }

    const char* what_;
};

} // namespace asio_wheel::detail

#endif
