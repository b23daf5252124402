// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Deadlines for a connection, in a stream that takes the place of the socket:
//
//     asio_wheel::timeout_stream<tcp::socket> stream(std::move(socket));
//     stream.expires_after(30s);
//     co_await http::async_read(stream, buffer, request, use_awaitable);
//     // throws system_error(error::timed_out) when all of it has taken 30 seconds

#ifndef ASIO_WHEEL_TIMEOUT_STREAM_HPP
#define ASIO_WHEEL_TIMEOUT_STREAM_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/detail/timeout_stream/impl.hpp>
#include <asio_wheel/detail/timeout_stream/op.hpp>
#include <asio_wheel/detail/timeout_stream/setters.hpp>
#include <asio_wheel/detail/timeout_stream/synchronous.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/system/error_code.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// A stream whose operations have deadlines: like Beast's tcp_stream, but on the wheel, and over
/// any stream.
///
/// If an operation misses its deadline, the lowest layer (the socket) is closed, and the operation
/// completes with error::timed_out, which equals std::errc::timed_out. Other pending operations
/// complete with operation_aborted, or with what the next layer reports when its socket is closed.
///
/// These are the deadlines, which are points of time:
///  - That of reads holds for every read that is started until it is set again. So it may limit one
///    async_read_some(), or all those that an async_read_until() consists of.
///  - That of writes, likewise. It also holds for connects.
///  - That of a message replaces the one of reads when the first byte of the message is read. So an
///    idle connection may be kept for long, and a slow sender is still stopped soon.
///  - The lifetime holds for the whole connection.
///
/// These are periods. While operations are pending, there has to be progress in each of them:
///  - The idle period: something is read or written, or taken by the peer.
///  - The idle period of writes: something is written, or taken by the peer.
///  - The least rate: so many bytes are read and written.
///
/// All of them may be set and moved at any time, also for what is pending: that is cheap, and calls
/// no handler. Only expires_after() and expires_at() are as with Beast: they set the deadlines of
/// reads and of writes together, for what begins later. detail/timeout_stream/setters.hpp has the
/// functions that set them.
///
/// Synchronous operations, read_some(), write_some() and connect(), have the same deadlines if the
/// next layer is a socket. No context has to run meanwhile.
/// detail/timeout_stream/synchronous.hpp has the details.
///
/// An operation is in time if its handler is called before the wheel finds that the deadline has
/// passed. The wheel finds this never before the deadline, and at most one tick after it, plus the
/// delay of the context. From then on the operation has timed out, even if its data arrives: the
/// stream is closed. An operation that is started after its deadline closes the stream, times out,
/// and does nothing else. So does every further one, until the deadline is set again. (With Beast,
/// such an operation is tried: see try_late_operations().) The deadline of an operation that has
/// completed closes nothing.
///
/// `NextLayer` is most often a socket. With TLS, put the deadlines below:
/// ssl::stream<timeout_stream<tcp::socket>>. Then they hold for the handshake, too.
/// timeout_stream<ssl::stream<tcp::socket>> also works. Its handshake is
/// socket().async_handshake(), and timeout() can give that a deadline. With Beast's WebSocket,
/// include <asio_wheel/beast.hpp>.
///
/// Executor: that of the next layer.
///
/// Thread safety. Distinct streams: safe. One stream: unsafe. All calls, and all handlers of its
/// operations, have to run on one strand, which may be implicit. The deadlines are checked there,
/// too: where the handler of a pending operation would be called.
///
/// Lifetimes: the next layer and the deadlines live as long as the stream or a pending operation.
/// So a stream may be moved or destroyed at any time. If it is destroyed, it is closed, and pending
/// operations complete with operation_aborted. A stream that was moved from keeps its executor. If
/// the next layer can be constructed from an executor, the stream gets a new one when it is used;
/// otherwise it can only be destroyed or assigned to. The caller owns the buffers, and keeps them
/// until the operation completes. If handlers have another context than the stream, run those that
/// are in its queue before the stream's context is destroyed.
///
/// Cost. A stream is one allocation. An operation allocates nothing beyond what the next layer's
/// operation does. (If handlers have another executor than the stream, the stream keeps that in a
/// further block.) All deadlines of a stream share one wait on the wheel, in memory that the
/// library reuses. If the handler of an operation starts the next one, that uses the same wait:
/// then nothing is armed, moved or cancelled, unless its deadline is earlier than all before. So
/// the wait ends about once per period, as with idle_timer.
template <class NextLayer>
class timeout_stream : public detail::deadline_setters<timeout_stream<NextLayer>>,
                       public detail::synchronous_operations<timeout_stream<NextLayer>, NextLayer> {
    static_assert(detail::closable_layer<NextLayer>,
                  "what a timeout_stream is made of must have an executor, and a lowest layer that "
                  "can be closed, such as a socket");

    using impl_type = detail::stream_impl<NextLayer>;

    template <class>
    friend class timeout_stream;
    template <class>
    friend class detail::deadline_setters;
    template <class, class>
    friend class detail::synchronous_operations;

    template <class, class...>
    friend class detail::initiation_of;

    // They point to the stream, not to what it shares with its operations: a deferred operation
    // begins on the stream's impl() of that moment.
    template <class Begin>
    using initiation = detail::initiation_of<timeout_stream, Begin>;

    // No requires-clause: clang checks that after the return type, which would not compile.
    template <class Endpoints>
    using if_endpoints =
        std::enable_if_t<bool(boost::asio::is_endpoint_sequence<Endpoints>::value), int>;

public:
    using next_layer_type = NextLayer;                       ///< The type of socket().
    using executor_type = typename impl_type::executor_type; ///< That of the next layer.

    /// The type of the layer at the bottom: for a socket, its base class.
    using lowest_layer_type =
        std::remove_cvref_t<decltype(detail::lowest_layer_of(std::declval<NextLayer&>()))>;

    /// The stream's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other =
            timeout_stream<typename NextLayer::template rebind_executor<Executor1>::other>;
    };

    /// A stream without deadlines. The arguments are passed to the next layer: an executor, a
    /// context, a socket to take over ...
    template <class... Args>
        requires std::constructible_from<NextLayer, Args...>
    explicit timeout_stream(Args&&... args)
        : impl_(std::make_shared<impl_type>(detail::stream_limits(), std::forward<Args>(args)...)),
          executor_(impl_->layer.get_executor()) {}

    /// Takes over the next layer and the deadlines of a stream with another executor. No operation
    /// may be pending.
    template <class OtherLayer>
        requires(!std::same_as<OtherLayer, NextLayer> &&
                 std::constructible_from<NextLayer, OtherLayer>)
    explicit timeout_stream(timeout_stream<OtherLayer>&& other)
        : impl_(std::make_shared<impl_type>(other.impl().deadlines.limits(),
                                            std::move(other.socket()))),
          executor_(impl_->layer.get_executor()), try_late_(other.try_late_) {}

    /// Takes over everything, including pending operations.
    timeout_stream(timeout_stream&& other)
        : impl_(std::move(other.impl_)), executor_(other.executor_), try_late_(other.try_late_) {}

    /// As destruction and construction.
    timeout_stream& operator=(timeout_stream&& other) {
        if (this != &other) {
            shut();
            impl_ = std::move(other.impl_);
            executor_ = other.executor_;
            try_late_ = other.try_late_;
        }
        return *this;
    }

    timeout_stream(const timeout_stream&) = delete;
    timeout_stream& operator=(const timeout_stream&) = delete;

    /// Closes the stream. Pending operations complete with operation_aborted.
    ~timeout_stream() { shut(); }

    /// The executor of the next layer.
    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    /// The next layer, most often a socket: for its options, its own functions, and everything that
    /// needs no deadline. (It is not called next_layer(), so that Beast's get_lowest_layer()
    /// returns the stream with the deadlines, as with Beast's own.)
    [[nodiscard]] NextLayer& socket() { return impl().layer; }
    [[nodiscard]] const NextLayer& socket() const { return impl().layer; }

    /// The layer at the bottom, for layers above.
    [[nodiscard]] lowest_layer_type& lowest_layer() {
        return detail::lowest_layer_of(impl().layer);
    }
    [[nodiscard]] const lowest_layer_type& lowest_layer() const {
        return detail::lowest_layer_of(impl().layer);
    }

    /// Cancels pending operations, and returns the next layer: no deadline will close it any more.
    /// The stream is then as one that was moved from. (While operations are pending, a socket may
    /// be moved, but a TLS stream must not be.)
    [[nodiscard]] NextLayer release_socket() {
        cancel();
        NextLayer released(std::move(impl().layer));
        impl_.reset();
        return released;
    }

    /// Makes pending operations complete with operation_aborted. The stream stays open, and the
    /// deadlines stay as they are. A connect to several endpoints goes on with the next one, as
    /// Asio's does: close() or a cancellation slot ends it.
    void cancel() {
        if (impl_ != nullptr) { // A stream that was moved from has nothing to cancel.
            boost::system::error_code ignored;
            lowest_layer().cancel(ignored);
        }
    }

    /// Closes the lowest layer. Pending operations complete with operation_aborted.
    void close() { shut(); }

    /// Reads some bytes.
    ///
    /// Completion signature: void(boost::system::error_code, std::size_t)
    ///
    /// Completes once, when the next layer's async_read_some() does, with its results or with
    /// error::timed_out. Never completes inside this function.
    ///
    /// Errors: those of the next layer. If one of its deadlines or periods has passed, the stream
    /// is closed, and the error is error::timed_out. The number is that of the bytes that were read
    /// nevertheless, most often 0. If the wheel refuses the wait for a deadline, or is drained, the
    /// stream is closed, and the error is error::too_many_pending, error::wheel_stopped or
    /// errc::not_enough_memory.
    ///
    /// Executor: the handler is called through its associated executor, by default the stream's.
    ///
    /// Per-operation cancellation: as with the next layer (sockets: terminal, partial and total).
    /// The stream stays open.
    ///
    /// Allocation: that of the next layer, with the handler's associated allocator. If there is no
    /// memory, this throws std::bad_alloc, and nothing has begun.
    ///
    /// Lifetimes, thread safety: see the class.
    template <class MutableBufferSequence,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::size_t))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_read_some(
        const MutableBufferSequence& buffers,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, std::size_t)>(
            std::declval<initiation<detail::begin_read_some>>(), token, buffers)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiation<detail::begin_read_some>(this), token, buffers);
    }

    /// Writes some bytes. Everything said of async_read_some() holds, with the deadline of
    /// writes.
    template <class ConstBufferSequence,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::size_t))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_write_some(
        const ConstBufferSequence& buffers,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, std::size_t)>(
            std::declval<initiation<detail::begin_write_some>>(), token, buffers)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiation<detail::begin_write_some>(this), token, buffers);
    }

    /// Connects the socket to an endpoint.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// Everything said of async_read_some() holds, with the deadline of writes. While it is
    /// pending, no other operation may be pending.
    template <class Layer = NextLayer,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_connect(
        const typename Layer::endpoint_type& endpoint,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            std::declval<initiation<detail::begin_connect>>(), token, endpoint)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            initiation<detail::begin_connect>(this), token, endpoint);
    }

    /// Connects the socket to the first endpoint of several that accepts. All attempts share one
    /// deadline.
    ///
    /// Completion signature: void(boost::system::error_code, endpoint)
    template <class EndpointSequence, class Layer = NextLayer, if_endpoints<EndpointSequence> = 0,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code,
                                                   typename Layer::endpoint_type))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_connect(
        const EndpointSequence& endpoints,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                            typename Layer::endpoint_type)>(
            std::declval<initiation<detail::begin_range_connect>>(), token, endpoints,
            detail::any_endpoint())) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                       typename Layer::endpoint_type)>(
            initiation<detail::begin_range_connect>(this), token, endpoints,
            detail::any_endpoint());
    }

    /// As above, but tries only endpoints for which `condition(last error, endpoint)` is true.
    template <class EndpointSequence, class Condition, class Layer = NextLayer,
              if_endpoints<EndpointSequence> = 0,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code,
                                                   typename Layer::endpoint_type)) Token>
    auto async_connect(const EndpointSequence& endpoints, const Condition& condition, Token&& token)
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                            typename Layer::endpoint_type)>(
            std::declval<initiation<detail::begin_range_connect>>(), token, endpoints, condition)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                       typename Layer::endpoint_type)>(
            initiation<detail::begin_range_connect>(this), token, endpoints, condition);
    }

    /// Beast calls this to close the stream when a WebSocket times out.
    friend void beast_close_socket(timeout_stream& stream) { stream.close(); }

private:
    template <class Handler, class Begin, class... Arguments>
    void start(Handler&& handler, Begin begin, const Arguments&... arguments) {
        begin(impl(), std::forward<Handler>(handler), arguments...);
    }

    // A stream that was moved from gets a new one.
    [[nodiscard]] impl_type& impl() const {
        if (impl_ == nullptr) {
            if constexpr (std::constructible_from<NextLayer, const executor_type&>) {
                detail::stream_limits limits;
                limits.try_late = try_late_;
                impl_ = std::make_shared<impl_type>(limits, executor_);
            } else {
                detail::throw_moved_from("a timeout_stream");
            }
        }
        return *impl_;
    }

    void shut() noexcept {
        if (impl_ != nullptr) {
            impl_->close();
        }
    }

    mutable std::shared_ptr<impl_type> impl_; // Null if the stream was moved from.
    executor_type executor_;
    bool try_late_ = false; // For a new one.
};

/// timeout_stream(std::move(socket)) is over the socket.
template <class NextLayer>
timeout_stream(NextLayer) -> timeout_stream<NextLayer>;

} // namespace asio_wheel

#endif
