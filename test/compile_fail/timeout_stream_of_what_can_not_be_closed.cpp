// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: must have an executor, and a lowest layer that can be closed

#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/ip/tcp.hpp>

#ifdef ASIO_WHEEL_TEST_MISTAKE
using layer = int;
#else
using layer = boost::asio::ip::tcp::socket;
#endif

void timeout_stream_of_what_can_not_be_closed(asio_wheel::timeout_stream<layer> stream) {
    stream.expires_never();
}
