// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The environment for code in documents: virtual time, and the names that documents omit.

#ifndef ASIO_WHEEL_TEST_SNIPPETS_SUPPORT_HPP
#define ASIO_WHEEL_TEST_SNIPPETS_SUPPORT_HPP

#include <asio_wheel/sleep.hpp>

#include "support/context.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/is_error_code_enum.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <type_traits>
#include <utility>

namespace snippets {

namespace asio = boost::asio;
namespace this_coro = asio::this_coro;
using namespace std::chrono_literals;
using asio::use_awaitable;
using asio::ip::tcp;
using asio_wheel::use_wheel;
using boost::system::error_code;
using std::chrono::steady_clock;

/// A user's own errors.
enum class my_error { request_took_too_long = 7, peer_is_silent = 8 };

inline error_code make_error_code(my_error e) {
    return {static_cast<int>(e), boost::system::generic_category()};
}

/// A coroutine from a document, and its result.
struct snippet_world : asio_wheel::test::virtual_world {
    bool over = false;
    error_code error; ///< What it threw.

    void begin(asio::awaitable<void> what) {
        over = false;
        asio::co_spawn(ctx, std::move(what), [this](std::exception_ptr thrown) {
            over = true;
            try {
                if (thrown) {
                    std::rethrow_exception(thrown);
                }
            } catch (const boost::system::system_error& e) {
                error = e.code();
            }
        });
        poll();
    }
};

/// Stands for an operation that a document does not show and that takes a while.
template <class Token>
auto work_for(const asio::any_io_executor& ex, steady_clock::duration d, Token&& token) {
    return asio_wheel::async_sleep_for(ex, d, std::forward<Token>(token));
}

/// Both ends of a connection on loopback.
struct connection {
    explicit connection(asio::io_context& ctx) : socket(ctx), peer(ctx) {
        tcp::acceptor acceptor(ctx, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        peer.connect(acceptor.local_endpoint());
        acceptor.accept(socket);
    }

    tcp::socket socket;
    tcp::socket peer;
};

} // namespace snippets

template <>
struct boost::system::is_error_code_enum<snippets::my_error> : std::true_type {};

#endif
