// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Deadlines of a connection, in a stream that takes the place of a socket:
//
//     asio_wheel::timeout_stream<tcp::socket> stream(std::move(socket));
//     stream.expires_after(30s);
//     co_await http::async_read(stream, buffer, request, use_awaitable);
//     // throws system_error(error::timed_out) when all of it has taken 30 seconds

#ifndef ASIO_WHEEL_TIMEOUT_STREAM_HPP
#define ASIO_WHEEL_TIMEOUT_STREAM_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout_stream/deadlines.hpp>
#include <asio_wheel/detail/timeout_stream/impl.hpp>
#include <asio_wheel/detail/timeout_stream/op.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace asio_wheel {

/// A stream whose operations have deadlines: Beast's tcp_stream, on the wheel, over any stream.
///
/// If an operation misses its deadline, the lowest layer (the socket) is closed, and the operation
/// completes with error::timed_out, which equals std::errc::timed_out. Other pending operations
/// complete with operation_aborted, or as the next layer does when its socket is closed.
///
/// There are three deadlines:
///  - that of reads: one point of time, for every read that is started until it is set anew. So it
///    may bound a single async_read_some(), or all those that an async_read_until() is made of;
///  - that of writes, likewise. A connect has it, too;
///  - that of being idle: while operations are pending, something has to be read or written within
///    a period, again and again.
/// The first two are set together by expires_after() and expires_at(), as with Beast, or each by
/// itself. They may be set as long as none of the operations that they are for is pending.
///
/// An operation has completed in time if its handler is called before the wheel finds that the
/// deadline has passed. The wheel finds that at most one tick after the deadline, plus what the
/// context takes, and never before it. From then on the operation has timed out, also if its data
/// arrives: the stream is closed. An operation that starts after its deadline closes the stream and
/// times out, and does nothing else. So does each further one, until the deadline is set anew. A
/// deadline whose operation has completed closes nothing.
///
/// `NextLayer` is a socket most often. With TLS it is usual, and best, to have the deadlines below:
/// ssl::stream<timeout_stream<tcp::socket>>. Then they hold for the handshake, too.
/// timeout_stream<ssl::stream<tcp::socket>> works; its handshake is socket().async_handshake(), to
/// which timeout() can give a deadline. With Beast's WebSocket, include <asio_wheel/beast.hpp>.
///
/// Executor: that of the next layer.
///
/// Thread safety. Distinct streams: safe. One stream: unsafe; all calls, and all handlers of its
/// operations, have to run on one strand, be it implicit. The deadlines are looked at there, too:
/// where the handler of a pending operation would be called.
///
/// Lifetimes: the next layer and the deadlines live as long as the stream or an operation that is
/// pending. So a stream may be moved or destroyed at any time; in the latter case it is closed, and
/// what is pending completes with operation_aborted. A stream that was moved from has its executor
/// still, and a next layer as if newly made from that, if it can be; if not, it may be destroyed or
/// assigned to. Buffers are the caller's, until the operation completes.
///
/// Cost. A stream is one allocation; an operation none beyond that of the next layer. All deadlines
/// of a stream share one wait on the wheel, in memory of the library that is used again. An
/// operation that is started by the handler of the one before uses the same wait. Then nothing is
/// armed, moved or cancelled, unless its deadline is earlier than all before. So the wait ends
/// about once in a period, as with idle_timer.
template <class NextLayer>
class timeout_stream {
    static_assert(detail::closable_layer<NextLayer>,
                  "what a timeout_stream is made of must have an executor, and a lowest layer that "
                  "can be closed, such as a socket");

    using impl_type = detail::stream_impl<NextLayer>;
    using deadlines_type = typename impl_type::deadlines_type;

    template <class>
    friend class timeout_stream;

    class initiation;
    class initiate_async_read_some;
    class initiate_async_write_some;
    class initiate_async_connect;
    class initiate_async_range_connect;

