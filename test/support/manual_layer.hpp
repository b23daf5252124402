// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_MANUAL_LAYER_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MANUAL_LAYER_HPP

#include "support/manual_operation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace asio_wheel::test {

/// A stream whose operations complete when the test says so. The stream may be moved; the test
/// keeps its `wire`.
///
///     timeout_stream<manual_layer> stream(ctx);
///     const auto wire = stream.socket().wire;
///     stream.async_read_some(...);
///     wire->read.complete({}, 7);
class manual_layer {
public:
    using executor_type = boost::asio::any_io_executor;

    struct state {
        explicit state(const executor_type& ex) : read(ex), write(ex) {}

        manual_operation<boost::system::error_code, std::size_t> read, write;
        int closed = 0;                    ///< How often it was closed.
        std::optional<std::size_t> unsent; ///< What the peer has not taken.
        int looks = 0;                     ///< How often the stream has asked for that.
        std::function<void()> on_close;
        std::function<void()> on_cancel; ///< Also at the end of close().
    };

    explicit manual_layer(const executor_type& ex)
        : wire(std::make_shared<state>(ex)), executor_(ex) {}
    explicit manual_layer(boost::asio::io_context& ctx) : manual_layer(ctx.get_executor()) {}
    manual_layer(manual_layer&& other)
        : wire(std::exchange(other.wire, std::make_shared<state>(other.executor_))),
          executor_(other.executor_) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers&, Token&& token) {
        return wire->read.start(std::forward<Token>(token));
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers&, Token&& token) {
        return wire->write.start(std::forward<Token>(token));
    }

    /// Aborts the pending operations.
    void cancel(boost::system::error_code& ec) {
        ec = {};
        if (wire->on_cancel) {
            wire->on_cancel();
        }
        for (auto* const op : {&wire->read, &wire->write}) {
            if (op->pending()) {
                op->complete(boost::asio::error::operation_aborted, 0);
            }
        }
    }

    void close(boost::system::error_code& ec) {
        ++wire->closed;
        if (wire->on_close) {
            wire->on_close();
        }
        cancel(ec);
    }

    friend std::optional<std::size_t> unsent_bytes(manual_layer& layer) {
        ++layer.wire->looks;
        return layer.wire->unsent;
    }

    std::shared_ptr<state> wire;

private:
    executor_type executor_;
};

} // namespace asio_wheel::test

#endif
