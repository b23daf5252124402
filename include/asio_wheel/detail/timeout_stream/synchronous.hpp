// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The synchronous operations of a timeout_stream, which is derived from this class. See
// blocking.hpp for how they wait.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_SYNCHRONOUS_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_SYNCHRONOUS_HPP

#include <asio_wheel/detail/timeout_stream/blocking.hpp>
#include <asio_wheel/detail/timeout_stream/direction.hpp>
#include <asio_wheel/detail/timeout_stream/op.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace asio_wheel::detail {

/// Operations that block their thread until they are done, or until a deadline has passed.
///
/// They have the deadlines and the idle period that the asynchronous ones have, and what happens is
/// the same: the stream is closed, the error is error::timed_out, and pending operations time out
/// or are aborted. So asio::read(), asio::read_until(), asio::write() and http::read() have
/// deadlines on this stream, too. No context has to run.
///
/// If no deadline is set, these are the functions of the next layer. The same holds if the user has
/// made the socket non-blocking: then read_some() and write_some() fail with would_block at once.
///
/// The next layer must be a socket, or a POSIX descriptor. Otherwise, such as with
/// timeout_stream<ssl::stream<tcp::socket>>, they fail with errc::operation_not_supported while a
/// deadline is set. For TLS, put the deadlines below: ssl::stream<timeout_stream<tcp::socket>>.
///
/// While the wheel's time is paused, only another thread can move it. So an operation takes no
/// longer in real time, either, than the time that was left when it began. If another thread
/// shortens the idle period by scale_idle_timers(), or pauses the wheel, while an operation blocks,
/// that has no effect until the socket is ready, or the time is over that was left before.
///
/// Allocation: none beyond the next layer's.
///
/// Thread safety: see the stream. While one of these functions blocks, the stream's strand is busy.
/// If an asynchronous operation of the same direction is pending, both have the same deadline, and
/// each of them may get the data. Do not mix them if another thread runs the context: if the
/// asynchronous one gets what this one has just seen, this one waits for more, however long.
template <class Stream, class Layer>
class synchronous_operations {
    // No requires-clause, as with async_connect().
    template <class Endpoints>
    using if_endpoints =
        std::enable_if_t<bool(boost::asio::is_endpoint_sequence<Endpoints>::value), int>;

public:
    /// Reads some bytes. The functions with an error code set it, and return what was read. The
    /// others throw system_error.
    template <class MutableBufferSequence>
    std::size_t read_some(const MutableBufferSequence& buffers, boost::system::error_code& ec) {
        return block_transfer(
            stream().impl(), direction::read, boost::asio::buffer_size(buffers) == 0,
            [&](boost::system::error_code& result) {
                return stream().socket().read_some(buffers, result);
            },
            ec);
    }
    template <class MutableBufferSequence>
    std::size_t read_some(const MutableBufferSequence& buffers) {
        boost::system::error_code ec;
        const std::size_t n = read_some(buffers, ec);
        throw_if(ec, "read_some");
        return n;
    }

    /// Writes some bytes.
    template <class ConstBufferSequence>
    std::size_t write_some(const ConstBufferSequence& buffers, boost::system::error_code& ec) {
        return block_transfer(
            stream().impl(), direction::write, boost::asio::buffer_size(buffers) == 0,
            [&](boost::system::error_code& result) {
                return stream().socket().write_some(buffers, result);
            },
            ec);
    }
    template <class ConstBufferSequence>
    std::size_t write_some(const ConstBufferSequence& buffers) {
        boost::system::error_code ec;
        const std::size_t n = write_some(buffers, ec);
        throw_if(ec, "write_some");
        return n;
    }

    /// Connects the socket to an endpoint, with the deadline of writes.
    template <class Layer1 = Layer>
    void connect(const typename Layer1::endpoint_type& endpoint, boost::system::error_code& ec) {
        block_connect(stream().impl(), endpoint, ec);
    }
    template <class Layer1 = Layer>
    void connect(const typename Layer1::endpoint_type& endpoint) {
        boost::system::error_code ec;
        connect(endpoint, ec);
        throw_if(ec, "connect");
    }

    /// Connects the socket to the first endpoint of several that accepts, and returns that. All
    /// attempts share one deadline. With a condition, only endpoints are tried for which
    /// `condition(last error, endpoint)` is true.
    template <class EndpointSequence, class Condition, class Layer1 = Layer,
              if_endpoints<EndpointSequence> = 0>
        requires(!std::same_as<Condition, boost::system::error_code>)
    typename Layer1::endpoint_type connect(const EndpointSequence& endpoints,
                                           const Condition& condition,
                                           boost::system::error_code& ec) {
        return block_connect_range<typename Layer1::endpoint_type>(stream().impl(), endpoints,
                                                                   condition, ec);
    }
    template <class EndpointSequence, class Condition, class Layer1 = Layer,
              if_endpoints<EndpointSequence> = 0>
        requires(!std::same_as<Condition, boost::system::error_code>)
    typename Layer1::endpoint_type connect(const EndpointSequence& endpoints,
                                           const Condition& condition) {
        boost::system::error_code ec;
        const auto connected = connect(endpoints, condition, ec);
        throw_if(ec, "connect");
        return connected;
    }
    template <class EndpointSequence, class Layer1 = Layer, if_endpoints<EndpointSequence> = 0>
    typename Layer1::endpoint_type connect(const EndpointSequence& endpoints,
                                           boost::system::error_code& ec) {
        return connect(endpoints, any_endpoint(), ec);
    }
    template <class EndpointSequence, class Layer1 = Layer, if_endpoints<EndpointSequence> = 0>
    typename Layer1::endpoint_type connect(const EndpointSequence& endpoints) {
        return connect(endpoints, any_endpoint());
    }

private:
    friend Stream;

    synchronous_operations() = default;

    [[nodiscard]] Stream& stream() noexcept { return static_cast<Stream&>(*this); }

    static void throw_if(const boost::system::error_code& ec, const char* what) {
        if (ec) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(ec, what));
        }
    }
};

} // namespace asio_wheel::detail

#endif
