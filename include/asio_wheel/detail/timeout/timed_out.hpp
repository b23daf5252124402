// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How timeout() changes the result of an operation: if the deadline has expired and the operation
// says that it was cancelled, the result becomes error::timed_out.
//
// If the operation ended with anything else, that result is true and stays: data that was read just
// before the deadline is not lost.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_OUT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_TIMED_OUT_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/channel_error.hpp>
#include <boost/asio/multiple_exceptions.hpp>
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

/// The types of an operation's results, by its completion signature.
template <class... T>
struct result_types {};

template <class Signature>
struct results_of;
template <class R, class... Args>
struct results_of<R(Args...)> {
    using type = result_types<Args...>;
};
template <class R, class... Args>
struct results_of<R(Args...)&> : results_of<R(Args...)> {};
template <class R, class... Args>
struct results_of<R(Args...) &&> : results_of<R(Args...)> {};
template <class R, class... Args>
struct results_of<R(Args...) noexcept> : results_of<R(Args...)> {};
template <class R, class... Args>
struct results_of<R(Args...) & noexcept> : results_of<R(Args...)> {};
template <class R, class... Args>
struct results_of<R(Args...) && noexcept> : results_of<R(Args...)> {};

/// The type of the first result; void if there is none.
template <class Results>
struct first_of {
    using type = void;
};
template <class First, class... Rest>
struct first_of<result_types<First, Rest...>> {
    using type = std::decay_t<First>;
};
template <class Signature>
using first_result = typename first_of<typename results_of<Signature>::type>::type;

template <class T>
inline constexpr bool is_error =
    std::is_same_v<T, boost::system::error_code> || std::is_same_v<T, std::exception_ptr>;

/// The error of a first result: an operation may pass what only converts to it.
template <class T, class Value = std::decay_t<T>>
using error_from =
    std::conditional_t<is_error<Value>, Value,
                       std::conditional_t<std::is_convertible_v<T, boost::system::error_code>,
                                          boost::system::error_code, std::exception_ptr>>;

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

/// Asio's operators for coroutines, `a && b` and `a || b`, throw a multiple_exceptions if both
/// sides fail. It says what its exception says, which may be another one of its kind.
[[nodiscard]] inline bool was_cancelled(const std::exception_ptr& e) noexcept {
    const auto by_asio = [](const boost::system::system_error& failure) {
        return was_cancelled(failure.code());
    };
    const auto by_others = [](const std::system_error& failure) {
        return failure.code() == std::errc::operation_canceled;
    };
    const auto by_operators = [](const boost::asio::multiple_exceptions& failures) {
        return was_cancelled(failures.first_exception());
    };
    return e != nullptr && (points_to<boost::system::system_error>(e, by_asio) ||
                            points_to<boost::asio::multiple_exceptions>(e, by_operators) ||
                            points_to<std::system_error>(e, by_others));
}

inline void assign_error(boost::system::error_code& result,
                         const boost::system::error_code& ec) noexcept {
    result = ec;
}
/// Without memory for the text of a system_error, it is a std::bad_alloc: an operation completes.
inline void assign_error(std::exception_ptr& result, const boost::system::error_code& ec) noexcept {
    const std::exception_ptr no_memory = thrown_by([&] {
        const boost::system::system_error failure(ec);
        result = pointer_to(failure);
        if (result == nullptr) { // See pointer_to().
            BOOST_THROW_EXCEPTION(failure);
        }
    });
    if (no_memory != nullptr) {
        result = no_memory;
    }
}

/// The `Result` of timeout(): reports an expired deadline as `error`.
struct timed_out_result {
    static constexpr bool reports = true;
    static constexpr bool uses_mapping = false;
    template <class... Signatures>
    static constexpr bool accepts = (is_error<first_result<Signatures>> && ...);
    template <class... Signatures>
    static constexpr bool is_in_tuple = (is_tuple<first_result<Signatures>> || ...);

    /// Calls the handler. `why` is null if the deadline has not expired. Otherwise it is the reason
    /// why there could be no wait, or no error.
    template <class... Signatures, class Handler, class First, class... Rest>
    void deliver(const boost::system::error_code* why, Handler&& handler, First&& first,
                 Rest&&... rest) const {
        error_from<First> result(std::forward<First>(first));
        if (why != nullptr && was_cancelled(result)) {
            assign_error(result, *why ? *why : error);
        }
        std::forward<Handler>(handler)(std::move(result), std::forward<Rest>(rest)...);
    }

    boost::system::error_code error = asio_wheel::error::timed_out;
};

} // namespace asio_wheel::detail

#endif
