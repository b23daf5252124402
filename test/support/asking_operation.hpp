// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_ASKING_OPERATION_HPP
#define ASIO_WHEEL_TEST_SUPPORT_ASKING_OPERATION_HPP

#include <asio_wheel/deadline.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <utility>

namespace asio_wheel::test {

/// The answers of asking operations.
struct asked {
    std::chrono::nanoseconds handler{-1};  ///< remaining_time() of the handler.
    std::chrono::nanoseconds property{-1}; ///< The same, without its executor.
};

class initiate_async_ask {
public:
    using executor_type = boost::asio::any_io_executor;

    initiate_async_ask(executor_type ex, asked& answer)
        : executor_(std::move(ex)), answer_(&answer) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler handler) const {
        answer_->handler = remaining_time(handler);
        answer_->property = associated_remaining_time<Handler>::get(handler);
        boost::asio::post(executor_,
                          boost::asio::append(std::move(handler), boost::system::error_code()));
    }

private:
    executor_type executor_;
    asked* answer_;
};

/// An operation far down a call chain: asks its handler how much time is left, and completes.
///
///     asked answer;
///     async_ask(ctx.get_executor(), answer, token); // void(error_code)
template <class Token>
auto async_ask(boost::asio::any_io_executor ex, asked& answer, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
        initiate_async_ask(std::move(ex), answer), token);
}

} // namespace asio_wheel::test

#endif
