// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_AWAITABLE_HPP
#define ASIO_WHEEL_DETAIL_ASIO_AWAITABLE_HPP

#include <boost/asio/awaitable.hpp>

namespace asio_wheel::detail {

/// Whether `T` is what a coroutine of Asio returns.
template <class T>
inline constexpr bool is_awaitable = false;
template <class T, class Executor>
inline constexpr bool is_awaitable<boost::asio::awaitable<T, Executor>> = true;

} // namespace asio_wheel::detail

#endif
