// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this takes a duration, not a time_point

#include <asio_wheel/timeout.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void timeout_at_a_time_point(boost::asio::ip::tcp::socket& socket) {
    using namespace std::chrono_literals;
    const auto time = std::chrono::steady_clock::now() + 5s;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    socket.async_wait(socket.wait_read,
                      asio_wheel::timeout(time, [](boost::system::error_code) {}));
#else
    socket.async_wait(socket.wait_read,
                      asio_wheel::timeout_at(time, [](boost::system::error_code) {}));
#endif
}
