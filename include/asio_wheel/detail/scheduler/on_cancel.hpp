// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Functions of tasks that are told of a cancellation.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_ON_CANCEL_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_ON_CANCEL_HPP

#include <asio_wheel/detail/asio/awaitable.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace asio_wheel {

namespace detail {

template <class F>
concept may_be_empty = requires(const F& f) { static_cast<bool>(f == nullptr); };

/// Whether `f` is null, as an empty std::function is.
template <class F>
[[nodiscard]] bool is_empty_function(const F& f) {
    if constexpr (may_be_empty<F> && !std::is_function_v<F>) {
        return static_cast<bool>(f == nullptr);
    } else {
        return false;
    }
}

/// Calls f(h) if that compiles, otherwise f().
template <class F, class Handle>
decltype(auto) call_with_handle(F& f, const Handle& h) {
    if constexpr (std::invocable<F&, const Handle&>) {
        return std::invoke(f, h);
    } else {
        return std::invoke(f);
    }
}

template <class F, class Handle>
using result_with_handle =
    decltype(call_with_handle(std::declval<F&>(), std::declval<const Handle&>()));

/// A coroutine that can be spawned on the executor of a scheduler.
template <class T>
inline constexpr bool is_coroutine_of_a_task = false;
template <class Executor>
inline constexpr bool is_coroutine_of_a_task<boost::asio::awaitable<void, Executor>> =
    std::convertible_to<boost::asio::any_io_executor, Executor>;

/// Fails to compile, with an explanation, if a task would not do what its function returns.
template <class Result>
constexpr void expect_result_of_task() {
    if constexpr (is_awaitable<Result>) {
        static_assert(is_coroutine_of_a_task<Result>,
                      "asio_wheel: the coroutine of a task returns boost::asio::awaitable<void>");
    } else if constexpr (!std::is_void_v<Result>) {
        static_assert(!boost::asio::is_async_operation<std::remove_cvref_t<Result>>::value,
                      "asio_wheel: nobody starts the operation that this task returns. co_await it "
                      "in a coroutine");
    }
}

/// Calls f.on_cancel(h) or f.on_cancel(), if there is one.
template <class F, class Handle>
void tell_of_cancellation(F& f, const Handle& h) {
    const auto tell = [](auto call) {
        static_assert(!is_awaitable<decltype(call())>,
                      "asio_wheel: on_cancel is called by "
                      "the thread that cancels. It is no coroutine");
        static_cast<void>(call());
    };
    if constexpr (requires { f.on_cancel(h); }) {
        tell([&]() -> decltype(auto) { return f.on_cancel(h); });
    } else if constexpr (requires { f.on_cancel(); }) {
        tell([&]() -> decltype(auto) { return f.on_cancel(); });
    }
}

/// What on_cancel() makes of two functions.
template <class Function, class OnCancel>
class cancellable_function {
public:
    template <class F, class G>
    cancellable_function(F&& f, G&& g)
        : function_(std::forward<F>(f)), on_cancel_(std::forward<G>(g)) {}

    template <class... Args>
        requires std::invocable<Function&, Args...>
    decltype(auto) operator()(Args&&... args) {
        return std::invoke(function_, std::forward<Args>(args)...);
    }

    template <class... Args>
        requires std::invocable<OnCancel&, Args...>
    decltype(auto) on_cancel(Args&&... args) {
        return std::invoke(on_cancel_, std::forward<Args>(args)...);
    }

    /// Whether one of both is empty.
    friend bool operator==(const cancellable_function& f, std::nullptr_t) {
        return is_empty_function(f.function_) || is_empty_function(f.on_cancel_);
    }

private:
    Function function_;
    OnCancel on_cancel_;
};

} // namespace detail

} // namespace asio_wheel

#endif
