// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which timer wakes a wheel up: Asio's, unless a clock needs another one.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_DRIVER_TIMER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_DRIVER_TIMER_HPP

#include <boost/asio/basic_waitable_timer.hpp>
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

/// The timer that drives wheels of a clock. Has expires_at(), async_wait() and cancel(), as Asio's
/// timers do.
template <class Clock, class WaitTraits>
struct driver_timer {
    using type = boost::asio::basic_waitable_timer<Clock, WaitTraits, context_executor>;
};

} // namespace asio_wheel::detail

#endif
