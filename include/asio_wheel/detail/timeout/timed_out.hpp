// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How timeout() changes the result of an operation: if the deadline has expired and the operation
// says that it was cancelled, the result becomes error::timed_out.
//
// If the operation ended with anything else, that result is true and stays: data that was read just
// before the deadline is not lost.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_OUT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_OUT_HPP

#include <asio_wheel/error.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/channel_error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The type of the first argument of a completion signature; void if it has no argument.
template <class Signature>
struct first_argument {
    using type = void;
};
template <class R, class First, class... Rest>
struct first_argument<R(First, Rest...)> {
    using type = std::decay_t<First>;
};
template <class R, class... Args>
struct first_argument<R(Args...)&> : first_argument<R(Args...)> {};
template <class R, class... Args>
struct first_argument<R(Args...) &&> : first_argument<R(Args...)> {};
template <class R, class... Args>
struct first_argument<R(Args...) noexcept> : first_argument<R(Args...)> {};
template <class R, class... Args>
struct first_argument<R(Args...) & noexcept> : first_argument<R(Args...)> {};
template <class R, class... Args>
struct first_argument<R(Args...) && noexcept> : first_argument<R(Args...)> {};

template <class T>
inline constexpr bool is_error =
    std::is_same_v<T, boost::system::error_code> || std::is_same_v<T, std::exception_ptr>;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// Whether the result of an operation says that it was cancelled.
[[nodiscard]] inline bool was_cancelled(const boost::system::error_code& ec) noexcept {
    return ec == boost::asio::error::operation_aborted ||
           ec == boost::system::errc::operation_canceled ||
           ec == boost::asio::experimental::error::channel_cancelled;
}

[[nodiscard]] inline bool was_cancelled(const std::exception_ptr& e) noexcept {
    if (e == nullptr) {
        return false;
    }
    try {
        std::rethrow_exception(e);
    } catch (const boost::system::system_error& failure) {
        return was_cancelled(failure.code());
    } catch (const std::system_error& failure) {
        return failure.code() == std::errc::operation_canceled;
    } catch (...) {
        return false;
    }
}

/// The `Result` of timeout(): reports an expired deadline as `error`.
struct timed_out_result {
    static constexpr bool has_error = true;
    boost::system::error_code error = asio_wheel::error::timed_out;

    template <class... Signatures>
    static constexpr bool accepts = (is_error<typename first_argument<Signatures>::type> && ...);
    template <class... Signatures>
    static constexpr bool is_in_tuple =
        (is_tuple<typename first_argument<Signatures>::type> || ...);

    /// Calls the handler. `why` is null if the deadline has not expired. Otherwise it is the reason
    /// why there could be no wait, or no error.
    template <class Handler, class First, class... Rest>
    void deliver(const boost::system::error_code* why, Handler&& handler, First&& first,
                 Rest&&... rest) const {
        std::decay_t<First> result(std::forward<First>(first));
        if (why != nullptr && was_cancelled(result)) {
            assign(result, *why ? *why : error);
        }
        std::forward<Handler>(handler)(std::move(result), std::forward<Rest>(rest)...);
    }

private:
    static void assign(boost::system::error_code& result, const boost::system::error_code& ec) {
        result = ec;
    }
    static void assign(std::exception_ptr& result, const boost::system::error_code& ec) {
        result = std::make_exception_ptr(boost::system::system_error(ec));
    }
};

} // namespace asio_wheel::detail

#endif
