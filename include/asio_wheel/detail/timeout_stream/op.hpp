// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The operations of a timeout_stream. Each one is an operation of the next layer with a handler
// that wraps the user's handler. So it needs no memory beyond that of the next layer's operation.
//
// What always holds:
//
//  1. The deadlines are told of the end of an operation before its handler is called. So the
//     handler may set deadlines, and begin the next operation, which uses the same wait.
//  2. When the handler is called, the operation no longer owns what belongs to the stream. So the
//     handler may destroy the stream, and then the next layer is gone, too.
//  3. After the handler, settle() is called if nothing needed the wait before the handler. This
//     happens also if the handler throws, but not if the stream is gone.
//  4. An operation that is destroyed instead of called has ended, too.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_OP_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_OP_HPP

#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/timeout_stream/deadlines.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The handler that is passed to the next layer.
template <class Impl, class Handler>
class stream_op {
public:
    using wrapped_handler = Handler;

    stream_op(direction what, Handler&& handler) : handler_(std::move(handler)), what_(what) {}
    stream_op(stream_op&&) = default;
    stream_op& operator=(stream_op&&) = delete;
    ~stream_op() {
        if (impl_) {
            impl_->abandon(what_);
        }
    }

    /// The operation has begun.
    void join(std::shared_ptr<Impl> impl) noexcept { impl_ = std::move(impl); }

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }
    [[nodiscard]] Handler&& release() noexcept { return std::move(handler_); }

    template <class... Results>
    void operator()(const boost::system::error_code& ec, Results... results) {
        const auto ending = impl_->end(what_, bytes(ec, results...));
        // Rules 2 and 3.
        const settling after(ending.lingers ? impl_ : nullptr);
        impl_.reset();
        std::move(handler_)(ending.why ? ending.why : ec, std::move(results)...);
    }

private:
    // Calls settle() when the handler has returned or thrown, if the stream still exists.
    class settling {
    public:
        explicit settling(const std::shared_ptr<Impl>& impl) noexcept : impl_(impl) {}
        settling(const settling&) = delete;
        settling& operator=(const settling&) = delete;
        ~settling() {
            if (const std::shared_ptr<Impl> impl = impl_.lock()) {
                impl->deadlines.settle();
            }
        }

    private:
        std::weak_ptr<Impl> impl_;
    };

    // How much was read or written. A connect counts as one byte.
    [[nodiscard]] static std::size_t bytes(const boost::system::error_code&,
                                           std::size_t transferred) noexcept {
        return transferred;
    }
    template <class... Results>
    [[nodiscard]] static std::size_t bytes(const boost::system::error_code& ec,
                                           const Results&...) noexcept {
        return ec ? 0 : 1;
    }

    Handler handler_;
    std::shared_ptr<Impl> impl_; // Null before the operation begins, and after it has ended.
    direction what_;
};

/// The condition of a connect that tries each endpoint. It is passed explicitly: if the executor
/// has a default token, Asio could mistake a handler for the condition.
struct any_endpoint {
    template <class Endpoint>
    bool operator()(const boost::system::error_code&, const Endpoint&) const noexcept {
        return true;
    }
};

/// Starts an operation by calling start(layer, handler). If its deadline has passed, the handler is
/// posted instead, with error::timed_out and `nothing...`. `empty`: it will read or write nothing.
template <class Impl, class Handler, class Start, class... Nothing>
void start_stream_op(Impl& impl, direction what, bool empty, Handler&& handler, Start start,
                     const Nothing&... nothing) {
    using decayed = std::decay_t<Handler>;
    stream_op<Impl, decayed> op(what, decayed(std::forward<Handler>(handler)));
    if (impl.begin(what, op.inner(), empty)) {
        op.join(impl.shared_from_this());
        start(impl.layer, std::move(op));
    } else {
        const boost::system::error_code late = error::timed_out;
        boost::asio::post(impl.layer.get_executor(),
                          boost::asio::append(op.release(), late, nothing...));
    }
}

// How each async function of a stream begins its operation.

struct begin_read_some {
    template <class Impl, class Handler, class Buffers>
    void operator()(Impl& impl, Handler&& handler, const Buffers& buffers) const {
        const bool empty = boost::asio::buffer_size(buffers) == 0;
        const auto start = [&](auto& layer, auto&& op) {
            layer.async_read_some(buffers, std::forward<decltype(op)>(op));
        };
        start_stream_op(impl, direction::read, empty, std::forward<Handler>(handler), start,
                        std::size_t(0));
    }
};

struct begin_write_some {
    template <class Impl, class Handler, class Buffers>
    void operator()(Impl& impl, Handler&& handler, const Buffers& buffers) const {
        const bool empty = boost::asio::buffer_size(buffers) == 0;
        const auto start = [&](auto& layer, auto&& op) {
            layer.async_write_some(buffers, std::forward<decltype(op)>(op));
        };
        start_stream_op(impl, direction::write, empty, std::forward<Handler>(handler), start,
                        std::size_t(0));
    }
};

struct begin_connect {
    template <class Impl, class Handler, class Endpoint>
    void operator()(Impl& impl, Handler&& handler, const Endpoint& endpoint) const {
        const auto start = [&](auto& layer, auto&& op) {
            layer.async_connect(endpoint, std::forward<decltype(op)>(op));
        };
        start_stream_op(impl, direction::connect, false, std::forward<Handler>(handler), start);
    }
};

/// To the first of several endpoints that accepts.
struct begin_range_connect {
    template <class Impl, class Handler, class Endpoints, class Condition>
    void operator()(Impl& impl, Handler&& handler, const Endpoints& endpoints,
                    const Condition& condition) const {
        const auto start = [&](auto& layer, auto&& op) {
            boost::asio::async_connect(layer, endpoints, condition, std::forward<decltype(op)>(op));
        };
        start_stream_op(impl, direction::connect, false, std::forward<Handler>(handler), start,
                        typename decltype(impl.layer)::endpoint_type());
    }
};

} // namespace asio_wheel::detail

#endif
