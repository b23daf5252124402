// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef DEMO_ACCEPT_HPP
#define DEMO_ACCEPT_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <utility>

namespace demo {

/// Calls `enter` with each connection until the acceptor is closed. If descriptors or memory run
/// out, prints a message and tries again after a short pause. Throws if there is not even memory
/// for the pause: otherwise it would try again without end, and nobody else could free memory.
template <class Enter>
boost::asio::awaitable<void> accept_until_closed(boost::asio::ip::tcp::acceptor& acceptor,
                                                 Enter enter) {
    constexpr auto token = boost::asio::use_awaitable;
    const auto ex = acceptor.get_executor();
    for (int failures = 0; acceptor.is_open();) {
        if (failures != 0) {
            // Not on the wheel: it may be full, too.
            boost::asio::steady_timer pause(ex, std::chrono::milliseconds(10));
            co_await pause.async_wait(token);
        }
        try {
            auto socket = co_await acceptor.async_accept(token);
            if (acceptor.is_open()) {
                enter(std::move(socket));
            }
            failures = 0;
        } catch (const std::exception& e) {
            if (acceptor.is_open() && failures++ == 0) {
                std::cerr << "cannot accept: " << e.what() << std::endl;
            }
        }
    }
}

} // namespace demo

#endif
