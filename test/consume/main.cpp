// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A minimal program that uses the library. Each of the projects in this folder builds it.

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <iostream>

int main() {
    boost::asio::io_context context;
    asio_wheel::steady_timer timer(context, std::chrono::milliseconds(20));
    bool fired = false;
    bool early = true;
    timer.async_wait([&](const boost::system::error_code& error) {
        fired = !error;
        early = std::chrono::steady_clock::now() < timer.expiry();
    });
    context.run();

    std::cout << (fired && !early ? "fired" : "did not fire as it should") << '\n';
    return fired && !early ? 0 : 1;
}
