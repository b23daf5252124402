// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What Beast's websocket::stream needs to know of a timeout_stream. (For HTTP nothing of this is
// needed.) Of all headers only this one includes Beast, so the umbrella header does not include it.

#ifndef ASIO_WHEEL_BEAST_HPP
#define ASIO_WHEEL_BEAST_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/timeout_stream.hpp>

#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <boost/system/error_code.hpp>

#include <utility>

namespace asio_wheel {

/// Ends a connection after the closing handshake: Beast calls it. As with Beast's tcp_stream it is
/// done by the next layer, without deadlines but those of the WebSocket.
template <class NextLayer>
void teardown(boost::beast::role_type role, timeout_stream<NextLayer>& stream,
              boost::system::error_code& ec) {
    using boost::beast::websocket::teardown;
    teardown(role, stream.socket(), ec);
}

template <class NextLayer, class TeardownHandler>
void async_teardown(boost::beast::role_type role, timeout_stream<NextLayer>& stream,
                    TeardownHandler&& handler) {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, stream.socket(), std::forward<TeardownHandler>(handler));
}

} // namespace asio_wheel

#endif
