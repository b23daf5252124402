// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_ASIO_CONTEXT_EXECUTOR_HPP
#define ASIO_WHEEL_DETAIL_ASIO_CONTEXT_EXECUTOR_HPP

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <utility>

namespace asio_wheel::detail {

/// An executor that runs functions where it is called. It gives an I/O object its context, and adds
/// neither a strand nor work.
class context_executor {
public:
    explicit context_executor(boost::asio::execution_context& context) noexcept
        : context_(&context) {}

    template <class Function>
    void execute(Function&& function) const {
        std::forward<Function>(function)();
    }

    [[nodiscard]] boost::asio::execution_context&
    query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }
    [[nodiscard]] static constexpr boost::asio::execution::blocking_t
    query(boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.always;
    }

    friend bool operator==(const context_executor&, const context_executor&) noexcept = default;

private:
    boost::asio::execution_context* context_;
};

} // namespace asio_wheel::detail

#endif
