// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this takes a time_point, not a duration. For a duration use async_sleep_for, cancel_after

#include <asio_wheel/cancel_after.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void cancel_at_a_duration(boost::asio::ip::tcp::socket& socket) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    socket.async_wait(socket.wait_read,
                      asio_wheel::cancel_at(5s, [](boost::system::error_code) {}));
#else
    socket.async_wait(socket.wait_read,
                      asio_wheel::cancel_after(5s, [](boost::system::error_code) {}));
#endif
}
