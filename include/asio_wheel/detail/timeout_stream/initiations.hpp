// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How the operations of a timeout_stream are started: one class for each of its async functions.
//
// They are classes because Asio's adaptors, such as default tokens and deferred, ask an initiation
// for its executor. An initiation points to the stream, not to what the stream shares with its
// operations: a deferred operation begins on the stream's impl() of that moment.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_INITIATIONS_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_INITIATIONS_HPP

#include <asio_wheel/detail/timeout_stream/op.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>

#include <cstddef>
#include <utility>

namespace asio_wheel {

/// What they have in common.
template <class NextLayer>
class timeout_stream<NextLayer>::initiation {
public:
    using executor_type = typename timeout_stream::executor_type;

    explicit initiation(timeout_stream* self) noexcept : self_(self) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return self_->get_executor(); }

protected:
    [[nodiscard]] impl_type& impl() const { return self_->impl(); }

private:
    timeout_stream* self_;
};

template <class NextLayer>
class timeout_stream<NextLayer>::initiate_async_read_some : public initiation {
public:
    using initiation::initiation;

    template <class Handler, class Buffers>
    void operator()(Handler&& handler, const Buffers& buffers) const {
        detail::start_stream_op(
            this->impl(), detail::direction::read, boost::asio::buffer_size(buffers) == 0,
            std::forward<Handler>(handler),
            [&](NextLayer& layer, auto&& op) {
                layer.async_read_some(buffers, std::forward<decltype(op)>(op));
            },
            std::size_t(0));
    }
};

template <class NextLayer>
class timeout_stream<NextLayer>::initiate_async_write_some : public initiation {
public:
    using initiation::initiation;

    template <class Handler, class Buffers>
    void operator()(Handler&& handler, const Buffers& buffers) const {
        detail::start_stream_op(
            this->impl(), detail::direction::write, boost::asio::buffer_size(buffers) == 0,
            std::forward<Handler>(handler),
            [&](NextLayer& layer, auto&& op) {
                layer.async_write_some(buffers, std::forward<decltype(op)>(op));
            },
            std::size_t(0));
    }
};

template <class NextLayer>
class timeout_stream<NextLayer>::initiate_async_connect : public initiation {
public:
    using initiation::initiation;

    template <class Handler, class Endpoint>
    void operator()(Handler&& handler, const Endpoint& endpoint) const {
        detail::start_stream_op(this->impl(), detail::direction::connect, false,
                                std::forward<Handler>(handler), [&](NextLayer& layer, auto&& op) {
                                    layer.async_connect(endpoint, std::forward<decltype(op)>(op));
                                });
    }
};

template <class NextLayer>
class timeout_stream<NextLayer>::initiate_async_range_connect : public initiation {
public:
    using initiation::initiation;

    template <class Handler, class Endpoints, class Condition>
    void operator()(Handler&& handler, const Endpoints& endpoints,
                    const Condition& condition) const {
        detail::start_stream_op(
            this->impl(), detail::direction::connect, false, std::forward<Handler>(handler),
            [&](NextLayer& layer, auto&& op) {
                boost::asio::async_connect(layer, endpoints, condition,
                                           std::forward<decltype(op)>(op));
            },
            typename NextLayer::endpoint_type());
    }
};

} // namespace asio_wheel

#endif
