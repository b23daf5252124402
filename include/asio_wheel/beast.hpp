// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What Beast's websocket::stream needs to know of a timeout_stream, and a stream for programs that
// come from Beast's tcp_stream. (For HTTP nothing of this is needed.) Of all headers only this one
// includes Beast, so the umbrella header does not include it.

#ifndef ASIO_WHEEL_BEAST_HPP
#define ASIO_WHEEL_BEAST_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <boost/system/error_code.hpp>

#include <concepts>
#include <utility>

namespace asio_wheel {

namespace detail {

/// `stream` as the timeout_stream that it is, or from which its class is derived.
template <class NextLayer>
[[nodiscard]] timeout_stream<NextLayer>&
timeout_stream_of(timeout_stream<NextLayer>& stream) noexcept {
    return stream;
}

/// A timeout_stream, or a class that is derived from one.
template <class Stream>
concept any_timeout_stream = requires(Stream& stream) { timeout_stream_of(stream); };

} // namespace detail

/// Ends a connection after the closing handshake: Beast calls it. As with Beast's tcp_stream it is
/// done by the next layer, without deadlines but those of the WebSocket.
///
/// It is also for classes that are derived from timeout_stream. Beast has a template for any type,
/// which compiles for none. A template for timeout_stream<NextLayer> would lose against that,
/// because of the conversion to the base class. This one has the same arguments and a constraint.
/// A function for a derived class itself, or a template for its own class template, wins over both.
template <detail::any_timeout_stream Stream>
void teardown(boost::beast::role_type role, Stream& stream, boost::system::error_code& ec) {
    using boost::beast::websocket::teardown;
    teardown(role, detail::timeout_stream_of(stream).socket(), ec);
}

/// As teardown(), asynchronously. The handler is called as handler(error_code).
template <detail::any_timeout_stream Stream, class TeardownHandler>
void async_teardown(boost::beast::role_type role, Stream& stream, TeardownHandler&& handler) {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, detail::timeout_stream_of(stream).socket(),
                   std::forward<TeardownHandler>(handler));
}

/// A timeout_stream whose deadlines mean exactly what those of Beast's tcp_stream mean up to Boost
/// 1.83: an operation that is started after its deadline is still tried. So after
/// expires_after(0s), what is ready at once completes, such as data that has arrived, or a connect
/// within this machine. What is not ready closes the stream and times out. (In Boost 1.88, Beast's
/// own stream reads and writes nothing then.)
///
/// In new programs, prefer timeout_stream. With this stream, the deadline of an operation that
/// consists of several reads does not pass as long as each of them finds data. So a peer that sends
/// fast enough has no deadline.
template <class NextLayer = boost::asio::ip::tcp::socket>
class beast_stream : public timeout_stream<NextLayer> {
    using base = timeout_stream<NextLayer>;

public:
    /// The stream's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = beast_stream<typename NextLayer::template rebind_executor<Executor1>::other>;
    };

    /// As the constructors of timeout_stream.
    template <class... Args>
        requires std::constructible_from<base, Args...>
    explicit beast_stream(Args&&... args) : base(std::forward<Args>(args)...) {
        this->try_late_operations(true);
    }

    /// Takes over everything, including pending operations.
    beast_stream(beast_stream&&) = default;
    /// As destruction and construction.
    beast_stream& operator=(beast_stream&&) = default;
};

} // namespace asio_wheel

#endif
