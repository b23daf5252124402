// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What async_retry() runs, and how it asks the user's functions about the results.

#ifndef ASIO_WHEEL_DETAIL_RETRY_OPERATION_HPP
#define ASIO_WHEEL_DETAIL_RETRY_OPERATION_HPP

#include <asio_wheel/detail/asio/awaitable.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/timeout/timed_out.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel {

struct retry_pause;

} // namespace asio_wheel

namespace asio_wheel::detail {

/// A function without arguments that returns an awaitable.
template <class T>
inline constexpr bool is_coroutine_function = false;
template <std::invocable T>
inline constexpr bool is_coroutine_function<T> =
    is_awaitable<std::remove_cvref_t<std::invoke_result_t<T>>>;

/// An operation, which starts a try when it is called with a token.
template <class Operation, class Executor>
class attempt_of {
public:
    template <class T>
    attempt_of(T&& f, const Executor&) : operation_(std::forward<T>(f)) {}

    template <class Token>
        requires std::invocable<Operation&, Token>
    auto operator()(Token&& token) {
        return std::invoke(operation_, std::forward<Token>(token));
    }

private:
    Operation operation_;
};

/// A try of a coroutine is an operation, too: to spawn it.
template <class Operation, class Executor>
    requires is_coroutine_function<Operation&>
class attempt_of<Operation, Executor> {
public:
    template <class T>
    attempt_of(T&& f, const Executor& ex) : operation_(std::forward<T>(f)), executor_(ex) {}

