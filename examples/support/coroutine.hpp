// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Names and completion tokens that the coroutines of the demos share.

#ifndef DEMO_COROUTINE_HPP
#define DEMO_COROUTINE_HPP

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>

namespace demo {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

/// Returns errors as a value: `auto [error, size] = co_await ...`.
inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// For `co_spawn`: an exception of the coroutine propagates out of `run()`.
inline constexpr auto rethrow = [](std::exception_ptr thrown) {
    if (thrown) {
        std::rethrow_exception(thrown);
    }
};

inline steady_clock::duration from_seconds(double s) {
    return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(s));
}

inline double milliseconds(steady_clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

} // namespace demo

#endif
