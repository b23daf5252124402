// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a number has no unit and is not a duration. Write 5s or std::chrono::seconds(n)

#include <asio_wheel/timeout.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void timeout_of_a_number_without_unit(boost::asio::ip::tcp::socket& socket) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    socket.async_wait(socket.wait_read, asio_wheel::timeout(5, [](boost::system::error_code) {}));
#else
    socket.async_wait(socket.wait_read, asio_wheel::timeout(5s, [](boost::system::error_code) {}));
#endif
}