    template <class Token>
    auto operator()(Token&& token) {
        return boost::asio::co_spawn(executor_, std::invoke(operation_),
                                     std::forward<Token>(token));
    }

private:
    Operation operation_;
    Executor executor_;
};

template <class Attempt>
concept has_one_signature = boost::asio::is_async_operation<Attempt&>::value && requires {
    typename boost::asio::completion_signature_of<Attempt&>::type;
};

/// The completion signature of a try.
template <class Attempt>
using retried_signature = typename boost::asio::completion_signature_of<Attempt&>::type;

/// Where the results of a try are kept.
template <class Results>
struct kept_results;
template <class... T>
struct kept_results<result_types<T...>> {
    using type = std::tuple<std::decay_t<T>...>;
};
template <class Signature>
using retry_results = typename kept_results<typename results_of<Signature>::type>::type;

/// The error_code of an exception; none if it has no code.
[[nodiscard]] inline std::optional<boost::system::error_code> code_of(const std::exception_ptr& e) {
    std::optional<boost::system::error_code> code;
    static_cast<void>(
        points_to<boost::system::system_error>(e, [&](const boost::system::system_error& failure) {
            code = failure.code();
            return true;
        }));
    return code;
}

/// Whether a function takes `Fixed...` and the results of a try: all of them; or the first.
template <class Function, class Results, class... Fixed>
inline constexpr bool takes_all = false;
template <class Function, class... T, class... Fixed>
inline constexpr bool takes_all<Function, std::tuple<T...>, Fixed...> =
    std::invocable<Function&, Fixed..., const T&...>;
template <class Function, class Results, class... Fixed>
inline constexpr bool takes_error =
    std::invocable<Function&, Fixed..., const std::tuple_element_t<0, Results>&>;

/// Whether it takes the code of an exception.
template <class Function, class Results>
inline constexpr bool takes_code =
    std::same_as<std::tuple_element_t<0, Results>, std::exception_ptr> &&
    std::invocable<Function&, const boost::system::error_code&>;

/// Whether the function, which takes results in one of these ways, says yes.
template <class Function, class Results>
[[nodiscard]] bool says_yes(Function& f, const Results& results) {
    if constexpr (takes_all<Function, Results>) {
        return static_cast<bool>(std::apply(f, results));
    } else if constexpr (takes_error<Function, Results>) {
        return static_cast<bool>(std::invoke(f, std::get<0>(results)));
    } else {
        const auto code = code_of(std::get<0>(results));
        return code && static_cast<bool>(std::invoke(f, *code));
    }
}

/// Calls a hook.
template <class Function, class Results>
void tell(Function& f, retry_pause& pause, const Results& results) {
    if constexpr (takes_all<Function, Results, retry_pause&>) {
        std::apply([&](const auto&... result) { std::invoke(f, pause, result...); }, results);
    } else if constexpr (takes_error<Function, Results, retry_pause&>) {
        std::invoke(f, pause, std::get<0>(results));
    } else {
        std::invoke(f, pause);
    }
}

/// The default of retry_options::retry_if.
struct retry_unless_cancelled {
    template <class Error>
        requires is_error<Error>
    [[nodiscard]] bool operator()(const Error& error) const {
        return !was_cancelled(error);
    }
};

/// The default of retry_options::on_retry.
struct no_retry_hook {
    void operator()(retry_pause&) const noexcept {}
};

// What the compiler says about mistakes: see misuse.hpp.

template <class Attempt>
inline constexpr bool reports_error = false;
template <has_one_signature Attempt>
inline constexpr bool reports_error<Attempt> = is_error<first_result<retried_signature<Attempt>>>;

template <class Options>
inline constexpr bool is_retry_options = requires(const std::remove_cvref_t<Options>& options) {
    options.max_tries;
    options.retry_if;
    options.on_retry;
};

template <class RetryIf, class Results>
inline constexpr bool is_predicate_of =
    takes_all<RetryIf, Results> || takes_error<RetryIf, Results> || takes_code<RetryIf, Results>;
template <class OnRetry, class Results>
inline constexpr bool is_hook_of =
    takes_all<OnRetry, Results, retry_pause&> || takes_error<OnRetry, Results, retry_pause&> ||
    std::invocable<OnRetry&, retry_pause&>;

template <class Attempt, class Options>
inline constexpr bool fit_together = false;
template <class Attempt, class Options>
    requires(reports_error<Attempt> && is_retry_options<Options>)
inline constexpr bool fit_together<Attempt, Options> =
    is_predicate_of<decltype(Options::retry_if), retry_results<retried_signature<Attempt>>> &&
    is_hook_of<decltype(Options::on_retry), retry_results<retried_signature<Attempt>>>;

template <class Attempt, class Options, class Token>
inline constexpr bool is_retry = false;
template <class Attempt, class Options, class Token>
    requires fit_together<Attempt, Options>
inline constexpr bool is_retry<Attempt, Options, Token> =
    token_for<Token, retried_signature<Attempt>>;

template <class Options>
constexpr void expect_retry_options() {
    static_assert(is_retry_options<Options>,
                  "asio_wheel: the third argument of async_retry() is a retry_options, or {…} with "
                  "its members, or {}. The token comes after it");
}

/// Explains what is wrong first.
template <class Attempt, class Options, class Token>
constexpr void expect_retry() {
    if constexpr (!has_one_signature<Attempt>) {
        static_assert(has_one_signature<Attempt>,
                      "asio_wheel: async_retry() takes an operation with one completion signature: "
                      "a function that is called with a token, as [&](auto token) { return "
                      "socket.async_connect(peer, token); }, an operation with the token deferred, "
                      "or a function without arguments that returns an awaitable");
    } else if constexpr (!reports_error<Attempt>) {
        static_assert(reports_error<Attempt>,
                      "asio_wheel: the first result of an operation that is tried again must be an "
                      "error_code or a std::exception_ptr: it says whether the try has failed");
    } else if constexpr (!is_retry_options<Options>) {
        expect_retry_options<Options>();
    } else if constexpr (!fit_together<Attempt, Options>) {
        using results = retry_results<retried_signature<Attempt>>;
        static_assert(is_predicate_of<decltype(Options::retry_if), results>,
                      "asio_wheel: retry_if must be callable with the error of a try, or with all "
                      "of its results");
        static_assert(is_hook_of<decltype(Options::on_retry), results>,
                      "asio_wheel: on_retry must be callable with a retry_pause&; or with that and "
                      "the error of a try, or all of its results");
    } else {
        static_assert(is_retry<Attempt, Options, Token>,
                      "asio_wheel: the handler must be callable with the results of the operation "
                      "that is tried again");
    }
}

} // namespace asio_wheel::detail

#endif
