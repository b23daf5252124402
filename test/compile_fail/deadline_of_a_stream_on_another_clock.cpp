// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: this time_point is of another clock. The deadlines of a stream are on std::chrono::steady_clock

#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void deadline_of_a_stream_on_another_clock(
    asio_wheel::timeout_stream<boost::asio::ip::tcp::socket>& stream) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    stream.expires_at(std::chrono::system_clock::now() + 5s);
#else
    stream.expires_at(std::chrono::steady_clock::now() + 5s);
#endif
}
