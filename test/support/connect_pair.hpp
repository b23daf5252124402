// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Two sockets that are connected with each other. Windows has no socketpair(), so there they are
// sockets of TCP on the loopback.

#ifndef ASIO_WHEEL_TEST_SUPPORT_CONNECT_PAIR_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CONNECT_PAIR_HPP

#ifdef _WIN32
#include <boost/asio/ip/tcp.hpp>
#else
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#endif

namespace asio_wheel::test {

#ifdef _WIN32

using paired = boost::asio::ip::tcp;

template <class A, class B>
void connect_pair(A& a, B& b) {
    paired::acceptor acceptor(a.get_executor(),
                              paired::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    a.set_option(paired::no_delay(true));
    b.set_option(paired::no_delay(true));
}

#else

using paired = boost::asio::local::stream_protocol;

template <class A, class B>
void connect_pair(A& a, B& b) {
    boost::asio::local::connect_pair(a, b);
}

#endif

} // namespace asio_wheel::test

#endif