    // Not a requirement: clang looks at these after the return type, which does not compile then.
    template <class Endpoints>
    using if_endpoints =
        std::enable_if_t<bool(boost::asio::is_endpoint_sequence<Endpoints>::value), int>;

public:
    using next_layer_type = NextLayer;
    using executor_type = typename impl_type::executor_type;
    using clock_type = std::chrono::steady_clock;
    using duration = clock_type::duration;
    using time_point = clock_type::time_point;

    /// What lies at the bottom: for a socket, its base.
    using lowest_layer_type =
        std::remove_cvref_t<decltype(detail::lowest_layer_of(std::declval<NextLayer&>()))>;

    /// The stream's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other =
            timeout_stream<typename NextLayer::template rebind_executor<Executor1>::other>;
    };

    /// A stream without deadlines. The arguments are the next layer's: an executor, a context, a
    /// socket to take over ...
    template <class... Args>
        requires std::constructible_from<NextLayer, Args...>
    explicit timeout_stream(Args&&... args)
        : impl_(std::make_shared<impl_type>(detail::stream_options(), std::forward<Args>(args)...)),
          executor_(impl_->layer.get_executor()) {}

    /// Takes over the next layer of a stream with another executor, and the deadlines. Nothing may
    /// be pending.
    template <class OtherLayer>
        requires(!std::same_as<OtherLayer, NextLayer> &&
                 std::constructible_from<NextLayer, OtherLayer>)
    explicit timeout_stream(timeout_stream<OtherLayer>&& other)
        : impl_(
              std::make_shared<impl_type>(other.deadlines().current(), std::move(other.socket()))),
          executor_(impl_->layer.get_executor()) {}

    /// Takes over everything, pending operations included.
    timeout_stream(timeout_stream&& other)
        : impl_(std::move(other.impl_)), executor_(other.executor_) {}

    /// As if by destruction and construction.
    timeout_stream& operator=(timeout_stream&& other) {
        if (this != &other) {
            shut();
            impl_ = std::move(other.impl_);
            executor_ = other.executor_;
        }
        return *this;
    }

    timeout_stream(const timeout_stream&) = delete;
    timeout_stream& operator=(const timeout_stream&) = delete;

    /// Closes the stream. What is pending completes with operation_aborted.
    ~timeout_stream() { shut(); }

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    /// The next layer, most often a socket; for options, sockets' own functions, and all that has
    /// no deadline. (It is not called next_layer(): Beast's get_lowest_layer() leads to the stream
    /// that has the deadlines, as it does with Beast's own.)
    [[nodiscard]] NextLayer& socket() { return impl().layer; }
    [[nodiscard]] const NextLayer& socket() const { return impl().layer; }

    /// For layers above.
    [[nodiscard]] lowest_layer_type& lowest_layer() {
        return detail::lowest_layer_of(impl().layer);
    }
    [[nodiscard]] const lowest_layer_type& lowest_layer() const {
        return detail::lowest_layer_of(impl().layer);
    }

    /// Cancels what is pending, and gives the next layer away: no deadline will ever close it. The
    /// stream is then as one that was moved from. (While something is pending, a socket may be
    /// moved; a TLS stream may not.)
    [[nodiscard]] NextLayer release_socket() {
        cancel();
        NextLayer released(std::move(impl().layer));
        impl_.reset();
        return released;
    }

    /// Makes what is pending complete with operation_aborted. Leaves the stream open, and the
    /// deadlines as they are.
    void cancel() {
        if (impl_ != nullptr) { // Else it is as one that is new.
            boost::system::error_code ignored;
            lowest_layer().cancel(ignored);
        }
    }

    /// Closes the lowest layer. What is pending completes with operation_aborted.
    void close() { shut(); }

    /// Sets the deadlines of reads and of writes to `d` from now; zero and less is now. Saturates.
    /// If `d` is not a number (NaN), here and below, std::invalid_argument.
    ///
    /// As with Beast: a read that is pending keeps its deadline, and so do the reads after it, such
    /// as those that a composed operation will start; likewise with writes. If both are pending, or
    /// a connect, there is nothing to be set: std::logic_error.
    ///
    ///     stream.expires_after(5s);
    ///     co_await http::async_read_header(stream, buffer, parser, use_awaitable);
    ///     stream.expires_after(60s);
    ///     co_await http::async_read(stream, buffer, parser, use_awaitable);
    template <class Rep, class Period>
    void expires_after(const std::chrono::duration<Rep, Period>& d) {
        deadlines().expires(from_now(d));
    }

    /// As expires_after(), at a point of time.
    void expires_at(const time_point& t) { deadlines().expires(t); }

    /// Reads and writes have no deadlines. Otherwise as expires_after(). (This is how a stream
    /// begins.)
    void expires_never() { deadlines().expires(deadlines_type::never); }

    /// Sets the deadline of reads. std::logic_error if a read or a connect is pending.
    template <class Rep, class Period>
    void read_expires_after(const std::chrono::duration<Rep, Period>& d) {
        deadlines().read_expires(from_now(d));
    }
    void read_expires_at(const time_point& t) { deadlines().read_expires(t); }
    void read_expires_never() { deadlines().read_expires(deadlines_type::never); }

    /// Sets the deadline of writes, and of connects. std::logic_error if one of these is pending.
    template <class Rep, class Period>
    void write_expires_after(const std::chrono::duration<Rep, Period>& d) {
        deadlines().write_expires(from_now(d));
    }
    void write_expires_at(const time_point& t) { deadlines().write_expires(t); }
    void write_expires_never() { deadlines().write_expires(deadlines_type::never); }

    /// While operations are pending, some byte must be read or written within `d`, again and again;
    /// else all of them time out. Time in which nothing is pending does not count. May be called at
    /// any time; begins to hold with the next operation that is started, then for all that are
    /// pending. std::invalid_argument if `d` is not greater than zero.
    template <class Rep, class Period>
    void idle_after(const std::chrono::duration<Rep, Period>& d) {
        deadlines().idle_after(
            detail::positive<duration>("the idle period of a timeout_stream", d));
    }
    void idle_never() { deadlines().idle_never(); }

    // What does not fit above: detail/misuse.hpp.
    template <class T>
        requires(!detail::duration_argument<T>)
    auto expires_after(const T&) {
        detail::expect_duration<T>();
    }
    template <class T>
        requires(!detail::steady_time_point_argument<T>)
    auto expires_at(const T&) {
        detail::expect_steady_time_point<T>();
    }
    template <class T>
        requires(!detail::duration_argument<T>)
    auto read_expires_after(const T&) {
        detail::expect_duration<T>();
    }
    template <class T>
        requires(!detail::steady_time_point_argument<T>)
    auto read_expires_at(const T&) {
        detail::expect_steady_time_point<T>();
    }
    template <class T>
        requires(!detail::duration_argument<T>)
    auto write_expires_after(const T&) {
        detail::expect_duration<T>();
    }
    template <class T>
        requires(!detail::steady_time_point_argument<T>)
    auto write_expires_at(const T&) {
        detail::expect_steady_time_point<T>();
    }

    /// Reads something.
    ///
    /// Completion signature: void(boost::system::error_code, std::size_t)
    ///
    /// Completes, once, when the next layer's async_read_some() does, with its results, or with
    /// error::timed_out. Never from inside this function.
    ///
    /// Errors: the next layer's; error::timed_out if the deadline of reads, or that of being idle,
    /// passed: the stream is closed. The number is what was read nevertheless, most often 0. If the
    /// wheel refuses the wait for a deadline or is drained, the stream is closed, and the error is
    /// error::too_many_pending, error::wheel_stopped or errc::not_enough_memory.
    ///
    /// Executor: the handler is called through its associated executor, by default the stream's.
    ///
    /// Per-operation cancellation: as the next layer's (sockets: terminal, partial and total); the
    /// stream stays open.
    ///
    /// Allocation: the next layer's, with the handler's associated allocator. Without memory it
    /// throws std::bad_alloc, and nothing has begun.
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
            std::declval<initiate_async_read_some>(), token, buffers)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_async_read_some(this), token, buffers);
    }

    /// Writes something. All that is said of async_read_some() holds, with the deadline of writes.
    template <class ConstBufferSequence,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, std::size_t))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_write_some(
        const ConstBufferSequence& buffers,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token,
                                                void(boost::system::error_code, std::size_t)>(
            std::declval<initiate_async_write_some>(), token, buffers)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_async_write_some(this), token, buffers);
    }

    /// Connects the socket to an endpoint.
    ///
    /// Completion signature: void(boost::system::error_code)
    ///
    /// What is said of async_read_some() holds, with the deadline of writes. No other operation may
    /// be pending, and no deadline be set meanwhile.
    template <class Layer = NextLayer,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_connect(
        const typename Layer::endpoint_type& endpoint,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type())
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            std::declval<initiate_async_connect>(), token, endpoint)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            initiate_async_connect(this), token, endpoint);
    }

    /// Connects the socket to the first of several endpoints that answers. They share one deadline.
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
            std::declval<initiate_async_range_connect>(), token, endpoints,
            detail::any_endpoint())) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                       typename Layer::endpoint_type)>(
            initiate_async_range_connect(this), token, endpoints, detail::any_endpoint());
    }

    /// As above, but `condition(last error, endpoint)` says whether one is to be tried.
    template <class EndpointSequence, class Condition, class Layer = NextLayer,
              if_endpoints<EndpointSequence> = 0,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code,
                                                   typename Layer::endpoint_type)) Token>
    auto async_connect(const EndpointSequence& endpoints, const Condition& condition, Token&& token)
        -> decltype(boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                            typename Layer::endpoint_type)>(
            std::declval<initiate_async_range_connect>(), token, endpoints, condition)) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code,
                                                       typename Layer::endpoint_type)>(
            initiate_async_range_connect(this), token, endpoints, condition);
    }

    /// The next layer's, without deadlines; for layers above that have synchronous functions.
    template <class MutableBufferSequence>
    std::size_t read_some(const MutableBufferSequence& buffers) {
        return socket().read_some(buffers);
    }
    template <class MutableBufferSequence>
    std::size_t read_some(const MutableBufferSequence& buffers, boost::system::error_code& ec) {
        return socket().read_some(buffers, ec);
    }
    template <class ConstBufferSequence>
    std::size_t write_some(const ConstBufferSequence& buffers) {
        return socket().write_some(buffers);
    }
    template <class ConstBufferSequence>
    std::size_t write_some(const ConstBufferSequence& buffers, boost::system::error_code& ec) {
        return socket().write_some(buffers, ec);
    }

    /// How Beast closes it, when a WebSocket times out.
    friend void beast_close_socket(timeout_stream& stream) { stream.close(); }

private:
    // Of a stream that was moved from, a new one.
    [[nodiscard]] impl_type& impl() const {
        if (impl_ == nullptr) {
            if constexpr (std::constructible_from<NextLayer, const executor_type&>) {
                impl_ = std::make_shared<impl_type>(detail::stream_options(), executor_);
            } else {
                throw std::logic_error("asio_wheel: a timeout_stream is used that was moved from");
            }
        }
        return *impl_;
    }

    [[nodiscard]] deadlines_type& deadlines() const { return impl().deadlines; }

    template <class Rep, class Period>
    [[nodiscard]] time_point from_now(const std::chrono::duration<Rep, Period>& d) const {
        return deadlines().from_now(detail::ceil_saturating<duration>(
            detail::not_nan("the deadline of a timeout_stream", d)));
    }

    void shut() noexcept {
        if (impl_ != nullptr) {
            impl_->close();
        }
    }

    mutable std::shared_ptr<impl_type> impl_; // Null if it was moved from.
    executor_type executor_;
};

template <class NextLayer>
timeout_stream(NextLayer) -> timeout_stream<NextLayer>;

} // namespace asio_wheel

#include <asio_wheel/detail/timeout_stream/initiations.hpp>

#endif
