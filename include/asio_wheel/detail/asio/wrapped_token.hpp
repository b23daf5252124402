// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// For completion tokens that wrap another one.

#ifndef ASIO_WHEEL_DETAIL_ASIO_WRAPPED_TOKEN_HPP
#define ASIO_WHEEL_DETAIL_ASIO_WRAPPED_TOKEN_HPP

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <type_traits>

namespace asio_wheel::detail {

/// A base class that has the executor_type of an initiation, if that has one. Asio's adaptors need
/// it.
template <class Initiation>
struct executor_of_initiation {};

template <class Initiation>
    requires requires { typename Initiation::executor_type; }
struct executor_of_initiation<Initiation> {
    using executor_type = typename Initiation::executor_type;
};

/// A base class that has the return_type of an async_result, if that has one. Before Boost 1.83,
/// some of Asio's adaptors need it.
template <class AsyncResult>
struct return_type_of {};

template <class AsyncResult>
    requires requires { typename AsyncResult::return_type; }
struct return_type_of<AsyncResult> {
    using return_type = typename AsyncResult::return_type;
};

/// The default token of the executor of an initiation; boost::asio::deferred_t if there is none.
template <class Initiation>
struct default_token_of {
    using type = boost::asio::deferred_t;
};

template <class Initiation>
    requires requires { typename Initiation::executor_type; } &&
             (!std::is_void_v<typename boost::asio::default_completion_token<
                  typename Initiation::executor_type>::type>)
struct default_token_of<Initiation> {
    using type =
        typename boost::asio::default_completion_token<typename Initiation::executor_type>::type;
};

} // namespace asio_wheel::detail

#endif
