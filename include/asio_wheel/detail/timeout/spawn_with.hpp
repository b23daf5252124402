// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How async_with_timeout() runs a coroutine with a deadline.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_SPAWN_WITH_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_SPAWN_WITH_HPP

#include <asio_wheel/detail/timeout/timed_out.hpp>
#include <asio_wheel/detail/timeout/timed_token_function.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace asio_wheel::detail {

/// Spawns `what` with the token function(time, more...). If there is no token at the end, it is
/// use_awaitable.
template <class Function, class Executor, class T, class AwaitableExecutor, class Time,
          class... More>
auto spawn_with(const Function& function, const Executor& where,
                boost::asio::awaitable<T, AwaitableExecutor> what, const Time& time,
                More&&... more) {
    if constexpr (time_options<timed_out_result, More...>) {
        return boost::asio::co_spawn(where, std::move(what),
                                     function(time, std::forward<More>(more)...,
                                              boost::asio::use_awaitable_t<AwaitableExecutor>()));
    } else {
        return boost::asio::co_spawn(where, std::move(what),
                                     function(time, std::forward<More>(more)...));
    }
}

} // namespace asio_wheel::detail

#endif
