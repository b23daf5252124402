// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Operations of a stream with deadlines. Each is an operation of the next layer whose handler wraps
// the user's. It needs no memory but that of the next layer's operation.

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_OP_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_STREAM_OP_HPP

#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/timeout_stream/deadlines.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// The handler of an operation of the next layer.
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

    /// It has begun.
    void join(std::shared_ptr<Impl> impl) noexcept { impl_ = std::move(impl); }

    [[nodiscard]] const Handler& inner() const noexcept { return handler_; }
    [[nodiscard]] Handler&& release() noexcept { return std::move(handler_); }

    template <class... Results>
    void operator()(const boost::system::error_code& ec, Results... results) {
        const auto ending = impl_->deadlines.end(what_, is_progress(ec, results...));
        // The handler may destroy the stream, and with it what belongs to the stream.
        const settling after(ending.lingers ? impl_ : nullptr);
        impl_.reset();
        std::move(handler_)(ending.why ? ending.why : ec, std::move(results)...);
    }

private:
    // Settles when the handler has returned, or thrown.
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

    [[nodiscard]] static bool is_progress(const boost::system::error_code&,
                                          std::size_t transferred) noexcept {
        return transferred != 0;
    }
    template <class... Results>
    [[nodiscard]] static bool is_progress(const boost::system::error_code& ec,
                                          const Results&...) noexcept {
        return !ec;
    }

    Handler handler_;
    std::shared_ptr<Impl> impl_; // Null until it has begun, and when it has ended.
    direction what_;
};

/// The condition of a connect that tries each endpoint. (Without one, Asio could take a handler for
/// the condition where the executor has a default token.)
struct any_endpoint {
    template <class Endpoint>
    bool operator()(const boost::system::error_code&, const Endpoint&) const noexcept {
        return true;
    }
};

/// Starts an operation by start(layer, handler). If it is too late for that, it completes, like by
/// post, with error::timed_out and `nothing...`.
template <class Impl, class Handler, class Start, class... Nothing>
void start_stream_op(Impl& impl, direction what, Handler&& handler, Start start,
                     const Nothing&... nothing) {
    using decayed = std::decay_t<Handler>;
    stream_op<Impl, decayed> op(what, decayed(std::forward<Handler>(handler)));
    if (impl.begin(what, op.inner())) {
        op.join(impl.shared_from_this());
        start(impl.layer, std::move(op));
    } else {
        const boost::system::error_code late = error::timed_out;
        boost::asio::post(impl.layer.get_executor(),
                          boost::asio::append(op.release(), late, nothing...));
    }
}

} // namespace asio_wheel::detail

#endif
