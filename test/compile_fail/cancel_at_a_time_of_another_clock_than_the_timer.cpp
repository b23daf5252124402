// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this time_point is of another clock than the timer

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void cancel_at_a_time_of_another_clock_than_the_timer(boost::asio::ip::tcp::socket& socket,
                                                      asio_wheel::steady_timer& timer) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    const auto end = std::chrono::system_clock::now() + 5s;
#else
    const auto end = std::chrono::steady_clock::now() + 5s;
#endif
    socket.async_wait(socket.wait_read,
                      asio_wheel::cancel_at(timer, end, [](boost::system::error_code) {}));
}
