// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_MANUAL_OPERATION_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MANUAL_OPERATION_HPP

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace asio_wheel::test {

/// An asynchronous operation that completes when the test says so. At most one may be pending.
///
///     manual_operation<error_code, int> read(ctx.get_executor());
///     read.start(token);
///     read.complete({}, 7); // as if by post
template <class... Results>
class manual_operation {
public:
    explicit manual_operation(boost::asio::any_io_executor ex) : executor_(std::move(ex)) {}

    template <class Token>
    auto start(Token&& token) {
        return boost::asio::async_initiate<Token, void(Results...)>(initiation(this), token);
    }

    void complete(Results... results) {
        boost::asio::post(executor_, boost::asio::append(take(), std::move(results)...));
    }

    /// Completes immediately.
    void complete_inline(Results... results) { take()(std::move(results)...); }

    /// Destroys the handler.
    void drop() { handler_.reset(); }

    [[nodiscard]] bool pending() const { return handler_.has_value(); }

    /// The cancellation types that it received: "terminal partial total", each as often as it came.
    [[nodiscard]] std::string take_cancellations() { return std::exchange(cancellations_, {}); }

    std::function<void()> on_start;  ///< Called when it was started.
    std::function<void()> on_cancel; ///< Called when it was cancelled.

private:
    using handler = boost::asio::any_completion_handler<void(Results...)>;

    class initiation {
    public:
        using executor_type = boost::asio::any_io_executor;

        explicit initiation(manual_operation* self) : self_(self) {}

        [[nodiscard]] executor_type get_executor() const noexcept { return self_->executor_; }

        template <class Handler>
        void operator()(Handler&& h) const {
            handler any(std::forward<Handler>(h));
            // The slot that any_completion_handler uses instead of the handler's.
            auto slot = boost::asio::get_associated_cancellation_slot(any);
            if (slot.is_connected()) {
                slot.assign(
                    [self = self_](boost::asio::cancellation_type type) { self->note(type); });
            }
            self_->handler_.emplace(std::move(any)); // Nothing throws from here on.
            if (self_->on_start) {
                self_->on_start();
            }
        }

    private:
        manual_operation* self_;
    };

    handler take() {
        handler h(std::move(*handler_));
        handler_.reset();
        return h;
    }

    void note(boost::asio::cancellation_type type) {
        using boost::asio::cancellation_type;
        const auto add = [&](cancellation_type t, const char* name) {
            if ((type & t) == t) {
                cancellations_ += cancellations_.empty() ? "" : " ";
                cancellations_ += name;
            }
        };
        add(cancellation_type::terminal, "terminal");
        add(cancellation_type::partial, "partial");
        add(cancellation_type::total, "total");
        if (on_cancel) {
            on_cancel();
        }
    }

    boost::asio::any_io_executor executor_;
    std::optional<handler> handler_;
    std::string cancellations_;
};

} // namespace asio_wheel::test

#endif
