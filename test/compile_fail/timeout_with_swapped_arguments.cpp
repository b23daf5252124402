// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: Check the order of the arguments: the duration comes before the token

#include <asio_wheel/timeout.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void timeout_with_swapped_arguments(boost::asio::ip::tcp::socket& socket) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    socket.async_wait(socket.wait_read, asio_wheel::timeout([](boost::system::error_code) {}, 5s));
#else
    socket.async_wait(socket.wait_read, asio_wheel::timeout(5s, [](boost::system::error_code) {}));
#endif
}
