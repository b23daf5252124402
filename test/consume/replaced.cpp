// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program that knows only Asio's timers. Its build puts them on a wheel.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <iostream>

static_assert(std::derived_from<boost::asio::steady_timer,
                                asio_wheel::basic_waitable_timer<std::chrono::steady_clock>>);

int main() {
    boost::asio::io_context context;
    boost::asio::steady_timer timer(context, std::chrono::milliseconds(1));
    timer.async_wait([](const boost::system::error_code&) {});
    std::cout << asio_wheel::use_wheel(context).pending() << " wait on the wheel\n";
    return context.run() == 0 ? 1 : 0;
}
