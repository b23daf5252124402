// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a mapping changes the results of an operation whose deadline has expired: timeout(d, map,
// token).

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_MAPPED_RESULT_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_MAPPED_RESULT_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/timeout/timed_out.hpp>
#include <asio_wheel/error.hpp>

#include <boost/system/error_code.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_wheel {

template <class Function>
class map_result;

} // namespace asio_wheel

namespace asio_wheel::detail {

template <class T>
inline constexpr bool is_mapping = false;
template <class Function>
inline constexpr bool is_mapping<map_result<Function>> = true;

/// Whether a result is an error, or a container or a tuple that holds errors.
template <class T>
inline constexpr bool holds_error = is_error<T>;
template <class T, class Allocator>
inline constexpr bool holds_error<std::vector<T, Allocator>> = holds_error<T>;
template <class T, std::size_t N>
inline constexpr bool holds_error<std::array<T, N>> = holds_error<T>;
template <class T>
inline constexpr bool holds_error<std::optional<T>> = holds_error<T>;
template <class A, class B>
inline constexpr bool holds_error<std::pair<A, B>> = holds_error<A> || holds_error<B>;
template <class... T>
inline constexpr bool holds_error<std::tuple<T...>> = (holds_error<T> || ...);

/// The mapping of each_error: replaces each error that says "cancelled".
class map_each_error {
public:
    template <class... Results>
        requires(holds_error<Results> || ...)
    void operator()(const boost::system::error_code& why, Results&... results) const {
        (replace(results, why), ...);
    }

private:
    template <class T>
    static void replace(T& result, const boost::system::error_code& why) {
        if constexpr (is_error<T>) {
            if (was_cancelled(result)) {
                assign_error(result, why);
            }
        } else if constexpr (!holds_error<T>) {
            // It stays as it is.
        } else if constexpr (requires { std::tuple_size<T>::value; }) {
            std::apply([&](auto&... part) { (replace(part, why), ...); }, result);
        } else if constexpr (requires { result.has_value(); }) {
            if (result.has_value()) {
                replace(*result, why);
            }
        } else {
            for (auto& element : result) {
                replace(element, why);
            }
        }
    }
};

/// What a mapping gets for the parameter `P` of a completion signature.
template <class P>
using mapped = std::remove_cvref_t<P>&;

/// How the argument `A` of a handler is kept while a mapping changes it. If the operation gives it
/// away, or its signature says that it can be changed, the argument itself is changed. Otherwise a
/// copy is, of the type that the signature says: an operation may pass an int where its signature
/// says std::size_t.
template <class P, class A>
using kept_argument =
    std::conditional_t<std::is_same_v<std::remove_cvref_t<P>, std::remove_cvref_t<A>> &&
                           !std::is_const_v<std::remove_reference_t<A>> &&
                           (!std::is_lvalue_reference_v<A> ||
                            (std::is_lvalue_reference_v<P> &&
                             !std::is_const_v<std::remove_reference_t<P>>)),
                       A&&, std::remove_cvref_t<P>>;

template <class Map, class Results>
inline constexpr bool is_mapping_of = false;
template <class Map, class... P>
inline constexpr bool is_mapping_of<Map, result_types<P...>> =
    std::invocable<Map, const boost::system::error_code&, mapped<P>...>;

/// Whether a handler may be called with arguments `A` for results of the types `P`.
template <class Results, class... A>
inline constexpr bool fits = false;
template <class... P, class... A>
    requires(sizeof...(P) == sizeof...(A))
inline constexpr bool fits<result_types<P...>, A...> =
    (std::constructible_from<kept_argument<P, A>, A> && ...);

/// The same, without conversions.
template <class Results, class... A>
inline constexpr bool fits_exactly = false;
template <class... P, class... A>
    requires(sizeof...(P) == sizeof...(A))
inline constexpr bool fits_exactly<result_types<P...>, A...> =
    (std::same_as<std::remove_cvref_t<P>, std::remove_cvref_t<A>> && ...);

/// Which of several signatures the operation completes with: the index of its results.
template <class... Results, class... A>
[[nodiscard]] consteval std::size_t index_of_signature(result_types<A...>) {
    const bool exact[] = {fits_exactly<Results, A...>...};
    const bool possible[] = {fits<Results, A...>...};
    for (std::size_t i = 0; i < sizeof...(Results); ++i) {
        if (exact[i]) {
            return i;
        }
    }
    for (std::size_t i = 0; i < sizeof...(Results); ++i) {
        if (possible[i]) {
            return i;
        }
    }
    return 0;
}

/// The `Result` of timeout() with a mapping: calls map(why, results...) if the deadline has
/// expired, then the handler. If the mapping throws, the handler is not called.
template <class Map>
struct mapped_result {
    static constexpr bool reports = true;
    static constexpr bool uses_mapping = true;
    template <class... Signatures>
    static constexpr bool accepts =
        (is_mapping_of<Map, typename results_of<Signatures>::type> && ...);
    template <class... Signatures>
    static constexpr bool is_in_tuple = false;

    template <class... Signatures, class Handler, class... A>
    void deliver(const boost::system::error_code* why, Handler&& handler, A&&... args) {
        if (why == nullptr) {
            std::forward<Handler>(handler)(std::forward<A>(args)...);
            return;
        }
        using candidates = std::tuple<typename results_of<Signatures>::type...>;
        constexpr std::size_t index =
            index_of_signature<typename results_of<Signatures>::type...>(result_types<A...>());
        map_and_deliver(std::tuple_element_t<index, candidates>(), *why ? *why : error,
                        std::forward<Handler>(handler), std::forward<A>(args)...);
    }

    boost::system::error_code error;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Map map;

private:
    template <class... P, class Handler, class... A>
    void map_and_deliver(result_types<P...>, const boost::system::error_code& why,
                         Handler&& handler, A&&... args) {
        std::tuple<kept_argument<P, A>...> results(std::forward<A>(args)...);
        std::apply([&](auto&... result) { std::invoke(std::move(map), why, result...); }, results);
        std::apply(
            [&](auto&&... result) {
                std::forward<Handler>(handler)(std::forward<decltype(result)>(result)...);
            },
            std::move(results));
    }
};

} // namespace asio_wheel::detail

#endif
