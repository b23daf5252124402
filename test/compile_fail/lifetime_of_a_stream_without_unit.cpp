// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: asio_wheel: a number has no unit and is not a duration. Write 5s or std::chrono::seconds(n)

#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

void lifetime_of_a_stream_without_unit(
    asio_wheel::timeout_stream<boost::asio::ip::tcp::socket>& stream) {
    using namespace std::chrono_literals;
#ifdef ASIO_WHEEL_TEST_MISTAKE
    stream.lifetime(3600);
#else
    stream.lifetime(3600s);
#endif
}
